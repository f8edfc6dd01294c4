/** The KubeClient: typed by path only, so that every field of every object comes through. */
import type { Observable } from "rxjs";
import type { KubeObject } from "../stores/types.ts";
import type { BackoffOptions } from "./backoff.ts";
import { systemClock, type Clock } from "./clock.ts";
import type { KubeConnection } from "./connection.ts";
import { discover } from "./discovery.ts";
import { readPages } from "./list.ts";
import { listWatch } from "./list-watch.ts";
import { OpenApiReader } from "./openapi.ts";
import { objectName, resourcePath } from "./resource-path.ts";
import { KubeTransport, type KubeRequest } from "./transport.ts";
import type {
  KubeClient,
  ListOptions,
  OpenApiAnswer,
  PatchOptions,
  ResourceTarget,
  ServedResource,
  WatchOptions,
  WatchSignal,
} from "./types.ts";

export const FIELD_MANAGER = "haptic";

export interface KubeClientDeps {
  readonly clock?: Clock;
  /** 0 ≤ value < 1; jitter. */
  readonly random?: () => number;
  readonly userAgent?: string;
  readonly requestTimeoutMs?: number;
  readonly recheckMs?: number;
  readonly backoff?: Omit<BackoffOptions, "random">;
  /** Environment for proxy settings; default none are used. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A client of the API server that `connection` names. Nothing is sent before the first call. */
export function createKubeClient(connection: KubeConnection, deps: KubeClientDeps = {}): KubeClient {
  return new Client(connection, deps);
}

class Client implements KubeClient {
  readonly counters = { requests: {} as Record<string, number>, writes: {} as Record<string, number> };
  readonly #transport: KubeTransport;
  readonly #deps: KubeClientDeps;
  readonly #clock: Clock;
  readonly #openApi: OpenApiReader;

  constructor(connection: KubeConnection, deps: KubeClientDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#transport = new KubeTransport(connection, {
      clock: this.#clock,
      userAgent: deps.userAgent ?? FIELD_MANAGER,
      ...(deps.requestTimeoutMs !== undefined && { requestTimeoutMs: deps.requestTimeoutMs }),
      ...(deps.recheckMs !== undefined && { recheckMs: deps.recheckMs }),
      ...(deps.env !== undefined && { env: deps.env }),
    });
    this.#openApi = new OpenApiReader(this.#transport, () => this.#count("openapi"));
  }

  get(target: ResourceTarget, name: string, signal?: AbortSignal): Promise<KubeObject> {
    this.#count("get");
    return this.#object({
      method: "GET",
      path: resourcePath(target, name),
      signal,
      what: `get ${objectName(target, name)}`,
    });
  }

  async list(
    target: ResourceTarget,
    options: ListOptions = {},
    signal?: AbortSignal,
  ): Promise<{ items: KubeObject[]; resourceVersion: string }> {
    const items: KubeObject[] = [];
    let resourceVersion = "";
    for await (const page of readPages(this.#transport, target, options, signal, () => this.#count("list"))) {
      items.push(...page.items);
      resourceVersion = page.resourceVersion;
    }
    return { items, resourceVersion };
  }

  create(target: ResourceTarget, object: KubeObject, options: PatchOptions = {}): Promise<KubeObject> {
    return this.#write("create", target, undefined, options, { method: "POST", body: object });
  }

  replace(target: ResourceTarget, object: KubeObject, options: PatchOptions = {}): Promise<KubeObject> {
    return this.#write("update", target, object.metadata.name, options, { method: "PUT", body: object });
  }

  mergePatch(target: ResourceTarget, name: string, patch: unknown, options: PatchOptions = {}): Promise<KubeObject> {
    return this.#write("patch", target, name, options, {
      method: "PATCH",
      body: patch,
      contentType: "application/merge-patch+json",
    });
  }

  apply(target: ResourceTarget, object: KubeObject, options: PatchOptions = {}): Promise<KubeObject> {
    return this.#write(
      "apply",
      target,
      object.metadata.name,
      { ...options, fieldManager: options.fieldManager ?? FIELD_MANAGER, force: options.force ?? false },
      { method: "PATCH", body: object, contentType: "application/apply-patch+yaml" },
    );
  }

  async delete(
    target: ResourceTarget,
    name: string,
    options: { uid?: string; resourceVersion?: string; signal?: AbortSignal } = {},
  ): Promise<void> {
    const { uid, resourceVersion, signal } = options;
    const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
    await this.#write(
      "delete",
      target,
      name,
      { ...(signal !== undefined && { signal }) },
      {
        method: "DELETE",
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          propagationPolicy: "Background",
          ...(preconditions && { preconditions }),
        },
      },
    );
  }

  listWatch(target: ResourceTarget, options: WatchOptions = {}): Observable<WatchSignal> {
    return listWatch(
      {
        transport: this.#transport,
        clock: this.#clock,
        random: this.#deps.random ?? Math.random,
        counted: (verb) => this.#count(verb),
        ...(this.#deps.backoff !== undefined && { backoff: this.#deps.backoff }),
      },
      target,
      options,
    );
  }

  discover(signal?: AbortSignal): Promise<readonly ServedResource[]> {
    return discover(this.#transport, () => this.#count("discover"), signal);
  }

  openApi(apiVersions: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, OpenApiAnswer>> {
    return this.#openApi.read(apiVersions, signal);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #write(
    verb: string,
    target: ResourceTarget,
    name: string | undefined,
    options: PatchOptions,
    request: Pick<KubeRequest, "method" | "body" | "contentType">,
  ): Promise<KubeObject> {
    this.#count(verb);
    const { subresource } = options;
    const resource = subresource === undefined ? target.resource : `${target.resource}/${subresource}`;
    this.counters.writes[resource] = (this.counters.writes[resource] ?? 0) + 1;
    return this.#object({
      ...request,
      path: resourcePath(target, name, subresource),
      query: {
        fieldManager: request.method === "DELETE" ? undefined : (options.fieldManager ?? FIELD_MANAGER),
        force: options.force,
        dryRun: options.dryRun === true ? "All" : undefined,
      },
      signal: options.signal,
      what: `${verb} ${objectName(target, name ?? (request.body as KubeObject).metadata.name, subresource)}`,
    });
  }

  async #object(request: KubeRequest): Promise<KubeObject> {
    return (await this.#transport.json(request)).body as KubeObject;
  }

  #count(verb: string): void {
    this.counters.requests[verb] = (this.counters.requests[verb] ?? 0) + 1;
  }
}
