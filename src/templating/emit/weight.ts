/**
 * What straight code costs: a loop's turn or a call is charged for how long the code is that it runs, since code without
 * loops does as much work as there is of it.
 */
import type { Code, CodeNode } from "./code.ts";

/** Characters of emitted code that cost as much as a turn of an empty loop. */
const CHARACTERS_PER_UNIT = 256;
/** Longer pieces are text that is written as it is, which costs nothing. */
const LONGEST_PIECE = 64;
/** A macro longer than this charges its calls itself. */
export const LONGEST_LEAF = 2048;

const sizes = new WeakMap<readonly Code[], number>();

/** Characters of the code, with those of small macros that it calls, without those of functions that it declares. */
export function sizeOf(code: Code): number {
  if (typeof code === "string") return Math.min(code.length, LONGEST_PIECE);
  if (typeof code === "function") return sizeOf(code());
  if (Array.isArray(code)) {
    const list = code as readonly Code[];
    let size = sizes.get(list);
    if (size === undefined) {
      size = 0;
      for (const part of list) size += sizeOf(part);
      sizes.set(list, size);
    }
    return size;
  }
  const node = code as CodeNode;
  switch (node.node) {
    case "site":
    case "function":
      return 0;
    case "lambda":
    case "tick":
      return LONGEST_PIECE;
    case "call":
      return sizeOf(node.target) + sizeOf(node.args) + (node.fn.leaf ? sizeOf(node.fn.body) : 0);
    case "callValue":
      return LONGEST_PIECE + sizeOf(node.fn) + sizeOf(node.args);
    case "read":
    case "delegate":
      return LONGEST_PIECE + sizeOf(node.code);
    case "capture":
      return LONGEST_PIECE + sizeOf(node.body);
    case "reference":
      return sizeOf(node.target);
  }
}

/** Units of fuel that the code costs beside what it charges itself. */
export const weightOf = (code: Code): number => Math.floor(sizeOf(code) / CHARACTERS_PER_UNIT);
