/**
 * Map files as HAProxy reads them: one entry a line, key up to the first blank, the rest is the value; `#` begins a
 * comment line (configuration manual, section 11.1 and `show map`).
 */
import type { Block, MapEntry } from "./types.ts";

/** Entries in the order of the text; blank lines and comments are left out. */
export function parseMapText(text: string): MapEntry[] {
  const entries: MapEntry[] = [];
  for (const line of text.split("\n")) {
    const entry = parseMapLine(line);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function parseMapLine(raw: string): MapEntry | undefined {
  const line = raw.trim();
  if (line === "" || line.startsWith("#")) return undefined;
  const blank = line.search(/[ \t]/);
  return blank < 0 ? { key: line, value: "" } : { key: line.slice(0, blank), value: line.slice(blank).trim() };
}

/** Entries of one block by key (all values of a key, in order). */
export type BlockIndex = ReadonlyMap<string, readonly string[]>;

const indexes = new WeakMap<Block, BlockIndex>();

/** Parsed once a block, and kept as long as the block lives. */
export function blockIndex(block: Block): BlockIndex {
  let index = indexes.get(block);
  if (index === undefined) {
    const made = new Map<string, string[]>();
    for (const { key, value } of parseMapText(Buffer.from(block.bytes).toString("utf8"))) {
      const values = made.get(key);
      if (values === undefined) made.set(key, [value]);
      else values.push(value);
    }
    index = made;
    indexes.set(block, index);
  }
  return index;
}

/** All values of a key over the file's blocks, in order. */
export function valuesOf(blocks: readonly Block[], key: string): string[] {
  const values: string[] = [];
  for (const block of blocks) {
    const found = blockIndex(block).get(key);
    if (found !== undefined) values.push(...found);
  }
  return values;
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
