/** Cuts text of haproxy.cfg at its section headers, so that a processor can work section by section. */
import { sectionKeyword } from "../plan/index.ts";

export interface SectionCut {
  /** What belongs to the section that began before this text (or to none). */
  readonly head: string;
  /** The last section that begins in this text, and may go on after it; "" when none begins. */
  readonly last: string;
  /** The sections between them; asked of the same text again, so that a cut holds none of them. */
  whole(text: string): readonly string[];
}

/** The text begins at a line's beginning. */
export function cutSections(text: string): SectionCut {
  const starts: number[] = [];
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const first = text.charCodeAt(at);
    // Headers begin with a small letter: most lines are indented and need no further look.
    if (
      first >= 0x61 &&
      first <= 0x7a &&
      sectionKeyword(text.slice(at, newline < 0 ? undefined : newline)) !== undefined
    )
      starts.push(at);
    at = newline < 0 ? text.length : newline + 1;
  }
  const last = starts.at(-1);
  return {
    head: starts.length === 0 ? text : text.slice(0, starts[0]),
    last: last === undefined ? "" : text.slice(last),
    whole: (again) => starts.slice(0, -1).map((start, i) => again.slice(start, starts[i + 1])),
  };
}
