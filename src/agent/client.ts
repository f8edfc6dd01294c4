/** The controller's side of the agent's API: one keep-alive HTTP/1.1 pool a pod, mutual TLS 1.3, or HTTP Basic where that was chosen. */
import { randomBytes } from "node:crypto";
import { Pool } from "undici";
import { AgentClientError } from "../errors.ts";
import type { AgentState, ApplyResult, Conflict, Manifest, Missing } from "./api.ts";
import { CredentialDirectory, type Credentials } from "./credentials.ts";
import type { BasicCredentials } from "./basic.ts";

export { type BasicCredentials, checkBasic } from "./basic.ts";

export type ClientTls =
  | {
      /** Directory with tls.crt, tls.key and ca.crt; read again when it changes. */
      readonly dir: string;
      /** DNS name that the agent's certificate must carry: `haptic-agent.<namespace>.svc`. */
      readonly serverName: string;
      /** New certificates cannot be used: the former ones stay. Told once by each client. */
      readonly onUnusable?: (error: Error) => void;
    }
  | (Credentials & { readonly serverName: string });

/** HTTP Basic without TLS; undefined = they are not known at present. */
export type ClientBasic = () => BasicCredentials | undefined;

/** How a controller proves itself to agents: one of the two. */
export type AgentTransport =
  | { readonly tls: ClientTls; readonly basic?: never }
  | { readonly basic: ClientBasic; readonly tls?: never };

export type AgentClientOptions = AgentTransport & {
  /** `https://10.0.0.7:5555`; with HTTP Basic `http://…`. */
  readonly url: string;
  /** Time for a connection, milliseconds; default 2,000. */
  readonly connectTimeoutMs?: number;
  /** Time for an answer's head, milliseconds; default 75,000 (a reload may take 60 s). */
  readonly answerTimeoutMs?: number;
};

export type ApplyOutcome =
  | { readonly kind: "result"; readonly result: ApplyResult }
  | { readonly kind: "conflict"; readonly conflict: Conflict }
  | { readonly kind: "missing"; readonly missing: readonly string[] };

export type PlanOutcome =
  | { readonly kind: "stored"; readonly planId: string }
  | { readonly kind: "moved"; readonly appliedPlanId: string };

/** All methods throw AgentClientError (`status` 0 = no answer) for everything that is not part of the contract's answers. */
export interface AgentClient {
  /** `verify` re-hashes the tree (after a fold); `plan` false omits the stored blob. */
  state(query?: { readonly verify?: boolean; readonly plan?: boolean }, signal?: AbortSignal): Promise<AgentState>;
  /** `parts`: for each path with content the blocks' bytes in order; they are written as they are, nothing is joined. */
  apply(
    manifest: Manifest,
    parts?: ReadonlyMap<string, readonly Uint8Array[]>,
    planBlob?: Uint8Array,
    signal?: AbortSignal,
  ): Promise<ApplyOutcome>;
  /** `proof` = what the plan's files amount to; "" where it is not known. */
  putPlan(planId: string, blob: Uint8Array, signal?: AbortSignal, proof?: string): Promise<PlanOutcome>;
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Creates a client; nothing is connected before the first call. @throws AgentTreeError when `tls.dir` cannot be read. */
export function createAgentClient(options: AgentClientOptions): AgentClient {
  const { tls, basic } = options;
  if (options.url.startsWith("https:") === (tls === undefined))
    throw new AgentClientError(`agent ${options.url}: HTTP Basic goes without TLS, certificates with it`, 0);
  const directory = tls !== undefined && "dir" in tls ? new CredentialDirectory(tls.dir, tls.onUnusable) : undefined;
  const secure = (): object => {
    if (tls === undefined) return {};
    const { cert, key, ca } = directory?.current ?? (tls as Credentials);
    return { cert, key, ca, servername: tls.serverName, minVersion: "TLSv1.3" };
  };
  const open = (): Pool =>
    new Pool(options.url, {
      connections: 2,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 90_000,
      headersTimeout: options.answerTimeoutMs ?? 75_000,
      bodyTimeout: 30_000,
      connect: { ...secure(), timeout: options.connectTimeoutMs ?? 2_000 },
    });
  let pool = open();
  const currentPool = (): Pool => {
    if (directory?.refresh() === true) {
      // Requests under way end on the old connections.
      void pool.close().catch(() => undefined);
      pool = open();
    }
    return pool;
  };

  const call = async (
    method: "GET" | "POST" | "PUT",
    path: string,
    body: Buffer | undefined,
    contentType: string,
    signal: AbortSignal | undefined,
  ): Promise<Reply> => {
    let status = 0;
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": contentType };
    if (basic !== undefined) headers["authorization"] = authorizationOf(basic(), options.url);
    try {
      const answer = await currentPool().request({
        method,
        path,
        headers,
        ...(body !== undefined && { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      status = answer.statusCode;
      const text = await answer.body.text();
      return { status, body: text === "" ? undefined : JSON.parse(text) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new AgentClientError(`agent ${options.url}: ${method} ${path}: ${reason}`, status, { cause: error });
    }
  };
  const refused = (what: string, reply: Reply): AgentClientError => {
    const said = (reply.body as { error?: string } | undefined)?.error ?? JSON.stringify(reply.body);
    const hint =
      reply.status === 401 || reply.status === 403
        ? tls === undefined
          ? "controller and agent must have the same username and password"
          : "check the controller's certificate, its CA and its DNS name"
        : undefined;
    return new AgentClientError(
      `agent ${options.url}: ${what}: ${reply.status} ${said}`,
      reply.status,
      hint === undefined ? {} : { hint },
    );
  };

  return {
    async state(query = {}, signal) {
      const search = new URLSearchParams();
      if (query.verify === true) search.set("verify", "1");
      if (query.plan === false) search.set("plan", "0");
      const suffix = search.size > 0 ? `?${search.toString()}` : "";
      const reply = await call("GET", `/v1/state${suffix}`, undefined, "", signal);
      if (reply.status !== 200) throw refused("state", reply);
      return reply.body as AgentState;
    },
    async apply(manifest, parts = new Map(), planBlob, signal) {
      const { body, contentType } = encodeApply(manifest, parts, planBlob);
      const reply = await call("POST", "/v1/apply", body, contentType, signal);
      if (reply.status === 200) return { kind: "result", result: reply.body as ApplyResult };
      if (reply.status === 409) {
        const conflict = reply.body as Conflict | Missing;
        return "missing" in conflict ? { kind: "missing", missing: conflict.missing } : { kind: "conflict", conflict };
      }
      throw refused("apply", reply);
    },
    async putPlan(planId, blob, signal, proof = "") {
      const search = new URLSearchParams({ plan_id: planId, ...(proof !== "" && { proof }) });
      const reply = await call(
        "PUT",
        `/v1/plan?${search.toString()}`,
        Buffer.from(blob.buffer, blob.byteOffset, blob.length),
        "application/octet-stream",
        signal,
      );
      if (reply.status === 200) return { kind: "stored", planId };
      if (reply.status === 409)
        return { kind: "moved", appliedPlanId: (reply.body as { applied_plan_id: string }).applied_plan_id };
      throw refused("plan", reply);
    },
    close: () => pool.close(),
  };
}

/** @throws AgentClientError when there are no credentials; no error ever holds them. */
function authorizationOf(credentials: BasicCredentials | undefined, url: string): string {
  if (credentials === undefined)
    throw new AgentClientError(`agent ${url}: username and password for HTTP Basic are not known`, 0, {
      hint: "the Secret of --secret-name must hold dataplane_username and dataplane_password",
    });
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
}

/** What boundaries begin with: random bytes of this process, which no author of content gets to see; none is searched for them. */
const BOUNDARY = randomBytes(24).toString("base64url");
let bodies = 0;

/** The multipart body, made with one copy. */
export function encodeApply(
  manifest: Manifest,
  parts: ReadonlyMap<string, readonly Uint8Array[]>,
  planBlob?: Uint8Array,
): { body: Buffer; contentType: string } {
  bodies += 1;
  const boundary = `${BOUNDARY}${bodies}`;
  const pieces: Uint8Array[] = [];
  const begin = (head: string): number =>
    pieces.push(
      Buffer.from(
        `${pieces.length === 0 ? "" : "\r\n"}--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`,
      ),
    );
  begin('name="manifest"');
  pieces.push(Buffer.from(JSON.stringify(manifest)));
  for (const [path, blocks] of parts) {
    begin(`name="file"; filename="${path}"`);
    pieces.push(...blocks);
  }
  if (planBlob !== undefined) {
    begin('name="plan"');
    pieces.push(planBlob);
  }
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return { body: Buffer.concat(pieces), contentType: `multipart/form-data; boundary=${boundary}` };
}
