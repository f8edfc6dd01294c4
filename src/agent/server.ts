/**
 * The agent's HTTP API: `/healthz` and `/readyz` for probes, `/v1/…` for the one controller it trusts. Over TLS 1.3; without TLS and with
 * HTTP Basic only where that was chosen.
 */
import { createServer } from "node:https";
import type { IncomingMessage, RequestListener, Server, ServerOptions as HttpOptions, ServerResponse } from "node:http";
import { AgentRequestError, HapticError } from "../errors.ts";
import { LIMITS } from "./api.ts";
import { type BodyTime, type BodyTimes, BODY_TIMES, watchBody } from "./body-time.ts";
import { CredentialDirectory } from "./credentials.ts";
import { basicGate, certificateGate, type AgentIdentity, type Gate } from "./identity.ts";
import { readApplyBody, type ApplyBody, type BodyOptions } from "./multipart.ts";
import type { Answer } from "./ticket.ts";

export interface ServerHandlers {
  readonly isReady: () => boolean;
  readonly state: (query: { readonly verify: boolean; readonly plan: boolean }) => Promise<Answer>;
  /** A refusal that is certain from the manifest alone, before any body is read; throws AgentRequestError for limits. */
  readonly preview: BodyOptions["onManifest"];
  readonly stagingPath: () => string;
  readonly apply: (body: ApplyBody) => Promise<Answer>;
  readonly storePlan: (plan: { readonly id: string; readonly proof: string }, blob: Buffer) => Promise<Answer>;
  /** An apply is answered, whoever refused it. */
  readonly onApplied: (answer: Answer) => void;
}

export interface ServerOptions {
  readonly identity: AgentIdentity;
  readonly handlers: ServerHandlers;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  readonly bodyTimes?: BodyTimes;
  /** New certificates cannot be used: the former ones stay. */
  readonly onUnusable: (error: Error) => void;
}

type Service = Required<Omit<ServerOptions, "identity" | "onUnusable">> & { readonly gate: Gate };

/** Thrown by a handler to answer at once. */
export class EarlyAnswer extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super("answered early");
    this.answer = answer;
  }
}

export async function createAgentServer({ identity, onUnusable, ...options }: ServerOptions): Promise<Server> {
  const { bodyTimes = BODY_TIMES } = options;
  const answering = (gate: Gate): RequestListener => {
    const service: Service = { ...options, bodyTimes, gate };
    return (request, response) => void serve(service, request, response);
  };
  const common: HttpOptions = {
    keepAliveTimeout: 120_000,
    noDelay: true,
    headersTimeout: 10_000,
    // What a refused body still sends is read no longer than this.
    requestTimeout: Math.max(10_000, 2 * bodyTimes.totalMs),
    connectionsCheckingInterval: 10_000,
  };
  if (identity.basic !== undefined) {
    // Loaded here only: see plain-server.ts.
    const plain = await import("node:http");
    return plain.createServer(common, answering(basicGate(identity.basic)));
  }
  const directory = new CredentialDirectory(identity.tlsDir, onUnusable);
  const secure = (): object => ({ ...directory.current, minVersion: "TLSv1.3", maxVersion: "TLSv1.3" });
  const server = createServer(
    { ...common, ...secure(), requestCert: true, rejectUnauthorized: false, handshakeTimeout: 10_000 },
    answering(certificateGate(identity.tlsClientName)),
  );
  // Before the handshake begins: a connection is judged by the certificates that lie there now.
  server.prependListener("connection", () => {
    if (!directory.refresh()) return;
    server.setSecureContext(secure());
    server.closeIdleConnections();
  });
  return server;
}

async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let late: Answer | undefined;
  const onIdle = (error: AgentRequestError): void => {
    if (response.headersSent) return void request.socket.destroy();
    late = answerOf(error);
    send(request, response, late);
    // The connection ends with its answer; who reads the body hears of that so only.
    response.once("close", () => request.destroy(error));
  };
  let answer: Answer;
  try {
    answer = await route(service, request, onIdle);
  } catch (error) {
    answer = late ?? answerOf(error);
  }
  if (request.method === "POST" && request.url === "/v1/apply") service.handlers.onApplied(answer);
  if (late === undefined) send(request, response, answer);
}

export function answerOf(error: unknown): Answer {
  if (error instanceof EarlyAnswer) return error.answer;
  if (error instanceof AgentRequestError)
    return { status: error.status, body: { error: error.message, code: error.code } };
  const code = error instanceof HapticError ? error.code : "HAPTIC_E_AGENT_TREE";
  return { status: 500, body: { error: error instanceof Error ? error.message : String(error), code } };
}

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  // As text it leaves together with its head, in one write.
  const body = `${JSON.stringify(answer.body)}\n`;
  const headers: Record<string, string | number> = {
    ...answer.headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  // The rest of a refused body is read and dropped, so that the client sees the answer; not without an end, though.
  if (answer.status === 413 || answer.status === 408) headers["connection"] = "close";
  response.writeHead(answer.status, headers);
  response.end(body);
  request.resume();
}

async function route(
  { gate, handlers, bodyTimes, monotonic }: Service,
  request: IncomingMessage,
  onIdle: (error: AgentRequestError) => void,
): Promise<Answer> {
  const url = URL.parse(request.url ?? "/", "https://agent");
  if (url === null) throw new AgentRequestError("the address of the request cannot be read");
  if (request.method === "GET" && url.pathname === "/healthz") return { status: 200, body: { ok: true } };
  if (request.method === "GET" && url.pathname === "/readyz")
    return handlers.isReady() ? { status: 200, body: { ok: true } } : { status: 503, body: { ok: false } };
  const obstacle = gate(request);
  if (obstacle !== undefined) return obstacle;
  const watch = (): BodyTime => watchBody(request, bodyTimes, monotonic, onIdle);
  switch (`${request.method} ${url.pathname}`) {
    case "GET /v1/state":
      return handlers.state({
        verify: url.searchParams.get("verify") === "1",
        plan: url.searchParams.get("plan") !== "0",
      });
    case "POST /v1/apply": {
      const { came, over } = watch();
      const { preview: onManifest, stagingPath } = handlers;
      const body = await readApplyBody(request, { onManifest, stagingPath, came });
      over();
      return handlers.apply(body);
    }
    case "PUT /v1/plan": {
      const { came, over } = watch();
      const blob = await readAll(request, LIMITS.planBlobBytes, came);
      over();
      const { searchParams: given } = url;
      return handlers.storePlan({ id: given.get("plan_id") ?? "", proof: given.get("proof") ?? "" }, blob);
    }
    default:
      return { status: 404, body: { error: `${request.method} ${url.pathname}: the agent has no such thing` } };
  }
}

async function readAll(request: IncomingMessage, limit: number, came: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    came();
    size += chunk.length;
    if (size > limit) throw new AgentRequestError(`the body is larger than ${limit} bytes`, 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
