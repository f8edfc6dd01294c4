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

interface Chunk<V> extends TreeChunk<V> {
  readonly digests: readonly Digest[];
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
  readonly digest: Digest;
  readonly size: number;
  readonly chunks: readonly Chunk<V>[];
  readonly #digestOf: ValueDigest<V>;
  /** The chunks' digests, one after another. */
  readonly #digests: string;

  private constructor(chunks: readonly Chunk<V>[], size: number, digests: string, digestOf: ValueDigest<V>) {
    this.chunks = chunks;
    this.size = size;
    this.#digests = digests;
    this.#digestOf = digestOf;
    this.digest = sha256(`${size}\n${digests}`);
  }

  static empty<V>(digestOf: ValueDigest<V>): ChunkedTree<V> {
    return new ChunkedTree<V>([], 0, "", digestOf);
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
    const byChunk = new Map<number, [string, V | undefined, Digest][]>();
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
      if (list === undefined) byChunk.set(index, [[key, value, digest]]);
      else list.push([key, value, digest]);
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
    const { chunks } = builder;
    return new ChunkedTree(chunks, size, this.#digestsOf(chunks), this.#digestOf);
  }

  /** Digests of chunks that are mostly this tree's own. */
  #digestsOf(chunks: readonly Chunk<V>[]): string {
    const { chunks: own } = this;
    const [head, tail] = commonEnds(own, chunks);
    let text = this.#digests.slice(0, head * DIGEST);
    for (let i = head; i < chunks.length - tail; i++) text += (chunks[i] as Chunk<V>).digest;
    return text + this.#digests.slice((own.length - tail) * DIGEST);
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

/** Collects entries in key order and cuts them at border keys. */
class Builder<V> {
  readonly chunks: Chunk<V>[] = [];
  #keys: string[] = [];
  #values: V[] = [];
  #digests: Digest[] = [];

  /** Untouched chunks, as they are. Each begins with a border, but the first of all, before which there is nothing. */
  share(chunks: readonly Chunk<V>[], from: number, to: number): void {
    this.#flush();
    for (let i = from; i < to; i++) this.chunks.push(chunks[i] as Chunk<V>);
  }

  /** A chunk's entries with edits (sorted by key) applied. */
  merge(chunk: Chunk<V> | undefined, edits: readonly [string, V | undefined, Digest][]): void {
    const keys = chunk?.keys ?? [];
    let at = 0;
    const copy = (before: string | undefined): void => {
      while (at < keys.length && (before === undefined || (keys[at] as string) < before)) {
        this.#add(keys[at] as string, chunk?.values[at] as V, chunk?.digests[at] as Digest);
        at++;
      }
    };
    for (const [key, value, digest] of edits) {
      copy(key);
      if (keys[at] === key) at++;
      if (value !== undefined) this.#add(key, value, digest);
    }
    copy(undefined);
  }

  #flush(): void {
    if (this.#keys.length === 0) return;
    let text = "";
    for (let i = 0; i < this.#keys.length; i++) text += field(this.#keys[i] as string) + (this.#digests[i] as Digest);
    this.chunks.push({ digest: sha256(text), keys: this.#keys, values: this.#values, digests: this.#digests });
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
    const last = this.chunks.pop();
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
