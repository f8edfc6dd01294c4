/**
 * Which place of a template, and which watched object, made each line of an output. For sets that were compiled with
 * `provenance`: their pieces carry marks while they run, which `linesOf` reads and takes out. Texts of macros are told with
 * the marks of what they were made of.
 */
import { lineColumn, type Place } from "./syntax/problems.ts";

/** Where a line came from. */
export interface LineOrigin {
  readonly template: string;
  /** 1-based; the column counts code points. */
  readonly line: number;
  readonly column: number;
  /** The innermost loop's object, or the one that the run is for. */
  readonly object?: ObjectName;
}

/** A watched object: its alias (`resources.ALIAS`), namespace and name. */
export interface ObjectName {
  readonly alias: string;
  readonly namespace: string;
  readonly name: string;
}

export interface ExplainedLine {
  readonly text: string;
  readonly origin: LineOrigin | undefined;
}

/** Around a mark's number: a character that no text should have. */
const EDGE = "\u0002";
const MARK = new RegExp(`${EDGE}(\\d+)${EDGE}`, "g");

export class Provenance {
  readonly #marks: LineOrigin[] = [];
  readonly #ids = new Map<string, number>();
  /** Texts that macros and captured snippets made, with marks. */
  readonly #texts = new Map<string, string>();
  readonly #aliases = new WeakMap<object, string>();
  readonly #loops: unknown[] = [];
  readonly #places: readonly Place[];
  #subject: ObjectName | undefined;

  /** `places` = CompiledSet.pieces. */
  constructor(places: readonly Place[]) {
    this.#places = places;
  }

  /** The object that the next runs are for; undefined: none. */
  begin(subject: ObjectName | undefined): void {
    this.#subject = subject;
    this.#loops.length = 0;
  }

  // --- as runs call it ---------------------------------------------------------------------------------------------

  /** A piece of output with its mark. */
  made(piece: number, text: string): string {
    if (text === "") return text;
    return this.#mark(piece) + (this.#texts.get(text) ?? text);
  }

  /** What a macro gives, and the same with marks. */
  told(text: string, marked: string): void {
    if (text !== "") this.#texts.set(text, marked);
  }

  /** Without marks; with them where the text is shown later. */
  plain(marked: string): string {
    const text = marked.replace(MARK, "");
    this.told(text, marked);
    return text;
  }

  /** Notes what a store gave. */
  read(alias: string, answer: unknown): void {
    for (const item of Array.isArray(answer) ? (answer as unknown[]) : [answer])
      if (typeof item === "object" && item !== null) this.#aliases.set(item, alias);
  }

  /** Loops that are open. */
  get depth(): number {
    return this.#loops.length;
  }

  /** A loop begins a turn with a value; loops inside it are over. */
  turn(depth: number, value: unknown): void {
    this.#loops.length = depth;
    this.#loops.push(value);
  }

  leave(depth: number): void {
    this.#loops.length = depth;
  }

  // --- for who reads it --------------------------------------------------------------------------------------------

  /** Lines of a marked text, without their ends. A line without a mark was made with the one before it. */
  linesOf(marked: string): ExplainedLine[] {
    let origin: LineOrigin | undefined;
    const lines = marked.split("\n").map((line): ExplainedLine => {
      let own = origin;
      let blank = true;
      let from = 0;
      for (const { 0: mark, 1: id, index } of line.matchAll(MARK)) {
        blank &&= line.slice(from, index).trim() === "";
        from = index + mark.length;
        origin = this.#marks[Number(id)];
        // What the line begins with made it, blanks aside.
        if (blank) own = origin;
      }
      return { text: line.replace(MARK, ""), origin: own };
    });
    if (lines.at(-1)?.text === "") lines.pop();
    return lines;
  }

  #mark(piece: number): string {
    const object = this.#object();
    const id = object === undefined ? `${piece}` : `${piece} ${object.alias} ${object.namespace} ${object.name}`;
    let mark = this.#ids.get(id);
    if (mark === undefined) {
      const { source, offset } = this.#places[piece]!;
      const { line, column } = lineColumn(source.text, offset);
      mark = this.#marks.push({ template: source.name, line, column, ...(object !== undefined && { object }) }) - 1;
      this.#ids.set(id, mark);
    }
    return `${EDGE}${mark}${EDGE}`;
  }

  #object(): ObjectName | undefined {
    for (let i = this.#loops.length - 1; i >= 0; i--) {
      const value = this.#loops[i];
      const alias = typeof value === "object" && value !== null ? this.#aliases.get(value) : undefined;
      if (alias === undefined) continue;
      const { metadata } = value as { readonly metadata?: { readonly namespace?: string; readonly name?: string } };
      return { alias, namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
    }
    return this.#subject;
  }
}
