/**
 * What the agent holds: the set of files, the plan they are, what the worker runs, and what is still owed. One model in
 * memory; the folded directory's state file plus the journal's records give the same model after a kill.
 */
import type { WorkerIdentity } from "../haproxy/index.ts";
import type { FileKind } from "../plan/types.ts";
import type { BlockRef, Token } from "./api.ts";
import type { JournalFile, JournalRecord, ReadRecord } from "./journal.ts";
import { notePending } from "./pending.ts";
import { keepProofs } from "./proofs.ts";

/** A block of a held file. Its bytes are here until a fold has put them into the file. */
export interface HeldBlock extends BlockRef {
  bytes?: Uint8Array;
}

export interface HeldFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly reload_on_change: boolean;
  readonly digest: string;
  readonly size: number;
  readonly blocks: readonly HeldBlock[];
  /** The whole content lies in this staged file (large bodies); the fold links it into place. */
  staged?: string;
}

export interface Model {
  /** Number of the last record that this model holds. */
  seq: number;
  /** Counts sets: each accepted change is one. */
  generation: number;
  /** "" = unknown: the next apply must bring the full set and reload. */
  planId: string;
  token: Token;
  /** The highest epoch ever seen; survives a roll back. */
  maxEpoch: number;
  runningPlanId: string;
  workerOpsPlanId: string;
  /** The worker that the two fields above speak of. */
  worker: WorkerIdentity | null;
  /** Proofs of those of the two that are not the applied plan. */
  proofs: Map<string, string>;
  files: Map<string, HeldFile>;
  /** Why a reload is owed; null = none. */
  owed: string | null;
  /** Folder of the set to return to when the owed reload is refused. */
  former: string | null;
  /** `backend/server` that take no traffic any more and wait for removal. */
  pendingServers: Set<string>;
  pendingBackends: Set<string>;
}

export const NO_TOKEN: Token = { leader_epoch: 0, render_seq: 0 };

export function emptyModel(): Model {
  return {
    seq: 0,
    generation: 0,
    planId: "",
    token: NO_TOKEN,
    maxEpoch: 0,
    runningPlanId: "",
    workerOpsPlanId: "",
    worker: null,
    proofs: new Map(),
    files: new Map(),
    owed: null,
    former: null,
    pendingServers: new Set(),
    pendingBackends: new Set(),
  };
}

/** The blocks after splices. Indexes speak of the old list, ascending. Undefined when they do not fit it. */
export function spliceBlocks<T>(
  old: readonly T[],
  splices: readonly { readonly index: number; readonly remove: number; readonly insert: readonly T[] }[],
): T[] | undefined {
  const blocks: T[] = [];
  let at = 0;
  for (const { index, remove, insert } of splices) {
    if (
      !Number.isInteger(index) ||
      !Number.isInteger(remove) ||
      index < at ||
      remove < 0 ||
      index + remove > old.length
    )
      return undefined;
    for (; at < index; at++) blocks.push(old[at] as T);
    for (const block of insert) blocks.push(block);
    at = index + remove;
  }
  for (; at < old.length; at++) blocks.push(old[at] as T);
  return blocks;
}

/** Rebuilds a file from a journal entry. */
function fileFromJournal(
  file: JournalFile,
  before: HeldFile | undefined,
  bytes: Iterator<Uint8Array>,
): HeldFile | undefined {
  const splices = file.splices.map((splice) => ({
    index: splice.index,
    remove: splice.remove,
    insert: splice.insert.map(([digest, size]): HeldBlock => ({
      digest,
      size,
      bytes: bytes.next().value as Uint8Array,
    })),
  }));
  if (file.prev !== "" && before?.digest !== file.prev) return undefined;
  const blocks = spliceBlocks(file.prev === "" ? [] : (before?.blocks ?? []), splices);
  if (blocks === undefined) return undefined;
  return {
    path: file.path,
    kind: file.kind,
    reload_on_change: file.reload_on_change,
    digest: file.digest,
    size: blocks.reduce((sum, block) => sum + block.size, 0),
    blocks,
  };
}

/** Takes one record into the model at start. Returns false when it does not fit (the model is then not to be trusted). */
export function replay(model: Model, { record, blocks }: ReadRecord, foldedName: string | null): boolean {
  if (record.seq <= model.seq) return true;
  if (record.type === "entry") {
    // Staged files reach the tree by the fold of the same number; not folded means that nothing was operated.
    if (record.staged) return true;
    const changes = new Map<string, HeldFile | null>();
    const bytes = blocks.values();
    for (const file of record.files) {
      const next = fileFromJournal(file, model.files.get(file.path), bytes);
      if (next === undefined) return false;
      changes.set(file.path, next);
    }
    for (const path of record.removed) changes.set(path, null);
    takeEntry(model, record, changes, foldedName);
    return true;
  }
  takeRecord(model, record);
  return true;
}

/** An accepted entry becomes the model's tail. */
export function takeEntry(
  model: Model,
  entry: Extract<JournalRecord, { type: "entry" }>,
  changes: ReadonlyMap<string, HeldFile | null>,
  foldedName: string | null,
): void {
  if (entry.scheduled) keepProofs(model);
  for (const [path, file] of changes) {
    if (file === null) model.files.delete(path);
    else model.files.set(path, file);
  }
  model.seq = Math.max(model.seq, entry.seq);
  model.generation += 1;
  model.planId = entry.plan_id;
  model.token = entry.token;
  model.maxEpoch = Math.max(model.maxEpoch, entry.token.leader_epoch);
  model.workerOpsPlanId = entry.worker_ops_plan_id;
  if (entry.worker_ops_plan_proof !== undefined)
    model.proofs.set(entry.worker_ops_plan_id, entry.worker_ops_plan_proof);
  if (entry.scheduled) {
    model.owed ??= SCHEDULED;
    model.former ??= foldedName;
  } else {
    model.runningPlanId = entry.plan_id;
  }
  notePending(model, entry.ops);
}

/** Why a reload is owed that no apply asked for; undefined = none is, or an apply waits for it. */
export function ownReason({ owed }: Model): string | undefined {
  return owed === null || owed === SCHEDULED ? undefined : owed;
}

const SCHEDULED = "scheduled";

/** What is owed while a large entry is in the files already, but its operations are not known to be done. */
export function underWay(entry: number): string {
  return `the operations of entry ${entry} are not known to be done`;
}

/** Every record but entries. */
export function takeRecord(model: Model, record: Exclude<JournalRecord, { type: "entry" }>): void {
  model.seq = Math.max(model.seq, record.seq);
  switch (record.type) {
    case "done":
      model.worker = record.worker;
      if (model.owed === underWay(record.entry)) {
        model.owed = null;
        model.former = null;
      }
      break;
    case "loaded":
      model.runningPlanId = record.plan_id;
      model.workerOpsPlanId = record.plan_id;
      keepProofs(model);
      model.worker = record.worker;
      model.owed = null;
      model.former = null;
      model.pendingServers.clear();
      model.pendingBackends.clear();
      break;
    case "owed":
      model.owed = record.reason;
      model.workerOpsPlanId = "";
      break;
    case "token":
      model.token = record.token;
      model.maxEpoch = Math.max(model.maxEpoch, record.token.leader_epoch);
      break;
    case "deleted":
      for (const name of record.names) {
        model.pendingServers.delete(name);
        model.pendingBackends.delete(name);
      }
      break;
  }
}

/** The state file's form. Files are `[kind, reload_on_change, digest, [[block digest, size], …]]` by path. */
export interface StateDocument {
  readonly format: 1;
  readonly seq: number;
  readonly generation: number;
  readonly plan_id: string;
  readonly token: Token;
  readonly max_epoch: number;
  readonly running_plan_id: string;
  readonly worker_ops_plan_id: string;
  readonly worker: WorkerIdentity | null;
  /** Pairs of plan id and proof. */
  readonly proofs?: readonly (readonly [string, string])[];
  readonly owed: string | null;
  readonly former: string | null;
  readonly pending_servers: readonly string[];
  readonly pending_backends: readonly string[];
  /** Microseconds since 1970, just before the link was turned: a worker started later has loaded this set. */
  readonly folded_at: number;
  /** Number of the folder's inode: another one tells that the tree was copied. */
  readonly folder?: number;
  readonly files: Readonly<
    Record<string, readonly [FileKind, boolean, string, readonly (readonly [string, number])[]]>
  >;
}

const fileJson = new WeakMap<HeldFile, string>();

/** The state file's text. The files' parts are kept from fold to fold: only changed files are written anew. */
export function encodeState(model: Model, foldedAt: number, folder: number): string {
  const head: Omit<StateDocument, "files"> = {
    format: 1,
    seq: model.seq,
    generation: model.generation,
    plan_id: model.planId,
    token: model.token,
    max_epoch: model.maxEpoch,
    running_plan_id: model.runningPlanId,
    worker_ops_plan_id: model.workerOpsPlanId,
    worker: model.worker,
    ...(model.proofs.size > 0 && { proofs: [...model.proofs] }),
    owed: model.owed,
    former: model.former,
    pending_servers: [...model.pendingServers],
    pending_backends: [...model.pendingBackends],
    folded_at: foldedAt,
    folder,
  };
  const files: string[] = [];
  for (const [path, file] of model.files) {
    let text = fileJson.get(file);
    if (text === undefined) {
      const blocks = file.blocks.map((block) => [block.digest, block.size]);
      text = `${JSON.stringify(path)}:${JSON.stringify([file.kind, file.reload_on_change, file.digest, blocks])}`;
      fileJson.set(file, text);
    }
    files.push(text);
  }
  return `${JSON.stringify(head).slice(0, -1)},"files":{${files.join(",\n")}}}\n`;
}

export function decodeState(document: StateDocument): Model {
  const files = new Map<string, HeldFile>();
  for (const [path, [kind, reloadOnChange, digest, pairs]] of Object.entries(document.files)) {
    const blocks = pairs.map(([blockDigest, size]): HeldBlock => ({ digest: blockDigest, size }));
    const size = blocks.reduce((sum, block) => sum + block.size, 0);
    files.set(path, { path, kind, reload_on_change: reloadOnChange, digest, size, blocks });
  }
  return {
    seq: document.seq,
    generation: document.generation,
    planId: document.plan_id,
    token: document.token,
    maxEpoch: document.max_epoch,
    runningPlanId: document.running_plan_id,
    workerOpsPlanId: document.worker_ops_plan_id,
    worker: document.worker,
    proofs: new Map(document.proofs ?? []),
    files,
    owed: document.owed,
    former: document.former,
    pendingServers: new Set(document.pending_servers),
    pendingBackends: new Set(document.pending_backends),
  };
}

/** A copy that later changes do not touch (blocks are shared). */
export function snapshotOf(model: Model): Model {
  return {
    ...model,
    files: new Map(model.files),
    proofs: new Map(model.proofs),
    pendingServers: new Set(model.pendingServers),
    pendingBackends: new Set(model.pendingBackends),
  };
}
