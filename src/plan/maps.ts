/**
 * Map files as HAProxy reads them: one entry a line, key up to the first blank, the rest is the value; `#` begins a
 * comment line (configuration manual, section 11.1 and `show map`).
 */
import { commonEnds } from "./chunks.ts";
import type { Block, MapEntry } from "./types.ts";

/** Entries in the order of the text; blank lines and comments are left out. */
export function parseMapText(text: string): MapEntry[] {
  return parseMapLines(text.split("\n"));
}

function parseMapLines(lines: readonly string[]): MapEntry[] {
  const entries: MapEntry[] = [];
  for (const line of lines) {
    const entry = parseMapLine(line);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function parseMapLine(raw: string): MapEntry | undefined {
  const line = raw.trim();
  if (line === "" || line.startsWith("#")) return undefined;
  // Twice the search for one character is quicker than a pattern's.
  const [space, tab] = [line.indexOf(" "), line.indexOf("\t")];
  const blank = space < 0 || (tab >= 0 && tab < space) ? tab : space;
  return blank < 0 ? { key: line, value: "" } : { key: line.slice(0, blank), value: line.slice(blank).trim() };
}

/** A block's bytes as text; they are not copied before. */
export function textOf({ bytes }: Block): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Entries of one block by key (all values of a key, in order). */
export type BlockIndex = ReadonlyMap<string, readonly string[]>;

const indexes = new WeakMap<Block, BlockIndex>();

/** Parsed once a block, and kept as long as the block lives. */
export function blockIndex(block: Block): BlockIndex {
  let index = indexes.get(block);
  if (index === undefined) indexes.set(block, (index = indexOf(textOf(block).split("\n"))));
  return index;
}

function indexOf(lines: readonly string[]): BlockIndex {
  const index = new Map<string, string[]>();
  for (const { key, value } of parseMapLines(lines)) {
    const values = index.get(key);
    if (values === undefined) index.set(key, [value]);
    else values.push(value);
  }
  return index;
}

/** All values of a key over the file's blocks, in order. */
export function valuesOf(blocks: readonly Block[], key: string): string[] {
  return valuesIn(blocks.map(blockIndex), key);
}

/** All values of a key over these indexes, in order. */
export function valuesIn(indexes: readonly BlockIndex[], key: string): string[] {
  const values: string[] = [];
  for (const index of indexes) {
    const found = index.get(key);
    if (found !== undefined) values.push(...found);
  }
  return values;
}

/**
 * Entries of two lists of blocks, one of which takes the place of the other. Of one block in the place of one only the lines between
 * their common ends are read: a new entry is one line of forty.
 */
export function ownEntries(
  old: readonly Block[],
  now: readonly Block[],
): readonly [old: readonly BlockIndex[], now: readonly BlockIndex[]] {
  if (old.length !== 1 || now.length !== 1) return [old.map(blockIndex), now.map(blockIndex)];
  const [before, after] = [textOf(old[0] as Block).split("\n"), textOf(now[0] as Block).split("\n")];
  const [head, tail] = commonEnds(before, after);
  return [[indexOf(before.slice(head, before.length - tail))], [indexOf(after.slice(head, after.length - tail))]];
}

/** How often each key stands in a list of blocks. One list's counts become those of the list that was made from it. */
const counted = new WeakMap<readonly Block[], Map<string, number>>();

/**
 * How often each key stands in the blocks of `now`, which have all that those of `old` have but `oldOnly`, and `nowOnly` beside it; `keys` are at
 * least those whose values in the two differ. To look a key up in each of a hundred blocks takes longer than all else of a difference.
 */
export function countKeys(
  old: readonly Block[],
  now: readonly Block[],
  oldOnly: readonly BlockIndex[],
  nowOnly: readonly BlockIndex[],
  keys: Iterable<string>,
): ReadonlyMap<string, number> {
  const known = counted.get(now);
  if (known !== undefined) return known;
  let counts = counted.get(old);
  if (counts === undefined) {
    counts = new Map();
    // Not kept as indexes: few of the blocks are ever looked at again.
    for (const block of now) for (const { key } of parseMapText(textOf(block))) add(counts, key, 1);
  } else {
    counted.delete(old);
    for (const key of keys) add(counts, key, valuesIn(nowOnly, key).length - valuesIn(oldOnly, key).length);
  }
  counted.set(now, counts);
  return counts;
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Can stand on a line of the runtime CLI as one token (agent contract, framing rules). */
export function isLineSafe(token: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what must not pass
  return token !== "" && !/[\s;\\\u0000-\u001f\u007f]/u.test(token) && !token.includes("<<");
}

/** Can stand as a value in a payload: one line, no control characters, no surrounding blanks. */
export function isPayloadSafe(value: string): boolean {
  // eslint-disable-next-line no-control-regex -- as above
  return !/[\u0000-\u0008\u000a-\u001f\u007f]/u.test(value) && value === value.trim();
}
