/** What the agent can prove of plans: the sum over the files it holds, and those of sets that its worker still speaks of. */
import { type ProvenFile, setProof } from "../plan/index.ts";

interface ProvenHeldFile extends ProvenFile {
  readonly reload_on_change: boolean;
}

/** The part of the model that proofs are about. */
interface Proven {
  readonly generation: number;
  readonly planId: string;
  readonly runningPlanId: string;
  readonly workerOpsPlanId: string;
  readonly files: ReadonlyMap<string, ProvenHeldFile>;
  /** Proofs of those of the two that are not the applied plan. */
  readonly proofs: Map<string, string>;
}

export function proofOfFiles(files: Iterable<ProvenHeldFile>): string {
  return setProof(files, (file) => file.reload_on_change);
}

/** The proof of the held set with these changes. */
export function proofAfter(model: Proven, changes: ReadonlyMap<string, ProvenHeldFile | null>): string {
  const files = new Map(model.files);
  for (const [path, file] of changes) {
    if (file === null) files.delete(path);
    else files.set(path, file);
  }
  return proofOfFiles(files.values());
}

/** A set's number changes with its files. */
const known = new WeakMap<Proven, { readonly generation: number; readonly proof: string }>();

/** The proof of the plan that the model calls by this id; "" where it is not known. */
export function proofOf(model: Proven, planId: string): string {
  if (planId === "") return "";
  if (planId !== model.planId) return model.proofs.get(planId) ?? "";
  let held = known.get(model);
  if (held?.generation !== model.generation) {
    held = { generation: model.generation, proof: proofOfFiles(model.files.values()) };
    known.set(model, held);
  }
  return held.proof;
}

/** Before the applied plan changes although the worker stays with it: its proof is kept as long as the worker does. */
export function keepProofs(model: Proven): void {
  const spoken = new Set([model.runningPlanId, model.workerOpsPlanId]);
  for (const planId of model.proofs.keys()) if (!spoken.has(planId)) model.proofs.delete(planId);
  if (spoken.has(model.planId) && model.planId !== "") model.proofs.set(model.planId, proofOf(model, model.planId));
}

/** The identities as answers tell them. */
export function identitiesOf(model: Proven, lkg: { readonly lkgPlanId: string; readonly lkgProof: string }) {
  return {
    applied_plan_id: model.planId,
    applied_plan_proof: proofOf(model, model.planId),
    running_plan_id: model.runningPlanId,
    running_plan_proof: proofOf(model, model.runningPlanId),
    worker_ops_plan_id: model.workerOpsPlanId,
    worker_ops_plan_proof: proofOf(model, model.workerOpsPlanId),
    lkg_plan_id: lkg.lkgPlanId,
    lkg_plan_proof: lkg.lkgProof,
  };
}
