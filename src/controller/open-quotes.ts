/**
 * Lines that HAProxy cannot split into words, as a quote of theirs stays open. The master of HAProxy 3.4 ends with SIGSEGV when it reloads such a
 * text (seen with 3.4.7; 3.2 and 3.0 refuse it), so it must be refused before it reaches a pod.
 */
import { commonEnds } from "../plan/index.ts";
import type { Block, RenderPlan } from "../plan/types.ts";

const [NEWLINE, QUOTE, HASH, APOSTROPHE, BACKSLASH] = [0x0a, 0x22, 0x23, 0x27, 0x5c];

/** Whether a line of this text (UTF-8) ends inside a quote. */
export function hasOpenQuote(text: Uint8Array): boolean {
  if (!text.includes(QUOTE) && !text.includes(APOSTROPHE)) return false;
  let quote = 0;
  let isComment = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === NEWLINE) {
      if (quote !== 0) return true;
      isComment = false;
    } else if (isComment) {
      continue;
    } else if (byte === BACKSLASH && quote !== APOSTROPHE) {
      if (text[at + 1] !== NEWLINE) at++;
    } else if (quote !== 0) {
      if (byte === quote) quote = 0;
    } else if (byte === QUOTE || byte === APOSTROPHE) {
      quote = byte;
    } else if (byte === HASH) {
      isComment = true;
    }
  }
  return quote !== 0;
}

/** Looks at plans one after another; of each only at what is not in the one before. */
export class OpenQuotes {
  #blocks: readonly Block[] = [];
  #isOpen = false;

  of(plan: RenderPlan): boolean {
    const blocks = plan.files.get("haproxy.cfg")?.blocks ?? [];
    const [head, tail] = this.#isOpen ? [0, 0] : commonEnds(this.#blocks, blocks);
    this.#isOpen = blocks.slice(head, blocks.length - tail).some((block) => hasOpenQuote(block.bytes));
    this.#blocks = blocks;
    return this.#isOpen;
  }
}
