/** What a run may use up: work, text, depth, and memory of the process. */
import { getHeapStatistics } from "node:v8";
import type { RunEnvironment, Suspension } from "../types.ts";
import { LimitFault } from "./faults.ts";
import {
  CALLBACK_WEIGHT,
  DEFAULT_DEPTH,
  DEFAULT_FUEL,
  DEFAULT_OUTPUT,
  LOOKS_PER_HEAP_CHECK,
  MAX_HEAP,
  MAX_STRETCH,
  MAX_TEXT,
  TICKS_PER_LOOK,
} from "./limits.ts";
import { joinedBytes, startsWithByte } from "./text.ts";

const SLICE: Suspension = Object.freeze({ kind: "slice" });

export abstract class Budget {
  /** Ticks left until the next look at the clock. */
  fuel = TICKS_PER_LOOK;
  depth = 0;
  readonly slice = SLICE;
  /** Callbacks that run to their end: the run cannot pause inside them. */
  protected uninterrupted = 0;
  readonly #isDue: () => boolean;
  readonly #maxDepth: number;
  #total: number;
  #room: number;
  /** Work since the run could last have paused. */
  #stretch = 0;
  #looks = 0;
  /** Units taken from `fuel` by charges and not by ticks, since the last look. */
  #charged = 0;

  constructor(environment: RunEnvironment) {
    this.#isDue = environment.due;
    this.#total = environment.limits?.fuel ?? DEFAULT_FUEL;
    this.#room = environment.limits?.outputBytes ?? DEFAULT_OUTPUT;
    this.#maxDepth = environment.limits?.depth ?? DEFAULT_DEPTH;
  }

  /** Refuels and tells whether the slice is used up. */
  due(): boolean {
    // Work that was charged brings the look at the clock nearer, but is paid for already.
    const ticks = TICKS_PER_LOOK - this.fuel - this.#charged;
    const pausing = this.uninterrupted === 0;
    this.charge(pausing ? ticks : ticks * CALLBACK_WEIGHT);
    this.fuel = TICKS_PER_LOOK;
    this.#charged = 0;
    if (++this.#looks >= LOOKS_PER_HEAP_CHECK) this.#checkHeap();
    if (!pausing) return false;
    this.#stretch = 0;
    return this.#isDue();
  }

  /** Charges work before it is done: about one unit an element or 16 characters touched. */
  charge(units: number): void {
    this.fuel -= units;
    this.#charged += units;
    if ((this.#total -= units) < 0) throw new LimitFault("the template does too much work (fuel limit reached)");
    if ((this.#stretch += units) > MAX_STRETCH)
      throw new LimitFault("too much work without a pause: one call does more than fits into a slice");
  }

  /** Charges text before it is made. */
  chargeText(length: number): void {
    if (length > MAX_TEXT) throw new LimitFault(`the template makes a text of more than ${MAX_TEXT >> 20} MiB`);
    if ((this.#room -= length) < 0) throw new LimitFault("the template makes too much text (output limit reached)");
  }

  enter(): void {
    this.charge(2);
    if (++this.depth > this.#maxDepth) throw new LimitFault(`calls are nested more than ${this.#maxDepth} deep`);
  }

  charged(o: string): string {
    if (o.length > 1024) this.chargeText(o.length);
    return o;
  }

  /**
   * Looks at a text that grows in a loop: bounds it and makes one piece of its many, which the garbage collector would
   * otherwise have to keep. Gives the length at which to look again.
   */
  settle(o: string): number {
    if (o.length > MAX_TEXT) this.chargeText(o.length);
    this.charge(o.length >> 8);
    // Reading a character flattens a text that was put together.
    o.charCodeAt(o.length - 1);
    return o.length + Math.max(16_384, o.length >> 2);
  }

  cat(a: string, b: string): string {
    const length = a.length + b.length;
    if (length > 1024) {
      if (length > MAX_TEXT) this.chargeText(length);
      // Putting texts together copies nothing; a text that grows by its own length is what runs away.
      this.chargeText(Math.min(a.length, b.length));
    }
    // Halves of a character that meet again. Looking at a long text would flatten it each time.
    if (b.length < 1024 && startsWithByte(b)) return joinedBytes(a + b);
    return a + b;
  }

  /** A text that grew by `shorter` units at most, where nothing has to be joined. */
  grown(text: string, shorter: number): string {
    if (text.length > MAX_TEXT) this.chargeText(text.length);
    this.chargeText(shorter);
    return text;
  }

  #checkHeap(): void {
    this.#looks = 0;
    const heap = getHeapStatistics();
    if (heap.used_heap_size > heap.heap_size_limit * MAX_HEAP)
      throw new LimitFault("the template keeps too much in memory");
  }
}
