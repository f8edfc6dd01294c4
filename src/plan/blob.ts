/**
 * A plan as bytes, so that a leader that has just started can read from an agent what its pod runs. Chunks of the plan
 * are compressed one by one and kept compressed, so that encoding a plan again costs only its changed chunks. Contents
 * of files are left out, but for maps and crt-lists, whose entries are compared one by one.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { PlanBlobError } from "../errors.ts";
import { blockOf } from "./chunks.ts";
import type { ChunkedTree } from "./keyed-tree.ts";
import { assemblePlan, emptyTrees, PLAN_SCHEMA_VERSION } from "./plan.ts";
import type { Block, FileKind, KeyedTree, PlanFile, RenderPlan, TreeChunk } from "./types.ts";

/** Bound of the agent's contract. */
export const MAX_BLOB_BYTES = 8 * 1024 * 1024;
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const MAX_PLAN_BYTES = 256 * 1024 * 1024;
/** A small window: a chunk is about 16 KiB, and making the tables of a large one costs more than compressing it. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 16 } };
const MAGIC = Buffer.from("HPLAN001");

/** Entries that go into a tree between two pauses. */
const TREE_BATCH = 512;

/** Awaited now and then by long work, so that other work has its turn. */
export type Pause = () => Promise<void>;

const FRAMES = { structure: 1, backends: 2, profiles: 3, files: 4, maps: 5, block: 6 } as const;

const frames = new WeakMap<object, Buffer>();

/** What a file keeps in a blob: block digests and sizes; contents come in frames of their own. */
interface StoredFile extends Omit<PlanFile, "blocks"> {
  readonly blocks: readonly (readonly [digest: string, size: number])[];
}

/**
 * Encodes; undefined when the result would be over 8 MiB (the agent then gets none). `pause` is awaited about every 8 frames that are
 * made, some 2 ms. Where it fits into `room`, the result is a part of that.
 */
export async function encodePlan(plan: RenderPlan, pause: Pause, room?: Buffer): Promise<Buffer | undefined> {
  const parts: Buffer[] = [MAGIC, Buffer.from(plan.id, "hex")];
  let made = 0;
  const push = async (kind: number, owner: object, content: () => Uint8Array): Promise<void> => {
    let frame = frames.get(owner);
    if (frame === undefined) {
      const packed = zstdCompressSync(content(), ZSTD);
      frame = Buffer.allocUnsafe(packed.length + 5);
      frame.writeUInt8(kind, 0);
      frame.writeUInt32BE(packed.length, 1);
      packed.copy(frame, 5);
      frames.set(owner, frame);
      if (++made % 8 === 0) await pause();
    }
    parts.push(frame);
  };
  const tree = async <V>(
    kind: number,
    chunks: readonly TreeChunk<V>[],
    shape: (value: V) => unknown,
  ): Promise<void> => {
    for (const chunk of chunks) {
      await push(kind, chunk, () =>
        Buffer.from(JSON.stringify(chunk.keys.map((key, i) => [key, shape(chunk.values[i] as V)]))),
      );
    }
  };
  const same = (value: unknown): unknown => value;
  await tree(FRAMES.structure, plan.structure.chunks, same);
  await tree(FRAMES.backends, plan.backends.chunks, same);
  await tree(FRAMES.profiles, plan.profiles.chunks, same);
  await tree(FRAMES.maps, plan.maps.chunks, same);
  const seen = new Set<string>();
  for (const [, file] of plan.files.entries()) {
    if (file.kind !== "map" && file.kind !== "crtlist") continue;
    for (const block of file.blocks) {
      if (seen.has(block.digest) || block.bytes.length !== block.size) continue;
      seen.add(block.digest);
      await push(FRAMES.block, block, () => block.bytes);
    }
  }
  await tree(FRAMES.files, plan.files.chunks, (file: PlanFile): StoredFile => ({
    ...file,
    blocks: file.blocks.map((block) => [block.digest, block.size]),
  }));
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > MAX_BLOB_BYTES) return undefined;
  // Some room to grow, as the next plan does.
  const whole = room !== undefined && room.length >= length ? room : Buffer.allocUnsafeSlow(length + (length >>> 4));
  const blob = whole.subarray(0, length);
  let at = 0;
  for (const part of parts) at += part.copy(blob, at);
  return blob;
}

/** Reads a blob back and proves that it is the plan it says. Throws PlanBlobError. */
export async function decodePlan(blob: Uint8Array, pause: Pause): Promise<RenderPlan> {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  const head = MAGIC.length + 32;
  if (bytes.length < head || !bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new PlanBlobError("it does not begin like a plan");
  const entries: Record<1 | 2 | 3 | 4 | 5, [string, unknown][]> = { 1: [], 2: [], 3: [], 4: [], 5: [] };
  const contents = new Map<string, Block>();
  let total = 0;
  let count = 0;
  for (let at = head; at < bytes.length;) {
    if (at + 5 > bytes.length) throw new PlanBlobError("it ends in the middle of a frame");
    const kind = bytes.readUInt8(at);
    const length = bytes.readUInt32BE(at + 1);
    if (at + 5 + length > bytes.length) throw new PlanBlobError("it ends in the middle of a frame");
    const content = unpack(bytes.subarray(at + 5, at + 5 + length));
    total += content.length;
    if (total > MAX_PLAN_BYTES) throw new PlanBlobError("it holds more than a plan may");
    if (kind === FRAMES.block) {
      const block = blockOf(content);
      contents.set(block.digest, block);
    } else if (kind >= 1 && kind <= 5) {
      for (const entry of frameEntries(content)) entries[kind as 1].push(entry);
    } else {
      throw new PlanBlobError(`frame kind ${kind} is unknown`);
    }
    at += 5 + length;
    if (++count % 32 === 0) await pause();
  }
  const plan = await assemble(entries, contents, pause);
  if (plan.id !== bytes.subarray(MAGIC.length, head).toString("hex"))
    throw new PlanBlobError("its content is not the plan that it names");
  return plan;
}

function unpack(packed: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: MAX_FRAME_BYTES });
  } catch (cause) {
    throw new PlanBlobError("a frame cannot be decompressed", cause);
  }
}

function frameEntries(content: Buffer): [string, unknown][] {
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch (cause) {
    throw new PlanBlobError("a frame is not JSON", cause);
  }
  if (!Array.isArray(value) || !value.every((entry) => Array.isArray(entry) && typeof entry[0] === "string"))
    throw new PlanBlobError("a frame holds no entries");
  return value as [string, unknown][];
}

async function assemble(
  entries: Record<1 | 2 | 3 | 4 | 5, [string, unknown][]>,
  contents: ReadonlyMap<string, Block>,
  pause: Pause,
): Promise<RenderPlan> {
  const nothing = new Uint8Array(0);
  const file = (stored: StoredFile): PlanFile => ({
    ...stored,
    kind: stored.kind satisfies FileKind,
    blocks: stored.blocks.map(([digest, size]) => contents.get(digest) ?? { digest, size, bytes: nothing }),
  });
  const grow = async <V>(empty: ChunkedTree<V>, list: readonly (readonly [string, V])[]): Promise<ChunkedTree<V>> => {
    let tree = empty;
    for (let i = 0; i < list.length; i += TREE_BATCH) {
      tree = tree.update(new Map(list.slice(i, i + TREE_BATCH)));
      await pause();
    }
    return tree;
  };
  const empty = emptyTrees();
  try {
    const stored = entries[FRAMES.files] as [string, StoredFile][];
    return assemblePlan({
      structure: await grow(empty.structure, entries[FRAMES.structure] as [string, string][]),
      backends: await grow(empty.backends, entries[FRAMES.backends] as [string, Values<"backends">][]),
      profiles: await grow(empty.profiles, entries[FRAMES.profiles] as [string, Values<"profiles">][]),
      files: await grow(
        empty.files,
        stored.map(([key, each]) => [key, file(each)] as const),
      ),
      maps: await grow(empty.maps, entries[FRAMES.maps] as [string, Values<"maps">][]),
    });
  } catch (cause) {
    throw new PlanBlobError(`its entries do not have the shape of schema version ${PLAN_SCHEMA_VERSION}`, cause);
  }
}

type Values<K extends "backends" | "profiles" | "maps"> = RenderPlan[K] extends KeyedTree<infer V> ? V : never;
