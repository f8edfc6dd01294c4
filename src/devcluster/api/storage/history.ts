/** The last changes of one resource: what a watch from an older resourceVersion and a page of an older list are made of. */
import type { Change, StoredVersion } from "./record.ts";

export class History {
  readonly #capacity: number;
  #changes: Change[] = [];
  #start = 0;
  /** The oldest revision that can still be read: everything after it is known. */
  #floor: number;

  constructor(capacity: number, floor: number) {
    this.#capacity = capacity;
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length - this.#start <= this.#capacity) return;
    this.#floor = (this.#changes[this.#start] as Change).revision;
    this.#start++;
    if (this.#start > this.#capacity) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Forgets everything up to `revision`. */
  expire(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
    this.#changes = this.#changes.slice(this.#firstAfter(revision));
    this.#start = 0;
  }

  /** Changes after `revision` in order; undefined when they are not all known any more. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#floor) return undefined;
    return this.#changes.slice(this.#firstAfter(revision));
  }

  /** The records as they were at `revision`, made from those of now. */
  rollBack(records: readonly StoredVersion[], revision: number): readonly StoredVersion[] | undefined {
    const changes = this.since(revision);
    if (changes === undefined) return undefined;
    if (changes.length === 0) return records;
    // only the oldest state after `revision` counts for each key
    const before = new Map<string, StoredVersion | undefined>();
    for (const change of changes) if (!before.has(change.after.key)) before.set(change.after.key, change.before);
    const kept = records.filter((record) => !before.has(record.key));
    for (const record of before.values()) if (record !== undefined) kept.push(record);
    kept.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return kept;
  }

  #firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
