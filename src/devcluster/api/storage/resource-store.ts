/** All objects of one resource (in whatever versions it is served), their history and those who watch them. */
import type { ApiObject } from "../objects.ts";
import { History } from "./history.ts";
import { storedVersion } from "./record.ts";
import type { Change, StoredVersion } from "./record.ts";
import { SortedRecords } from "./sorted-records.ts";

export type ChangeListener = (change: Change) => void;

/** Gives each write its revision: one counter for all resources. */
export interface RevisionSource {
  next(): number;
  current(): number;
}

export class ResourceStore {
  readonly #revisions: RevisionSource;
  readonly #byKey = new Map<string, StoredVersion>();
  readonly #sorted = new SortedRecords();
  readonly #listeners = new Set<ChangeListener>();
  readonly #closers = new Set<() => void>();
  readonly history: History;

  constructor(revisions: RevisionSource, historyCapacity: number) {
    this.#revisions = revisions;
    this.history = new History(historyCapacity, 0);
  }

  get size(): number {
    return this.#byKey.size;
  }

  get revision(): number {
    return this.#revisions.current();
  }

  get(key: string): StoredVersion | undefined {
    return this.#byKey.get(key);
  }

  /** All records in the order of keys: a snapshot that later writes leave alone. */
  records(): readonly StoredVersion[] {
    return this.#sorted.snapshot();
  }

  /** Stores a new version under `key`; `object` gets its resourceVersion here and is not to be changed afterwards. */
  put(key: string, object: ApiObject): StoredVersion {
    const before = this.#byKey.get(key);
    const revision = this.#revisions.next();
    object.metadata.resourceVersion = String(revision);
    const after = storedVersion(key, object, revision);
    this.#byKey.set(key, after);
    this.#sorted.set(after);
    this.#emit({ revision, before, after, deleted: false, encodings: new Map() });
    return after;
  }

  /** Removes an object; `last` is its final state (default: the stored one). Returns what watchers are told. */
  remove(key: string, last?: ApiObject): StoredVersion | undefined {
    const before = this.#byKey.get(key);
    if (before === undefined) return undefined;
    const revision = this.#revisions.next();
    const object = last ?? before.object;
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    const after = storedVersion(key, gone, revision);
    this.#byKey.delete(key);
    this.#sorted.delete(key);
    this.#emit({ revision, before, after, deleted: true, encodings: new Map() });
    return after;
  }

  /** Calls `listener` for each later change, in order, within the write. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` when the resource stops to exist (its definition was deleted). */
  onClose(listener: () => void): () => void {
    this.#closers.add(listener);
    return () => this.#closers.delete(listener);
  }

  close(): void {
    for (const closer of this.#closers) closer();
  }

  #emit(change: Change): void {
    this.history.push(change);
    for (const listener of this.#listeners) listener(change);
  }
}
