/**
 * The difference between a plan and what one pod holds: runtime operations, files only, or a reload with its reasons.
 * Costs what changed: trees are compared by digest.
 */
import { diffBackends } from "./diff-backends.ts";
import { diffFiles } from "./diff-files.ts";
import { treeDifferences } from "./keyed-tree.ts";
import { Ledger, type LoadedFiles } from "./ledger.ts";
import type { OpKind } from "./ops.ts";
import { backendDigest, profileDigest, structureDigest } from "./plan.ts";
import { sectionOf, sourceOf } from "./structure.ts";
import { versionNumber } from "./servers.ts";
import { HINTS, OTHER_SCHEMA, type ReloadReason, UNKNOWN_BASELINE } from "./reasons.ts";
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
  changedText(next, baseline, ledger);
  for (const { key, after } of treeDifferences(baseline.profiles, next.profiles, profileDigest)) {
    // A profile that nothing uses any more may stay in the worker until its next reload.
    if (after === undefined) continue;
    ledger.reload(`profile ${key} is new`, {
      section: `defaults ${key}`,
      object: firstUser(key, next, baseline),
      hint: HINTS.profile,
    });
  }
  diffBackends(next, baseline, ledger);
  const { changed, removed } = diffFiles(next, baseline, ledger);

  const maxOps = options.maxOps ?? 8000;
  if (ledger.count > maxOps) ledger.reload(`${ledger.count} operations are more than ${maxOps}`, { hint: HINTS.bulk });
  const maxBackends = options.maxBackendChanges ?? 1000;
  if (ledger.backendChanges > maxBackends)
    ledger.reload(`${ledger.backendChanges} backends come or go, more than ${maxBackends}`, { hint: HINTS.bulk });

  const inPlaceOps = ledger.count > maxOps ? [] : ledger.inPlace();
  if (ledger.reasons.length > 0) return { ...verdict("reload", ledger.reasons), inPlaceOps, changed, removed };
  const ops = ledger.ops();
  return { ...verdict(ops.length > 0 ? "runtime" : "file_only"), ops, inPlaceOps, changed, removed };
}

function verdict(word: PlanDiff["verdict"], reloads: readonly ReloadReason[] = []): PlanDiff {
  const reasons = reloads.map(({ text }) => text);
  return { verdict: word, reasons, reloads, ops: [], inPlaceOps: [], changed: [], removed: [] };
}

/** Text of haproxy.cfg outside declared backends and profiles: a reason a section, with the objects that snippets wrote it for. */
function changedText(next: RenderPlan, baseline: RenderPlan, ledger: Ledger): void {
  const sections = new Map<string, { readonly fields: Set<string>; readonly objects: Set<string> }>();
  for (const { key } of treeDifferences(baseline.structure, next.structure, structureDigest)) {
    const section = sectionOf(key);
    const { snippet, object } = sourceOf(key);
    const told = sections.get(section) ?? { fields: new Set(), objects: new Set() };
    sections.set(section, told);
    told.fields.add(snippet === undefined ? "haproxyConfig.template" : `templateSnippets.${snippet}`);
    if (object !== "") told.objects.add(object);
  }
  for (const [section, { fields, objects }] of sections) {
    const [first = ""] = objects;
    const object = objects.size > 1 ? `${first} and ${objects.size - 1} more` : first;
    ledger.reload(`${section} changed`, { section, field: [...fields].join(", "), object, hint: HINTS.section });
  }
}

/** The object of the first backend that takes a profile up. */
function firstUser(profile: string, next: RenderPlan, baseline: RenderPlan): string {
  for (const { before, after } of treeDifferences(baseline.backends, next.backends, backendDigest))
    if (after?.record.profile === profile && before?.record.profile !== profile) return after.origin ?? "";
  return "";
}
