/** Makes a file of blocks from parts that may not end at line ends. */
import { blockOf } from "../plan/index.ts";
import type { Block } from "../plan/types.ts";

const NEWLINE = 0x0a;

export const endsLine = (block: Block): boolean => block.bytes[block.size - 1] === NEWLINE;

/** Joins a block that does not end a line with those that follow, and gives the file its final line end. */
export function wholeLines(parts: readonly Block[]): readonly Block[] {
  const last = parts.at(-1);
  if (last !== undefined && parts.every(endsLine)) return parts;
  const blocks: Block[] = [];
  let open: Uint8Array[] = [];
  for (const block of parts) {
    if (open.length === 0 && endsLine(block)) {
      blocks.push(block);
      continue;
    }
    open.push(block.bytes);
    if (endsLine(block)) {
      blocks.push(blockOf(Buffer.concat(open)));
      open = [];
    }
  }
  if (open.length > 0 || parts.length === 0) blocks.push(blockOf(Buffer.concat([...open, Buffer.from("\n")])));
  return blocks;
}
