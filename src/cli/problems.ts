/** How commands for authors tell what is wrong: text for terminals, one JSON object for tools. */
import { type ConfigProblem, formatProblem } from "../config/index.ts";
import { UsageError } from "../errors.ts";
import type { TemplateProblem } from "../templating/index.ts";

export type OutputForm = "text" | "json";

export function outputForm(given: string | undefined): OutputForm {
  if (given === undefined || given === "text") return "text";
  if (given === "json") return "json";
  throw new UsageError(`-o: ${JSON.stringify(given)} is none of text, json`);
}

/** One problem as tools get it. `file` and `fileLine` are where to look; `text` is what a terminal shows. */
export interface ReportedProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly object?: string;
  readonly field?: string;
  readonly template?: string;
  readonly line?: number;
  readonly column?: number;
  readonly file?: string;
  readonly fileLine?: number;
  /** The template's line, whole. */
  readonly sourceLine?: string;
  /** The object whose text of the same name this one overrides. */
  readonly overrode?: string;
  readonly chain?: readonly string[];
  readonly text: string;
}

export function ofTemplate(problem: TemplateProblem): ReportedProblem {
  const { code, message, hint, template, line, column, origin, file, sourceLine, chain, text } = problem;
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(origin !== undefined && { object: origin.object, field: origin.field }),
    template,
    line,
    column,
    ...(file !== undefined && { file: file.file, fileLine: file.line }),
    ...(sourceLine !== undefined && { sourceLine }),
    ...(origin?.overrode !== undefined && { overrode: origin.overrode }),
    ...(chain.length > 0 && { chain }),
    text,
  };
}

export function ofConfig(problem: ConfigProblem): ReportedProblem {
  const { object, field, message, hint, position } = problem;
  return {
    code: "HAPTIC_E_CONFIG_INVALID",
    message,
    ...(hint !== undefined && { hint }),
    object,
    ...(field !== "" && { field }),
    ...(position !== undefined && { file: position.file, fileLine: position.line }),
    text: formatProblem(problem),
  };
}

/** A problem of a file as such, or of the data in it. */
export function ofFile(file: string, message: string, fileLine?: number): ReportedProblem {
  return {
    code: "HAPTIC_E_CONFIG_INVALID",
    message,
    file,
    ...(fileLine !== undefined && { fileLine }),
    text: `${file}${fileLine === undefined ? "" : `:${fileLine}`}: ${message}`,
  };
}

/** Texts for a terminal, a line between two that have several lines. */
export function listing(problems: readonly ReportedProblem[]): string {
  return problems.map(({ text }) => `${text}\n${text.includes("\n") ? "\n" : ""}`).join("");
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
