/** All aliases of one configuration, read together. */
import type { ObjectStore, StoreVersion } from "./object-store.ts";
import type { AliasView, KubeObject, StoreChange, StoreSnapshot } from "./types.ts";

class View implements AliasView {
  readonly alias: string;
  readonly apiVersion: string;
  readonly version: StoreVersion;

  constructor(alias: string, apiVersion: string, version: StoreVersion) {
    this.alias = alias;
    this.apiVersion = apiVersion;
    this.version = version;
  }

  get revision(): number {
    return this.version.revision;
  }

  get size(): number {
    return this.version.size;
  }

  list(): readonly KubeObject[] {
    return this.version.list();
  }

  fetch(keys: readonly string[]): readonly KubeObject[] {
    return this.version.fetch(keys);
  }

  get(id: string): KubeObject | undefined {
    return this.version.get(id);
  }
}

class Snapshot implements StoreSnapshot {
  readonly revision: number;
  readonly #views: ReadonlyMap<string, View>;

  constructor(revision: number, views: ReadonlyMap<string, View>) {
    this.revision = revision;
    this.#views = views;
  }

  aliases(): readonly string[] {
    return [...this.#views.keys()];
  }

  alias(name: string): AliasView | undefined {
    return this.#views.get(name);
  }

  changesSince(older: StoreSnapshot): readonly StoreChange[] | undefined {
    if (older === this) return [];
    if (!(older instanceof Snapshot) || older.#views.size !== this.#views.size) return undefined;
    const all: StoreChange[] = [];
    for (const [alias, view] of this.#views) {
      const before = older.#views.get(alias);
      const changes = before === undefined ? undefined : view.version.changesSince(before.version);
      if (changes === undefined) return undefined;
      for (const { id, before: from, after } of changes) all.push({ alias, id, before: from, after });
    }
    return all;
  }
}

/**
 * Stores by alias. A store may be in several sets (two configurations that watch the same things share it), so the set has
 * no revision of its own: it is the sum of its stores', which grows with each change of any.
 */
export class StoreSet {
  readonly #stores = new Map<string, ObjectStore>();
  #views = new Map<string, View>();
  #offset = 0;
  #snapshot: Snapshot | undefined;

  /** Puts a store under an alias, in the place of the one that was there. */
  attach(alias: string, store: ObjectStore): void {
    this.#recompose(() => this.#stores.set(alias, store));
  }

  detach(alias: string): void {
    this.#recompose(() => this.#stores.delete(alias));
  }

  store(alias: string): ObjectStore | undefined {
    return this.#stores.get(alias);
  }

  get revision(): number {
    let sum = this.#offset;
    for (const store of this.#stores.values()) sum += store.revision;
    return sum;
  }

  /** The present content of every alias; the same snapshot as long as nothing changed. */
  snapshot(): StoreSnapshot {
    const revision = this.revision;
    if (this.#snapshot?.revision === revision) return this.#snapshot;
    const views = new Map<string, View>();
    for (const [alias, store] of this.#stores) {
      const version = store.version();
      const old = this.#views.get(alias);
      views.set(alias, old?.version === version ? old : new View(alias, store.apiVersion, version));
    }
    this.#views = views;
    return (this.#snapshot = new Snapshot(revision, views));
  }

  #recompose(change: () => void): void {
    const before = this.revision;
    change();
    // Whatever the new sum is, the revision has to grow.
    this.#offset += before + 1 - this.revision;
    this.#snapshot = undefined;
  }
}

/** An empty set, or one with these stores. */
export function createStoreSet(stores: Iterable<readonly [alias: string, store: ObjectStore]> = []): StoreSet {
  const set = new StoreSet();
  for (const [alias, store] of stores) set.attach(alias, store);
  return set;
}
