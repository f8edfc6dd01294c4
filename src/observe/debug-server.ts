/**
 * `/debug`, the live page and the health paths. `/debug` and `/live` answer loopback callers only, under a loopback name only (a page of
 * another origin whose name was made to lead here gets nothing). Values are computed when asked for, and hold no secrets.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PastEvent } from "./history.ts";
import type { LiveServer } from "./live-server.ts";
import { LOG_LEVELS, readLogLevel } from "./log-level.ts";
import type { LogLevel } from "./log-level.ts";
import { serveInspection } from "./stately.ts";

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
  /** `/debug/events`: the last ones, newest first; of one correlation id, or of all. */
  readonly events?: (limit: number, correlationId: string | undefined) => readonly PastEvent[];
  /** `/debug/log-level`, GET and PUT. */
  readonly logLevel?: LogLevel;
  readonly live?: LiveServer;
}

export interface DebugServer {
  readonly port: number;
  close(): Promise<void>;
}

type Answer = readonly [status: number, body: unknown];

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === "::1" || /^(::ffff:)?127\./.test(address));

/** `kubectl port-forward` and people say localhost or an address; a name of the DNS has no business here. */
const isLocalName = (host: string | undefined): boolean =>
  host === undefined || /^(?:localhost|[0-9.]+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(host);

const MAX_BODY = 1_024;
const MAX_EVENTS = 1_000;

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY) break;
  }
  return text;
}

/** Resolves when it listens; rejects when the port is taken. */
export async function startDebugServer(options: DebugServerOptions): Promise<DebugServer> {
  const { variables, live, logLevel } = options;

  const events = (query: URLSearchParams): Answer => {
    const limit = Number(query.get("limit") ?? 100);
    if (!Number.isInteger(limit) || limit < 1) return [400, { error: "limit: a whole number from 1" }];
    const id = query.get("correlation_id") ?? undefined;
    return [200, { events: options.events?.(Math.min(limit, MAX_EVENTS), id) ?? [] }];
  };

  const answer = ({ pathname: path, searchParams }: URL): Answer => {
    if (path === "/livez") return [200, { ok: true }];
    if (path === "/readyz") return options.ready() ? [200, { ready: true }] : [503, { ready: false }];
    if (path === "/healthz" || path === "/health") {
      const components = options.health();
      const healthy = Object.values(components).every((message) => message === "");
      return [healthy ? 200 : 503, { healthy, components }];
    }
    if (path === "/debug/vars") {
      const paths = Object.keys(variables).sort();
      return [200, { paths, count: paths.length }];
    }
    if (path === "/debug/events" && options.events !== undefined) return events(searchParams);
    if (path === "/debug/log-level" && logLevel !== undefined) return [200, { level: logLevel.get() }];
    const name = /^\/debug\/vars\/([A-Za-z]+)$/.exec(path)?.[1];
    if (name === "all")
      return [200, Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, value()]))];
    if (name !== undefined && Object.hasOwn(variables, name)) return [200, variables[name]?.()];
    return [404, { error: `nothing is at ${path}` }];
  };

  const setLevel = async (request: IncomingMessage, level: LogLevel): Promise<Answer> => {
    const wanted = readLogLevel(await bodyOf(request));
    if (wanted === undefined) return [400, { error: `the body is none of ${LOG_LEVELS.join(", ")}` }];
    level.set(wanted);
    return [200, { level: level.get() }];
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = ([status, body]: Answer): void => {
      response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
      response.end(`${JSON.stringify(body, undefined, 2)}\n`);
    };
    const url = URL.parse(request.url ?? "/", "http://localhost");
    if (url === null) return send([400, { error: "the address cannot be read" }]);
    const { pathname } = url;
    if (/^\/(debug|live)(\/|$)/.test(pathname)) {
      if (!isLoopback(request.socket.remoteAddress)) return send([403, { error: "loopback only" }]);
      if (!isLocalName(request.headers.host)) return send([403, { error: "by an address or as localhost only" }]);
    }
    if (request.method === "PUT" && pathname === "/debug/log-level" && logLevel !== undefined)
      return send(await setLevel(request, logLevel));
    if (request.method !== "GET") return send([405, { error: "GET only" }]);
    if (live !== undefined && /^\/live(\/|$)/.test(pathname)) return live.answer(pathname, request, response);
    return send(answer(url));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      response.writeHead(500, { "content-type": "application/json" });
      return response.end(`${JSON.stringify({ error: String(error) })}\n`);
    });
  });
  const endInspection =
    live === undefined
      ? () => {}
      : serveInspection(
          server,
          "/live/inspect",
          live.feed,
          (request) => isLoopback(request.socket.remoteAddress) && isLocalName(request.headers.host),
        );
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
        live?.feed.close();
        endInspection();
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
