/** From a plan and what a pod is known to hold to the one request that brings the pod there. Pure. */
import { API_VERSION, IDENTITY_VERSION, LIMITS, PLAN_SCHEMA_VERSION } from "../agent/api.ts";
import type { AgentState, ApplyResult, Manifest, ManifestFile, RuntimeInventory, Token } from "../agent/api.ts";
import { diffPlans, setProof, sha256, splices, WORKER_BEHIND } from "../plan/index.ts";
import type { DiffOptions, LoadedFiles } from "../plan/index.ts";
import type { Op } from "../plan/ops.ts";
import type { Block, PlanDiff, PlanFile, RenderPlan } from "../plan/types.ts";
import type { ApplyPart } from "./agent-port.ts";
import { agentReload, tellReasons } from "./reload-ledger.ts";

/** Operations of one deployment; more are quicker by a reload. */
export const MAX_OPS = LIMITS.opsPerBatch * LIMITS.opBatches;

/** What a pod said of itself last. */
export interface PodState {
  readonly applied: string;
  readonly running: string;
  readonly workerOps: string;
  readonly lastGood: string;
  /** Proofs beside the ids of the applied plan, of the worker's and of the last good one; "" where the agent gave none. */
  readonly proofs: { readonly applied: string; readonly workerOps: string; readonly lastGood: string };
  readonly token: Token;
  /** Why the agent owes a reload that no apply asked for; "" = it owes none. */
  readonly owed: string;
  readonly blobStored: boolean;
  readonly haproxyVersion: string;
  readonly agentOps: AgentState["agent_ops"];
  readonly features: readonly string[];
  /** Why this agent takes no differences: it is of another version. */
  readonly skew: string | undefined;
  /** Digests by path, as of the last read; undefined after an apply made them old. */
  readonly files: Readonly<Record<string, { readonly digest: string }>> | undefined;
  readonly loaded: LoadedFiles | undefined;
}

export interface Delivery {
  readonly manifest: Manifest;
  readonly parts: readonly ApplyPart[];
  readonly verdict: PlanDiff["verdict"];
  readonly reasons: readonly string[];
}

/** What the worker has loaded, as the agent tells it. */
export const loadedFiles = (inventory: RuntimeInventory): LoadedFiles => ({
  maps: new Set(inventory.maps),
  certs: new Set(inventory.certs),
  caFiles: new Set(inventory.ca_files),
  crtLists: new Set(inventory.crt_lists),
  crlFiles: new Set(inventory.crl_files),
});

function skewOf({ api_version: version, features }: AgentState): string | undefined {
  if (version !== API_VERSION) return `the agent speaks version ${version} of its API, not ${API_VERSION}`;
  return features.includes("worker_fence") ? undefined : "the agent cannot tell what the worker's operations amount to";
}

export const proofsOf = (told: AgentState | ApplyResult): PodState["proofs"] => ({
  applied: told.applied_plan_proof ?? "",
  workerOps: told.worker_ops_plan_proof ?? "",
  lastGood: told.lkg_plan_proof ?? "",
});

const proofs = new WeakMap<RenderPlan, string>();

/** What the plan's files amount to, as the agent proves it. */
export function planProof(plan: RenderPlan): string {
  let proof = proofs.get(plan);
  if (proof === undefined) {
    proof = setProof(plan.files.values(), (file) => file.reloadOnChange);
    proofs.set(plan, proof);
  }
  return proof;
}

/** A name for what a worker amounts to that has a plan's operations in place and waits for its reload. */
const partialId = (plan: RenderPlan): string => sha256(`haptic-in-place ${plan.id}`);

/** The pod's state as the agent tells it. */
export function podStateOf(state: AgentState): PodState {
  const inventory = state.runtime_inventory;
  return {
    applied: state.applied_plan_id,
    running: state.running_plan_id,
    workerOps: state.worker_ops_plan_id,
    lastGood: state.lkg_plan_id,
    proofs: proofsOf(state),
    token: state.applied_token,
    owed: state.reload_owed ?? "",
    blobStored: state.applied_plan_stored,
    haproxyVersion: state.haproxy?.version ?? "",
    agentOps: state.agent_ops,
    features: state.features,
    skew: skewOf(state),
    files: state.files,
    loaded: inventory === undefined ? undefined : loadedFiles(inventory),
  };
}

const describe = (file: PlanFile): ManifestFile => ({
  path: file.path,
  digest: file.digest,
  size: file.size,
  kind: file.kind,
  reload_on_change: file.reloadOnChange,
});
const refs = (blocks: readonly Block[]): { digest: string; size: number }[] =>
  blocks.map(({ digest, size }) => ({ digest, size }));
const bytesOf = (blocks: readonly Block[]): Uint8Array[] => blocks.map((block) => block.bytes);

const common = (plan: RenderPlan, pod: PodState, token: Token) => ({
  identity_version: IDENTITY_VERSION,
  plan_id: plan.id,
  plan_schema_version: PLAN_SCHEMA_VERSION,
  plan_proof: planProof(plan),
  token,
  expected_prev_plan_id: pod.applied,
  expected_prev_plan_proof: pod.proofs.applied,
  expected_prev_token: pod.token,
  in_place_ops: [],
});

/** The whole set; contents of those files that the pod does not hold as they shall be. The worker is reloaded. */
export function fullDelivery(
  plan: RenderPlan,
  pod: PodState,
  token: Token,
  reasons: readonly string[],
  sendAll = false,
): Delivery {
  const files: ManifestFile[] = [];
  const parts: ApplyPart[] = [];
  for (const [, file] of plan.files.entries()) {
    if (!sendAll && pod.files?.[file.path]?.digest === file.digest) {
      files.push(describe(file));
      continue;
    }
    files.push({ ...describe(file), blocks: refs(file.blocks) });
    parts.push({ path: file.path, bytes: bytesOf(file.blocks) });
  }
  return {
    manifest: { ...common(plan, pod, token), files, ops: [], mode: "reload" },
    parts,
    verdict: "reload",
    reasons,
  };
}

/** What a difference may ask of the pod. */
export const diffOptionsOf = (pod: PodState): DiffOptions => ({
  haproxyVersion: pod.haproxyVersion,
  agentOps: new Set(pod.agentOps),
  features: new Set(pod.features),
  maxOps: pod.features.includes("runtime_batches") ? MAX_OPS : LIMITS.opsPerBatch,
  ...(pod.loaded !== undefined && { loaded: pod.loaded }),
});

/** The difference to `baseline`, which must be the pod's applied plan. */
export function deltaDelivery(plan: RenderPlan, baseline: RenderPlan, pod: PodState, token: Token): Delivery {
  const diff = diffPlans(plan, baseline, diffOptionsOf(pod));
  const changed: ManifestFile[] = [];
  const parts: ApplyPart[] = [];
  for (const file of diff.changed) {
    const before = baseline.files.get(file.path);
    if (before === undefined || before.blocks.length === 0 || !pod.features.includes("file_patch")) {
      changed.push({ ...describe(file), blocks: refs(file.blocks) });
      parts.push({ path: file.path, bytes: bytesOf(file.blocks) });
      continue;
    }
    const cuts = splices(before.blocks, file.blocks);
    changed.push({
      ...describe(file),
      patch: {
        base_digest: before.digest,
        splices: cuts.map(({ index, remove, insert }) => ({ index, remove, insert: refs(insert) })),
      },
    });
    parts.push({ path: file.path, bytes: cuts.flatMap(({ insert }) => bytesOf(insert)) });
  }
  // A worker whose operations are not the applied plan's waits for a reload, or had one refused: only a reload makes it right.
  const behind = pod.owed === "" ? WORKER_BEHIND : agentReload(pod.owed);
  const worker = pod.workerOps === pod.applied ? [] : [behind];
  const reload = diff.verdict === "reload" || worker.length > 0;
  // Where the reload has to wait for its interval, endpoints do not wait for it; what the worker has must be known, though.
  const inPlace = reload && pod.workerOps !== "" && diff.inPlaceOps.length <= LIMITS.opsPerBatch ? diff.inPlaceOps : [];
  const [ops = [], ...batches] = reload ? [] : inBatches(diff.ops);
  return {
    manifest: {
      ...common(plan, pod, token),
      // Its reload may come before this does; the agent then says so, and nobody asks for one more.
      ...((!reload || inPlace.length > 0 || (worker.length > 0 && pod.workerOps !== "")) && {
        expected_worker_ops_plan_id: pod.workerOps,
        expected_worker_ops_plan_proof: pod.proofs.workerOps,
      }),
      ...(inPlace.length > 0 && { worker_ops_plan_id: partialId(plan), worker_ops_plan_proof: planProof(plan) }),
      changed,
      removed: [...diff.removed],
      ops,
      ...(batches.length > 0 && { op_batches: batches }),
      in_place_ops: [...inPlace],
      mode: reload ? "reload" : "auto",
    },
    parts,
    verdict: reload ? "reload" : diff.verdict,
    reasons: tellReasons([...diff.reloads, ...worker]),
  };
}

function inBatches(ops: readonly Op[]): Op[][] {
  const batches: Op[][] = [];
  for (let at = 0; at < ops.length; at += LIMITS.opsPerBatch) batches.push(ops.slice(at, at + LIMITS.opsPerBatch));
  return batches;
}

/** Tells the pod that the plan it holds has passed, so that it becomes the one to return to. */
export function promotion(planId: string, pod: PodState, token: Token): Manifest {
  return {
    identity_version: IDENTITY_VERSION,
    plan_id: planId,
    plan_schema_version: PLAN_SCHEMA_VERSION,
    token,
    expected_prev_plan_id: pod.applied,
    validated_plan_id: planId,
    ...(planId === pod.applied && { validated_plan_proof: pod.proofs.applied }),
    changed: [],
    removed: [],
    ops: [],
    in_place_ops: [],
    mode: "auto",
  };
}

/** Brings the pod back to its last good set. */
export function reversion(pod: PodState, token: Token): Manifest {
  return {
    identity_version: IDENTITY_VERSION,
    plan_id: pod.lastGood,
    plan_proof: pod.proofs.lastGood,
    plan_schema_version: PLAN_SCHEMA_VERSION,
    token,
    expected_prev_plan_id: pod.applied,
    expected_prev_plan_proof: pod.proofs.applied,
    changed: [],
    removed: [],
    ops: [],
    in_place_ops: [],
    mode: "revert_lkg",
  };
}
