/**
 * Collects V8's young generation (1 to 2 ms) when a deployment has come to its end and nobody waits; else a collection comes in the middle
 * of every fourth change, when V8 finds its 4 MiB used. Only where V8 lets it (`--expose-gc`, see bin/node-flags.mjs).
 */

/** Less is not worth it, bytes. */
const WORTH = 1024 * 1024;
/** Between two collections, milliseconds: under many changes V8's own are fewer. */
const REST_MS = 100;

export interface YoungGenerationDeps {
  /** undefined = V8 does not let us. */
  readonly collect: ((options: NodeJS.GCOptions) => void) | undefined;
  /** Bytes that the young generation has in use. */
  readonly used: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

export class YoungGeneration {
  readonly #deps: YoungGenerationDeps;
  #collectedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: YoungGenerationDeps) {
    this.#deps = deps;
  }

  tidy(): void {
    const { collect, used, monotonic } = this.#deps;
    if (collect === undefined || monotonic() - this.#collectedAt < REST_MS || used() < WORTH) return;
    collect({ type: "minor" });
    this.#collectedAt = monotonic();
  }
}
