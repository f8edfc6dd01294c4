/**
 * Kubernetes Events that are to be written: warnings that stand, each told once, and the answer when one does not stand any more.
 * Identical tuples (object, reason, message) are one Event. No I/O.
 */
import type { EventSubject } from "../kube/index.ts";

export interface Warning {
  readonly object: EventSubject;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

export interface EventWrite extends Warning {
  readonly type: "Warning" | "Normal";
}

/** Bound of what may wait; more is dropped, the newest first, and counted. */
const MAX_WAITING = 1_000;

const keyOf = ({ object, reason, message }: Warning): string =>
  [object.apiVersion, object.kind, object.namespace, object.name, object.uid, reason, message].join("\u0000");

export class EventLedger {
  readonly #standing = new Map<string, ReadonlyMap<string, Warning>>();
  readonly #waiting: EventWrite[] = [];
  /** What is said once, of what waits. */
  readonly #notes = new WeakSet<EventWrite>();
  readonly #answerReason: string;
  dropped = 0;

  /** `answerReason` is the reason of the Normal Event that answers a warning. */
  constructor(answerReason = "Resolved") {
    this.#answerReason = answerReason;
  }

  /** All warnings of a source that stand now; those that it does not name again are answered. */
  state(source: string, warnings: readonly Warning[], answerReason = this.#answerReason): void {
    const before = this.#standing.get(source);
    if (warnings.length === 0 && before === undefined) return;
    const after = new Map(warnings.map((warning) => [keyOf(warning), warning]));
    for (const [key, warning] of after) if (before?.has(key) !== true) this.#queue("Warning", warning);
    const still = new Set(
      [...after.values()].map(({ object, reason }) => `${object.uid} ${object.namespace}/${object.name} ${reason}`),
    );
    for (const [key, { object, reason, message }] of before ?? []) {
      // A warning of the same reason with another text took its place: it is not mended.
      if (after.has(key) || still.has(`${object.uid} ${object.namespace}/${object.name} ${reason}`)) continue;
      this.#queue("Normal", { object, reason: answerReason, message: `${reason} is mended: ${message}` });
    }
    if (after.size === 0) this.#standing.delete(source);
    else this.#standing.set(source, after);
  }

  /** Whether the source has a warning that stands. */
  stands(source: string): boolean {
    return this.#standing.has(source);
  }

  /** Something that is said once. */
  note(warning: Warning): void {
    const write = this.#queue("Normal", warning);
    if (write !== undefined) this.#notes.add(write);
  }

  /**
   * A term begins. What came and went before it was another's to tell; what stands now is told once more, as nobody knows whether it
   * was. `keepNotes`: nobody else said what waits to be said once.
   */
  beginTerm(keepNotes: boolean): void {
    const notes = keepNotes ? this.#waiting.filter((write) => this.#notes.has(write)) : [];
    this.#waiting.length = 0;
    this.#waiting.push(...notes);
    for (const warnings of this.#standing.values())
      for (const warning of warnings.values()) this.#queue("Warning", warning);
  }

  get hasWork(): boolean {
    return this.#waiting.length > 0;
  }

  /** The oldest that waits; stays until `done`. */
  next(): EventWrite | undefined {
    return this.#waiting[0];
  }

  done(write: EventWrite): void {
    const index = this.#waiting.indexOf(write);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #queue(type: EventWrite["type"], warning: Warning): EventWrite | undefined {
    if (this.#waiting.length >= MAX_WAITING) {
      this.dropped += 1;
      return undefined;
    }
    const write = { ...warning, type };
    this.#waiting.push(write);
    return write;
  }
}
