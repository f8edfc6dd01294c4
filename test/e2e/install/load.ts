/** Load on one Service of the node, told as it goes. */
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { RealNode } from "../../parts/real-node.ts";

export interface Count {
  readonly requests: number;
  readonly failed: number;
  /** h2 refusals that were repeated and answered. */
  readonly repeated: number;
  readonly failures: readonly string[];
}

export interface LoadCounts {
  readonly h1: Count;
  readonly h2: Count;
}

export interface LoadOptions {
  readonly address: string;
  readonly host: string;
  /** Pause of each client between its requests. */
  readonly pauseMs: number;
  /** HTTP/1.1 requests to wait for. */
  readonly least: number;
}

/** Load from before `happens` until it has happened and at least so many HTTP/1.1 requests were made. */
export async function underLoad(
  node: RealNode,
  options: LoadOptions,
  happens: () => Promise<void>,
): Promise<LoadCounts> {
  const { address, host, pauseMs, least } = options;
  const program = join(import.meta.dirname, "load-process.ts");
  const child = node.spawn([process.execPath, program, address, host, String(pauseMs)]);
  let counts: LoadCounts | undefined;
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (part: string) => (said += part));
  const lines = createInterface({ input: child.stdout! });
  const waiting = new Set<() => void>();
  lines.on("line", (line) => {
    counts = JSON.parse(line) as LoadCounts;
    for (const look of waiting) look();
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const requested = (wanted: number): Promise<void> =>
    new Promise((done, failed) => {
      const look = (): void => {
        if ((counts?.h1.requests ?? 0) < wanted) return;
        waiting.delete(look);
        done();
      };
      waiting.add(look);
      void ended.then(() => failed(new Error(`the load ended by itself: ${said}`)));
    });
  try {
    await requested(100);
    await happens();
    await requested(least);
  } finally {
    child.stdin!.end();
    await ended;
  }
  return counts!;
}
