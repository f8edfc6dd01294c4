/**
 * Wire types of the agent's HTTP API, version 1 (docs/agent.md). JSON names are the contract; both sides import this
 * file and nothing else of each other.
 */
import type { Op, OpKind } from "../plan/ops.ts";
import type { FileKind } from "../plan/types.ts";

export const API_VERSION = 1;
export const IDENTITY_VERSION = 1;
export const PLAN_SCHEMA_VERSION = 1;

export const LIMITS = {
  applyBodyBytes: 64 * 1024 * 1024,
  files: 4096,
  planBlobBytes: 8 * 1024 * 1024,
  pathBytes: 255,
  opsPerBatch: 1000,
  opBatches: 8,
  commandLineBytes: 12 * 1024,
  payloadBytes: 12 * 1024,
  waitBudgetMs: 30_000,
  reloadMs: 60_000,
  pendingServerDeletes: 1000,
  pendingBackendDeletes: 100,
  mapDelRepeat: 64,
} as const;

/** Fencing token: the term of the leader and the number of its render. Compared as (epoch, seq). */
export interface Token {
  leader_epoch: number;
  render_seq: number;
}

export interface BlockRef {
  digest: string;
  size: number;
}

/** Replace `remove` blocks at `index` of the base by `insert`; indexes refer to the base, ascending, not overlapping. */
export interface Splice {
  index: number;
  remove: number;
  insert: BlockRef[];
}

export interface ManifestFile {
  path: string;
  /** Root over the blocks: sha256 of, for each block, its digest as 32 raw bytes followed by its size as uint32 big-endian. */
  digest: string;
  size: number;
  kind: FileKind;
  reload_on_change: boolean;
  /** The file's blocks in order; absent when the agent is known to hold this digest, or when `patch` is given. */
  blocks?: BlockRef[];
  /** The part then holds only the inserted blocks' bytes, in order. */
  patch?: { base_digest: string; splices: Splice[] };
}

export type ApplyMode = "auto" | "reload" | "revert_lkg";

export interface Manifest {
  identity_version: number;
  plan_id: string;
  plan_schema_version: number;
  token: Token;
  /** What the files of `plan_id` amount to (plan/set-proof.ts), in `revert_lkg` those of the last known good set. */
  plan_proof?: string;
  /** "" = the controller knows of no plan on this pod. */
  expected_prev_plan_id: string;
  expected_prev_plan_proof?: string;
  expected_prev_token?: Token;
  /** Plan that the running worker must have had its runtime operations from, for ops to be safe. */
  expected_worker_ops_plan_id?: string;
  expected_worker_ops_plan_proof?: string;
  /** What the worker's operations amount to once `in_place_ops` have run while a reload is pending: the controller's name for it. */
  worker_ops_plan_id?: string;
  worker_ops_plan_proof?: string;
  /** A plan that the gate has passed: promoted to last known good when it is the applied one. */
  validated_plan_id?: string;
  validated_plan_proof?: string;
  /** The full desired set: every path that shall exist, with digests. Paths absent here are removed. Absent = only `changed`/`removed` below speak (delta form). */
  files?: ManifestFile[];
  /** Delta form: files that changed against expected_prev_plan_id, and paths to remove. */
  changed?: ManifestFile[];
  removed?: string[];
  ops: Op[];
  /** Operations that also run while a reload is pending (they do not depend on the pending set). */
  in_place_ops: Op[];
  /** Up to seven batches more, for agents with the feature `runtime_batches`; they run in their order after `ops`. */
  op_batches?: Op[][];
  mode: ApplyMode;
}

export interface OpResult {
  kind: OpKind;
  ok: boolean;
  output: string;
}

export type AppliedMode = "runtime" | "file_only" | "reload" | "scheduled" | "noop" | "rejected";

export interface ApplyResult {
  plan_id: string;
  ok: boolean;
  mode: AppliedMode;
  applied_plan_id: string;
  applied_plan_proof?: string;
  running_plan_id: string;
  running_plan_proof?: string;
  worker_ops_plan_id: string;
  worker_ops_plan_proof?: string;
  lkg_plan_id: string;
  lkg_plan_proof?: string;
  applied_token: Token;
  op_results: OpResult[];
  reload?: {
    performed: boolean;
    ok: boolean;
    worker_pid: number;
    took_ms: number;
    output: string;
    scheduled_at?: string;
  };
  rollback?: { performed: boolean; reloaded: boolean };
  error?: { stage: string; message: string };
  /** Why the set is loaded by a reload though no operation was refused: the connection was lost, a file could not be written. */
  failure?: string;
  /** Why the set is loaded by a reload though every operation was taken: more than may would wait for their last requests. */
  limit?: string;
  /** Why the reload that the set waits for was owed before the set came. */
  reload_owed?: string;
  /** The last reload that no apply asked for, where no answer told of it yet. */
  own_reload?: OwnReload;
  haproxy?: HaproxyIdentity;
  /** Only when what the worker has loaded is another than the answer before said. */
  runtime_inventory?: RuntimeInventory;
  at: string;
  timing: { stage_ms: number; admit_ms: number; write_ms: number; ops_ms: number; finish_ms: number; total_ms: number };
}

export interface HaproxyIdentity {
  version: string;
  full_version: string;
  worker_pid: number;
  worker_start_time_unix_micros: number;
}

/** A reload that the agent asked for by itself: the worker was not what it was to be. */
export interface OwnReload {
  /** RFC 3339. */
  at: string;
  /** What was loaded, or was to be. */
  plan_id: string;
  /** Names what differed, never a value. */
  reason: string;
  ok: boolean;
}

/** What the worker has loaded; paths as in the manifest. */
export interface RuntimeInventory {
  generation: number;
  maps: string[];
  certs: string[];
  ca_files: string[];
  crl_files: string[];
  crt_lists: string[];
}

export interface AgentState {
  api_version: number;
  agent_version: string;
  plan_schema_version: number;
  agent_ops: OpKind[];
  features: string[];
  haproxy: HaproxyIdentity | null;
  generation: number;
  /** "" = unknown. */
  applied_plan_id: string;
  applied_plan_proof?: string;
  running_plan_id: string;
  running_plan_proof?: string;
  worker_ops_plan_id: string;
  worker_ops_plan_proof?: string;
  lkg_plan_id: string;
  lkg_plan_proof?: string;
  applied_token: Token;
  /** base64; omitted with plan=0 or when none is stored. */
  applied_plan?: string;
  applied_plan_stored: boolean;
  files: Record<string, { digest: string; size: number }>;
  runtime_inventory?: RuntimeInventory;
  reload_pending_at?: string;
  /** Why a reload is owed that no apply asked for. */
  reload_owed?: string;
  /** The last reload that no apply asked for, since the agent's start. */
  own_reload?: OwnReload;
  pending_deletes: { servers: string[]; backends: string[] };
  last_apply?: ApplyResult;
  invariant_violation?: string;
}

/** Body of 409 when the fence refuses. */
export interface Conflict {
  reason: "prev_mismatch" | "stale_epoch" | "unknown_baseline" | "worker_ops_mismatch";
  message: string;
  applied_plan_id: string;
  applied_plan_proof?: string;
  running_plan_id: string;
  running_plan_proof?: string;
  worker_ops_plan_id: string;
  worker_ops_plan_proof?: string;
  lkg_plan_id: string;
  lkg_plan_proof?: string;
  applied_token: Token;
}

/** Body of 409 when content is lacking. */
export interface Missing {
  missing: string[];
}
