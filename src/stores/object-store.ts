/** The full store of one watched resource: trimmed, indexed, frozen objects in immutable versions. */
import { ChangeLog } from "./change-log.ts";
import { deepFreeze, sameContent } from "./content.ts";
import { parseFieldSelector, scalarText, type FieldSelector } from "./field-selector.ts";
import { firstValue, parseJsonPath, withoutPath, type JsonPath } from "./json-path.ts";
import { OrderedTree, type TreeVersion } from "./ordered-tree.ts";
import type { KubeObject, StoreChange, StoreOptions } from "./types.ts";

/** How many changes `changesSince` reaches back, at least. */
export const CHANGE_LOG_LIMIT = 32_768;

/** `namespace/name`; `/name` for a cluster-scoped object. */
export function objectId(object: {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

/**
 * Encodes one part of a key so that comparing encoded keys, each part ended by NUL, equals comparing part by part. A value
 * may hold NUL itself (an annotation may), so NUL and the escape character are escaped.
 */
function encodePart(part: string): string {
  // oxlint-disable-next-line no-control-regex -- exactly these two control characters carry the encoding
  return `${/[\u0000\u0001]/.test(part) ? part.replace(/\u0001/g, "\u0001\u0002").replace(/\u0000/g, "\u0001\u0001") : part}\u0000`;
}

const encodeKeys = (keys: readonly string[]): string => {
  let encoded = "";
  for (const key of keys) encoded += encodePart(key);
  return encoded;
};

/** An object's place in the order: the encoded index key, then namespace and name. */
const placeOf = (keys: readonly string[], { metadata }: KubeObject): string =>
  encodeKeys(keys) + encodePart(metadata.namespace ?? "") + encodePart(metadata.name);

/** One revision of a store. Immutable. */
export class StoreVersion {
  readonly revision: number;
  readonly size: number;
  readonly #store: ObjectStore;
  readonly #ordered: TreeVersion<KubeObject>;
  readonly #places: TreeVersion<string>;
  #list: readonly KubeObject[] | undefined;

  constructor(store: ObjectStore, revision: number, ordered: TreeVersion<KubeObject>, places: TreeVersion<string>) {
    this.#store = store;
    this.revision = revision;
    this.size = ordered.size;
    this.#ordered = ordered;
    this.#places = places;
  }

  /** All objects by index key, then id; made once a version, never sorted. */
  list(): readonly KubeObject[] {
    return (this.#list ??= this.#ordered.values());
  }

  fetch(keys: readonly string[]): readonly KubeObject[] {
    if (keys.length === 0 || keys.length > this.#store.indexBy.length) return [];
    return this.#ordered.withPrefix(encodeKeys(keys));
  }

  get(id: string): KubeObject | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#ordered.get(place);
  }

  /** Objects that differ from `older`; undefined when that is not known (another store, or too long ago). */
  changesSince(older: StoreVersion): Omit<StoreChange, "alias">[] | undefined {
    if (older === this) return [];
    if (older.#store !== this.#store) return undefined;
    const logged = this.#store.log.between(older.revision, this.revision);
    if (logged === undefined) return undefined;
    const changes: Omit<StoreChange, "alias">[] = [];
    for (const change of logged.values()) {
      // An object may have come and gone, or be what it was again.
      if (change.before === undefined && change.after === undefined) continue;
      const before = older.get(change.id);
      const after = this.get(change.id);
      if (before === undefined || after === undefined || !sameContent(before, after)) changes.push(change);
    }
    return changes;
  }
}

/**
 * Takes the objects of one list+watch. Writes are O(log n); `version()` is O(1). An object that does not match the field
 * selector, or lacks an indexed field, is not in the store; it leaves the store when it comes to be so.
 */
export class ObjectStore {
  readonly apiVersion: string;
  readonly indexBy: readonly string[];
  /** For StoreVersion only. */
  readonly log: ChangeLog;
  readonly #index: readonly JsonPath[];
  readonly #ignored: readonly JsonPath[];
  readonly #selector: FieldSelector;
  /** By id. Keys and places are read from them: kept for each of 30,000 objects they are megabytes. */
  readonly #objects = new Map<string, KubeObject>();
  readonly #ordered = new OrderedTree<KubeObject>();
  readonly #places = new OrderedTree<string>();
  readonly #unindexed = new Map<string, string>();
  #version: StoreVersion | undefined;
  #handedOut = false;
  /** Ids seen since beginReplace(). */
  #seen: Set<string> | undefined;

  /** Throws JsonPathError for an expression that is not of the supported form. */
  constructor(options: Omit<StoreOptions, "alias">, apiVersion: string, logLimit = CHANGE_LOG_LIMIT) {
    this.apiVersion = apiVersion;
    this.indexBy = options.indexBy;
    this.log = new ChangeLog(logLimit);
    this.#index = options.indexBy.map(parseJsonPath);
    this.#ignored = options.ignoreFields.map(parseJsonPath);
    this.#selector = parseFieldSelector(options.fieldSelector);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Grows by one with each effective change. */
  get revision(): number {
    return this.log.revision;
  }

  /** Objects kept out because an indexed field has no value: id → the first such expression. */
  get unindexed(): ReadonlyMap<string, string> {
    return this.#unindexed;
  }

  /** The present content for good. */
  version(): StoreVersion {
    this.#handedOut = true;
    return (this.#version ??= new StoreVersion(this, this.revision, this.#ordered.version(), this.#places.version()));
  }

  /**
   * Takes an added or modified object over: what remains of it after trimming is frozen. Returns whether the content of the
   * store changed; a change of ignored fields or of `metadata.resourceVersion` alone is none (the object already held stays).
   */
  upsert(object: KubeObject): boolean {
    const id = objectId(object);
    this.#seen?.add(id);
    if (!this.#selector.matches(object)) {
      this.#unindexed.delete(id);
      return this.#drop(id);
    }
    let kept = object;
    for (const path of this.#ignored) kept = withoutPath(kept, path);
    const old = this.#objects.get(id);
    if (old !== undefined && sameContent(old, kept)) return false;
    const keys = this.#keysOf(kept);
    const lacking = keys.indexOf(undefined);
    if (lacking >= 0) {
      this.#unindexed.set(id, this.#index[lacking]!.text);
      return this.#drop(id);
    }
    if (this.#unindexed.size > 0) this.#unindexed.delete(id);
    const after = keys as readonly string[];
    const place = placeOf(after, kept);
    const before = old && (this.#keysOf(old) as readonly string[]);
    const oldPlace = old && placeOf(before!, old);
    if (oldPlace !== place) {
      if (oldPlace !== undefined) this.#ordered.delete(oldPlace);
      this.#places.set(id, place);
    }
    this.#ordered.set(place, deepFreeze(kept));
    this.#objects.set(id, kept);
    this.#changed(id, before, oldPlace === place ? before : after);
    return true;
  }

  /** Takes a deleted object out. Returns whether it was there. */
  remove(object: { readonly metadata: { readonly name: string; readonly namespace?: string } }): boolean {
    const id = objectId(object);
    this.#unindexed.delete(id);
    return this.#drop(id);
  }

  /** Begins a new full list. What is in the store stays visible; a list that broke off is simply begun again. */
  beginReplace(): void {
    this.#seen = new Set();
  }

  /** Takes a page of the list. Returns the number of effective changes. */
  page(objects: readonly KubeObject[]): number {
    let changes = 0;
    for (const object of objects) if (this.upsert(object)) changes++;
    return changes;
  }

  /** Ends the list: objects that it did not hold are taken out. Returns how many. */
  endReplace(): number {
    const seen = this.#seen;
    this.#seen = undefined;
    if (seen === undefined) return 0;
    let changes = 0;
    for (const id of this.#unindexed.keys()) if (!seen.has(id)) this.#unindexed.delete(id);
    for (const id of this.#objects.keys()) if (!seen.has(id) && this.#drop(id)) changes++;
    return changes;
  }

  /** The index key; undefined in the place of a field that has no value. */
  #keysOf(object: KubeObject): (string | undefined)[] {
    return this.#index.map((path) => scalarText(firstValue(path, object)));
  }

  #drop(id: string): boolean {
    const old = this.#objects.get(id);
    if (old === undefined) return false;
    const keys = this.#keysOf(old) as readonly string[];
    const place = placeOf(keys, old);
    this.#objects.delete(id);
    this.#ordered.delete(place);
    this.#places.delete(id);
    this.#changed(id, keys, undefined);
    return true;
  }

  #changed(id: string, before: readonly string[] | undefined, after: readonly string[] | undefined): void {
    this.#version = undefined;
    if (this.#handedOut) this.log.append({ id, before, after });
    else this.log.skip();
  }
}
