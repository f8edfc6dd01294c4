/**
 * `/debug/vars` and the health paths. GET only; `/debug` answers loopback callers only. Values are computed when asked for, and hold no
 * secrets: ids, counts, names and messages.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface DebugServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 = any free port. */
  readonly port: number;
  /** By name; `/debug/vars/<name>` gives the value as JSON. */
  readonly variables: Readonly<Record<string, () => unknown>>;
  /** What `/readyz` and `/healthz` say: a component's name → "" when well, else what is wrong. */
  readonly health: () => Readonly<Record<string, string>>;
  readonly ready: () => boolean;
}

export interface DebugServer {
  readonly port: number;
  close(): Promise<void>;
}

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === "::1" || /^(::ffff:)?127\./.test(address));

/** Resolves when it listens; rejects when the port is taken. */
export async function startDebugServer(options: DebugServerOptions): Promise<DebugServer> {
  const answer = (path: string): readonly [status: number, body: unknown] => {
    if (path === "/livez") return [200, { ok: true }];
    if (path === "/readyz") return options.ready() ? [200, { ready: true }] : [503, { ready: false }];
    if (path === "/healthz" || path === "/health") {
      const components = options.health();
      const healthy = Object.values(components).every((message) => message === "");
      return [healthy ? 200 : 503, { healthy, components }];
    }
    if (path === "/debug/vars") {
      const paths = Object.keys(options.variables).sort();
      return [200, { paths, count: paths.length }];
    }
    const name = /^\/debug\/vars\/([A-Za-z]+)$/.exec(path)?.[1];
    if (name === "all")
      return [200, Object.fromEntries(Object.entries(options.variables).map(([key, value]) => [key, value()]))];
    if (name !== undefined && Object.hasOwn(options.variables, name)) return [200, options.variables[name]?.()];
    return [404, { error: `nothing is at ${path}` }];
  };

  const server = createServer((request, response) => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
      response.end(`${JSON.stringify(body, undefined, 2)}\n`);
    };
    if (request.method !== "GET") return send(405, { error: "GET only" });
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    if (path.startsWith("/debug") && !isLoopback(request.socket.remoteAddress))
      return send(403, { error: "loopback only" });
    try {
      return send(...answer(path));
    } catch (error) {
      return send(500, { error: String(error) });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host ?? "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
