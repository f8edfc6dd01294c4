/**
 * The agent's write layer at work, applies, folds, reloads, roll backs, promotions, on a disk that is cut or fails at random
 * calls. After each cut the judge looks at the tree, then another agent starts on it: it must come back with the old set
 * or the new one and say which, and an acknowledged change must be there.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest, Token } from "../../../../src/agent/api.ts";
import * as changes from "../../../../src/agent/changes.ts";
import { Holding } from "../../../../src/agent/holding.ts";
import { PlanStore } from "../../../../src/agent/plan-store.ts";
import { returnToLastGood } from "../../../../src/agent/start-files.ts";
import { reconcile } from "../../../../src/agent/reconcile.ts";
import type { Part } from "../../../../src/agent/staging.ts";
import { blockOf } from "../../../../src/plan/chunks.ts";
import type { FileKind } from "../../../../src/plan/types.ts";
import { generator, whole } from "../../../support/random.ts";
import { deltaShipment, fullShipment, type Shipment, type TestFile, type TestSet } from "../../../e2e/agent/harness.ts";
import { Disk, type ErrorCode } from "./disk.ts";
import { Judge } from "./judge.ts";

export interface CampaignReport {
  readonly turns: number;
  /** Turns in which the fault happened, by what was under way. */
  readonly struck: Readonly<Record<string, number>>;
  /** Which set an agent came back with. */
  readonly claimed: { readonly old: number; readonly new: number };
  readonly violations: readonly string[];
}

type Files = Readonly<Record<string, string>>;

const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/\.cfg$/, "config"],
  [/\.map$/, "map"],
  [/\.pem$/, "cert"],
];
const LINES_A_BLOCK = 8;
/** Applies, folds and reloads after which a tree is thrown away: all sets are told to the judge. */
const TREE_TURNS = 200;

/** Small blocks, so that a change is some of many. */
function setOf(files: Files): TestSet {
  const set = new Map<string, TestFile>();
  for (const [path, text] of Object.entries(files)) {
    const lines = text.split(/(?<=\n)/);
    const blocks = [];
    for (let at = 0; at < lines.length; at += LINES_A_BLOCK)
      blocks.push(blockOf(Buffer.from(lines.slice(at, at + LINES_A_BLOCK).join(""))));
    set.set(path, { path, kind: KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "general", blocks });
  }
  return set;
}

interface Known {
  readonly planId: string;
  readonly files: Files;
}

class Campaign {
  readonly #random: () => number;
  readonly #disk: Disk;
  readonly #judge = new Judge();
  readonly #folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "haptic-cuts-"));
  #base = "";
  #holding!: Holding;
  #plans!: PlanStore;
  #worker = 1;
  #number = 0;
  #trees = 0;
  #seq = 0;
  /** All sets of this tree that were ever accepted, by plan id. */
  readonly #sets = new Map<string, Files>();
  #now: Known = { planId: "", files: {} };
  /** What a refused reload goes back to. */
  #former = "";
  readonly #struck: Record<string, number> = {};
  readonly #claimed = { old: 0, new: 0 };
  readonly violations: string[] = [];

  constructor(seed: number) {
    this.#random = generator(seed);
    this.#disk = new Disk(this.#random);
  }

  close(): void {
    this.#disk.plan(undefined);
    this.#disk.remove();
    this.#judge.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  report(turns: number): CampaignReport {
    return { turns, struck: this.#struck, claimed: this.#claimed, violations: this.violations };
  }

  /** A new tree with a first set. */
  async newTree(): Promise<void> {
    this.#holding?.close();
    this.#trees += 1;
    this.#base = join(this.#folder, `tree-${this.#trees}`);
    mkdirSync(this.#base);
    for (const id of this.#sets.keys()) this.#judge.forget(id);
    this.#sets.clear();
    this.#now = { planId: "", files: {} };
    await this.#boot();
    const files: Record<string, string> = { "haproxy.cfg": "", "maps/host.map": "" };
    for (let i = 0; i < 60; i++) {
      files["haproxy.cfg"] += `backend b${i}\n`;
      files["maps/host.map"] += `h${i}.example b${i}\n`;
    }
    for (let i = 0; i < 5; i++) files[`certs/c${i}.pem`] = `certificate ${i}\n`;
    await this.#reload(this.#next(files), false, true);
  }

  get due(): boolean {
    return this.#sets.size > TREE_TURNS;
  }

  /** Another process: reads the tree, finds the worker. */
  async #boot(): Promise<{ intact: boolean }> {
    this.#holding = new Holding({
      baseDir: this.#base,
      config: "haproxy.cfg",
      masterSocket: join(this.#base, "master.sock"),
      workerSocket: join(this.#base, "worker.sock"),
      now: () => this.#clock(),
    });
    this.#plans = new PlanStore(this.#holding.tree.planPath);
    await this.#plans.load();
    return this.#holding.recover();
  }

  #clock(): number {
    this.#number += 1;
    return 1_700_000_000_000 + this.#number;
  }

  /** The worker that serves; `another` = it was started just now. */
  #attach(another: boolean): void {
    if (another) this.#worker += 1;
    const info = {
      pid: this.#worker,
      startMicros: (another ? this.#clock() + 100 : 0) * 1_000,
      version: "3.4",
      fullVersion: "3.4.7",
      stopping: false,
    };
    this.#holding.session = {
      info,
      closed: false,
      close: () => undefined,
      refreshInfo: async () => info,
    } as unknown as NonNullable<Holding["session"]>;
  }

  #next(files: Files): Known {
    this.#seq += 1;
    const planId = `p${this.#seq}`;
    const whole = { ...files, "general/plan.txt": `${planId}\n` };
    this.#sets.set(planId, whole);
    this.#judge.know(planId, whole);
    return { planId, files: whole };
  }

  #changed(): Known {
    const files: Record<string, string> = { ...this.#now.files };
    const edits = 1 + whole(this.#random, 3);
    for (let edit = 0; edit < edits; edit++) {
      const dice = this.#random();
      const path = dice < 0.4 ? "haproxy.cfg" : "maps/host.map";
      if (dice < 0.8) {
        const lines = files[path]!.split(/(?<=\n)/);
        lines.splice(whole(this.#random, lines.length), whole(this.#random, 3), `changed ${this.#seq}-${edit}\n`);
        files[path] = lines.join("");
      } else if (dice < 0.93) files[`certs/c${whole(this.#random, 8)}.pem`] = `certificate ${this.#seq}\n`;
      else delete files[`certs/c${whole(this.#random, 8)}.pem`];
    }
    return this.#next(files);
  }

  get #token(): Token {
    return { leader_epoch: 1, render_seq: this.#seq };
  }

  #shipment(next: Known, reload: boolean): { manifest: Manifest; parts: Map<string, Part> } {
    const options = {
      planId: next.planId,
      prev: this.#holding.model.planId,
      token: this.#token,
      ...(reload && { mode: "reload" as const }),
    };
    const full = this.#holding.model.planId === "" || this.#random() < 0.1;
    const made: Shipment = full
      ? fullShipment(setOf(next.files), options)
      : deltaShipment(setOf(this.#now.files), setOf(next.files), options);
    const parts = new Map<string, Part>();
    // A large body lies in a file already: whatever becomes of it is the fold's affair.
    const staged = this.#random() < 0.2;
    for (const [path, blocks] of made.parts) {
      const bytes = Buffer.concat(blocks);
      if (!staged) parts.set(path, { size: bytes.length, bytes });
      else {
        const place = this.#holding.tree.stagingPath();
        writeFileSync(place, bytes);
        parts.set(path, { size: bytes.length, path: place });
      }
    }
    return { manifest: made.manifest, parts };
  }

  /** One apply without a reload; resolves when it would be acknowledged. */
  async #apply(next: Known): Promise<void> {
    const holding = this.#holding;
    const { manifest, parts } = this.#shipment(next, false);
    const outcome = await changes.stageApply(holding, manifest, parts);
    if (outcome.kind !== "change") throw new Error(`the apply was not taken: ${JSON.stringify(outcome)}`);
    const scheduled = outcome.way === "scheduled";
    if (scheduled && holding.model.owed === null) await holding.fold();
    const entry = changes.entryOf(holding, manifest, outcome.set, scheduled ? "scheduled" : "operate");
    await changes.writeEntry(holding, entry, outcome.set);
    try {
      await changes.operateEntry(holding, entry, outcome.set);
      changes.commitEntry(holding, entry, outcome.set);
    } catch {
      // As the chart does: the entry stands, so it goes forward, by a reload.
      await changes.oweReload(holding, entry, outcome.set, "the operations cannot be noted as done");
    }
    if (this.#random() < 0.2) await this.#plans.store(next.planId, Buffer.from(`plan ${next.planId}`));
  }

  /** `refused` = HAProxy does not take it, and the former set comes back. */
  async #reload(next: Known, refused: boolean, first = false): Promise<void> {
    const holding = this.#holding;
    if (first) this.#attach(true);
    const { manifest, parts } = this.#shipment(next, true);
    const outcome = await changes.stageApply(holding, manifest, parts);
    if (outcome.kind !== "change") throw new Error(`the reload was not taken: ${JSON.stringify(outcome)}`);
    await changes.takeForReload(holding, manifest, outcome.set);
    await holding.fold();
    if (refused) {
      // Sets that waited for their reload fall with it: what the worker runs comes back.
      this.#former = holding.tree.readSet(holding.model.former!).model.planId;
      await changes.rollBack(holding);
    } else {
      this.#attach(true);
      changes.noteLoaded(holding);
    }
    if (first) this.#now = next;
  }

  /** One turn: something happens, and the disk is cut in the middle of it (or just after it). */
  async cut(): Promise<void> {
    await this.#prepare();
    const before = this.#now;
    const { name, next, run } = this.#action();
    // The number of calls differs; what lies behind the last one is a cut after the end.
    this.#disk.plan({ kind: "cut", at: 1 + whole(this.#random, 1 + whole(this.#random, 40)) });
    let acknowledged = false;
    let failure: string | undefined;
    try {
      await run();
      acknowledged = true;
      if (this.#random() < 0.7) await this.#holding.fold();
    } catch (error) {
      failure = textOf(error);
    }
    const { struck } = this.#disk;
    // What is still under way in this process must find the disk dead until it has come to its end.
    await settle();
    this.#disk.plan(undefined);
    this.#close();
    if (!struck && failure !== undefined) return this.#violation(`${name} failed by itself: ${failure}`);
    this.#count(struck ? name : "after the end");
    await this.#restart(name, before, next, acknowledged && name !== "refused reload");
  }

  /** The same with errors instead of an end: the agent goes on, and is whole again when the disk is. */
  async fail(code: ErrorCode, only?: string): Promise<void> {
    await this.#prepare();
    let before = this.#now;
    const action = this.#action();
    const { name, run } = action;
    let { next } = action;
    const count = this.#random() < 0.5 ? 1 + whole(this.#random, 4) : 1_000;
    const at = 1 + whole(this.#random, 1 + whole(this.#random, only === undefined ? 30 : 4));
    this.#disk.plan({ kind: "error", at, code, count, ...(only !== undefined && { only }) });
    let acknowledged = false;
    let failure: string | undefined;
    try {
      await run();
      acknowledged = true;
    } catch (error) {
      failure = textOf(error);
    }
    for (let tries = 0; tries < 2; tries++) await this.#holding.fold().catch(() => undefined);
    await settle();
    const { struck } = this.#disk;
    if (failure !== undefined && !struck) this.#violation(`${name} failed by itself: ${failure}`);
    this.#count(struck ? `${name}, ${code}` : "none");
    const ends = this.#random() < 0.4;
    if (!ends) {
      // The disk is well again: what was owed to the files is caught up with.
      this.#disk.plan(undefined);
      const claim = this.#holding.model.planId;
      if (name === "apply" && failure === undefined && claim !== next.planId)
        return this.#violation(`${name}, ${code}: acknowledged ${next.planId}, claims ${claim}`);
      await this.#holding.fold().catch((error: unknown) => this.#violation(`${name}, ${code}: ${String(error)}`));
      const found = await this.#judge.judge(this.#base);
      if (found.current !== claim) this.#violation(`${name}, ${code}: claims ${claim}, the files are ${found.current}`);
      // The same process goes on: the next change stands on what it claims.
      const files = this.#sets.get(claim);
      if (files !== undefined && this.#random() < 0.7) {
        before = this.#now = { planId: claim, files };
        next = this.#changed();
        acknowledged = true;
        await this.#apply(next).catch((error: unknown) => this.#violation(`after ${name}, ${code}: ${String(error)}`));
      }
    }
    this.#disk.plan(undefined);
    this.#close();
    await this.#restart(
      `${name}, ${code}`,
      before,
      next,
      acknowledged && (name !== "refused reload" || next !== action.next),
    );
  }

  #action(): { name: string; next: Known; run: () => Promise<void> } {
    const dice = this.#random();
    if (
      dice < 0.1 &&
      this.#sets.has(this.#holding.tree.lkgPlanId) &&
      this.#holding.tree.lkgPlanId !== this.#now.planId
    ) {
      const planId = this.#holding.tree.lkgPlanId;
      const next = { planId, files: this.#sets.get(planId)! };
      return { name: "return to last good", next, run: () => returnToLastGood(this.#holding) };
    }
    const next = this.#changed();
    if (dice < 0.2) return { name: "refused reload", next, run: () => this.#reload(next, true) };
    if (dice < 0.35) return { name: "reload", next, run: () => this.#reload(next, false) };
    return {
      name: "apply",
      next,
      run: async () => {
        await this.#apply(next);
        if (this.#random() > 0.15) return;
        // A later apply that changes nothing says that the gate has passed the plan.
        const manifest = { ...this.#shipment(next, false).manifest, validated_plan_id: next.planId, changed: [] };
        await changes.stageApply(this.#holding, manifest, new Map());
      },
    };
  }

  /** Something is in the journal already, now and then, and a reload may be owed. */
  async #prepare(): Promise<void> {
    if (this.due) await this.newTree();
    const applies = whole(this.#random, 3);
    for (let i = 0; i < applies; i++) {
      const next = this.#changed();
      await this.#apply(next);
      this.#now = next;
    }
    if (this.#random() < 0.4) await this.#holding.fold();
  }

  #close(): void {
    this.#holding.close();
  }

  /** The judge looks, another agent starts, the judge looks again. */
  async #restart(what: string, before: Known, next: Known, acknowledged: boolean): Promise<void> {
    const found = await this.#judge.judge(this.#base);
    if (found.current === "") this.#violation(`${what}: the files are a mixture ${found.remarks.join(", ")}`);
    if (found.lastGood === "") this.#violation(`${what}: the last good set is a mixture`);
    const { intact } = await this.#boot();
    if (!intact) this.#violation(`${what}: the agent trusts neither files nor journal`);
    this.#attach(false);
    if (this.#random() < 0.3) this.#attach(true);
    await reconcile(this.#holding);
    const claim = this.#holding.model.planId;
    const wanted = [before.planId, next.planId, ...(what.startsWith("refused reload") ? [this.#former] : [])];
    if (!wanted.includes(claim))
      this.#violation(`${what}: claims ${claim}, neither ${before.planId} nor ${next.planId}`);
    else if (acknowledged && claim !== next.planId) this.#violation(`${what}: the acknowledged ${next.planId} is lost`);
    this.#claimed[claim === next.planId ? "new" : "old"] += 1;
    await this.#holding.fold();
    const folded = await this.#judge.judge(this.#base);
    if (folded.current !== claim) this.#violation(`${what}: claims ${claim}, the files are ${folded.current}`);
    for (const remark of folded.remarks) this.#violation(`${what}: ${remark}`);
    if (!(await this.#holding.tree.verify())) this.#violation(`${what}: the agent's own check fails`);
    const plan = await this.#plans.read(claim);
    if (plan !== undefined && plan.toString() !== `plan ${claim}`) this.#violation(`${what}: the plan is another one`);
    const files = this.#sets.get(claim);
    if (files === undefined) return this.newTree();
    this.#now = { planId: claim, files };
    // The owed reload runs, so that turns do not pile up on it.
    if (this.#holding.model.owed !== null && this.#random() < 0.7) {
      this.#attach(true);
      changes.noteLoaded(this.#holding);
    }
  }

  #count(what: string): void {
    this.#struck[what] = (this.#struck[what] ?? 0) + 1;
  }

  #violation(text: string): void {
    this.violations.push(`turn ${this.#seq}: ${text}`);
  }
}

const settle = (): Promise<void> => new Promise((wake) => setImmediate(() => setImmediate(wake)));
const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** `count` cuts at random points. */
export async function cuts(count: number, seed: number, said?: (done: number) => void): Promise<CampaignReport> {
  return campaign(count, seed, (one) => one.cut(), said);
}

const ERRORS: readonly (readonly [ErrorCode, string?])[] = [["ENOSPC"], ["EIO"], ["EROFS"], ["EIO", "rename"]];

/** `count` times an error of each kind, in turn. */
export async function errors(count: number, seed: number, said?: (done: number) => void): Promise<CampaignReport> {
  let turn = 0;
  return campaign(count, seed, (one) => one.fail(...ERRORS[turn++ % ERRORS.length]!), said);
}

async function campaign(
  count: number,
  seed: number,
  turn: (one: Campaign) => Promise<void>,
  said?: (done: number) => void,
): Promise<CampaignReport> {
  const one = new Campaign(seed);
  try {
    await one.newTree();
    for (let done = 1; done <= count && one.violations.length < 20; done++) {
      await turn(one);
      if (done % 500 === 0) said?.(done);
    }
    return one.report(count);
  } finally {
    one.close();
  }
}
