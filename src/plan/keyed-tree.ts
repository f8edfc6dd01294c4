/**
 * A keyed tree: sorted entries in chunks whose borders are keys with the right hash, and a root over the chunks' digests.
 * The borders depend on the set of keys alone, so equal content gives equal chunks and an equal digest whatever the
 * history; an update touches only the chunks that hold changed keys and rebuilds the root.
 */
import { commonEnds } from "./chunks.ts";
import { field, sha256 } from "./digest.ts";
import type { Digest, KeyedTree, TreeChunk } from "./types.ts";

/** One key in this many begins a chunk. */
const KEYS_PER_CHUNK = 40;

class Chunk<V> implements TreeChunk<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
  /** Of the values. */
  readonly digests: readonly Digest[];
  #digest: Digest | undefined;

  constructor(keys: readonly string[], values: readonly V[], digests: readonly Digest[]) {
    this.keys = keys;
    this.values = values;
    this.digests = digests;
  }

  /** Made when somebody asks. */
  get digest(): Digest {
    if (this.#digest === undefined) {
      let text = "";
      for (let i = 0; i < this.keys.length; i++) text += field(this.keys[i] as string) + (this.digests[i] as Digest);
      this.#digest = sha256(text);
    }
    return this.#digest;
  }
}

/** Chunks and their digests, one after another. */
interface Hashed<V> {
  readonly chunks: readonly Chunk<V>[];
  readonly digests: string;
}

/** Digest of a value, without its key. */
export type ValueDigest<V> = (value: V) => Digest;

/** True when `key` begins a chunk of any tree that holds it. */
export function isBorder(key: string): boolean {
  let value = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) value = Math.imul(value ^ key.charCodeAt(i), 0x01000193);
  value ^= value >>> 16;
  value = Math.imul(value, 0x7feb352d);
  value ^= value >>> 15;
  value = Math.imul(value, 0x846ca68b);
  value ^= value >>> 16;
  return (value >>> 0) % KEYS_PER_CHUNK === 0;
}

/** Order of keys: by UTF-16 code unit, the same everywhere. */
export function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Length of a digest in hex. */
const DIGEST = 64;

/** Immutable; `update` gives a new tree that shares the untouched chunks, of which it looks at none. */
export class ChunkedTree<V> implements KeyedTree<V> {
  readonly size: number;
  readonly chunks: readonly Chunk<V>[];
  readonly #digestOf: ValueDigest<V>;
  /** Of this tree, or of the last one before it whose digest somebody asked for: most chunks are those. */
  #hashed: Hashed<V> | undefined;
  #digest: Digest | undefined;

  private constructor(
    chunks: readonly Chunk<V>[],
    size: number,
    digestOf: ValueDigest<V>,
    hashed: Hashed<V> | undefined,
  ) {
    this.chunks = chunks;
    this.size = size;
    this.#digestOf = digestOf;
    this.#hashed = hashed;
  }

  /** Made when somebody asks: trees that stand for text never are. */
  get digest(): Digest {
    if (this.#digest === undefined) {
      this.#hashed = { chunks: this.chunks, digests: digestsOf(this.chunks, this.#hashed) };
      this.#digest = sha256(`${this.size}\n${this.#hashed.digests}`);
    }
    return this.#digest;
  }

  static empty<V>(digestOf: ValueDigest<V>): ChunkedTree<V> {
    return new ChunkedTree<V>([], 0, digestOf, undefined);
  }

  /** A later entry of the same key wins. */
  static from<V>(entries: Iterable<readonly [string, V]>, digestOf: ValueDigest<V>): ChunkedTree<V> {
    return ChunkedTree.empty(digestOf).update(new Map(entries));
  }

  get(key: string): V | undefined {
    const chunk = this.chunks[this.#chunkFor(key)];
    if (chunk === undefined) return undefined;
    const at = search(chunk.keys, key);
    return at >= 0 ? chunk.values[at] : undefined;
  }

  *entries(): IterableIterator<[string, V]> {
    for (const chunk of this.chunks) {
      for (let i = 0; i < chunk.keys.length; i++) yield [chunk.keys[i] as string, chunk.values[i] as V];
    }
  }

  *values(): IterableIterator<V> {
    for (const chunk of this.chunks) yield* chunk.values;
  }

  /** Sets (or removes, where the value is undefined) the given keys. Returns this tree when nothing differs. */
  update(changes: ReadonlyMap<string, V | undefined>): ChunkedTree<V> {
    const byChunk = new Map<number, Edit<V>[]>();
    let { size } = this;
    for (const key of changes.size > 1 ? [...changes.keys()].sort(compareKeys) : changes.keys()) {
      const value = changes.get(key);
      const index = Math.max(0, this.#chunkFor(key));
      const chunk = this.chunks[index];
      const at = chunk === undefined ? -1 : search(chunk.keys, key);
      const digest = value === undefined ? "" : this.#digestOf(value);
      if (value === undefined ? at < 0 : at >= 0 && chunk?.digests[at] === digest) continue;
      if (value === undefined) size--;
      else if (at < 0) size++;
      const list = byChunk.get(index);
      const edit = { key, value, digest, at };
      if (list === undefined) byChunk.set(index, [edit]);
      else list.push(edit);
    }
    if (byChunk.size === 0) return this;
    const builder = new Builder<V>();
    let next = 0;
    for (const [index, edits] of byChunk) {
      builder.share(this.chunks, next, index);
      builder.merge(this.chunks[index], edits);
      next = index + 1;
    }
    builder.share(this.chunks, next, this.chunks.length);
    return new ChunkedTree(builder.finish(), size, this.#digestOf, this.#hashed);
  }

  /** Index of the last chunk whose first key is not after `key`; -1 when all are. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.chunks[middle]?.keys[0] as string) <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Index of the key in a sorted list, or -1 - insertion point. */
function search(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = keys[middle] as string;
    if (at === key) return middle;
    if (at < key) low = middle + 1;
    else high = middle;
  }
  return -1 - low;
}

/** Digests of chunks that are mostly those of a former tree. */
function digestsOf<V>(chunks: readonly Chunk<V>[], former: Hashed<V> | undefined): string {
  const [head, tail] = former === undefined ? [0, 0] : commonEnds(former.chunks, chunks);
  let text = former === undefined ? "" : former.digests.slice(0, head * DIGEST);
  for (let i = head; i < chunks.length - tail; i++) text += (chunks[i] as Chunk<V>).digest;
  return former === undefined ? text : text + former.digests.slice((former.chunks.length - tail) * DIGEST);
}

interface Edit<V> {
  readonly key: string;
  /** Undefined = the key goes. */
  readonly value: V | undefined;
  readonly digest: Digest;
  /** What `search` says of the key in its chunk. */
  readonly at: number;
}

/** Collects entries in key order and cuts them at border keys. */
class Builder<V> {
  /** Chunks, in pieces that are joined at the end. */
  readonly #pieces: Chunk<V>[][] = [];
  #keys: string[] = [];
  #values: V[] = [];
  #digests: Digest[] = [];

  /** Untouched chunks, as they are. Each begins with a border, but the first of all, before which there is nothing. */
  share(chunks: readonly Chunk<V>[], from: number, to: number): void {
    this.#flush();
    if (from < to) this.#pieces.push(chunks.slice(from, to));
  }

  /** A chunk's entries with edits (sorted by key) applied. */
  merge(chunk: Chunk<V> | undefined, edits: readonly Edit<V>[]): void {
    let next = 0;
    for (const { key, value, digest, at } of edits) {
      const place = at < 0 ? -1 - at : at;
      if (chunk !== undefined) this.#copy(chunk, next, place);
      next = at < 0 ? place : at + 1;
      if (value !== undefined) this.#add(key, value, digest);
    }
    if (chunk !== undefined) this.#copy(chunk, next, chunk.keys.length);
  }

  finish(): readonly Chunk<V>[] {
    this.#flush();
    return this.#pieces.length === 1 ? (this.#pieces[0] as Chunk<V>[]) : this.#pieces.flat();
  }

  /** Entries of a chunk: of them only the first one can be a border. */
  #copy(chunk: Chunk<V>, from: number, to: number): void {
    if (from >= to) return;
    if (from === 0) this.#add(chunk.keys[0] as string, chunk.values[0] as V, chunk.digests[0] as Digest);
    else if (this.#keys.length === 0) this.#reopen();
    for (let i = Math.max(1, from); i < to; i++) {
      this.#keys.push(chunk.keys[i] as string);
      this.#values.push(chunk.values[i] as V);
      this.#digests.push(chunk.digests[i] as Digest);
    }
  }

  #flush(): void {
    if (this.#keys.length === 0) return;
    this.#pieces.push([new Chunk(this.#keys, this.#values, this.#digests)]);
    this.#keys = [];
    this.#values = [];
    this.#digests = [];
  }

  #add(key: string, value: V, digest: Digest): void {
    if (isBorder(key)) this.#flush();
    else if (this.#keys.length === 0) this.#reopen();
    this.#keys.push(key);
    this.#values.push(value);
    this.#digests.push(digest);
  }

  /** The border before this key is gone: what followed it belongs to the chunk before. */
  #reopen(): void {
    const piece = this.#pieces.at(-1);
    const last = piece?.pop();
    if (piece?.length === 0) this.#pieces.pop();
    if (last === undefined) return;
    this.#keys = [...last.keys];
    this.#values = [...last.values];
    this.#digests = [...last.digests];
  }
}

export interface TreeDifference<V> {
  readonly key: string;
  readonly before: V | undefined;
  readonly after: V | undefined;
}

/** Keys whose values differ, in key order. Equal chunks are skipped by digest: costs O(chunks + entries of changed chunks). */
export function* treeDifferences<V>(
  before: KeyedTree<V>,
  after: KeyedTree<V>,
  digestOf: ValueDigest<V>,
): IterableIterator<TreeDifference<V>> {
  if (before.digest === after.digest) return;
  const [head, tail] = commonEnds(before.chunks, after.chunks);
  const left = new Cursor(before.chunks, head, before.chunks.length - tail);
  const right = new Cursor(after.chunks, head, after.chunks.length - tail);
  for (;;) {
    if (left.chunk !== undefined && right.chunk !== undefined && left.at === 0 && right.at === 0) {
      if (left.chunk === right.chunk || left.chunk.digest === right.chunk.digest) {
        left.skipChunk();
        right.skipChunk();
        continue;
      }
    }
    const a = left.key();
    const b = right.key();
    if (a === undefined && b === undefined) return;
    if (b === undefined || (a !== undefined && a < b)) {
      yield { key: a as string, before: left.value(), after: undefined };
      left.next();
    } else if (a === undefined || b < a) {
      yield { key: b, before: undefined, after: right.value() };
      right.next();
    } else {
      const old = left.value() as V;
      const now = right.value() as V;
      if (old !== now && digestOf(old) !== digestOf(now)) yield { key: a, before: old, after: now };
      left.next();
      right.next();
    }
  }
}

class Cursor<V> {
  at = 0;
  #index: number;
  readonly #end: number;
  readonly #chunks: readonly TreeChunk<V>[];

  constructor(chunks: readonly TreeChunk<V>[], from: number, end: number) {
    this.#chunks = chunks;
    this.#index = from;
    this.#end = end;
  }

  get chunk(): TreeChunk<V> | undefined {
    return this.#index < this.#end ? this.#chunks[this.#index] : undefined;
  }

  key(): string | undefined {
    return this.chunk?.keys[this.at];
  }

  value(): V | undefined {
    return this.chunk?.values[this.at];
  }

  next(): void {
    this.at++;
    if (this.at >= (this.chunk?.keys.length ?? 0)) this.skipChunk();
  }

  skipChunk(): void {
    this.#index++;
    this.at = 0;
  }
}
