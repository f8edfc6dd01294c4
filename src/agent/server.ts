/** The agent's HTTP API over TLS 1.3: `/healthz` and `/readyz` for probes, `/v1/…` for the one controller it trusts. */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { AgentRequestError, HapticError } from "../errors.ts";
import { LIMITS } from "./api.ts";
import { CredentialDirectory } from "./credentials.ts";
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
  readonly onApplied?: (answer: Answer) => void;
}

export interface ServerOptions {
  readonly tlsDir: string;
  /** DNS name that the client's certificate must carry. */
  readonly clientName: string;
  readonly handlers: ServerHandlers;
}

/** Thrown by a handler to answer at once. */
export class EarlyAnswer extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super("answered early");
    this.answer = answer;
  }
}

export function createAgentServer(options: ServerOptions): Server {
  const directory = new CredentialDirectory(options.tlsDir);
  const secure = (): object => ({ ...directory.current, minVersion: "TLSv1.3", maxVersion: "TLSv1.3" });
  const server = createServer(
    { ...secure(), requestCert: true, rejectUnauthorized: false, keepAliveTimeout: 120_000, noDelay: true },
    (request, response) => {
      void serve(options, request, response);
    },
  );
  // Before the handshake begins: a connection is judged by the certificates that lie there now.
  server.prependListener("connection", () => {
    if (!directory.refresh()) return;
    server.setSecureContext(secure());
    server.closeIdleConnections();
  });
  return server;
}

/** Why the peer may not speak; undefined when it may. */
export function peerObstacle(socket: TLSSocket, clientName: string): Answer | undefined {
  if (!socket.authorized) {
    const reason = String(socket.authorizationError ?? "no client certificate");
    return { status: 401, body: { error: `the client's certificate is not trusted: ${reason}` } };
  }
  const names = (socket.getPeerCertificate().subjectaltname ?? "").split(", ");
  if (names.includes(`DNS:${clientName}`)) return undefined;
  return { status: 403, body: { error: `the client's certificate does not carry the DNS name ${clientName}` } };
}

const judged = new WeakMap<TLSSocket, Answer | "trusted">();

async function serve(options: ServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let answer: Answer;
  try {
    answer = await route(options, request);
  } catch (error) {
    answer = answerOf(error);
  }
  if (request.method === "POST" && request.url === "/v1/apply") options.handlers.onApplied?.(answer);
  send(request, response, answer);
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
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  // The rest of a refused body is read and dropped, so that the client sees the answer; not without an end, though.
  if (answer.status === 413) headers["connection"] = "close";
  response.writeHead(answer.status, headers);
  response.end(body);
  request.resume();
}

async function route(options: ServerOptions, request: IncomingMessage): Promise<Answer> {
  const url = URL.parse(request.url ?? "/", "https://agent");
  if (url === null) throw new AgentRequestError("the address of the request cannot be read");
  const { handlers } = options;
  if (request.method === "GET" && url.pathname === "/healthz") return { status: 200, body: { ok: true } };
  if (request.method === "GET" && url.pathname === "/readyz")
    return handlers.isReady() ? { status: 200, body: { ok: true } } : { status: 503, body: { ok: false } };
  const socket = request.socket as TLSSocket;
  let verdict = judged.get(socket);
  if (verdict === undefined) {
    verdict = peerObstacle(socket, options.clientName) ?? "trusted";
    judged.set(socket, verdict);
  }
  if (verdict !== "trusted") return verdict;
  switch (`${request.method} ${url.pathname}`) {
    case "GET /v1/state":
      return handlers.state({
        verify: url.searchParams.get("verify") === "1",
        plan: url.searchParams.get("plan") !== "0",
      });
    case "POST /v1/apply": {
      const body = await readApplyBody(request, { onManifest: handlers.preview, stagingPath: handlers.stagingPath });
      return handlers.apply(body);
    }
    case "PUT /v1/plan":
      return handlers.storePlan(
        { id: url.searchParams.get("plan_id") ?? "", proof: url.searchParams.get("proof") ?? "" },
        await readAll(request, LIMITS.planBlobBytes),
      );
    default:
      return { status: 404, body: { error: `${request.method} ${url.pathname}: the agent has no such thing` } };
  }
}

async function readAll(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new AgentRequestError(`the body is larger than ${limit} bytes`, 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
