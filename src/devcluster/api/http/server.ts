/** The HTTP server: routes a request to what answers it. */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Counters } from "../counters.ts";
import { noMishaps } from "../faults/index.ts";
import type { Faults } from "../faults/index.ts";
import type { Subject } from "../faults/rules.ts";
import type { ApiState } from "../operations/context.ts";
import { qualified } from "../status.ts";
import { Discovery } from "./discovery.ts";
import { OpenApi } from "./openapi.ts";
import type { ApiRequest } from "./request.ts";
import { serveResource } from "./resource-handler.ts";
import { pageNotFound, sendError, sendJson, sendText } from "./respond.ts";
import { serveReview } from "./reviews.ts";
import { serveSwitchboard } from "./switchboard.ts";
import { parseTarget } from "./target.ts";
import type { Target } from "./target.ts";
import { Tokens } from "./tokens.ts";
import type { Watches } from "./watch.ts";

const version = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.2",
  gitCommit: "unknown",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26.0",
  compiler: "gc",
  platform: "linux/amd64",
};

export interface ServerParts {
  readonly state: ApiState;
  readonly watches: Watches;
  readonly faults: Faults;
  readonly counters: Counters;
  readonly log: (text: string) => void;
  /** Whether the switchboard of faults answers over HTTP. */
  readonly switchboard: boolean;
}

const verbs: Readonly<Record<string, readonly [string, string]>> = {
  GET: ["get", "list"],
  HEAD: ["get", "list"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["delete", "deletecollection"],
};

function verbOf(request: Pick<ApiRequest, "method" | "query">, target: Target): string {
  const watch = target.watch || ["true", "1"].includes(request.query.get("watch") ?? "");
  if (watch && request.method === "GET" && (target.name === undefined || target.watch)) return "watch";
  const [one, many] = verbs[request.method] ?? ["other", "other"];
  return target.name === undefined ? many : one;
}

/** `pods/status`, `ingresses.networking.k8s.io`. */
function resourceOf(target: Target): string {
  const group = target.apiVersion.includes("/") ? (target.apiVersion.split("/")[0] ?? "") : "";
  return `${qualified(target.plural, group)}${target.subresource === "" ? "" : `/${target.subresource}`}`;
}

/** The request as rules of faults see it. */
function subjectOf(request: Pick<ApiRequest, "method" | "path" | "query">, line: string): Subject {
  const target = parseTarget(request.path);
  if (target === undefined) return { verb: "", resource: "", namespace: "", name: "", line };
  const { namespace = "", name = "" } = target;
  return { verb: verbOf(request, target), resource: resourceOf(target), namespace, name, line };
}

/** Paths that are no resource. */
function serveFixed(request: ApiRequest): boolean {
  switch (request.path) {
    case "/version":
      sendJson(request, 200, version);
      return true;
    case "/healthz":
    case "/livez":
    case "/readyz":
      sendText(request, 200, "ok");
      return true;
    default:
      return false;
  }
}

function makeHandler(parts: ServerParts): (request: ApiRequest) => Promise<void> {
  const { state, watches, counters } = parts;
  const discovery = new Discovery(state.registry);
  const openApi = new OpenApi(state.registry);
  const tokens = new Tokens(state);
  return async (request) => {
    if (serveFixed(request) || discovery.serve(request) || openApi.serve(request)) return;
    if (await serveReview(state, tokens, request)) return;
    const target = parseTarget(request.path);
    if (target === undefined) {
      pageNotFound(request);
      return;
    }
    counters.count(verbOf(request, target), resourceOf(target));
    await serveResource(state, request, target, watches);
  };
}

/** A server that does not listen yet. */
export function createApiServer(parts: ServerParts): Server {
  const handle = makeHandler(parts);
  const serve = async (raw: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = raw.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const asked = {
      method: raw.method ?? "GET",
      path: path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path,
      query: new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1)),
    };
    const line = `${asked.method} ${url}`;
    const board = parts.switchboard && /^\/faults(\/|$)/.test(asked.path);
    const mishaps = board ? noMishaps : parts.faults.due(() => subjectOf(asked, line));
    const request: ApiRequest = { ...asked, raw, response, warnings: [], mishaps };
    if (mishaps.delayMs > 0) await sleep(mishaps.delayMs);
    const { failure } = mishaps;
    if (failure === "cut") {
      raw.socket.destroy();
      return;
    }
    try {
      if (failure !== undefined) throw failure;
      if (board && (await serveSwitchboard(parts.faults, request))) return;
      await handle(request);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && "reason" in error)) {
        parts.log(`${line}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
      sendError(request, error);
    }
  };
  const server = createServer(
    { keepAliveTimeout: 75_000, noDelay: true },
    (raw, response) => void serve(raw, response),
  );
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  return server;
}
