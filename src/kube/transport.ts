/**
 * HTTP/1.1 to one API server over undici. Watches have connections of their own: behind a busy or an open stream a write
 * would wait. Credentials are read again as files rotate and after a 401.
 */
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import { KubeError } from "../errors.ts";
import { brokenConnection, refusal, unreachable } from "./answers.ts";
import type { Clock } from "./clock.ts";
import type { Credentials, KubeConnection } from "./connection.ts";

export interface TransportOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Limit of a whole request that is not a watch; default 30 s. */
  readonly requestTimeoutMs?: number;
  /** How long credentials are used before their files are looked at again; default 10 s. */
  readonly recheckMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path on the server, `/api/v1/…`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  /** Verb and object, for errors. */
  readonly what: string;
  /** In place of the transport's limit. */
  readonly limitMs?: number;
}

type Response = Dispatcher.ResponseData;

interface Session {
  readonly credentials: Credentials;
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
  readonly tls: string;
}

const MAX_REQUEST_CONNECTIONS = 16;

export class KubeTransport {
  readonly #connection: KubeConnection;
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #prefix: string;
  #session: Promise<Session> | undefined;
  #checkedAt = 0;
  #closed = false;

  constructor(connection: KubeConnection, options: TransportOptions) {
    this.#connection = connection;
    this.#options = options;
    const url = new URL(connection.server);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, "");
  }

  /** A request with a JSON answer. Throws KubeError, or the signal's reason when it was aborted. */
  async json(request: KubeRequest): Promise<{ body: unknown; contentType: string }> {
    const limit = Math.min(request.limitMs ?? Infinity, this.#options.requestTimeoutMs ?? 30_000);
    const abort = new AbortController();
    const stop = (): void => abort.abort(request.signal?.reason);
    if (request.signal?.aborted) stop();
    request.signal?.addEventListener("abort", stop, { once: true });
    const late = new KubeError("HAPTIC_E_KUBE_TIMEOUT", `${request.what}: no answer within ${limit} ms`);
    const timer = this.#options.clock.setTimeout(() => abort.abort(late), limit);
    try {
      const response = await this.#send(request, abort.signal, false);
      const text = await response.body.text();
      try {
        return { body: JSON.parse(text) as unknown, contentType: String(response.headers["content-type"] ?? "") };
      } catch (cause) {
        throw new KubeError("HAPTIC_E_KUBE_PROTOCOL", `${request.what}: the answer is not JSON`, {
          status: response.statusCode,
          cause,
        });
      }
    } catch (error) {
      if (abort.signal.aborted) throw abort.signal.reason;
      throw unreachable(request.what, error);
    } finally {
      this.#options.clock.clearTimeout(timer);
      request.signal?.removeEventListener("abort", stop);
    }
  }

  /** A watch: resolves with the open stream once the server accepted it. The signal ends it at any time. */
  async stream(request: KubeRequest & { readonly signal: AbortSignal }): Promise<Response["body"]> {
    try {
      return (await this.#send(request, request.signal, true)).body;
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw unreachable(request.what, error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const session = await this.#session?.catch(() => undefined);
    await Promise.all([session?.requests.destroy(), session?.watches.destroy()]);
  }

  async #send(request: KubeRequest, signal: AbortSignal, watch: boolean): Promise<Response> {
    let session = await this.#current(false);
    let response: Response;
    try {
      response = await this.#dispatch(session, request, signal, watch);
    } catch (error) {
      // A kept connection that the server closed meanwhile: for a read that is worth one more try at once.
      if (signal.aborted || request.method !== "GET" || !brokenConnection(error)) throw error;
      response = await this.#dispatch(session, request, signal, watch);
    }
    if (response.statusCode === 401) {
      await response.body.dump();
      session = await this.#current(true);
      response = await this.#dispatch(session, request, signal, watch);
    }
    if (response.statusCode < 300) return response;
    const text = await response.body.text();
    let status: unknown;
    try {
      status = JSON.parse(text);
    } catch {
      // Proxies and overload answer in plain text; the status code says enough.
    }
    const retryAfter = response.headers["retry-after"];
    throw refusal(request.what, response.statusCode, status, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
  }

  #dispatch(session: Session, request: KubeRequest, signal: AbortSignal, watch: boolean): Promise<Response> {
    const query: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) query[name] = String(value);
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    return (watch ? session.watches : session.requests).request({
      origin: this.#origin,
      path: this.#prefix + request.path,
      method: request.method,
      query,
      body,
      signal,
      headers: {
        accept: request.accept ?? "application/json",
        "user-agent": this.#options.userAgent,
        ...(body !== null && { "content-type": request.contentType ?? "application/json" }),
        ...session.credentials.headers,
      },
    });
  }

  /** The session for the next request; one read of the credentials serves all that wait for it. */
  #current(refused: boolean): Promise<Session> {
    if (this.#closed)
      return Promise.reject(
        new KubeError("HAPTIC_E_KUBE_UNREACHABLE", "the connection to the Kubernetes API was closed"),
      );
    const now = this.#options.clock.now();
    const old = this.#session;
    if (old !== undefined && !refused && now - this.#checkedAt < (this.#options.recheckMs ?? 10_000)) return old;
    this.#checkedAt = now;
    const next = this.#renew(old, refused);
    this.#session = next;
    next.catch(() => {
      // The next request tries again, with the session that worked until now.
      if (this.#session === next) this.#session = old;
    });
    return next;
  }

  async #renew(previous: Promise<Session> | undefined, refused: boolean): Promise<Session> {
    const old = await previous?.catch(() => undefined);
    let credentials: Credentials;
    try {
      credentials = await this.#connection.credentials(refused);
    } catch (error) {
      // Half-written files during a rotation: what worked a moment ago is better than nothing.
      if (old !== undefined && !refused) return old;
      throw error;
    }
    const { headers: _headers, ...tlsParts } = credentials;
    const tls = JSON.stringify(tlsParts);
    if (old !== undefined && old.tls === tls) return { ...old, credentials };
    const session = {
      credentials,
      tls,
      requests: this.#dispatcher(credentials, false),
      watches: this.#dispatcher(credentials, true),
    };
    // Graceful: what runs on the old connections ends there.
    void old?.requests.close().catch(() => undefined);
    void old?.watches.close().catch(() => undefined);
    return session;
  }

  #dispatcher(credentials: Credentials, watch: boolean): Dispatcher {
    const tls = {
      ...(credentials.ca !== undefined && { ca: credentials.ca }),
      ...(credentials.cert !== undefined && { cert: credentials.cert }),
      ...(credentials.key !== undefined && { key: credentials.key }),
      ...(credentials.serverName !== undefined && { servername: credentials.serverName }),
      ...(credentials.insecure === true && { rejectUnauthorized: false }),
    };
    const options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 60_000,
      headersTimeout: 30_000,
      bodyTimeout: watch ? 0 : 60_000,
      connect: { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 },
      ...(watch ? {} : { connections: MAX_REQUEST_CONNECTIONS }),
    };
    const proxy = this.#proxy();
    return proxy === undefined ? new Agent(options) : new EnvHttpProxyAgent({ ...options, ...proxy, requestTls: tls });
  }

  /** The kubeconfig's proxy, or the settings of the environment in the usual names and either case. */
  #proxy(): { httpProxy: string; httpsProxy: string; noProxy: string } | undefined {
    const { proxyUrl } = this.#connection;
    if (proxyUrl !== undefined) return { httpProxy: proxyUrl, httpsProxy: proxyUrl, noProxy: "" };
    const env = this.#options.env ?? {};
    const read = (name: string): string => env[name.toLowerCase()] ?? env[name.toUpperCase()] ?? "";
    const [httpProxy, httpsProxy] = [read("http_proxy"), read("https_proxy")];
    if (httpProxy === "" && httpsProxy === "") return undefined;
    return { httpProxy, httpsProxy, noProxy: `${read("no_proxy")},localhost,127.0.0.1,::1` };
  }
}
