/**
 * The journal: what was accepted but is not folded into the files yet. Each record stands behind its length and its
 * CRC-32, so that a record torn by a kill is recognised and dropped; nothing has been operated for a torn one.
 *
 * Record = uint32 length, uint32 crc32 of the payload, payload. Payload = uint32 header length, header (JSON), raw bytes
 * of the inserted blocks in the order in which the header names them. Integers are big-endian.
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { AgentTreeError } from "../errors.ts";
import type { WorkerIdentity } from "../haproxy/index.ts";
import type { FileKind } from "../plan/types.ts";
import type { Op } from "../plan/ops.ts";
import type { Token } from "./api.ts";

/** Hex digest and size in bytes. */
export type BlockPair = readonly [digest: string, size: number];

export interface JournalFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly reload_on_change: boolean;
  readonly digest: string;
  /** Root before; "" = the file is new. */
  readonly prev: string;
  /** Against the blocks before; a new file is one splice at 0. */
  readonly splices: readonly {
    readonly index: number;
    readonly remove: number;
    readonly insert: readonly BlockPair[];
  }[];
}

/** An accepted change. `seq` numbers records, not only entries. */
export interface EntryRecord {
  readonly type: "entry";
  readonly seq: number;
  readonly plan_id: string;
  readonly prev_plan_id: string;
  readonly token: Token;
  readonly worker: WorkerIdentity | null;
  /** What the worker's operations amount to once `ops` are done; "" = unknown. */
  readonly worker_ops_plan_id: string;
  /** Only for a plan that no set has. */
  readonly worker_ops_plan_proof?: string;
  readonly ops: readonly Op[];
  /** The set waits for a reload: `ops` are only those that may run meanwhile. */
  readonly scheduled: boolean;
  /** The files came by staging and are in the fold of this same `seq`; the entry holds none of their bytes. */
  readonly staged: boolean;
  readonly files: readonly JournalFile[];
  readonly removed: readonly string[];
}

export type JournalRecord =
  | EntryRecord
  /** `worker` took the operations of the entry numbered `entry`. */
  | { readonly type: "done"; readonly seq: number; readonly entry: number; readonly worker: WorkerIdentity }
  /** `worker` was loaded from the set of `plan_id`. */
  | { readonly type: "loaded"; readonly seq: number; readonly plan_id: string; readonly worker: WorkerIdentity }
  /** An operation failed or a reload is owed for another reason. */
  | { readonly type: "owed"; readonly seq: number; readonly reason: string }
  /** The same plan under a later token. */
  | { readonly type: "token"; readonly seq: number; readonly token: Token }
  /** The queue removed these from the worker. */
  | { readonly type: "deleted"; readonly seq: number; readonly names: readonly string[] };

export interface ReadRecord {
  readonly record: JournalRecord;
  /** The bytes of the blocks that `record` inserts, in order. */
  readonly blocks: readonly Uint8Array[];
}

export function encodeRecord(record: JournalRecord, blocks: readonly Uint8Array[] = []): Buffer {
  const header = Buffer.from(JSON.stringify(record));
  const length = blocks.reduce((sum, block) => sum + block.length, 4 + header.length);
  const buffer = Buffer.allocUnsafe(8 + length);
  buffer.writeUInt32BE(length, 0);
  buffer.writeUInt32BE(header.length, 8);
  header.copy(buffer, 12);
  let at = 12 + header.length;
  for (const block of blocks) {
    buffer.set(block, at);
    at += block.length;
  }
  buffer.writeUInt32BE(crc32(buffer.subarray(8)), 4);
  return buffer;
}

/** Reads whole records; stops at the first that is cut or does not match its checksum. `end` = bytes that were good. */
export function decodeRecords(bytes: Buffer): { records: ReadRecord[]; end: number } {
  const records: ReadRecord[] = [];
  let at = 0;
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const payload = bytes.subarray(at + 8, at + 8 + length);
    if (length < 4 || payload.length < length || crc32(payload) !== bytes.readUInt32BE(at + 4)) break;
    const headerLength = payload.readUInt32BE(0);
    const record = JSON.parse(payload.toString("utf8", 4, 4 + headerLength)) as JournalRecord;
    const blocks: Uint8Array[] = [];
    let from = 4 + headerLength;
    for (const [, size] of insertedBlocks(record)) {
      blocks.push(payload.subarray(from, from + size));
      from += size;
    }
    records.push({ record, blocks });
    at += 8 + length;
  }
  return { records, end: at };
}

/** The blocks whose bytes travel with the record. */
export function insertedBlocks(record: JournalRecord): BlockPair[] {
  if (record.type !== "entry" || record.staged) return [];
  return record.files.flatMap((file) => file.splices.flatMap((splice) => [...splice.insert]));
}

/** The open journal file. Appends are synchronous: on tmpfs one costs 0.01 ms, and what follows must not overtake it. */
export class Journal {
  readonly #path: string;
  #fd: number;
  #kept: { seq: number; bytes: Buffer }[] = [];
  /** Bytes of whole records in the file. */
  #length = 0;
  /** Behind them lies what could not be written whole. */
  #torn = false;

  private constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /** Opens or creates it, drops a torn tail, and returns what it holds. */
  static open(path: string): { journal: Journal; records: ReadRecord[] } {
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        throw new AgentTreeError("the journal cannot be read", { cause: error });
      bytes = Buffer.alloc(0);
    }
    const { records, end } = decodeRecords(bytes);
    // Cut, not written anew: that would need room, and an agent must start on a full disk too.
    const fd = openSync(path, "a", 0o600);
    ftruncateSync(fd, end);
    const journal = new Journal(path, fd);
    journal.#kept = records.map(({ record, blocks }) => ({ seq: record.seq, bytes: encodeRecord(record, blocks) }));
    journal.#length = end;
    return { journal, records };
  }

  append(record: JournalRecord, blocks: readonly Uint8Array[] = []): void {
    const bytes = encodeRecord(record, blocks);
    // A torn record ends the reading: what is appended must not stand behind it.
    if (this.#torn) this.#trim();
    try {
      writeAll(this.#fd, bytes);
    } catch (error) {
      this.#torn = true;
      try {
        this.#trim();
      } catch {
        // Before the next record it is tried again.
      }
      throw error;
    }
    this.#length += bytes.length;
    this.#kept.push({ seq: record.seq, bytes });
  }

  #trim(): void {
    ftruncateSync(this.#fd, this.#length);
    this.#torn = false;
  }

  /** Drops the records that a fold holds: those with a `seq` up to `folded`. */
  cut(folded: number): void {
    this.#kept = this.#kept.filter((record) => record.seq > folded);
    this.#rewrite();
  }

  get size(): number {
    return this.#kept.reduce((sum, record) => sum + record.bytes.length, 0);
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  #rewrite(): void {
    const next = `${this.#path}.new`;
    rmSync(next, { force: true });
    const fd = openSync(next, "a", 0o600);
    try {
      for (const { bytes } of this.#kept) writeAll(fd, bytes);
      renameSync(next, this.#path);
    } catch (error) {
      // A file system that fails may have done the renaming all the same: then the old file has no name any more.
      if (!isFile(this.#path, fd)) {
        closeSync(fd);
        rmSync(next, { force: true });
        throw error;
      }
    }
    this.close();
    this.#fd = fd;
    this.#length = this.size;
    this.#torn = false;
  }
}

/** The path names the open file. */
function isFile(path: string, fd: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}
