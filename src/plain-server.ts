/**
 * HTTP without TLS for a process that has to stay small: who imports `node:http` reads all that it exports, and among that is Node's
 * `fetch`, whose loading costs 9 MiB. The HTTPS server speaks HTTP on every stream that it is handed.
 */
import type { RequestListener } from "node:http";
import { createServer as createHttpServer } from "node:https";
import { createServer, type AddressInfo, type ListenOptions, type Socket } from "node:net";

export interface PlainServer {
  /** Of a server that listens on TCP. */
  readonly port: number;
  /** Ends its connections, too. */
  close(): Promise<void>;
}

export interface PlainServerOptions {
  /** Connections that say nothing for so long are ended, in milliseconds; 0 = never. */
  readonly idleMs?: number;
}

/** Resolves when it listens; rejects when the address cannot be had. */
export async function listenPlain(
  where: ListenOptions,
  answer: RequestListener,
  { idleMs = 0 }: PlainServerOptions = {},
): Promise<PlainServer> {
  const http = createHttpServer(answer);
  http.timeout = idleMs;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    http.emit("secureConnection", socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
