/** Time as it is injected. XState's SimulatedClock is one, too. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** The machine's clock: the one place where it enters; everything else is given a Clock. */
// oxlint-disable haptic/no-ambient-time, haptic/no-timers -- see above
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
