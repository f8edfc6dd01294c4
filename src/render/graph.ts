/**
 * What has to run: instances of incremental snippets and roots, invalidated by what changed between two snapshots. An
 * instance or root that is not marked holds exactly what a run on the present snapshot would give, also after a render that
 * was given up halfway: marks stay until the run that answers them has ended.
 */
import { canonicalJson } from "../plan/index.ts";
import type { KubeObject, StoreSnapshot } from "../stores/types.ts";
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
        for (const source of this.#sources)
          if (source.source === change.alias)
            this.#item(source, change.id, snapshot.alias(change.alias)?.get(change.id));
        this.#reads.affected(change, this.#mark);
      }
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
    else (unit as Root).clean = false;
  };

  #markAll(snapshot: StoreSnapshot): void {
    for (const root of this.#roots) root.clean = false;
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
      for (const root of this.#roots) if (root.inlined.has(source.snippet)) root.clean = false;
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
