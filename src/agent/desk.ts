/**
 * Where requests meet the charts: tickets in, steps by number, answers out. Each method is one step that a chart's actor
 * calls; what a step needs of the request is on its ticket.
 */
import { rmSync } from "node:fs";
import { AgentRequestError } from "../errors.ts";
import type { ReloadEnd } from "../../machines/agentReload.ts";
import { LIMITS, type AppliedMode, type Manifest, type OwnReload } from "./api.ts";
import * as changes from "./changes.ts";
import { admit } from "./fence.ts";
import type { Holding } from "./holding.ts";
import { inventoryView } from "./inventory.ts";
import { tellRefusal } from "./known-bad.ts";
import type { ApplyBody } from "./multipart.ts";
import { OwnReloads } from "./own-reloads.ts";
import type { PlanStore } from "./plan-store.ts";
import { readFile } from "node:fs/promises";
import { proofOf } from "./proofs.ts";
import { makeRoom, releaseNames } from "./removals.ts";
import { answerOf } from "./server.ts";
import { resultOf, type Answer, type Ticket } from "./ticket.ts";

export interface DeskOptions {
  readonly holding: Holding;
  readonly plans: PlanStore;
  readonly reloadTimeoutMs: number;
  /** Milliseconds: wall clock and monotonic. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** When a reload that is wanted now would begin. */
  readonly nextReloadAt: () => number;
  readonly onRemovals: () => void;
  readonly onOwnReload: (reload: OwnReload) => void;
}

export class Desk {
  readonly #options: DeskOptions;
  readonly #tickets = new Map<number, Ticket>();
  #last = 0;
  /** When the pending reload is due; undefined = none. */
  reloadPendingAt: number | undefined;
  readonly ownReloads: OwnReloads;
  #formerWorker: { pid: number; startMicros: number } | undefined;
  #verdict: Ticket["verdict"];
  /** Generation of the inventory that an answer told last. */
  #toldInventory = 0;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.ownReloads = new OwnReloads(options.onOwnReload);
  }

  get #holding(): Holding {
    return this.#options.holding;
  }

  /** A new ticket; the promise is its answer. */
  open(body: ApplyBody): { id: number; answer: Promise<Answer> } {
    this.#last += 1;
    const id = this.#last;
    const received = this.#options.monotonic();
    const answer = new Promise<Answer>((resolve) => {
      this.#tickets.set(id, {
        id,
        manifest: body.manifest,
        parts: body.parts,
        planBlob: body.plan,
        received,
        marks: { staged: received, admitted: received, written: received, operated: received },
        ops: [],
        outcomes: [],
        answer: (given) => {
          this.#tickets.delete(id);
          resolve(given);
          // What the set needed of them lies in its folder by now.
          for (const part of [...body.parts.values(), body.plan])
            if (part !== undefined && "path" in part) rmSync(part.path, { force: true });
        },
      });
    });
    return { id, answer };
  }

  /** Refuses early what cannot pass, so that its body is not staged. */
  preview(manifest: Manifest): Answer | undefined {
    const verdict = admit(this.#holding.model, manifest, this.#holding.tree);
    return verdict.ok ? undefined : { status: 409, body: verdict.conflict };
  }

  async stage(id: number): Promise<"answered" | "operate" | "reload"> {
    const ticket = this.#ticket(id);
    ticket.marks.staged = this.#options.monotonic();
    const outcome = await changes.stageApply(this.#holding, ticket.manifest, ticket.parts);
    const admitted = this.#options.monotonic();
    ticket.marks.admitted = admitted;
    ticket.marks.written = admitted;
    ticket.marks.operated = admitted;
    switch (outcome.kind) {
      case "conflict":
        ticket.answer({ status: 409, body: outcome.conflict });
        return "answered";
      case "missing":
        ticket.answer({ status: 409, body: { missing: outcome.missing } });
        return "answered";
      case "noop":
        await this.#keepPlan(ticket);
        this.#finish(ticket, "noop");
        return "answered";
      case "known_bad":
        ticket.knownBad = outcome.refusal;
        this.#finish(ticket, "rejected", { stage: "known_bad", message: tellRefusal(outcome.refusal) });
        return "answered";
      case "change": {
        ticket.set = outcome.set;
        ticket.way = outcome.way;
        if (outcome.way === "revert" && this.#revertsFilesOnly()) return "operate";
        return outcome.way === "runtime" || outcome.way === "file_only" ? "operate" : "reload";
      }
    }
  }

  /** The worker still runs the last known good set: only the files have to go back. */
  #revertsFilesOnly(): boolean {
    const { model, tree } = this.#holding;
    return model.workerOpsPlanId === tree.lkgPlanId && model.runningPlanId === tree.lkgPlanId;
  }

  async write(id: number): Promise<void> {
    const ticket = this.#ticket(id);
    const set = ticket.set!;
    ticket.entry = changes.entryOf(this.#holding, ticket.manifest, set, "operate", this.#planId(ticket));
    ticket.ops = ticket.entry.ops;
    await changes.writeEntry(this.#holding, ticket.entry, set);
    ticket.marks.written = this.#options.monotonic();
  }

  async operate(id: number): Promise<boolean> {
    const ticket = this.#ticket(id);
    await releaseNames(this.#holding, ticket.ops);
    const { ok, outcomes } = await changes.operateEntry(this.#holding, ticket.entry!, ticket.set);
    ticket.outcomes = outcomes;
    const room = ok ? await makeRoom(this.#holding, ticket.ops) : undefined;
    ticket.removed = room?.removed ?? [];
    if (room?.lack !== undefined) ticket.limit = room.lack;
    ticket.marks.operated = this.#options.monotonic();
    return ok && room?.lack === undefined;
  }

  async commit(id: number): Promise<void> {
    const ticket = this.#ticket(id);
    changes.commitEntry(this.#holding, ticket.entry!, ticket.set!, ticket.removed);
    if (ticket.planBlob !== undefined) await this.#keepPlan(ticket);
    this.#finish(ticket, ticket.ops.length > 0 ? "runtime" : "file_only");
    if (ticket.ops.some((op) => op.kind === "server_del" || op.kind === "backend_del")) this.#options.onRemovals();
  }

  /** The operations or what follows them could not be done. */
  tellFailure(id: number, error: unknown): void {
    this.#ticket(id).failure = error instanceof Error ? error.message : String(error);
  }

  async owe(id: number): Promise<void> {
    const ticket = this.#ticket(id);
    const refused = ticket.outcomes.find((outcome) => !outcome.ok)?.output;
    const reason = refused ?? ticket.failure ?? ticket.limit ?? "an operation failed";
    await changes.oweReload(this.#holding, ticket.entry!, ticket.set!, reason);
    ticket.taken = true;
  }

  /** The set is taken into the files, the reload comes later; what may run meanwhile runs now. */
  async schedule(id: number): Promise<void> {
    const ticket = this.#ticket(id);
    if (ticket.taken !== true) {
      const set = ticket.set!;
      if (this.#holding.model.owed === null) await this.#holding.fold();
      ticket.entry = changes.entryOf(this.#holding, ticket.manifest, set, "scheduled", this.#planId(ticket));
      ticket.ops = ticket.entry.ops;
      await changes.writeEntry(this.#holding, ticket.entry, set);
      ticket.marks.written = this.#options.monotonic();
      const { ok, outcomes } = await changes.operateEntry(this.#holding, ticket.entry, set);
      ticket.outcomes = outcomes;
      changes.commitEntry(this.#holding, ticket.entry, set);
      if (!ok)
        this.#holding.append({
          type: "owed",
          seq: this.#holding.number(),
          reason: "an operation in place was refused",
        });
      ticket.marks.operated = this.#options.monotonic();
    }
    await this.#keepPlan(ticket);
    this.reloadPendingAt ??= this.#options.nextReloadAt();
    this.ownReloads.toldOwed(this.#holding.model);
    this.#finish(ticket, "scheduled", undefined, this.reloadPendingAt);
  }

  /** False when nothing is owed any more (the pod went back to its last known good set meanwhile). */
  async takeForReload(id: number | undefined): Promise<boolean> {
    this.reloadPendingAt = undefined;
    if (id === undefined && this.#holding.model.owed === null) return false;
    this.ownReloads.begins(id !== undefined, this.#holding.model);
    this.#verdict = undefined;
    this.#formerWorker = this.#holding.session?.info;
    const ticket = id === undefined ? undefined : this.#ticket(id);
    if (ticket !== undefined && ticket.taken !== true) {
      ticket.entry = await changes.takeForReload(this.#holding, ticket.manifest, ticket.set!, this.#planId(ticket));
      ticket.taken = true;
      ticket.marks.written = this.#options.monotonic();
    }
    await this.#holding.fold();
    return true;
  }

  async load(id: number | undefined): Promise<boolean> {
    const began = this.#options.monotonic();
    const verdict = await changes.reloadMaster(this.#holding, this.#options.reloadTimeoutMs);
    const { knownBad, model } = this.#holding;
    if (!verdict.ok && this.#verdict === undefined)
      knownBad.remember(proofOf(model, model.planId), verdict.output, this.#options.now());
    // A reload of the restored set follows a refusal: the first verdict is the one to tell.
    this.#verdict ??= { ...verdict, tookMs: this.#options.monotonic() - began };
    const ticket = id === undefined ? undefined : this.#tickets.get(id);
    if (ticket !== undefined) {
      ticket.verdict = this.#verdict;
      ticket.marks.operated = this.#options.monotonic();
      if (ticket.rolledBack !== undefined) ticket.rolledBack = { reloaded: verdict.ok };
    }
    return verdict.ok;
  }

  async adopt(): Promise<void> {
    await changes.adoptWorker(this.#holding, this.#formerWorker);
  }

  async restore(id: number | undefined): Promise<boolean> {
    const touched = await changes.rollBack(this.#holding);
    const ticket = id === undefined ? undefined : this.#tickets.get(id);
    if (ticket !== undefined) ticket.rolledBack = { reloaded: false };
    return touched;
  }

  /** Answers whoever waited for this reload. */
  async endReload(id: number | undefined, end: ReloadEnd): Promise<void> {
    this.ownReloads.ended(end, this.#holding.model.planId, this.#options.now());
    const ticket = id === undefined ? undefined : this.#tickets.get(id);
    if (ticket === undefined) return;
    if (end === "loaded") {
      await this.#keepPlan(ticket);
      this.#finish(ticket, "reload");
    } else {
      const message =
        end === "lost" ? "HAProxy gave no verdict" : (ticket.verdict?.output ?? "HAProxy refused the set");
      this.#finish(ticket, "rejected", { stage: "reload", message });
    }
  }

  fail(id: number | undefined, error: unknown): void {
    const ticket = id === undefined ? undefined : this.#tickets.get(id);
    ticket?.answer(answerOf(error));
  }

  refuse(ids: readonly number[], message: string): void {
    for (const id of ids) this.#tickets.get(id)?.answer({ status: 503, body: { error: message } });
  }

  #planId(ticket: Ticket): string {
    return ticket.way === "revert" ? this.#holding.tree.lkgPlanId : ticket.manifest.plan_id;
  }

  async #keepPlan(ticket: Ticket): Promise<void> {
    const blob = ticket.planBlob;
    if (blob === undefined || ticket.manifest.plan_id !== this.#holding.model.planId) return;
    await this.#options.plans.store(ticket.manifest.plan_id, "bytes" in blob ? blob.bytes : await readFile(blob.path));
  }

  #finish(ticket: Ticket, mode: AppliedMode, error?: { stage: string; message: string }, scheduledAt?: number): void {
    const times = { now: this.#options.monotonic(), at: this.#options.now() };
    const result = resultOf(this.#holding, ticket, mode, times, error, scheduledAt);
    const { inventory, options } = this.#holding;
    if (inventory.generation > this.#toldInventory) {
      result.runtime_inventory = inventoryView(options.baseDir, inventory);
      this.#toldInventory = inventory.generation;
    }
    const own = this.ownReloads.tell();
    if (own !== undefined) result.own_reload = own;
    this.#holding.lastApply = result;
    ticket.answer({ status: 200, body: result });
  }

  #ticket(id: number): Ticket {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) throw new AgentRequestError(`request ${id} is over`, 410);
    return ticket;
  }
}

/** `PUT /v1/plan`: only for the plan that the pod holds. */
export async function storePlan(
  holding: Holding,
  plans: PlanStore,
  plan: { readonly id: string; readonly proof: string },
  blob: Buffer,
): Promise<Answer> {
  if (plan.id === "" || blob.length > LIMITS.planBlobBytes) throw new AgentRequestError("plan_id is missing");
  const { model } = holding;
  const proof = proofOf(model, model.planId);
  if (plan.id !== model.planId || (plan.proof !== "" && plan.proof !== proof))
    return { status: 409, body: { applied_plan_id: model.planId, applied_plan_proof: proof } };
  await plans.store(plan.id, blob);
  return { status: 200, body: { plan_id: plan.id, proof } };
}
