/** The last events of the bus, for `/debug/vars/events`. A ring: it costs one slot an event. */

export interface PastEvent {
  /** RFC 3339. */
  readonly at: string;
  readonly type: string;
  readonly [key: string]: unknown;
}

export class EventHistory {
  readonly #slots: ({ readonly at: number; readonly event: { readonly type: string } } | undefined)[];
  #next = 0;

  constructor(size = 1_000) {
    this.#slots = Array.from({ length: size });
  }

  /** `at` in wall-clock milliseconds. */
  add(at: number, event: { readonly type: string }): void {
    this.#slots[this.#next % this.#slots.length] = { at, event };
    this.#next += 1;
  }

  /** Newest first. Lists inside an event are told by their length only. */
  last(limit: number): readonly PastEvent[] {
    const past: PastEvent[] = [];
    const size = this.#slots.length;
    for (let index = this.#next - 1; index >= 0 && index >= this.#next - size && past.length < limit; index -= 1) {
      const slot = this.#slots[index % size];
      if (slot === undefined) break;
      const fields = Object.entries(slot.event).map(([key, value]): [string, unknown] => [
        key,
        Array.isArray(value) && value.some((item) => typeof item === "object") ? value.length : value,
      ]);
      past.push({ ...Object.fromEntries(fields), type: slot.event.type, at: new Date(slot.at).toISOString() });
    }
    return past;
  }
}
