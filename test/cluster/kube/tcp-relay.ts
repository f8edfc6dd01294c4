/** A TCP relay in front of an API server: what a network does to connections, on demand. */
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface TcpRelay {
  readonly port: number;
  /** Breaks every open connection; new ones are taken. */
  cut(): void;
  /** Breaks every open connection and every new one until up(). */
  down(): void;
  up(): void;
  /** Connections stay open and carry nothing more, in either direction, until thaw(). New ones neither. */
  freeze(): void;
  thaw(): void;
  /** Connections that are open now stay open and carry nothing more, for good; new ones are as ever. */
  forget(): void;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1 (API servers' certificates name it). */
export async function tcpRelay(host: string, port: number): Promise<TcpRelay> {
  const pairs = new Set<[Socket, Socket]>();
  const forgotten = new Set<[Socket, Socket]>();
  let reachable = true;
  let frozen = false;
  const apply = (): void => {
    for (const pair of pairs)
      for (const socket of pair)
        if (frozen) socket.pause();
        else socket.resume();
  };
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const server = createServer((near) => {
    if (!reachable) {
      near.destroy();
      return;
    }
    const far = connect({ host, port, noDelay: true });
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    apply();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    down() {
      reachable = false;
      cut();
    },
    up() {
      reachable = true;
    },
    freeze() {
      frozen = true;
      apply();
    },
    thaw() {
      frozen = false;
      apply();
    },
    forget() {
      for (const pair of pairs) {
        for (const socket of pair) socket.pause();
        forgotten.add(pair);
      }
      pairs.clear();
    },
    close() {
      for (const pair of forgotten) pairs.add(pair);
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
