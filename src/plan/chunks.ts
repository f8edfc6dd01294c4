/**
 * Files as lists of blocks. Borders depend on the content alone (a line whose hash has the right low bits ends a block),
 * so the same text has the same blocks whatever was there before, and a local edit changes one or two blocks.
 */
import { hash } from "node:crypto";
import { sha256 } from "./digest.ts";
import type { Block, Digest } from "./types.ts";

/** No border is looked for before a block has this size, in bytes. */
const MIN_BLOCK = 8 * 1024;
/** The first line end after this size is a border in any case. */
const MAX_BLOCK = 64 * 1024;
/** One line in 256 is a border: about 8 KiB more of lines of 32 bytes, so blocks are about 16 KiB. */
const BORDER_MASK = 0xff;

const NEWLINE = 0x0a;

/** One block of these bytes, unsplit. The bytes must not change afterwards. */
export function blockOf(bytes: Uint8Array): Block {
  return { digest: sha256(bytes), size: bytes.length, bytes };
}

/** Cuts text (encoded as UTF-8) into blocks that end at line ends; "" has no block. Concatenated they give the text. */
export function cutBlocks(text: string): Block[] {
  return cutBytes(Buffer.from(text, "utf8"));
}

/** Like {@link cutBlocks} for bytes; the blocks hold copies when there are several, so none keeps the whole alive. */
export function cutBytes(bytes: Uint8Array): Block[] {
  if (bytes.length === 0) return [];
  if (bytes.length <= MIN_BLOCK) return [blockOf(bytes)];
  const blocks: Block[] = [];
  let start = 0;
  let lineStart = nextLine(bytes, start + MIN_BLOCK);
  while (lineStart < bytes.length) {
    const lineEnd = nextLine(bytes, lineStart);
    if (lineEnd - start > MAX_BLOCK || (lineHash(bytes, lineStart, lineEnd) & BORDER_MASK) === 0) {
      const end = Math.min(lineEnd, bytes.length);
      blocks.push(blockOf(Buffer.copyBytesFrom(bytes, start, end - start)));
      start = end;
      lineStart = nextLine(bytes, start + MIN_BLOCK);
    } else {
      lineStart = lineEnd;
    }
  }
  if (start < bytes.length) blocks.push(blockOf(start === 0 ? bytes : Buffer.copyBytesFrom(bytes, start)));
  return blocks;
}

function nextLine(bytes: Uint8Array, from: number): number {
  const at = from >= bytes.length ? -1 : bytes.indexOf(NEWLINE, from);
  return at < 0 ? bytes.length : at + 1;
}

/** FNV-1a with a final mix, since the low bits decide. */
function lineHash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let i = from; i < to; i++) value = Math.imul(value ^ (bytes[i] as number), 0x01000193);
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return value ^ (value >>> 13);
}

type BlockRef = { readonly digest: Digest; readonly size: number };

const ENTRY = 36;
/** Shorter lists are quicker made anew than remembered, in blocks. */
const REMEMBERED = 16;
/** What the digests of lists are made of, while the lists live: most of a list is what another one was. */
const entriesOf = new WeakMap<readonly BlockRef[], Buffer>();

/**
 * A file's digest: SHA-256 over each block's digest (32 raw bytes) followed by its size (uint32, big-endian). `before` = a list that this
 * one was made from: of blocks that are in both only the others are looked at.
 */
export function rootDigest(blocks: readonly BlockRef[], before: readonly BlockRef[] = []): Digest {
  return hash("sha256", entries(blocks, before), "hex");
}

/** Sum of the blocks' sizes, in bytes. */
export function totalSize(blocks: readonly BlockRef[]): number {
  let size = 0;
  const known = entriesOf.get(blocks);
  if (known === undefined) for (const block of blocks) size += block.size;
  else for (let at = ENTRY - 4; at < known.length; at += ENTRY) size += known.readUInt32BE(at);
  return size;
}

function entries(blocks: readonly BlockRef[], before: readonly BlockRef[]): Buffer {
  const known = entriesOf.get(before);
  const buffer = Buffer.allocUnsafe(blocks.length * ENTRY);
  let [head, tail] = [0, 0];
  if (known !== undefined) {
    [head, tail] = commonEnds(before, blocks);
    known.copy(buffer, 0, 0, head * ENTRY);
    known.copy(buffer, (blocks.length - tail) * ENTRY, (before.length - tail) * ENTRY);
  }
  for (let i = head; i < blocks.length - tail; i++) {
    const block = blocks[i] as BlockRef;
    buffer.write(block.digest, i * ENTRY, 32, "hex");
    buffer.writeUInt32BE(block.size, i * ENTRY + 32);
  }
  if (blocks.length >= REMEMBERED) entriesOf.set(blocks, buffer);
  return buffer;
}

/** How many elements two lists have in common at their beginnings, and how many of the others at their ends. Looks into none. */
export function commonEnds<T>(a: readonly T[], b: readonly T[]): readonly [head: number, tail: number] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [head, tail];
}

/** The whole content. Not for hot paths. */
export function joinBlocks(blocks: readonly Block[]): Buffer {
  return Buffer.concat(blocks.map((block) => block.bytes));
}

/** Replace `remove` blocks at `index` of the old list by `insert`. */
export interface BlockSplice {
  readonly index: number;
  readonly remove: number;
  readonly insert: readonly Block[];
}

/**
 * What turns one block list into the other: splices with ascending indexes of the old list, not overlapping. Costs a
 * comparison of digests; blocks that stay are found again after insertions (first match forward, not minimal).
 */
export function splices(oldBlocks: readonly Block[], newBlocks: readonly Block[]): BlockSplice[] {
  let head = 0;
  const shorter = Math.min(oldBlocks.length, newBlocks.length);
  while (head < shorter && same(oldBlocks[head], newBlocks[head])) head++;
  let oldEnd = oldBlocks.length;
  let newEnd = newBlocks.length;
  while (oldEnd > head && newEnd > head && same(oldBlocks[oldEnd - 1], newBlocks[newEnd - 1])) {
    oldEnd--;
    newEnd--;
  }
  const positions = new Map<Digest, number[]>();
  for (let i = head; i < oldEnd; i++) {
    const digest = (oldBlocks[i] as Block).digest;
    const list = positions.get(digest);
    if (list === undefined) positions.set(digest, [i]);
    else list.push(i);
  }
  const result: BlockSplice[] = [];
  let oldAt = head;
  let insert: Block[] = [];
  const flush = (upTo: number): void => {
    if (upTo > oldAt || insert.length > 0) result.push({ index: oldAt, remove: upTo - oldAt, insert });
    insert = [];
  };
  for (let i = head; i < newEnd; i++) {
    const block = newBlocks[i] as Block;
    const match = positions.get(block.digest)?.find((position) => position >= oldAt);
    if (match === undefined) {
      insert.push(block);
    } else {
      flush(match);
      oldAt = match + 1;
    }
  }
  flush(oldEnd);
  return result;
}

function same(a: Block | undefined, b: Block | undefined): boolean {
  return a === b || (a as Block).digest === (b as Block).digest;
}
