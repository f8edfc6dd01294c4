/**
 * Who read what. Each unit (a component's instance, a root) holds the entries that its last run read, also those that
 * found nothing; each entry holds its readers. A changed object invalidates the readers of its list and of every prefix of
 * its key, before and after the change.
 */
import type { StoreChange } from "../stores/types.ts";

/** Something with reads: runs again when one of them changes. */
export interface Unit {
  reads: ReadEntry[];
}

export interface ReadEntry {
  /** Serial of the run that noted this entry last: a run notes each entry once. */
  stamp: number;
  /** One reader alone is by far the most common case. */
  readers: Unit | Set<Unit> | undefined;
  readonly key: string;
}

const SEPARATOR = "\u0000";
const LIST = "\u0001";

export class ReadIndex {
  readonly #entries = new Map<string, ReadEntry>();
  #serial = 0;
  #current: ReadEntry[] = [];

  /** Begins a run. Runs do not overlap. */
  begin(): void {
    this.#serial++;
    this.#current = [];
  }

  /** Notes that the present run read all objects of an alias. */
  list(alias: string): void {
    this.#note(alias + LIST);
  }

  /** Notes that the present run asked for objects whose key begins with `keys`. */
  keys(alias: string, keys: readonly string[]): void {
    // Joined, not added: a sum keeps its parts, four times what it says.
    this.#note([alias, ...keys].join(SEPARATOR));
  }

  /** Ends a run: from now on the unit depends on what this run read. */
  commit(unit: Unit): void {
    this.release(unit, this.#serial);
    // A copy takes the room of what it holds; a list that grew has room for 17.
    unit.reads = this.#current.slice();
    for (const entry of unit.reads) {
      if (entry.readers === undefined || entry.readers === unit) entry.readers = unit;
      else if (entry.readers instanceof Set) entry.readers.add(unit);
      else entry.readers = new Set([entry.readers, unit]);
    }
    this.#current = [];
  }

  /** Ends a run that is given up: nothing depends on what it read. */
  abandon(): void {
    for (const entry of this.#current) if (entry.readers === undefined) this.#entries.delete(entry.key);
    this.#current = [];
  }

  /** The unit depends on nothing any more. Entries stamped `keep` stay in the index even without readers. */
  release(unit: Unit, keep = -1): void {
    for (const entry of unit.reads) {
      if (entry.readers instanceof Set) {
        entry.readers.delete(unit);
        if (entry.readers.size === 0) entry.readers = undefined;
      } else if (entry.readers === unit) {
        entry.readers = undefined;
      }
      if (entry.readers === undefined && entry.stamp !== keep) this.#entries.delete(entry.key);
    }
    unit.reads = [];
  }

  /** Units that read something which this change touches. */
  affected(change: StoreChange, found: (unit: Unit) => void): void {
    this.#readers(change.alias + LIST, found);
    if (change.before !== undefined) this.#prefixes(change.alias, change.before, found);
    if (change.after !== undefined) this.#prefixes(change.alias, change.after, found);
  }

  /** Units that read the list of an alias or asked it for any key, where single changes are not known. */
  affectedByAny(alias: string, found: (unit: Unit) => void): void {
    for (const key of this.#entries.keys()) {
      if (key === alias + LIST || key.startsWith(alias + SEPARATOR)) this.#readers(key, found);
    }
  }

  #prefixes(alias: string, keys: readonly string[], found: (unit: Unit) => void): void {
    let key = alias;
    for (const part of keys) {
      key += SEPARATOR + part;
      this.#readers(key, found);
    }
  }

  #readers(key: string, found: (unit: Unit) => void): void {
    const readers = this.#entries.get(key)?.readers;
    if (readers === undefined) return;
    if (readers instanceof Set) for (const unit of readers) found(unit);
    else found(readers);
  }

  #note(key: string): void {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { stamp: 0, readers: undefined, key };
      this.#entries.set(key, entry);
    }
    if (entry.stamp === this.#serial) return;
    entry.stamp = this.#serial;
    this.#current.push(entry);
  }
}
