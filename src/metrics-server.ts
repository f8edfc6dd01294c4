/** `/metrics` on a port of its own: it is scraped from elsewhere, and tells figures only. */
import type { Registry } from "prom-client";
import { listenPlain, type PlainServer } from "./plain-server.ts";

export type MetricsServer = PlainServer;

/** A scraper that says nothing for so long has gone. */
const IDLE_MS = 60_000;

/** Resolves when it listens; rejects when the port is taken. `host` absent = every address. */
export function startMetricsServer(
  registry: Registry,
  { host, port }: { readonly host?: string; readonly port: number },
): Promise<MetricsServer> {
  return listenPlain(
    { port, ...(host !== undefined && { host }) },
    (request, response) => {
      const path = (request.url ?? "/").split("?")[0];
      if (path !== "/metrics" || request.method !== "GET") {
        response.writeHead(path === "/metrics" ? 405 : 404).end();
        return;
      }
      registry.metrics().then(
        (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
        (error: unknown) => response.writeHead(500, { "content-type": "text/plain" }).end(String(error)),
      );
    },
    { idleMs: IDLE_MS },
  );
}
