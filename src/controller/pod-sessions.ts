/** The controller's side of each pod: one connection, what the pod said last, and the requests that `podApply` asks for. */
import type { AgentState, ApplyResult, Manifest, OwnReload, Token } from "../agent/api.ts";
import { ControllerError } from "../errors.ts";
import { agentVersion, decodePlan, encodePlan, REFUSED_PLAN, UNKNOWN_BASELINE, WHOLE_SET } from "../plan/index.ts";
import type { RenderPlan } from "../plan/types.ts";
import type { ApplyForm, ApplyReply, BlobReport, KnownState } from "../../machines/podApply.ts";
import type { PodRef } from "../../machines/discovery.ts";
import type { AgentConnect, AgentPort, ApplyPart } from "./agent-port.ts";
import {
  deltaDelivery,
  fullDelivery,
  loadedFiles,
  planProof,
  podStateOf,
  promotion,
  proofsOf,
  reversion,
} from "./manifest.ts";
import type { Delivery, PodState } from "./manifest.ts";
import type { PlanShelf } from "./plan-shelf.ts";
import { refusalOf } from "./refusal.ts";
import { agentReasons, agentReload, tellReasons } from "./reload-ledger.ts";

export interface ApplyRecord {
  readonly pod: string;
  readonly planId: string;
  readonly mode: string;
  readonly ok: boolean;
  /** Why a reload was needed. */
  readonly reasons: readonly string[];
  readonly tookMs: number;
  readonly message: string;
  /** No apply, but a reload that the agent asked for by itself, as it told afterwards. */
  readonly isOwn?: boolean;
  /** When the reload that this waits for is due (RFC 3339); absent where none was put off. */
  readonly reloadDue?: string;
}

export interface PodSessionsDeps {
  readonly connect: AgentConnect;
  readonly shelf: PlanShelf;
  /** Epoch of the present term. */
  readonly epoch: () => number;
  /** Number of the newest render of the term. */
  readonly seq: () => number;
  readonly now: () => number;
  /** Every apply that an agent answered, whatever it was for. */
  readonly onApply: (record: ApplyRecord) => void;
  /** Lets other work of the process have its turn. */
  readonly pause: () => Promise<void>;
}

interface Session {
  readonly pod: PodRef;
  readonly port: AgentPort;
  state: PodState | undefined;
  /** When the agent last reloaded by itself; "" = never, undefined = it was not asked yet. */
  heardReload: string | undefined;
}

export interface PodView {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly haproxy: string;
  readonly applied: string;
  readonly running: string;
  readonly lastGood: string;
  readonly blobStored: boolean;
}

export class PodSessions {
  readonly #deps: PodSessionsDeps;
  readonly #sessions = new Map<string, Session>();
  /** Of the last blob, for the next one: a new one each change would have V8 mark the whole heap every eighth. Nobody reads it any more. */
  #room: Buffer | undefined;
  /** The last epoch of ours in which an agent took something. */
  #served = 0;

  constructor(deps: PodSessionsDeps) {
    this.#deps = deps;
  }

  /** Opens and closes connections so that there is one for each of these pods. */
  follow(pods: readonly PodRef[]): void {
    const wanted = new Set(pods.map((pod) => pod.id));
    for (const [id, session] of this.#sessions) {
      if (wanted.has(id)) continue;
      this.#sessions.delete(id);
      this.#deps.shelf.hold(`pod:${id}`, "");
      this.#deps.shelf.hold(`sending:${id}`, "");
      session.port.close().catch(() => {});
    }
    for (const pod of pods) {
      if (this.#sessions.has(pod.id)) continue;
      this.#sessions.set(pod.id, {
        pod,
        port: this.#deps.connect(pod.address),
        state: undefined,
        heardReload: undefined,
      });
    }
  }

  view(): readonly PodView[] {
    return [...this.#sessions.values()].map(({ pod, state }) => ({
      id: pod.id,
      name: `${pod.namespace}/${pod.name}`,
      address: pod.address,
      haproxy: state?.haproxyVersion ?? pod.version,
      applied: state?.applied ?? "",
      running: state?.running ?? "",
      lastGood: state?.lastGood ?? "",
      blobStored: state?.blobStored ?? false,
    }));
  }

  /** What a pod said of itself last; "" = nothing yet. */
  plansOf(podId: string): { readonly applied: string; readonly running: string } {
    const state = this.#sessions.get(podId)?.state;
    return { applied: state?.applied ?? "", running: state?.running ?? "" };
  }

  async readState(podId: string, verify: boolean, signal: AbortSignal): Promise<KnownState> {
    const session = this.#session(podId);
    const state = await this.#read(session, verify, signal);
    return known(state, verify && this.#drifted(state));
  }

  async send(podId: string, planId: string, seq: number, form: ApplyForm, signal: AbortSignal): Promise<ApplyReply> {
    const session = this.#session(podId);
    const plan = this.#deps.shelf.get(planId);
    if (plan === undefined) throw new ControllerError(`plan ${planId.slice(0, 12)} is not held any more`);
    // A reload that was put off may have come meanwhile: who does not look would ask for one more.
    let { state } = session;
    if (state === undefined || state.workerOps !== state.applied) {
      state = await this.#read(session, false, signal);
    }
    if (this.#isTaken(state.token)) return { kind: "deposed", epoch: state.token.leader_epoch + 1 };
    this.#deps.shelf.hold(`sending:${podId}`, planId);
    const token = this.#token(seq);
    let delivery = await this.#delivery(session, plan, token, form, signal);
    for (let attempt = 0; ; attempt += 1) {
      const reply = await this.#post(session, delivery.manifest, delivery.parts, delivery.reasons, signal);
      if (reply.kind !== "missing") return reply.reply;
      if (attempt > 0 || form === "delta") return { kind: "baseline_unknown" };
      delivery = fullDelivery(plan, state, token, delivery.reasons, true);
    }
  }

  /** Runs beside other applies, so its answer says nothing of what the pod holds but its last good plan. */
  async promote(podId: string, planId: string, signal: AbortSignal): Promise<ApplyReply> {
    const session = this.#session(podId);
    if (session.state === undefined) return { kind: "moved" };
    const started = this.#deps.now();
    const { token } = session.state;
    // With the token that the plan came by, a promotion changes nothing that an apply under way stands on.
    const isOurs = token.leader_epoch === this.#deps.epoch();
    const manifest = promotion(planId, session.state, isOurs ? token : this.#token(this.#deps.seq()));
    const answer = await session.port.apply(manifest, [], signal);
    if (answer.kind !== "result" || !answer.result.ok || answer.result.lkg_plan_id !== planId) return { kind: "moved" };
    const { mode } = answer.result;
    this.#deps.onApply({
      pod: podId,
      planId,
      mode,
      ok: true,
      reasons: [],
      message: "",
      tookMs: this.#deps.now() - started,
    });
    const { lastGood } = proofsOf(answer.result);
    session.state = {
      ...session.state,
      lastGood: planId,
      proofs: { ...session.state.proofs, lastGood },
      token: answer.result.applied_token,
      loaded: loadedAfter(session.state, answer.result),
    };
    return { kind: "applied", mode, known: known(session.state, false) };
  }

  async revert(podId: string, planId: string, signal: AbortSignal): Promise<ApplyReply> {
    const session = this.#session(podId);
    if (session.state === undefined || session.state.applied !== planId) return { kind: "moved" };
    const reply = await this.#post(
      session,
      reversion(session.state, this.#token(this.#deps.seq())),
      [],
      tellReasons([REFUSED_PLAN]),
      signal,
    );
    return reply.kind === "missing" ? { kind: "baseline_unknown" } : reply.reply;
  }

  /** A plan that is not held, or too large for a blob, is not stored: the pod's baseline is then unknown to the next controller. */
  async storeBlob(podId: string, planId: string, signal: AbortSignal): Promise<BlobReport> {
    const started = this.#deps.now();
    await this.#storeBlob(podId, planId, signal);
    return { tookMs: this.#deps.now() - started };
  }

  async #storeBlob(podId: string, planId: string, signal: AbortSignal): Promise<void> {
    const session = this.#session(podId);
    const plan = this.#deps.shelf.get(planId);
    if (plan === undefined) return;
    const room = this.#room;
    this.#room = undefined;
    const blob = await encodePlan(plan, this.#deps.pause, room);
    if (signal.aborted && blob !== undefined) this.#room = Buffer.from(blob.buffer);
    signal.throwIfAborted();
    if (blob === undefined) return;
    const stored = await session.port.storePlan(planId, blob, signal);
    this.#room = Buffer.from(blob.buffer);
    if (stored && session.state?.applied === planId) session.state = { ...session.state, blobStored: true };
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.port.close()));
  }

  async #read(session: Session, verify: boolean, signal: AbortSignal): Promise<PodState> {
    const told = await session.port.state({ verify, plan: false }, signal);
    const state = podStateOf(told);
    this.#learn(session, state);
    this.#hear(session, told.own_reload);
    return state;
  }

  /** A reload that nobody here asked for, heard of for the first time; its reason. What was before us another has told. */
  #hear(session: Session, reload: OwnReload | undefined): readonly string[] {
    const before = session.heardReload;
    session.heardReload = reload?.at ?? before ?? "";
    if (reload === undefined || before === undefined || before === reload.at) return [];
    const reasons = tellReasons([agentReload(reload.reason)]);
    this.#deps.onApply({
      pod: session.pod.id,
      planId: reload.plan_id,
      mode: reload.ok ? "reload" : "rejected",
      ok: reload.ok,
      isOwn: true,
      reasons,
      message: reload.ok ? "" : "HAProxy refused the set",
      tookMs: 0,
    });
    return reasons;
  }

  #session(podId: string): Session {
    const session = this.#sessions.get(podId);
    if (session === undefined) throw new ControllerError(`pod ${podId} is gone`);
    return session;
  }

  /** What the pod holds is the baseline of its next change. */
  #learn(session: Session, state: PodState | undefined): void {
    session.state = state;
    if (state !== undefined) this.#deps.shelf.hold(`pod:${session.pod.id}`, state.applied);
  }

  /** Another leader had our epoch: the Lease that counted it was deleted, and the number was given a second time. */
  #isTaken({ leader_epoch: epoch }: Token): boolean {
    return epoch === this.#deps.epoch() && this.#served !== epoch;
  }

  #token(seq: number): Token {
    return { leader_epoch: this.#deps.epoch(), render_seq: seq };
  }

  async #delivery(
    session: Session,
    plan: RenderPlan,
    token: Token,
    form: ApplyForm,
    signal: AbortSignal,
  ): Promise<Delivery> {
    const { state } = session;
    if (state === undefined) throw new ControllerError(`nothing is known of pod ${session.pod.name}`);
    if (form === "full") return fullDelivery(plan, state, token, tellReasons([WHOLE_SET]));
    if (state.skew !== undefined) return fullDelivery(plan, state, token, tellReasons([agentVersion(state.skew)]));
    const baseline = await this.#baseline(session, state, signal);
    if (baseline === undefined) return fullDelivery(plan, state, token, tellReasons([UNKNOWN_BASELINE]));
    return deltaDelivery(plan, baseline, state, token);
  }

  /** The pod's applied plan: held, or read back from the pod. */
  async #baseline(session: Session, state: PodState, signal: AbortSignal): Promise<RenderPlan | undefined> {
    if (state.applied === "") return undefined;
    const { applied: proof } = state.proofs;
    // Files that only bear the plan's name are no baseline.
    const isOf = (plan: RenderPlan): boolean => proof === "" || planProof(plan) === proof;
    const held = this.#deps.shelf.get(state.applied);
    if (held !== undefined) return isOf(held) ? held : undefined;
    if (!state.blobStored) return undefined;
    const full: AgentState = await session.port.state({ verify: false, plan: true }, signal);
    this.#learn(session, podStateOf(full));
    if (full.applied_plan === undefined || full.applied_plan_id !== state.applied) return undefined;
    try {
      const plan = await decodePlan(Buffer.from(full.applied_plan, "base64"), this.#deps.pause);
      if (plan.id !== state.applied || !isOf(plan)) return undefined;
      this.#deps.shelf.put(plan);
      return plan;
    } catch {
      // A blob of another version or a damaged one: the pod gets the full set.
      return undefined;
    }
  }

  async #post(
    session: Session,
    manifest: Manifest,
    parts: readonly ApplyPart[],
    reasons: readonly string[],
    signal: AbortSignal,
  ): Promise<{ kind: "answer"; reply: ApplyReply } | { kind: "missing" }> {
    const started = this.#deps.now();
    const answer = await session.port.apply(manifest, parts, signal);
    if (answer.kind === "missing") return { kind: "missing" };
    if (answer.kind === "conflict") {
      const { conflict } = answer;
      session.state = undefined;
      const { leader_epoch: epoch, render_seq: seq } = conflict.applied_token;
      // A render of our epoch that we never made: a Lease that was restored or deleted has given the epoch a second time.
      const isSecondOfItsEpoch = epoch === this.#deps.epoch() && seq > this.#deps.seq();
      if (conflict.reason === "stale_epoch" || isSecondOfItsEpoch)
        return { kind: "answer", reply: { kind: "deposed", epoch: Math.max(epoch, this.#deps.epoch() + 1) } };
      return { kind: "answer", reply: { kind: conflict.reason === "unknown_baseline" ? "baseline_unknown" : "moved" } };
    }
    const { result } = answer;
    const heard = result.own_reload === undefined ? [] : this.#hear(session, result.own_reload);
    this.#served = this.#deps.epoch();
    this.#learn(session, afterApply(session.state, result));
    const message = result.ok ? "" : refusalOf(result);
    this.#deps.onApply({
      pod: session.pod.id,
      planId: manifest.plan_id,
      mode: result.mode,
      ok: result.ok,
      reasons: [
        ...heard,
        ...(reasons.length === 0 && (result.mode === "reload" || result.mode === "scheduled")
          ? tellReasons(agentReasons(result, operationsOf(manifest), this.#deps.shelf.get(manifest.plan_id)))
          : reasons),
      ],
      message,
      tookMs: this.#deps.now() - started,
      ...(result.reload?.scheduled_at !== undefined && { reloadDue: result.reload.scheduled_at }),
    });
    if (session.state === undefined) return { kind: "answer", reply: { kind: "moved" } };
    const state = known(session.state, false);
    return {
      kind: "answer",
      reply: result.ok
        ? { kind: "applied", mode: result.mode, known: state }
        : { kind: "rejected", message, known: state },
    };
  }

  #drifted(state: PodState): boolean {
    const plan = this.#deps.shelf.get(state.applied);
    if (plan === undefined || state.files === undefined) return false;
    for (const [path, file] of plan.files.entries()) if (state.files[path]?.digest !== file.digest) return true;
    return Object.keys(state.files).some((path) => plan.files.get(path) === undefined);
  }
}

const known = (state: PodState, drifted: boolean): KnownState => ({
  applied: state.applied,
  running: state.running,
  lastGood: state.lastGood,
  blobStored: state.blobStored,
  drifted,
});

function afterApply(before: PodState | undefined, result: ApplyResult): PodState | undefined {
  if (before === undefined) return undefined;
  const moved = result.applied_plan_id !== before.applied;
  return {
    ...before,
    applied: result.applied_plan_id,
    running: result.running_plan_id,
    workerOps: result.worker_ops_plan_id,
    lastGood: result.lkg_plan_id,
    proofs: proofsOf(result),
    token: result.applied_token,
    owed: result.reload_owed ?? "",
    blobStored: before.blobStored && !moved,
    haproxyVersion: result.haproxy?.version ?? before.haproxyVersion,
    files: moved ? undefined : before.files,
    loaded: loadedAfter(before, result),
  };
}

/** An agent tells what the worker has loaded when that has changed; one that cannot unload never tells it with an answer. */
function loadedAfter(before: PodState, result: ApplyResult): PodState["loaded"] {
  if (result.runtime_inventory !== undefined) return loadedFiles(result.runtime_inventory);
  return before.agentOps.includes("cert_del") || result.applied_plan_id === before.applied ? before.loaded : undefined;
}

const operationsOf = ({ ops, op_batches: batches = [] }: Manifest): Manifest["ops"] => [...ops, ...batches.flat()];
