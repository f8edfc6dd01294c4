/**
 * The versions of one resource in the order of their keys. A write costs a binary search and one move of pointers; the
 * array handed out is never changed afterwards (the next write copies it first), so that pages and watches may keep it.
 */
import type { StoredVersion } from "./record.ts";

/** Index of the first record whose key is not smaller than `key`. */
export function lowerBound(records: readonly StoredVersion[], key: string): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle] as StoredVersion).key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index range of the records of `namespace`; everything for undefined. */
export function rangeOf(records: readonly StoredVersion[], namespace: string | undefined): [number, number] {
  if (namespace === undefined) return [0, records.length];
  // "0" follows "/": the first key behind all keys that begin with `namespace/`
  return [lowerBound(records, `${namespace}/`), lowerBound(records, `${namespace}0`)];
}

export class SortedRecords {
  #records: StoredVersion[] = [];
  #shared = false;

  /** All records; stays as it is when others are written. */
  snapshot(): readonly StoredVersion[] {
    this.#shared = true;
    return this.#records;
  }

  set(record: StoredVersion): void {
    const records = this.#own();
    const index = lowerBound(records, record.key);
    if (records[index]?.key === record.key) records[index] = record;
    else records.splice(index, 0, record);
  }

  delete(key: string): void {
    const records = this.#own();
    const index = lowerBound(records, key);
    if (records[index]?.key === key) records.splice(index, 1);
  }

  #own(): StoredVersion[] {
    if (this.#shared) this.#records = this.#records.slice();
    this.#shared = false;
    return this.#records;
  }
}
