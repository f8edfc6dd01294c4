/** Pauses between attempts: they double with jitter, and start over only after an attempt lived a while. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /** An attempt that lived so long was a success. Resetting on the first answer would never back off from a server that answers and fails. */
  readonly livedMs: number;
  /** 0 ≤ value < 1 */
  readonly random: () => number;
}

export const WATCH_BACKOFF = { baseMs: 200, capMs: 30_000, livedMs: 10_000 } as const;

export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The pause after an attempt that lived for `livedMs`: between half and all of base × 2ⁿ, at most the cap. */
  next(livedMs: number): number {
    const { baseMs, capMs, random } = this.#options;
    if (livedMs >= this.#options.livedMs) this.#attempts = 0;
    const full = Math.min(capMs, baseMs * 2 ** Math.min(this.#attempts++, 30));
    return Math.round(full * (0.5 + random() / 2));
  }

  /** Whether an attempt of this length counts as a success. */
  lived(livedMs: number): boolean {
    return livedMs >= this.#options.livedMs;
  }

  reset(): void {
    this.#attempts = 0;
  }
}
