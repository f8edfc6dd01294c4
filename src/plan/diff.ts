/**
 * The difference between a plan and what one pod holds: runtime operations, files only, or a reload with its reasons.
 * Costs what changed: trees are compared by digest.
 */
import { diffBackends } from "./diff-backends.ts";
import { diffFiles } from "./diff-files.ts";
import { changedProfiles, changedText } from "./diff-text.ts";
import { Ledger, type LoadedFiles } from "./ledger.ts";
import type { OpKind } from "./ops.ts";
import { versionNumber } from "./servers.ts";
import { Makers } from "./makers.ts";
import { OTHER_SCHEMA, type ReloadReason, UNKNOWN_BASELINE } from "./reasons.ts";
import type { PlanDiff, RenderPlan } from "./types.ts";

export interface DiffOptions {
  /** Of the pod's worker, e.g. `3.4.7`. */
  readonly haproxyVersion: string;
  /** `agent_ops` of the pod's agent. */
  readonly agentOps: ReadonlySet<OpKind>;
  /** `features` of the pod's agent. */
  readonly features?: ReadonlySet<string>;
  /** What the worker has loaded; undefined = taken to be what the baseline names. */
  readonly loaded?: LoadedFiles;
  /** Operations one deployment may carry; default 8 batches of 1,000. */
  readonly maxOps?: number;
  /** Backends added and removed at run time at most; above, writing the file and reloading is faster (default 1,000). */
  readonly maxBackendChanges?: number;
  /** How long one removal may wait for the last request, in ms (default 10,000). */
  readonly waitMs?: number;
}

/** Compares `next` with the plan that the pod is known to run. */
export function diffPlans(next: RenderPlan, baseline: RenderPlan | undefined, options: DiffOptions): PlanDiff {
  if (baseline === undefined || baseline.schemaVersion !== next.schemaVersion) {
    return {
      ...verdict("reload", [baseline === undefined ? UNKNOWN_BASELINE : OTHER_SCHEMA]),
      changed: [...next.files.values()],
    };
  }
  if (baseline.id === next.id) return verdict("noop");

  const ledger = new Ledger({
    version: versionNumber(options.haproxyVersion),
    supported: options.agentOps,
    loaded: options.loaded,
    waitMs: options.waitMs ?? 10_000,
  });
  const makers = new Makers(next, baseline);
  changedText(next, baseline, makers, ledger);
  changedProfiles(next, baseline, makers, ledger);
  diffBackends(next, baseline, makers, ledger);
  const { changed, removed } = diffFiles(next, baseline, makers, ledger);

  const maxOps = options.maxOps ?? 8000;
  if (ledger.count > maxOps) ledger.reload("many-operations", `${ledger.count} operations are more than ${maxOps}`);
  const maxBackends = options.maxBackendChanges ?? 1000;
  if (ledger.backendChanges > maxBackends)
    ledger.reload("many-backends", `${ledger.backendChanges} backends come or go, more than ${maxBackends}`);

  const inPlaceOps = ledger.count > maxOps ? [] : ledger.inPlace();
  if (ledger.reasons.length > 0) return { ...verdict("reload", ledger.reasons), inPlaceOps, changed, removed };
  const ops = ledger.ops();
  return { ...verdict(ops.length > 0 ? "runtime" : "file_only"), ops, inPlaceOps, changed, removed };
}

function verdict(word: PlanDiff["verdict"], reloads: readonly ReloadReason[] = []): PlanDiff {
  const reasons = reloads.map(({ text }) => text);
  return { verdict: word, reasons, reloads, ops: [], inPlaceOps: [], changed: [], removed: [] };
}
