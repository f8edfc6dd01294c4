/** Cuts a render's work into slices, between which the event loop serves everything else. */

import { watched } from "../templating/index.ts";

export interface SliceOptions {
  /** Length of a slice, in ms. */
  readonly sliceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  /** Kills work that has not come back after this many ms; without it nothing does. */
  readonly watchdogMs?: number | undefined;
}

// oxlint-disable-next-line haptic/no-ambient-time -- only the default of `now`; what is rendered does not depend on it
export const systemMilliseconds = (): number => performance.now();

export class Slices {
  longestMs = 0;
  readonly #options: SliceOptions;
  readonly #signal: AbortSignal;
  #started: number;

  constructor(options: SliceOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#started = options.now();
  }

  /** The render is abandoned. */
  get aborted(): boolean {
    return this.#signal.aborted;
  }

  /** Does the work of one slice under the watchdog. */
  watch<T>(work: () => T): T {
    const { watchdogMs } = this.#options;
    return watchdogMs === undefined ? work() : watched(watchdogMs, work);
  }

  /** True once the present slice is used up. */
  readonly due = (): boolean => this.#options.now() - this.#started >= this.#options.sliceMs;

  /** Ends the slice; rejects with the signal's reason when the render is abandoned. */
  async turn(): Promise<void> {
    this.end();
    await this.#options.pause();
    this.#signal.throwIfAborted();
    this.#started = this.#options.now();
  }

  /** Like `turn`, for work that must be brought to its end: the signal is looked at later. */
  async breathe(): Promise<void> {
    this.end();
    await this.#options.pause();
    this.#started = this.#options.now();
  }

  end(): void {
    this.longestMs = Math.max(this.longestMs, this.#options.now() - this.#started);
  }
}
