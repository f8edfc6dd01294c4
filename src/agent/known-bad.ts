/**
 * Sets that HAProxy refused: it is not asked again about the same bytes for a while, since its answer would be the same and each
 * question starts a worker. Only HAProxy's own verdicts are kept, no failures of files or sockets; a restart forgets them.
 */

/** What made a refusal may mend without the set changing, such as a port that is free again. */
const KEPT_MS = 60_000;
const KEPT_SETS = 16;

export interface Refusal {
  /** HAProxy's words. */
  readonly output: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly until: number;
}

export class KnownBad {
  readonly #refusals = new Map<string, Refusal>();

  /** `proof` names the set by its bytes. */
  remember(proof: string, output: string, now: number): void {
    this.#refusals.delete(proof);
    this.#refusals.set(proof, { output, at: now, until: now + KEPT_MS });
    for (const oldest of this.#refusals.keys()) {
      if (this.#refusals.size <= KEPT_SETS) break;
      this.#refusals.delete(oldest);
    }
  }

  find(proof: string, now: number): Refusal | undefined {
    const refusal = this.#refusals.get(proof);
    if (refusal === undefined || refusal.until > now) return refusal;
    this.#refusals.delete(proof);
    return undefined;
  }
}

export function tellRefusal({ output, at, until }: Refusal): string {
  const time = (ms: number): string => new Date(ms).toISOString();
  return `HAProxy refused this set at ${time(at)} and is not asked again before ${time(until)}, unless something differs: ${output}`;
}
