/** Cuts a render's work into slices, between which the event loop serves everything else. */

import { isWatchdogTimeout, watched } from "../templating/index.ts";

export interface SliceOptions {
  /** Length of a slice, in ms. */
  readonly sliceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  /** Kills work that has not come back after this many ms; without it nothing does. */
  readonly watchdogMs?: number | undefined;
  /** The processor's time that this thread has had, in ms (default: the system's). */
  readonly processorMs?: (() => number) | undefined;
}

/** The watchdog killed work that had the processor for a small part of its time: others had it, and nothing is wrong with the work. */
export class StarvedError extends Error {}

/** Part of the watchdog's time that work must have had before it counts as work that does not come back. */
const OWN_PART = 0.5;
/** Watchdog's time of the next attempt, as a multiple. */
const PATIENCE = 4;

// oxlint-disable-next-line haptic/no-ambient-time -- only the default of `now`; what is rendered does not depend on it
export const systemMilliseconds = (): number => performance.now();

const systemProcessor = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

export class Slices {
  longestMs = 0;
  #patience = 1;
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

  /** Does the work of one slice under the watchdog. Throws StarvedError when it was killed for what others did. */
  watch<T>(work: () => T): T {
    const { watchdogMs, processorMs = systemProcessor } = this.#options;
    if (watchdogMs === undefined) return work();
    const before = processorMs();
    try {
      return watched(watchdogMs * this.#patience, work);
    } catch (error) {
      if (isWatchdogTimeout(error) && processorMs() - before < watchdogMs * OWN_PART)
        throw new StarvedError("the render does not get the processor: other processes have it", { cause: error });
      throw error;
    }
  }

  /** The watchdog waits longer from now on. */
  waitLonger(): void {
    this.#patience *= PATIENCE;
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
