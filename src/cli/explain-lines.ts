/** `haptic render --explain-lines`: beside each line of a rendered file, what made it. */
import type { ExplainedLine } from "../templating/index.ts";

export interface ExplainedFile {
  readonly path: string;
  readonly lines: readonly ExplainedLine[];
}

/**
 * Gives the lines of a file the origins of the same lines as templates made them: processors may have left out, indented,
 * changed or moved some. Lines come in the same order mostly, so the next alike is taken; a line that a processor wrote has
 * no origin.
 */
export function explained(text: string, made: readonly ExplainedLine[]): ExplainedLine[] {
  const whole = positions(made, (line) => line);
  const trimmed = positions(made, (line) => line.trim());
  let next = 0;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => {
    const alike = whole.get(line) ?? trimmed.get(line.trim());
    const at = alike?.find((i) => i >= next) ?? alike?.[0];
    if (at === undefined) return { text: line, origin: undefined };
    // An empty line tells little of where one is.
    if (line.trim() !== "") next = Math.max(next, at + 1);
    return { text: line, origin: made[at]!.origin };
  });
}

/** Where each text stands. */
function positions(made: readonly ExplainedLine[], key: (text: string) => string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  made.forEach(({ text }, i) => {
    const known = found.get(key(text));
    if (known === undefined) found.set(key(text), [i]);
    else known.push(i);
  });
  return found;
}

function left({ origin }: ExplainedLine): readonly [place: string, object: string] {
  if (origin === undefined) return ["", ""];
  const { template, line, column, object } = origin;
  const name = object === undefined ? "" : `${object.namespace === "" ? "" : `${object.namespace}/`}${object.name}`;
  return [`${template}:${line}:${column}`, object === undefined ? "" : `${object.alias} ${name}`];
}

/** A file's lines, each behind the place of the template and the object that made it. */
export function explainedText({ lines }: ExplainedFile): string {
  const cells = lines.map(left);
  const widths = [0, 1].map((column) => Math.max(0, ...cells.map((cell) => cell[column]!.length)));
  return lines
    .map(({ text }, i) => `${cells[i]!.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")} | ${text}\n`)
    .join("");
}
