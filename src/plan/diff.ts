/**
 * The difference between a plan and what one pod holds: runtime operations, files only, or a reload with its reasons.
 * Costs what changed: trees are compared by digest.
 */
import { diffBackends } from "./diff-backends.ts";
import { diffFiles } from "./diff-files.ts";
import { treeDifferences } from "./keyed-tree.ts";
import { Ledger, type LoadedFiles } from "./ledger.ts";
import type { OpKind } from "./ops.ts";
import { profileDigest, structureDigest } from "./plan.ts";
import { sectionOf } from "./structure.ts";
import { versionNumber } from "./servers.ts";
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
    const why =
      baseline === undefined ? "no plan is known of what this pod runs" : "the pod's plan has another schema version";
    return {
      verdict: "reload",
      reasons: [why],
      ops: [],
      inPlaceOps: [],
      changed: [...next.files.entries()].map(([, file]) => file),
      removed: [],
    };
  }
  if (baseline.id === next.id)
    return { verdict: "noop", reasons: [], ops: [], inPlaceOps: [], changed: [], removed: [] };

  const ledger = new Ledger(
    versionNumber(options.haproxyVersion),
    options.agentOps,
    options.loaded,
    options.waitMs ?? 10_000,
  );
  for (const { key } of treeDifferences(baseline.structure, next.structure, structureDigest)) {
    ledger.reload(`${sectionOf(key)} changed`);
  }
  for (const { key, after } of treeDifferences(baseline.profiles, next.profiles, profileDigest)) {
    // A profile that nothing uses any more may stay in the worker until its next reload.
    if (after !== undefined) ledger.reload(`profile ${key} is new`);
  }
  diffBackends(next, baseline, ledger);
  const { changed, removed } = diffFiles(next, baseline, ledger);

  const maxOps = options.maxOps ?? 8000;
  if (ledger.count > maxOps) ledger.reload(`${ledger.count} operations are more than ${maxOps}`);
  const maxBackends = options.maxBackendChanges ?? 1000;
  if (ledger.backendChanges > maxBackends)
    ledger.reload(`${ledger.backendChanges} backends come or go, more than ${maxBackends}`);

  const reasons = ledger.reasons;
  const inPlaceOps = ledger.count > maxOps ? [] : ledger.inPlace();
  if (reasons.length > 0) return { verdict: "reload", reasons, ops: [], inPlaceOps, changed, removed };
  const ops = ledger.ops();
  return { verdict: ops.length > 0 ? "runtime" : "file_only", reasons: [], ops, inPlaceOps, changed, removed };
}
