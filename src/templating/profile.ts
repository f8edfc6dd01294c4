/**
 * Which template ran how often and how long. Handed to runs that are to be measured; others pay one comparison a rendered
 * snippet. Time in which a run is suspended does not count.
 */
import type { Suspension } from "./types.ts";

export interface ProfileRow {
  readonly template: string;
  readonly count: number;
  /** Milliseconds, with what it rendered in turn. */
  readonly totalMs: number;
  /** Milliseconds, without that. */
  readonly selfMs: number;
  /** Of the longest single run, in milliseconds. */
  readonly maxMs: number;
}

interface Sum {
  count: number;
  total: number;
  self: number;
  max: number;
}

interface Frame {
  readonly template: string;
  self: number;
  inner: number;
}

export class Profile {
  readonly #now: () => number;
  readonly #trace: ((line: string) => void) | undefined;
  readonly #sums = new Map<string, Sum>();
  readonly #open: Frame[] = [];
  #mark = 0;

  /** `now` in milliseconds; `trace` hears `Rendering: NAME` and `Completed: NAME (0.003ms)`, two blanks a level. */
  constructor(now: () => number, trace?: (line: string) => void) {
    this.#now = now;
    this.#trace = trace;
  }

  /** Templates by total time, longest first. */
  rows(): ProfileRow[] {
    return [...this.#sums]
      .map(([template, { count, total, self, max }]) => ({
        template,
        count,
        totalMs: total,
        selfMs: self,
        maxMs: max,
      }))
      .sort((a, b) => b.totalMs - a.totalMs || (a.template < b.template ? -1 : 1));
  }

  /** Runs a whole run, in which `measure` stands around each template, and stops the clock while it is suspended. */
  *run(steps: Generator<Suspension, void, unknown>): Generator<Suspension, void, unknown> {
    let input: unknown;
    try {
      for (;;) {
        this.#mark = this.#now();
        const step = steps.next(input);
        this.#lap();
        if (step.done === true) return;
        input = yield step.value;
      }
    } finally {
      this.#mark = this.#now();
      steps.return();
    }
  }

  /** The steps of one template. */
  *measure<T>(template: string, steps: Generator<Suspension, T, unknown>): Generator<Suspension, T, unknown> {
    this.#lap();
    this.#trace?.(`${"  ".repeat(this.#open.length)}Rendering: ${template}`);
    this.#open.push({ template, self: 0, inner: 0 });
    try {
      return yield* steps;
    } finally {
      this.#lap();
      this.#leave();
    }
  }

  /** Gives the time since the last look to the innermost template. */
  #lap(): void {
    const now = this.#now();
    const frame = this.#open.at(-1);
    if (frame !== undefined) frame.self += now - this.#mark;
    this.#mark = now;
  }

  #leave(): void {
    const frame = this.#open.pop();
    if (frame === undefined) return;
    const total = frame.self + frame.inner;
    const outer = this.#open.at(-1);
    if (outer !== undefined) outer.inner += total;
    const sum = this.#sums.get(frame.template) ?? { count: 0, total: 0, self: 0, max: 0 };
    this.#sums.set(frame.template, sum);
    sum.count++;
    sum.total += total;
    sum.self += frame.self;
    sum.max = Math.max(sum.max, total);
    this.#trace?.(`${"  ".repeat(this.#open.length)}Completed: ${frame.template} (${total.toFixed(3)}ms)`);
  }
}
