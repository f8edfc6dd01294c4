/** What changed at each revision of a store, as far back as the bound reaches. */

export interface LoggedChange {
  readonly id: string;
  readonly before: readonly string[] | undefined;
  readonly after: readonly string[] | undefined;
}

/** Revision r is the r-th effective change; the log holds those after `base`. */
export class ChangeLog {
  #entries: LoggedChange[] = [];
  #base = 0;
  #length = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The newest revision. */
  get revision(): number {
    return this.#length;
  }

  /** Notes the change that makes the next revision. */
  append(change: LoggedChange): void {
    this.#length++;
    this.#entries.push(change);
    // Cutting only when twice the bound is there makes a write's share constant.
    if (this.#entries.length > 2 * this.#limit) {
      this.#entries.splice(0, this.#entries.length - this.#limit);
      this.#base = this.#length - this.#limit;
    }
  }

  /** Counts a change that nobody can ask about, since no version was handed out before it. */
  skip(): void {
    this.#length++;
    this.#entries = [];
    this.#base = this.#length;
  }

  /**
   * The changes after revision `from` up to `to`, one an object: `before` of its first, `after` of its last. Undefined when
   * the log does not reach back to `from`.
   */
  between(from: number, to: number): Map<string, LoggedChange> | undefined {
    if (from < this.#base || to > this.#length || from > to) return undefined;
    const changes = new Map<string, LoggedChange>();
    for (let i = from - this.#base; i < to - this.#base; i++) {
      const change = this.#entries[i]!;
      const earlier = changes.get(change.id);
      changes.set(change.id, earlier === undefined ? change : { ...change, before: earlier.before });
    }
    return changes;
  }
}
