/** Was an apply what its answer says? Judged beside the code that did it, from what was seen before and afterwards. */
import type { WorkerIdentity } from "../haproxy/index.ts";
import { sameWorker } from "../haproxy/index.ts";
import type { ApplyResult } from "./api.ts";
import type { Invariant } from "./notes.ts";

/** The agent at one moment. */
export interface Sight {
  readonly generation: number;
  readonly worker: WorkerIdentity | undefined;
  /** Reloads that HAProxy has taken since the agent's start. */
  readonly reloads: number;
}

/** The rules that this apply broke; another one may have come between, so that only what no other can explain counts. */
export function brokenBy(result: ApplyResult, before: Sight, after: Sight): Invariant[] {
  const broken: Invariant[] = [];
  if (after.generation < before.generation) broken.push("generation_monotonic");
  const { mode } = result;
  if ((mode === "runtime" || mode === "file_only" || mode === "noop") && result.reload?.performed === true)
    broken.push("runtime_mode_does_not_reload");
  if (mode === "reload" && result.ok) {
    const isSame = before.worker !== undefined && sameWorker(before.worker, after.worker);
    if (result.reload?.performed !== true || after.reloads === before.reloads || isSame)
      broken.push("reload_mode_reloads");
  }
  if (mode === "noop" && result.op_results.length > 0) broken.push("noop_runs_no_ops");
  return broken;
}
