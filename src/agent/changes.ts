/** The steps of one apply, of a reload and of a roll back, on what the agent holds. The charts call them in their order. */
import { AgentRequestError, AgentTreeError, RuntimeError, RuntimeTokenError } from "../errors.ts";
import {
  masterReload,
  sameWorker,
  type OpOutcome,
  type ReloadVerdict,
  type WorkerIdentity,
  type WorkerInfo,
} from "../haproxy/index.ts";
import { LIMITS, type Conflict, type Manifest } from "./api.ts";
import { admit, conflictOf, type Way } from "./fence.ts";
import type { Holding } from "./holding.ts";
import type { EntryRecord } from "./journal.ts";
import type { Refusal } from "./known-bad.ts";
import { snapshotOf, underWay, type HeldFile } from "./model.ts";
import { noteRemoved } from "./removals.ts";
import { proofAfter, proofOf } from "./proofs.ts";
import { stage, type Part, type StagedSet } from "./staging.ts";

export type StageOutcome =
  | { readonly kind: "conflict"; readonly conflict: Conflict }
  | { readonly kind: "missing"; readonly missing: string[] }
  | { readonly kind: "noop" }
  | { readonly kind: "known_bad"; readonly refusal: Refusal }
  | { readonly kind: "change"; readonly way: Exclude<Way, "noop">; readonly set: StagedSet };

const NOTHING: StagedSet = { changes: new Map(), journal: [], blocks: [], removed: [], large: false };

/** Promotes, asks the fence, verifies what came. Nothing has changed for the worker or the files afterwards. */
export async function stageApply(
  holding: Holding,
  manifest: Manifest,
  parts: ReadonlyMap<string, Part>,
): Promise<StageOutcome> {
  await holding.settleSuspicion();
  await promoteIfValidated(holding, manifest);
  const verdict = admit(holding.model, manifest, holding.tree);
  if (!verdict.ok) return { kind: "conflict", conflict: verdict.conflict };
  if (verdict.way === "noop") {
    takeToken(holding, manifest);
    return { kind: "noop" };
  }
  if (verdict.way === "revert") {
    // The other set's files are described against the folder in force: nothing may be left to fold.
    await holding.fold();
    return { kind: "change", way: "revert", set: lastGoodSet(holding) };
  }
  const outcome = await stage(holding.model.files, manifest, parts);
  if (!outcome.ok) return { kind: "missing", missing: outcome.missing };
  const { set } = outcome;
  const proof = proofAfter(holding.model, set.changes);
  if ((manifest.plan_proof ?? "") !== "" && manifest.plan_proof !== proof) {
    if (manifest.files !== undefined)
      throw new AgentRequestError("manifest: plan_proof is not what its files amount to");
    const message = "the difference does not lead to the plan's files: send the full set with mode reload";
    return { kind: "conflict", conflict: conflictOf(holding.model, holding.tree, "unknown_baseline", message) };
  }
  const refusal = holding.knownBad.find(proof, holding.options.now());
  if (refusal !== undefined) return { kind: "known_bad", refusal };
  const way = verdict.way !== "reload" && needsReload(holding, set) ? "reload" : verdict.way;
  return { kind: "change", way, set };
}

/** The gate has passed the applied plan: it is the last known good set from now on. */
async function promoteIfValidated(holding: Holding, manifest: Manifest): Promise<void> {
  const plan = manifest.validated_plan_id;
  if (plan === undefined || plan === "" || plan !== holding.model.planId || plan === holding.tree.lkgPlanId) return;
  const { validated_plan_proof: proof } = manifest;
  if ((proof ?? "") !== "" && proof !== proofOf(holding.model, plan)) return;
  if (manifest.token.leader_epoch < holding.model.maxEpoch) return;
  await holding.fold();
  if (holding.tree.folded?.planId === plan) holding.tree.promote();
}

function takeToken(holding: Holding, manifest: Manifest): void {
  const { token } = holding.model;
  const { leader_epoch: epoch, render_seq: seq } = manifest.token;
  if (epoch > token.leader_epoch || (epoch === token.leader_epoch && seq > token.render_seq)) {
    holding.append({ type: "token", seq: holding.number(), token: { leader_epoch: epoch, render_seq: seq } });
  }
}

/** A changed file that only a reload takes up, although the controller sent it without one. */
function needsReload(holding: Holding, set: StagedSet): boolean {
  for (const [path, file] of set.changes) {
    const flagged = file ?? holding.model.files.get(path);
    if (flagged?.reload_on_change === true && flagged.kind === "general") return true;
  }
  return false;
}

function lastGoodSet(holding: Holding): StagedSet {
  const name = holding.tree.lkgName;
  if (name === undefined) throw new AgentTreeError("there is no last known good set");
  return differenceTo(holding, holding.tree.filesOf(name));
}

function differenceTo(holding: Holding, files: ReadonlyMap<string, HeldFile>): StagedSet {
  const changes = new Map<string, HeldFile | null>();
  for (const [path, file] of files) if (holding.model.files.get(path)?.digest !== file.digest) changes.set(path, file);
  const removed = [...holding.model.files.keys()].filter((path) => !files.has(path));
  for (const path of removed) changes.set(path, null);
  return { ...NOTHING, changes, removed, large: true };
}

/** Operations in place are a difference to what the worker has: to anything else they could do the wrong thing. */
function fitsWorker(holding: Holding, manifest: Manifest): boolean {
  const { expected_worker_ops_plan_id: expected, expected_worker_ops_plan_proof: proof } = manifest;
  const { model } = holding;
  if (expected !== undefined && expected !== model.workerOpsPlanId) return false;
  const held = proofOf(model, model.workerOpsPlanId);
  return proof === undefined || proof === "" || held === "" || proof === held;
}

/** The journal entry for a staged change. */
export function entryOf(
  holding: Holding,
  manifest: Manifest,
  set: StagedSet,
  mode: "operate" | "scheduled",
  planId = manifest.plan_id,
): EntryRecord {
  const scheduled = mode === "scheduled";
  const inPlace = scheduled && !fitsWorker(holding, manifest) ? [] : manifest.in_place_ops;
  const ops = scheduled ? inPlace : [...manifest.ops, ...inPlace, ...(manifest.op_batches ?? []).flat()];
  const partial = inPlace.length > 0 ? (manifest.worker_ops_plan_id ?? "") : holding.model.workerOpsPlanId;
  const partialProof = scheduled && partial !== "" && inPlace.length > 0 ? manifest.worker_ops_plan_proof : undefined;
  return {
    type: "entry",
    seq: holding.number(),
    plan_id: planId,
    prev_plan_id: holding.model.planId,
    token: manifest.token,
    worker: holding.session === undefined ? null : { pid: holding.worker.pid, startMicros: holding.worker.startMicros },
    worker_ops_plan_id: scheduled ? partial : planId,
    ...(partialProof !== undefined && { worker_ops_plan_proof: partialProof }),
    ops,
    scheduled,
    staged: set.large,
    files: set.large ? [] : set.journal,
    removed: set.removed,
  };
}

/**
 * Writes the entry; a large set goes to the files at once, marked as owed until its operations are done.
 * From here on a kill leads to the new set.
 */
export async function writeEntry(holding: Holding, entry: EntryRecord, set: StagedSet): Promise<void> {
  if (!set.large) {
    holding.begin(entry, set.changes, set.blocks);
    return;
  }
  await holding.fold();
  const former = holding.model.former ?? holding.tree.folded?.name ?? null;
  const before = snapshotOf(holding.model);
  holding.begin(entry, set.changes, []);
  holding.take(entry, set.changes);
  if (!entry.scheduled) {
    holding.model.owed = underWay(entry.seq);
    holding.model.former = former;
  }
  try {
    await holding.fold();
  } catch (error) {
    // The entry says `staged`: a restart skips it, since no fold of its number exists.
    holding.abandon(before);
    throw error;
  }
}

export interface Operated {
  readonly ok: boolean;
  readonly outcomes: OpOutcome[];
}

/** Runs an entry's operations. A connection that ends midway counts as a refusal. */
export async function operateEntry(
  holding: Holding,
  entry: EntryRecord,
  set: StagedSet | undefined,
  redo = false,
): Promise<Operated> {
  try {
    const outcomes: OpOutcome[] = [];
    for (let at = 0; at < entry.ops.length; at += LIMITS.opsPerBatch) {
      const batch = entry.ops.slice(at, at + LIMITS.opsPerBatch);
      // A reload follows: what comes after would be in vain.
      if (outcomes.every((outcome) => outcome.ok)) outcomes.push(...(await holding.operate(batch, set?.changes, redo)));
      else outcomes.push(...batch.map(() => ({ ok: false, output: "an operation of a batch before was refused" })));
    }
    return { ok: outcomes.every((outcome) => outcome.ok), outcomes };
  } catch (error) {
    if (!(error instanceof RuntimeTokenError || error instanceof RuntimeError)) throw error;
    return { ok: false, outcomes: entry.ops.map(() => ({ ok: false, output: error.message })) };
  }
}

/** The operations are done: says so in the journal and makes the entry the tail. `removed` = names that have left the worker already. */
export function commitEntry(
  holding: Holding,
  entry: EntryRecord,
  set: StagedSet,
  removed: readonly string[] = [],
): void {
  const { pid, startMicros } = holding.worker;
  holding.append({ type: "done", seq: holding.number(), entry: entry.seq, worker: { pid, startMicros } });
  if (!set.large) holding.take(entry, set.changes);
  holding.operated.push(...entry.ops);
  noteRemoved(holding, removed);
}

/**
 * An operation was refused: the set is right, the worker is not. The reload that mends it is owed from now on. The entry is in
 * the journal, so it goes forward also where the files cannot be written: the next entry must stand on it.
 */
export async function oweReload(holding: Holding, entry: EntryRecord, set: StagedSet, reason: string): Promise<void> {
  if (!set.large) {
    await holding.fold().catch(() => undefined);
    const former = holding.model.former ?? holding.tree.folded?.name ?? null;
    holding.take({ ...entry, scheduled: true, worker_ops_plan_id: "" }, set.changes);
    holding.model.former = former;
  }
  holding.owe(reason);
}

/** Takes a set that only a reload brings into force; the set before it is kept for roll back. */
export async function takeForReload(
  holding: Holding,
  manifest: Manifest,
  set: StagedSet,
  planId = manifest.plan_id,
): Promise<EntryRecord> {
  const entry = entryOf(holding, { ...manifest, in_place_ops: [] }, { ...set, large: true }, "scheduled", planId);
  await writeEntry(holding, entry, { ...set, large: true });
  return entry;
}

/** Asks the master to reload, once. Throws a retriable MasterError while it is busy or re-executing itself. */
export async function reloadMaster(holding: Holding, timeoutMs: number): Promise<ReloadVerdict> {
  await holding.fold();
  return holding.tree.whileRead(() => masterReload(holding.options.masterSocket, timeoutMs));
}

/** After a reload: attaches to the new worker and notes that it was loaded from the set, which is thereby known good. */
export async function adoptWorker(holding: Holding, former: WorkerIdentity | undefined): Promise<WorkerInfo> {
  const worker = await holding.attach();
  if (sameWorker(worker, former)) {
    holding.detach();
    throw new RuntimeError("the new worker has not taken the socket yet");
  }
  noteLoaded(holding);
  return worker;
}

/** A worker that HAProxy started from the folded set, without our reload. */
export function adoptStarted(holding: Holding): void {
  const { pid, startMicros } = holding.worker;
  holding.append({
    type: "loaded",
    seq: holding.number(),
    plan_id: holding.tree.folded?.planId ?? "",
    worker: { pid, startMicros },
  });
}

export function noteLoaded(holding: Holding): void {
  const { pid, startMicros } = holding.worker;
  const { planId } = holding.tree.folded ?? { planId: "" };
  holding.append({ type: "loaded", seq: holding.number(), plan_id: planId, worker: { pid, startMicros } });
  if (planId !== "") holding.tree.promote();
}

/**
 * HAProxy refused the set: the former one comes back. Returns true when the worker took operations meanwhile, so that
 * only a reload of the restored set makes it what the files say.
 */
export async function rollBack(holding: Holding): Promise<boolean> {
  await holding.fold();
  const { former } = holding.model;
  if (former === null) throw new AgentTreeError("there is no set to return to");
  const { model: restored } = holding.tree.readSet(former);
  const touched = holding.model.workerOpsPlanId !== restored.workerOpsPlanId;
  await holding.replace({
    ...holding.model,
    files: holding.tree.filesOf(former),
    planId: restored.planId,
    token: restored.token,
    runningPlanId: restored.runningPlanId,
    workerOpsPlanId: touched ? "" : restored.workerOpsPlanId,
    proofs: restored.proofs,
    owed: touched ? "the former set must be loaded again" : null,
    former: null,
    generation: holding.model.generation + 1,
  });
  return touched;
}
