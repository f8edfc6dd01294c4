/** Positions in template texts and the problems found there. */
import { hintFor } from "./hints.ts";
import type { TemplateProblem, TemplateSource } from "../types.ts";

/** A place in a template: its source and a UTF-16 offset. `from` is the include or macro call that led here. */
export interface Place {
  readonly source: TemplateSource;
  readonly offset: number;
  readonly from?: Place | undefined;
  /** It is the call of a macro that was compiled in place. */
  readonly called?: true;
}

/** Line (1-based) and column (1-based, in code points) of an offset. */
export function lineColumn(text: string, offset: number): { line: number; column: number; lineStart: number } {
  let line = 1;
  let lineStart = 0;
  for (let k = text.indexOf("\n"); k !== -1 && k < offset; k = text.indexOf("\n", k + 1)) {
    line++;
    lineStart = k + 1;
  }
  let column = 1;
  for (let k = lineStart; k < offset; k++) {
    const unit = text.charCodeAt(k);
    // The second half of a surrogate pair belongs to the code point already counted.
    if (unit < 0xdc00 || unit > 0xdfff) column++;
  }
  return { line, column, lineStart };
}

/** Raised by the lexer and parser; the compiler turns it into a TemplateProblem and goes on with the next tag. */
export class SyntaxFault extends Error {
  readonly offset: number;
  readonly detail: string | undefined;

  constructor(offset: number, message: string, hint?: string) {
    super(message);
    this.offset = offset;
    this.detail = hint;
  }
}

/** `from NAME:line:column`, and the file's line where the template came from a file. */
export function stepOf(place: Place): string {
  const { line, column } = lineColumn(place.source.text, place.offset);
  const file = filePlace(place.source.origin, line);
  return `from ${place.source.name}:${line}:${column}${file === undefined ? "" : ` (${file.file}:${file.line})`}`;
}

/** Where a line of a template stands in the file it came from. */
function filePlace(origin: TemplateSource["origin"], line: number): TemplateProblem["file"] {
  return origin?.file === undefined ? undefined : { file: origin.file, line: (origin.line ?? 1) + line - 1 };
}

/** Include and macro calls that lead to a place, innermost first. */
export function chainOf(place: Place): string[] {
  const chain: string[] = [];
  for (let at = place.from; at !== undefined && chain.length < 16; at = at.from) chain.push(stepOf(at));
  return chain;
}

/**
 * Builds the problem with its text for terminals:
 *
 *     haproxy.cfg:3:8: undefined: hots
 *       {{ hots }}
 *          ^
 *       from haproxy.cfg:9:4 (config.yaml:31)
 *       hint: did you mean "host"?
 */
export function makeProblem(
  code: string,
  place: Place,
  message: string,
  given?: string | null,
  chain: readonly string[] = chainOf(place),
): TemplateProblem {
  // null = the message says it all.
  const hint = given === null ? undefined : (given ?? hintFor(message));
  const { source } = place;
  const { line, column, lineStart } = lineColumn(source.text, place.offset);
  const lineEnd = source.text.indexOf("\n", lineStart);
  const raw = source.text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, "");
  // A very long line is shown around the caret only.
  const cut = Math.max(0, place.offset - lineStart - 100);
  const shown = (cut > 0 ? "…" : "") + raw.slice(cut, cut + 200);
  const before = (cut > 0 ? "…" : "") + raw.slice(cut, place.offset - lineStart);
  const indent = [...before].map((c) => (c === "\t" ? "\t" : " ")).join("");
  const lines = [`${source.name}:${line}:${column}: ${message}`, `  ${shown}`, `  ${indent}^`];
  for (const step of chain) lines.push(`  ${step}`);
  const { origin } = source;
  const file = filePlace(origin, line);
  if (origin !== undefined) {
    const where = [origin.object, origin.field, file === undefined ? "" : `(${file.file}:${file.line})`];
    lines.push(`  in ${where.filter((word) => word !== "").join(" ")}`);
    if (origin.overrode !== undefined) lines.push(`  this text overrides the one of ${origin.overrode}`);
  }
  if (hint !== undefined) lines.push(`  hint: ${hint}`);
  return {
    code,
    template: source.name,
    line,
    column,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(origin === undefined ? {} : { origin }),
    ...(file === undefined ? {} : { file }),
    sourceLine: raw,
    chain,
    text: lines.join("\n"),
  };
}

/** The nearest of `names` to a misspelt one, for "did you mean"; undefined when none is near. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && candidate !== name) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous: number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  let beforePrevious: number[] = [];
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      // A swap of two letters counts once.
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        value = Math.min(value, (beforePrevious[j - 2] ?? 0) + 1);
      row.push(value);
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
