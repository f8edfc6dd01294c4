/**
 * Keeps the agent small beside its HAProxy. Where V8 lets it (`--expose-gc`, see bin/node-flags.mjs), the young generation is collected
 * whenever files have just been written and nobody waits (0.3 ms and more); and where the process has grown meanwhile, everything, the
 * pages that V8 keeps for later included (5 to 10 ms): it has 12 MiB of living objects, and would keep 30.
 */

/** So much growth is worth a whole collection, bytes. */
const GROWTH = 6 * 1024 * 1024;
/** Between two whole collections, milliseconds. */
const REST_MS = 10_000;

export interface MemoryDeps {
  /** undefined = V8 does not let us. */
  readonly collect: ((options: NodeJS.GCOptions) => void) | undefined;
  /** Resident memory of the process, bytes. */
  readonly resident: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

export class Memory {
  readonly #deps: MemoryDeps;
  /** What was left after the last whole collection. */
  #least = 0;
  #collectedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: MemoryDeps) {
    this.#deps = deps;
  }

  tidy(): void {
    const { collect, resident, monotonic } = this.#deps;
    if (collect === undefined) return;
    collect({ type: "minor" });
    if (monotonic() - this.#collectedAt < REST_MS || resident() < this.#least + GROWTH) return;
    this.#collectedAt = monotonic();
    // Only a last resort gives back the pages, too.
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    this.#least = resident();
  }
}
