/**
 * Collects V8's young generation (1 to 2 ms) when a deployment has come to its end, and the next change finds room: V8 itself would
 * collect when there is none left, which is in the middle of a change.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Less in use is not worth it: share of the young generation, which V8 makes smaller (0.5 to 4 MiB) where little happens. */
const WORTH = 0.25;
/** Between two collections, milliseconds: under many changes V8 alone collects less often. */
const REST_MS = 100;

export interface YoungGenerationDeps {
  readonly collect: (options: NodeJS.GCOptions) => void;
  /** Share of the young generation that is in use, 0 to 1. */
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
    if (monotonic() - this.#collectedAt < REST_MS || used() < WORTH) return;
    collect({ type: "minor" });
    this.#collectedAt = monotonic();
  }
}

/** V8's collector, without a name by which other code finds it: with `--expose-gc` every realm would have it, that of templates too. */
export function takeCollector(): (options: NodeJS.GCOptions) => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  return (options) => {
    collect(options);
  };
}

/** What V8 says of this process's young generation, as {@link YoungGenerationDeps.used} wants it. */
export function youngShare(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  return space === undefined ? 0 : space.space_used_size / (space.space_used_size + space.space_available_size);
}
