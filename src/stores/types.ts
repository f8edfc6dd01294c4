/** Shapes that the stores share with render and controller. Pure data: nothing here knows a Kubernetes client. */

/** Any Kubernetes object as the API server sent it, frozen and trimmed; plain JSON. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

/** What a store must know of its `watchedResources` entry (see HAProxyTemplateConfig.spec.watchedResources). */
export interface StoreOptions {
  readonly alias: string;
  /** JSONPath expressions; the composite key of an object, in this order. At least one. */
  readonly indexBy: readonly string[];
  /** JSONPath expressions removed before indexing (watchedResourcesIgnoreFields plus the entry's own). */
  readonly ignoreFields: readonly string[];
  /** Client-side equality `path=value`; "" = everything. */
  readonly fieldSelector: string;
}

/** One object that differs between two snapshots of an alias. */
export interface StoreChange {
  readonly alias: string;
  /** `namespace/name` (or `/name` of a cluster-scoped object). */
  readonly id: string;
  /** The object's index key before the change; undefined when it was not in the store. */
  readonly before: readonly string[] | undefined;
  /** The object's index key after the change; undefined when it left the store. */
  readonly after: readonly string[] | undefined;
}

/** Read side of one alias at one revision. Immutable: later writes to the store are not seen. */
export interface AliasView {
  readonly alias: string;
  /** Grows with each effective change of this alias. */
  readonly revision: number;
  readonly size: number;
  /** Resolved `group/version` that the watch uses, e.g. `networking.k8s.io/v1`. */
  readonly apiVersion: string;
  /** Every object, ordered by index key, then by namespace/name. Not to be modified. The same array for the same revision. */
  list(): readonly KubeObject[];
  /** Objects whose index key begins with `keys` (1 ≤ keys.length ≤ indexBy.length), in the same order; none = []. */
  fetch(keys: readonly string[]): readonly KubeObject[];
  /** The object with this `namespace/name` id. */
  get(id: string): KubeObject | undefined;
}

/** All aliases at one instant. Making one copies and sorts nothing. */
export interface StoreSnapshot {
  /** Grows with each effective change of any alias. */
  readonly revision: number;
  aliases(): readonly string[];
  alias(name: string): AliasView | undefined;
  /**
   * Objects that differ between `older` (a snapshot of the same set) and this one, each once; undefined when the change
   * log no longer reaches back that far, which means: compare nothing, render everything.
   */
  changesSince(older: StoreSnapshot): readonly StoreChange[] | undefined;
}
