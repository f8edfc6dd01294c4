/**
 * What an agent has in its hands: model, tree, journal, the connection to the worker. Reads and writes them in the order
 * that leaves the old set or the new one after a kill at any point; which step comes when is the charts' affair.
 */
import { join } from "node:path";
import { AgentTreeError, RuntimeError, RuntimeTokenError } from "../errors.ts";
import {
  RuntimeSession,
  masterProcesses,
  runOps,
  sameWorker,
  type OpOutcome,
  type WorkerInfo,
} from "../haproxy/index.ts";
import type { Op } from "../plan/ops.ts";
import type { ApplyResult } from "./api.ts";
import { ensureSet } from "./bootstrap.ts";
import { EMPTY_INVENTORY, nameResolver, readInventory, withOps, type Inventory } from "./inventory.ts";
import { Journal, type EntryRecord, type JournalRecord } from "./journal.ts";
import { KnownBad } from "./known-bad.ts";
import { emptyModel, replay, takeEntry, takeRecord, type HeldFile, type Model } from "./model.ts";
import type { AgentNote, Note } from "./notes.ts";
import { PRIVATE_DIR } from "./paths.ts";
import { Tree } from "./tree.ts";

export interface HoldingOptions {
  readonly baseDir: string;
  /** Path of HAProxy's configuration inside the set. */
  readonly config: string;
  /** Absolute paths. */
  readonly masterSocket: string;
  readonly workerSocket: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long the running requests of what is removed are waited for; default 10 s. */
  readonly removalGraceMs?: number;
  /** Hears what happens. */
  readonly note?: Note;
}

export class Holding {
  readonly options: HoldingOptions;
  readonly tree: Tree;
  model: Model = emptyModel();
  session: RuntimeSession | undefined;
  inventory: Inventory = EMPTY_INVENTORY;
  lastApply: ApplyResult | undefined;
  readonly knownBad = new KnownBad();
  /** Operations that the worker took and that were not read back yet. */
  operated: Op[] = [];
  /** Since when the removal of a name is tried, by the name: what is queued later does not lengthen its grace. */
  readonly removalsSince = new Map<string, number>();
  /** Set by the wiring: the connection in use ended. */
  onWorkerLost: (() => void) | undefined;
  /** The worker's name of a map, certificate or crt-list of the set. */
  nameOf: (path: string) => string = (path) => path;
  #journal: Journal | undefined;
  #folding: Promise<void> | undefined;
  #last = 0;
  /** Files and journal were read. Who asks for a fold before would have the files hold nothing. */
  #recovered = false;
  /** The file system did not let the journal be cut. */
  #uncut = false;
  #attaching = 0;
  /** Written to the journal, not the tail yet: its operations are under way. */
  #open: { readonly entry: EntryRecord; readonly changes: ReadonlyMap<string, HeldFile | null> } | undefined;
  /** Entries that are not folded yet, in order, for redoing. */
  #unfolded: EntryRecord[] = [];
  #done = new Map<number, { pid: number; startMicros: number }>();

  constructor(options: HoldingOptions) {
    this.options = options;
    this.tree = new Tree({ baseDir: options.baseDir, now: options.now });
  }

  note(note: AgentNote): void {
    this.options.note?.(note);
  }

  /** The files hold all, and yet the journal holds something that it could drop: not what is under way, which no fold may take. */
  get journalLingers(): boolean {
    return this.#open === undefined && !this.dirty && !this.#uncut && (this.#journal?.size ?? 0) > 0;
  }

  /** What it holds is known. */
  get recovered(): boolean {
    return this.#recovered;
  }

  /** Something is in the journal that the files do not hold. */
  get dirty(): boolean {
    return this.#recovered && this.#foldable > (this.tree.folded?.seq ?? -1);
  }

  /** An entry that is written but not taken yet stays out of a fold, and so in the journal. */
  get #foldable(): number {
    return this.#open === undefined ? this.model.seq : this.#open.entry.seq - 1;
  }

  get unfolded(): readonly EntryRecord[] {
    return this.#unfolded;
  }

  /** Which worker took an entry's operations, if that is known. */
  doneBy(entry: number): { pid: number; startMicros: number } | undefined {
    return this.#done.get(entry);
  }

  /** The number of the next record. */
  number(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Reads files and journal. What cannot be trusted makes the plan unknown; it never stops the agent. */
  async recover(): Promise<{ intact: boolean }> {
    this.#recovered = false;
    const outcome = await this.#read();
    this.#recovered = true;
    return outcome;
  }

  async #read(): Promise<{ intact: boolean }> {
    const loaded = await this.tree.load();
    this.#journal?.close();
    const { journal, records } = Journal.open(this.tree.journalPath);
    this.#journal = journal;
    this.#open = undefined;
    this.#last = Math.max(loaded?.model.seq ?? 0, ...records.map(({ record }) => record.seq));
    this.#unfolded = [];
    this.#done.clear();
    if (loaded === undefined) {
      this.model = await ensureSet(this.tree, {
        config: this.options.config,
        workerSocket: this.options.workerSocket,
        listenSocket: join(this.options.baseDir, PRIVATE_DIR, "bootstrap.sock"),
      });
      journal.cut(Number.MAX_SAFE_INTEGER);
      return { intact: true };
    }
    this.model = loaded.model;
    let intact = !loaded.strange && loaded.damaged.length === 0;
    for (const read of records) {
      if (!intact) break;
      const fresh = read.record.seq > (this.tree.folded?.seq ?? 0);
      intact = replay(this.model, read, this.tree.folded?.name ?? null);
      if (!fresh) continue;
      if (read.record.type === "entry" && !read.record.staged) this.#unfolded.push(read.record);
      if (read.record.type === "done") this.#done.set(read.record.entry, read.record.worker);
    }
    if (!intact) this.#distrust(loaded.damaged);
    // A kill came between the last fold and the cut.
    else if (this.model.seq === this.tree.folded?.seq && records.length > 0) this.#cutJournal(this.#last);
    return { intact };
  }

  /** Files may have been changed or lost beside the agent; looked into before the next apply. */
  suspect = false;

  /** Paths of folded files that are not what they shall be. */
  async checkFiles(): Promise<readonly string[]> {
    if (!this.#recovered) return [];
    const { folded } = this.tree;
    const damaged = await this.tree.damaged();
    // A fold meanwhile has removed the folder that was read.
    if (damaged.length === 0 || this.tree.folded !== folded) return [];
    this.suspect = true;
    return damaged;
  }

  /** Nothing may be under way. What is damaged is asked for anew, with everything that may hang on it. */
  async settleSuspicion(): Promise<void> {
    if (!this.suspect) return;
    const damaged = await this.tree.damaged();
    this.suspect = false;
    if (damaged.length > 0) this.#distrust(damaged);
  }

  #distrust(damaged: readonly string[]): void {
    this.tree.forget(damaged);
    for (const path of damaged) this.model.files.delete(path);
    this.model.seq = this.#last;
    this.model.planId = "";
    this.model.runningPlanId = "";
    this.model.workerOpsPlanId = "";
  }

  /**
   * Connects to the worker that serves now, and to the master, and learns the worker's names.
   * @throws RuntimeError or MasterError while HAProxy is not there.
   */
  async attach(): Promise<WorkerInfo> {
    this.detach();
    this.#attaching += 1;
    const mine = this.#attaching;
    const session = await RuntimeSession.connect(this.options.workerSocket);
    try {
      if (session.info.stopping) throw new RuntimeError("the worker is stopping");
      await masterProcesses(this.options.masterSocket, 5_000);
      const inventory = await readInventory(session, this.inventory.generation + 1);
      // A later attempt has overtaken this one; a forgotten connection would keep its worker alive.
      if (mine !== this.#attaching) throw new RuntimeError("another attempt to find the worker has begun");
      this.inventory = inventory;
    } catch (error) {
      session.close();
      throw error;
    }
    this.nameOf = nameResolver(this.options.baseDir, this.inventory);
    this.session = session;
    session.onClose(() => {
      if (this.session === session) this.onWorkerLost?.();
    });
    return session.info;
  }

  detach(): void {
    this.#attaching += 1;
    const session = this.session;
    this.session = undefined;
    session?.close();
  }

  get worker(): WorkerInfo {
    if (this.session === undefined || this.session.closed) throw new RuntimeError("HAProxy is not there");
    return this.session.info;
  }

  /** Writes a record that the model takes at once. */
  append(record: Exclude<JournalRecord, EntryRecord>): void {
    this.#opened.append(record);
    if (record.type === "loaded") {
      this.#noteRemovals("superseded", this.model.pendingServers.size, this.model.pendingBackends.size);
      // They were the former worker's.
      this.operated = [];
    }
    takeRecord(this.model, record);
    if (record.type === "done") this.#done.set(record.entry, record.worker);
  }

  /** A reload is owed. Where the journal cannot say so, the last entry lacks its `done` record, which says enough after a kill. */
  owe(reason: string): void {
    const record = { type: "owed", seq: this.number(), reason } as const;
    try {
      this.append(record);
    } catch {
      takeRecord(this.model, record);
    }
  }

  /** Writes an entry. The model takes it by `take`, when its operations are done. */
  begin(entry: EntryRecord, changes: ReadonlyMap<string, HeldFile | null>, blocks: readonly Uint8Array[]): void {
    this.#opened.append(entry, blocks);
    this.#open = { entry, changes };
    if (!entry.staged) this.#unfolded.push(entry);
  }

  get #opened(): Journal {
    if (this.#journal === undefined) throw new AgentTreeError("the journal is not open");
    return this.#journal;
  }

  /** An entry is written, its operations are under way. */
  get isOperating(): boolean {
    return this.#open !== undefined;
  }

  /** An entry whose operations were cut off by the worker's end is the tail all the same: forward, never undone. */
  settle(): void {
    if (this.#open !== undefined) this.take(this.#open.entry, this.#open.changes);
  }

  /** A written entry becomes the model's tail. */
  take(entry: EntryRecord, changes: ReadonlyMap<string, HeldFile | null>): void {
    this.#open = undefined;
    const { pendingServers: servers, pendingBackends: backends } = this.model;
    const [former, formerBackends] = [servers.size, backends.size];
    takeEntry(this.model, entry, changes, this.tree.folded?.name ?? null);
    this.#noteRemovals("deferred", servers.size - former, backends.size - formerBackends);
  }

  #noteRemovals(outcome: "deferred" | "superseded", servers: number, backends: number): void {
    if (servers > 0) this.note({ what: "removal", kind: "server", outcome, count: servers });
    if (backends > 0) this.note({ what: "removal", kind: "backend", outcome, count: backends });
  }

  /** Forgets a written entry that could not be taken. */
  abandon(before: Model): void {
    this.#open = undefined;
    this.model = before;
  }

  /** Makes the files hold the model as it is now. One at a time: a second call waits for the first, then looks again. */
  async fold(): Promise<void> {
    while (this.#folding !== undefined) await this.#folding;
    if (this.dirty) await this.#foldNow({ ...this.model, seq: this.#foldable });
  }

  /** Goes to another set as a whole: first the files, then what the agent says of itself. Nothing may be under way. */
  async replace(model: Model): Promise<void> {
    while (this.#folding !== undefined) await this.#folding;
    const next = { ...model, seq: this.number() };
    await this.#foldNow(next);
    this.model = next;
  }

  async #foldNow(model: Model): Promise<void> {
    this.#folding = this.tree
      .fold(model)
      .then((set) => {
        this.#unfolded = this.#unfolded.filter((entry) => entry.seq > set.seq);
        for (const entry of this.#done.keys()) if (entry <= set.seq) this.#done.delete(entry);
        this.#cutJournal(set.seq);
      })
      .catch(async (error: unknown) => {
        // What the new set was to take over is not there any more.
        if (isLoss(error)) await this.checkFiles();
        throw error;
      })
      .finally(() => {
        this.#folding = undefined;
      });
    await this.#folding;
  }

  /** The files hold these records now; where they cannot be dropped, their numbers tell the next start to pass over them. */
  #cutJournal(seq: number): void {
    try {
      this.#journal?.cut(seq);
      this.#uncut = false;
    } catch {
      this.#uncut = true;
      // After the next fold it is tried again.
    }
  }

  /** A file's content: `changes` = files that are not in the model yet. */
  async contentOf(path: string, changes?: ReadonlyMap<string, HeldFile | null>): Promise<Buffer | undefined> {
    const file = changes?.get(path) ?? this.model.files.get(path);
    return file === undefined ? undefined : this.tree.content(file);
  }

  /** Runs operations on the connected worker. `changes` = files that are not in the model yet. */
  async operate(
    ops: readonly Op[],
    changes: ReadonlyMap<string, HeldFile | null> | undefined,
    redo: boolean,
  ): Promise<OpOutcome[]> {
    if (ops.length === 0) return [];
    void this.worker;
    const content = (path: string): Promise<Buffer | undefined> => this.contentOf(path, changes);
    const outcomes = await runOps(this.session!, ops, { nameOf: this.nameOf, content, redo }).catch(
      (error: unknown) => {
        // What came through the manifest's checks can be written as a command.
        if (error instanceof RuntimeTokenError) this.note({ what: "broken", invariant: "ops_executable" });
        throw error;
      },
    );
    for (const [i, outcome] of outcomes.entries())
      if (!outcome.ok) this.note({ what: "operation refused", kind: ops[i]!.kind });
    this.inventory = withOps(this.inventory, ops, outcomes, this.nameOf);
    return outcomes;
  }

  /**
   * Asks the connected worker whether it still is the one in service. A connection stays with its worker after a reload
   * that somebody else asked for; then the worker counts as lost, and the new one is brought to the claimed set.
   */
  async checkWorker(): Promise<void> {
    const { session } = this;
    const info = await session?.refreshInfo().catch(() => undefined);
    if (info?.stopping === true && this.session === session) this.onWorkerLost?.();
  }

  /** The connected worker is the one that the model speaks of. */
  get sameWorker(): boolean {
    return sameWorker(this.model.worker, this.session?.info);
  }

  close(): void {
    this.detach();
    this.#journal?.close();
  }
}

/** A file system that is full or read-only has lost nothing. */
function isLoss(error: unknown): boolean {
  return error instanceof AgentTreeError || (error as NodeJS.ErrnoException).code === "ENOENT";
}
