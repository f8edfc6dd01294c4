/** The last events of the bus. A ring: it costs one slot an event, whoever looks. */

export interface PastEvent {
  /** RFC 3339. */
  readonly at: string;
  readonly type: string;
  /** The component that said it; "" = none of the charts. */
  readonly source: string;
  readonly correlation_id: string;
  readonly [key: string]: unknown;
}

/** An event as it is kept. */
export interface Slot {
  /** Number of the event since the start, from 1. */
  readonly number: number;
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly source: string;
  readonly correlation: string;
  readonly event: { readonly type: string };
}

export class EventHistory {
  readonly #slots: (Slot | undefined)[];
  #count = 0;

  constructor(size = 1_000) {
    this.#slots = Array.from({ length: size });
  }

  /** Events that were added since the start. */
  get count(): number {
    return this.#count;
  }

  /** `at` in wall-clock milliseconds. */
  add(at: number, event: { readonly type: string }, source = "", correlation = ""): void {
    this.#slots[this.#count % this.#slots.length] = { number: this.#count + 1, at, source, correlation, event };
    this.#count += 1;
  }

  /** Newest first. Lists inside an event are told by their length only. */
  last(limit: number, wanted: (slot: Slot) => boolean = () => true): readonly PastEvent[] {
    const past: PastEvent[] = [];
    for (const slot of this.#newestFirst()) {
      if (past.length >= limit) break;
      if (!wanted(slot)) continue;
      const fields = Object.entries(slot.event).map(([key, value]): [string, unknown] => [
        key,
        Array.isArray(value) && value.some((item) => typeof item === "object") ? value.length : value,
      ]);
      past.push({
        ...Object.fromEntries(fields),
        type: slot.event.type,
        at: new Date(slot.at).toISOString(),
        source: slot.source,
        correlation_id: slot.correlation,
      });
    }
    return past;
  }

  /** Oldest first: those after event number `number` that are still here. */
  since(number: number): readonly Slot[] {
    const slots: Slot[] = [];
    for (const slot of this.#newestFirst()) {
      if (slot.number <= number) break;
      slots.push(slot);
    }
    return slots.toReversed();
  }

  *#newestFirst(): Iterable<Slot> {
    const size = this.#slots.length;
    for (let index = this.#count - 1; index >= 0 && index >= this.#count - size; index -= 1) {
      const slot = this.#slots[index % size];
      if (slot === undefined) return;
      yield slot;
    }
  }
}
