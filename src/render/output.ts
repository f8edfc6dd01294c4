/**
 * A run's output: text, mounts of incremental snippets, and the places of what planRegistry declared. Tokens stand for
 * declarations while a template runs; they are cut out as soon as the run has ended, so cached output holds none.
 */
import type { BackendDeclaration } from "./plan-registry.ts";

/** Where the named defaults sections of all profiles go. */
export interface ProfileGroupPlace {
  readonly kind: "profiles";
}

/** Where the text of a declared backend goes, if that declaration wins. */
export interface BackendPlace {
  readonly kind: "backend";
  readonly backend: BackendDeclaration;
}

/** Text of a declared section of another kind, at the place of its token. */
export interface SectionPlace {
  readonly kind: "section";
  readonly text: string;
}

export interface MountPlace {
  readonly kind: "mount";
  readonly snippet: string;
}

export type Place = ProfileGroupPlace | BackendPlace | SectionPlace | MountPlace;
export type Segment = string | Place;

const MARK = "\u0001";

/** Makes and resolves tokens. The nonce keeps text of watched objects from imitating one. */
export class Tokens {
  readonly #head: string;
  readonly #places: Place[] = [];

  constructor(nonce: string) {
    this.#head = `${MARK}haptic:${nonce}:`;
  }

  make(place: Place): string {
    return `${this.#head}${this.#places.push(place) - 1}${MARK}`;
  }

  /** Cuts text at its tokens. */
  split(text: string): Segment[] {
    const segments: Segment[] = [];
    let from = 0;
    for (;;) {
      const at = text.indexOf(this.#head, from);
      const end = at < 0 ? -1 : text.indexOf(MARK, at + this.#head.length);
      if (end < 0) break;
      const place = this.#places[Number(text.slice(at + this.#head.length, end))];
      if (at > from) segments.push(text.slice(from, at));
      if (place !== undefined) segments.push(place);
      from = end + 1;
    }
    if (from < text.length) segments.push(from === 0 ? text : text.slice(from));
    return segments;
  }
}

const NOTHING: readonly Segment[] = [];

/** Gathers what a run writes, in order. */
export class OutputSink {
  readonly #tokens: Tokens;
  readonly #segments: Segment[] = [];
  #text = "";

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  readonly text = (chunk: string): void => {
    this.#text += chunk;
  };

  readonly mount = (snippet: string): void => {
    this.#flush();
    this.#segments.push({ kind: "mount", snippet });
  };

  segments(): readonly Segment[] {
    this.#flush();
    // A copy takes the room of what it holds; a list that grew has room for 17.
    return this.#segments.length === 0 ? NOTHING : this.#segments.slice();
  }

  #flush(): void {
    if (this.#text !== "") this.#segments.push(...this.#tokens.split(this.#text));
    this.#text = "";
  }
}

/**
 * Text with declarations in their places. A place that gives nothing takes its line with it, and a text that ends its own
 * line does not leave an empty one behind.
 */
export function resolveText(segments: readonly Segment[], textOf: (place: Place) => string): string {
  let out = "";
  let skipNewline = false;
  for (const segment of segments) {
    if (typeof segment === "string") {
      out += skipNewline && segment.startsWith("\n") ? segment.slice(1) : segment;
      skipNewline = false;
      continue;
    }
    const text = textOf(segment);
    if (text === "") out = out.replace(/(^|\n)[ \t]+$/, "$1");
    out += text;
    skipNewline = out === "" || out.endsWith("\n");
  }
  return out;
}
