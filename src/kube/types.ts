/** Public shapes of Kubernetes I/O. */
import type { Observable } from "rxjs";
import type { KubeObject } from "../stores/types.ts";

export interface ResourceTarget {
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  /** Plural: `ingresses`. */
  readonly resource: string;
  /** Absent = all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string;
}

export interface WatchOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects a page; default 100, with a yield between pages. */
  readonly pageSize?: number;
  /** Watch considered dead when nothing (not even a bookmark) came for so long; default 90 s (bookmarks come each 60 s). */
  readonly idleLimitMs?: number;
}

export interface ListOptions extends WatchOptions {
  /** Objects come without spec, status and data. */
  readonly metadataOnly?: boolean;
}

/** What a list+watch tells. Between RELIST and SYNCED come PAGEs with the full content; afterwards single changes. */
export type WatchSignal =
  | { readonly type: "RELIST"; readonly reason: "start" | "expired" | "stale" }
  | { readonly type: "PAGE"; readonly objects: readonly KubeObject[] }
  | { readonly type: "SYNCED"; readonly resourceVersion: string }
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  /** Nothing was missed up to this version. Also told once when a watch goes on after a FAULT. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string }
  /** The stream goes on by itself after `retryInMs`; the objects known so far stay valid. */
  | { readonly type: "FAULT"; readonly error: Error; readonly retryInMs: number };

export interface PatchOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
}

/** A group version's OpenAPI v3 document as parsed, or why there is none. */
export type OpenApiAnswer = { readonly document: unknown } | { readonly missing: string };

/** Errors are KubeError (HAPTIC_E_KUBE_…) with `status` (0 = no answer) and the Status `reason`. */
export interface KubeClient {
  get(target: ResourceTarget, name: string, signal?: AbortSignal): Promise<KubeObject>;
  list(
    target: ResourceTarget,
    options?: ListOptions,
    signal?: AbortSignal,
  ): Promise<{ items: KubeObject[]; resourceVersion: string }>;
  create(target: ResourceTarget, object: KubeObject, options?: PatchOptions): Promise<KubeObject>;
  /** PUT; carries the object's resourceVersion (compare-and-swap). */
  replace(target: ResourceTarget, object: KubeObject, options?: PatchOptions): Promise<KubeObject>;
  mergePatch(target: ResourceTarget, name: string, patch: unknown, options?: PatchOptions): Promise<KubeObject>;
  /** Server-side apply. `fieldManager` is required (default `haptic`). */
  apply(target: ResourceTarget, object: KubeObject, options?: PatchOptions): Promise<KubeObject>;
  delete(
    target: ResourceTarget,
    name: string,
    options?: { uid?: string; resourceVersion?: string; signal?: AbortSignal },
  ): Promise<void>;
  /** Never errors and never completes; unsubscribe to end it. Cold: each subscription is a watch of its own. */
  listWatch(target: ResourceTarget, options?: WatchOptions): Observable<WatchSignal>;
  /** Everything the server serves now (aggregated discovery with fallback). */
  discover(signal?: AbortSignal): Promise<readonly ServedResource[]>;
  /**
   * What the server's OpenAPI says of these group versions (`v1`, `group/version`); the same document object as long as the server
   * names the same hash. Rejects when aborted only.
   */
  openApi(apiVersions: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, OpenApiAnswer>>;
  /** Counts of requests by verb and of writes, for `/debug/vars`. */
  readonly counters: {
    readonly requests: Readonly<Record<string, number>>;
    readonly writes: Readonly<Record<string, number>>;
  };
  close(): Promise<void>;
}
