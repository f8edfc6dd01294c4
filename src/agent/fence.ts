/** May this manifest be applied to what the pod holds? Compared with the model, that is with the journal's tail. */
import type { Conflict, Manifest, Token } from "./api.ts";
import type { Model } from "./model.ts";
import { identitiesOf, proofOf } from "./proofs.ts";

export interface FenceView {
  readonly lkgPlanId: string;
  readonly lkgProof: string;
}

/** What an admitted manifest asks for. `noop` = this plan is applied already. */
export type Way = "noop" | "runtime" | "file_only" | "reload" | "scheduled" | "revert";

export type FenceVerdict =
  | { readonly ok: true; readonly way: Way }
  | { readonly ok: false; readonly conflict: Conflict };

export function conflictOf(model: Model, view: FenceView, reason: Conflict["reason"], message: string): Conflict {
  return {
    reason,
    message,
    ...identitiesOf(model, view),
    applied_token: model.token,
  };
}

/** Negative when `a` is older than `b`. */
export function compareTokens(a: Token, b: Token): number {
  return a.leader_epoch - b.leader_epoch || a.render_seq - b.render_seq;
}

/**
 * The order of the questions matters: a stale leader must hear that it is stale, whatever else is wrong; a repeated
 * apply must succeed although its "previous plan" is no longer the previous one.
 */
export function admit(model: Model, manifest: Manifest, view: FenceView): FenceVerdict {
  const refuse = (reason: Conflict["reason"], message: string): FenceVerdict => ({
    ok: false,
    conflict: conflictOf(model, view, reason, message),
  });
  const { token } = manifest;
  if (token.leader_epoch < model.maxEpoch)
    return refuse("stale_epoch", `epoch ${token.leader_epoch} is over; ${model.maxEpoch} rules`);
  const current = model.planId;
  if (manifest.mode === "revert_lkg") {
    if (view.lkgPlanId === "") return refuse("unknown_baseline", "there is no last known good set");
    if (manifest.expected_prev_plan_id !== current) return refuse("prev_mismatch", `the pod holds ${name(current)}`);
    if (isOther(manifest.plan_proof, view.lkgProof))
      return refuse("prev_mismatch", "the last known good set is not the one that was meant");
    return { ok: true, way: view.lkgPlanId === current && model.owed === null ? "noop" : "revert" };
  }
  const settled = model.owed === null && model.runningPlanId === current && model.workerOpsPlanId === current;
  const full = manifest.files !== undefined;
  if (current !== "" && manifest.plan_id === current && (settled || manifest.mode === "auto")) {
    if (!isOther(manifest.plan_proof, proofOf(model, current))) return { ok: true, way: "noop" };
    if (!(full && manifest.mode === "reload"))
      return refuse(
        "unknown_baseline",
        `the pod's files of ${name(current)} are others: send the full set with mode reload`,
      );
  }
  if (token.leader_epoch === model.token.leader_epoch && compareTokens(token, model.token) < 0) {
    return refuse("prev_mismatch", `render ${token.render_seq} is older than the applied ${model.token.render_seq}`);
  }
  if (current === "" && !(full && manifest.mode === "reload"))
    return refuse("unknown_baseline", "what the pod holds is unknown: send the full set with mode reload");
  if (manifest.expected_prev_plan_id !== current)
    return refuse("prev_mismatch", `the pod holds ${name(current)}, not ${name(manifest.expected_prev_plan_id)}`);
  if (isOther(manifest.expected_prev_plan_proof, proofOf(model, current)))
    return refuse("prev_mismatch", `the pod's files of ${name(current)} are others`);
  const expected = manifest.expected_prev_token;
  if (expected !== undefined && compareTokens(expected, model.token) !== 0)
    return refuse("prev_mismatch", "the pod's plan came by another token");
  if (manifest.mode === "reload") {
    // It was read while its reload ran: what was to follow by one more may go without.
    const believed = manifest.expected_worker_ops_plan_id ?? current;
    if (!full && settled && believed !== current)
      return refuse("worker_ops_mismatch", `the worker runs ${name(current)} by now, not ${name(believed)}`);
    return { ok: true, way: "reload" };
  }
  const hasOps = [manifest.ops, manifest.in_place_ops, ...(manifest.op_batches ?? [])].some((ops) => ops.length > 0);
  const baseline = manifest.expected_worker_ops_plan_id ?? (hasOps ? current : undefined);
  const baselineProof = proofOf(model, model.workerOpsPlanId);
  if (baseline !== undefined && isOther(manifest.expected_worker_ops_plan_proof, baselineProof))
    return refuse("worker_ops_mismatch", `the worker's operations of ${name(model.workerOpsPlanId)} are others`);
  if (baseline !== undefined && baseline !== model.workerOpsPlanId) {
    return refuse(
      "worker_ops_mismatch",
      `the worker's operations amount to ${name(model.workerOpsPlanId)}, not ${name(baseline)}`,
    );
  }
  if (model.owed !== null) return { ok: true, way: "scheduled" };
  return { ok: true, way: hasOps ? "runtime" : "file_only" };
}

/** A proof was given, and it is another one. */
function isOther(given: string | undefined, held: string): boolean {
  return given !== undefined && given !== "" && held !== "" && given !== held;
}

function name(planId: string): string {
  return planId === "" ? "no known plan" : planId.slice(0, 12);
}
