/**
 * What has to run: instances of incremental snippets and roots, invalidated by what changed between two snapshots. An
 * instance or root that is not marked holds exactly what a run on the present snapshot would give, also after a render that
 * was given up halfway: marks stay until the run that answers them has ended.
 */
import { canonicalJson, objectName } from "../plan/index.ts";
import type { KubeObject, StoreChange, StoreSnapshot } from "../stores/types.ts";
import type { ReadIndex, Unit } from "./reads.ts";
import { PODS } from "./stores-host.ts";
import type { RenderContext } from "./types.ts";
import { Instance, type Root } from "./unit.ts";

export interface IncrementalSource {
  readonly snippet: string;
  readonly source: string;
  readonly effects: ReadonlySet<string>;
}

export class Graph {
  /** Instances to run. */
  readonly pending = new Set<Instance>();
  /** Instances whose object left, until assembly has taken them out. */
  gone: Instance[] = [];
  readonly faulty = new Set<Instance>();
  readonly #sources: readonly IncrementalSource[];
  readonly #instances: ReadonlyMap<string, Map<string, Instance>>;
  readonly #roots: readonly Root[];
  readonly #reads: ReadIndex;
  #snapshot: StoreSnapshot | undefined;
  /** What is looked at; undefined = none of the snapshot's. */
  #change: StoreChange | undefined;
  /** Kinds of objects that were seen, by alias: an object that is gone says nothing of itself. */
  readonly #kinds = new Map<string, string>();
  #podsRevision: number | undefined;
  #capabilities = "";
  /** The object that `#capabilities` is the text of. */
  #capabilitiesOf: RenderContext["capabilities"] | undefined;
  #mode = "";

  constructor(sources: readonly IncrementalSource[], roots: readonly Root[], reads: ReadIndex) {
    this.#sources = sources;
    this.#roots = roots;
    this.#reads = reads;
    this.#instances = new Map(sources.map(({ snippet }) => [snippet, new Map<string, Instance>()]));
  }

  /** Marks what the new context invalidates. */
  advance(context: RenderContext): void {
    const { snapshot } = context;
    const capabilities =
      context.capabilities === this.#capabilitiesOf ? this.#capabilities : canonicalJson(context.capabilities);
    const changes = this.#snapshot === undefined ? undefined : snapshot.changesSince(this.#snapshot);
    const fresh = changes === undefined || capabilities !== this.#capabilities || context.renderMode !== this.#mode;
    if (fresh) {
      this.#markAll(snapshot);
    } else {
      for (const change of changes) {
        const object = snapshot.alias(change.alias)?.get(change.id);
        if (object !== undefined) this.#kinds.set(change.alias, object.kind);
        this.#change = change;
        for (const source of this.#sources) if (source.source === change.alias) this.#item(source, change.id, object);
        this.#reads.affected(change, this.#mark);
      }
      this.#change = undefined;
      if (context.haproxyPods?.revision !== this.#podsRevision) this.#reads.affectedByAny(PODS, this.#mark);
    }
    this.#snapshot = snapshot;
    this.#podsRevision = context.haproxyPods?.revision;
    this.#capabilities = capabilities;
    this.#capabilitiesOf = context.capabilities;
    this.#mode = context.renderMode;
  }

  instances(snippet: string): Iterable<Instance> {
    return this.#instances.get(snippet)?.values() ?? [];
  }

  effects(snippet: string): ReadonlySet<string> {
    return this.#sources.find((source) => source.snippet === snippet)?.effects ?? new Set();
  }

  get size(): number {
    let size = 0;
    for (const instances of this.#instances.values()) size += instances.size;
    return size;
  }

  /** Without its object an instance is nothing. */
  readonly #mark = (unit: Unit): void => {
    if (unit instanceof Instance) this.pending.add(unit);
    else this.#unclean(unit as Root);
  };

  #unclean(root: Root): void {
    root.clean = false;
    root.causes.add(
      this.#change === undefined
        ? "the HAProxy pods"
        : objectName(this.#kinds.get(this.#change.alias) ?? this.#change.alias, this.#change.id),
    );
  }

  #markAll(snapshot: StoreSnapshot): void {
    for (const root of this.#roots) {
      root.clean = false;
      root.causes.lose();
    }
    for (const source of this.#sources) {
      const instances = this.#instances.get(source.snippet) as Map<string, Instance>;
      const ids = new Set<string>();
      for (const object of snapshot.alias(source.source)?.list() ?? []) {
        const id = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
        ids.add(id);
        this.#item(source, id, object);
      }
      for (const id of instances.keys()) if (!ids.has(id)) this.#item(source, id, undefined);
    }
  }

  #item(source: IncrementalSource, id: string, item: KubeObject | undefined): void {
    const instances = this.#instances.get(source.snippet) as Map<string, Instance>;
    let instance = instances.get(id);
    if (item === undefined) {
      if (instance === undefined) return;
      instances.delete(id);
      this.pending.delete(instance);
      this.faulty.delete(instance);
      this.#reads.release(instance);
      this.gone.push(instance);
      for (const root of this.#roots) if (root.inlined.has(source.snippet)) this.#unclean(root);
      return;
    }
    if (instance === undefined) {
      instance = new Instance(source.snippet, source.source, id, item);
      instances.set(id, instance);
    }
    instance.item = item;
    this.pending.add(instance);
  }
}
