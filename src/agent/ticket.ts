/** One apply request from its arrival to its answer, and the answers' texts. */
import type { OpOutcome, ReloadVerdict, WorkerInfo } from "../haproxy/index.ts";
import type { Op } from "../plan/ops.ts";
import type { AgentState, AppliedMode, ApplyResult, HaproxyIdentity, Manifest, OwnReload } from "./api.ts";
import { API_VERSION, PLAN_SCHEMA_VERSION } from "./api.ts";
import type { Way } from "./fence.ts";
import type { Holding } from "./holding.ts";
import { inventoryView } from "./inventory.ts";
import type { EntryRecord } from "./journal.ts";
import type { Refusal } from "./known-bad.ts";
import { ownReason } from "./model.ts";
import { identitiesOf } from "./proofs.ts";
import { AGENT_OPS_30, agentOpsBeside, FEATURES } from "./capabilities.ts";
import type { Part, StagedSet } from "./staging.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Ticket {
  readonly id: number;
  readonly manifest: Manifest;
  readonly parts: ReadonlyMap<string, Part>;
  readonly planBlob: Part | undefined;
  readonly answer: (answer: Answer) => void;
  /** Milliseconds, monotonic. */
  readonly received: number;
  readonly marks: { staged: number; admitted: number; written: number; operated: number };
  way?: Way;
  set?: StagedSet;
  entry?: EntryRecord;
  /** Why a reload follows though no operation was refused. */
  failure?: string;
  /** Why a reload follows though every operation was taken. */
  limit?: string;
  /** What has left the worker already, of that which the operations take out of traffic. */
  removed?: readonly string[];
  /** The set is in the model already (an operation was refused, a reload follows). */
  taken?: boolean;
  ops: readonly Op[];
  outcomes: readonly OpOutcome[];
  verdict?: ReloadVerdict & { readonly tookMs: number };
  rolledBack?: { readonly reloaded: boolean };
  /** HAProxy has refused this set before and was not asked. */
  knownBad?: Refusal;
}

export function haproxyIdentity(info: WorkerInfo): HaproxyIdentity {
  return {
    version: info.version,
    full_version: info.fullVersion,
    worker_pid: info.pid,
    worker_start_time_unix_micros: info.startMicros,
  };
}

export function resultOf(
  holding: Holding,
  ticket: Ticket,
  mode: AppliedMode,
  times: { readonly now: number; readonly at: number },
  error?: { readonly stage: string; readonly message: string },
  scheduledAt?: number,
): ApplyResult {
  const { model } = holding;
  const { marks, received } = ticket;
  const round = (value: number): number => Math.max(0, Math.round(value * 1000) / 1000);
  const result: ApplyResult = {
    plan_id: ticket.manifest.plan_id,
    ok: error === undefined,
    mode,
    ...identitiesOf(model, holding.tree),
    applied_token: model.token,
    op_results: ticket.outcomes.map(({ ok, output }, i) => ({ kind: ticket.ops[i]!.kind, ok, output })),
    at: new Date(times.at).toISOString(),
    timing: {
      stage_ms: round(marks.staged - received),
      admit_ms: round(marks.admitted - marks.staged),
      write_ms: round(marks.written - marks.admitted),
      ops_ms: round(marks.operated - marks.written),
      finish_ms: round(times.now - marks.operated),
      total_ms: round(times.now - received),
    },
  };
  if (error !== undefined) result.error = error;
  if (ticket.failure !== undefined) result.failure = ticket.failure;
  if (ticket.limit !== undefined) result.limit = ticket.limit;
  const owed = mode === "scheduled" ? ownReason(model) : undefined;
  if (owed !== undefined) result.reload_owed = owed;
  const info = holding.session?.info;
  if (info !== undefined) result.haproxy = haproxyIdentity(info);
  if (ticket.verdict !== undefined) {
    const { ok, output, tookMs } = ticket.verdict;
    result.reload = { performed: true, ok, worker_pid: info?.pid ?? 0, took_ms: round(tookMs), output };
  } else if (ticket.knownBad !== undefined) {
    const { output } = ticket.knownBad;
    result.reload = { performed: false, ok: false, worker_pid: info?.pid ?? 0, took_ms: 0, output };
  } else if (scheduledAt !== undefined) {
    result.reload = {
      performed: false,
      ok: true,
      worker_pid: info?.pid ?? 0,
      took_ms: 0,
      output: "",
      scheduled_at: new Date(scheduledAt).toISOString(),
    };
  }
  if (ticket.rolledBack !== undefined) result.rollback = { performed: true, reloaded: ticket.rolledBack.reloaded };
  return result;
}

export interface StateExtras {
  readonly agentVersion: string;
  readonly appliedPlan: Buffer | undefined;
  readonly planStored: boolean;
  readonly violation: string | undefined;
  readonly reloadPendingAt: number | undefined;
  readonly ownReload: OwnReload | undefined;
}

export function stateOf(holding: Holding, extras: StateExtras): AgentState {
  const { model, inventory } = holding;
  const info = holding.session?.info;
  const files: AgentState["files"] = {};
  for (const file of model.files.values()) files[file.path] = { digest: file.digest, size: file.size };
  const state: AgentState = {
    api_version: API_VERSION,
    agent_version: extras.agentVersion,
    plan_schema_version: PLAN_SCHEMA_VERSION,
    agent_ops: [...(info === undefined ? AGENT_OPS_30 : agentOpsBeside(info.version))],
    features: [...FEATURES],
    haproxy: info === undefined ? null : haproxyIdentity(info),
    generation: model.generation,
    ...identitiesOf(model, holding.tree),
    // Of files that are not what they were nobody can say which plan they are.
    ...(holding.suspect && { applied_plan_id: "", applied_plan_proof: "" }),
    applied_token: model.token,
    applied_plan_stored: extras.planStored,
    files,
    runtime_inventory: inventoryView(holding.options.baseDir, inventory),
    pending_deletes: { servers: [...model.pendingServers], backends: [...model.pendingBackends] },
  };
  if (extras.appliedPlan !== undefined) state.applied_plan = extras.appliedPlan.toString("base64");
  if (extras.reloadPendingAt !== undefined) state.reload_pending_at = new Date(extras.reloadPendingAt).toISOString();
  const owed = ownReason(model);
  if (owed !== undefined) state.reload_owed = owed;
  if (extras.ownReload !== undefined) state.own_reload = extras.ownReload;
  if (holding.lastApply !== undefined) state.last_apply = holding.lastApply;
  if (extras.violation !== undefined) state.invariant_violation = extras.violation;
  return state;
}
