/**
 * What the checker hands to the emitter: JavaScript text with nodes where the emitter decides about suspension and
 * records positions. Thunks are resolved when printing, once everything about a variable is known.
 */
import type { Place } from "../syntax/problems.ts";

export type Code = string | CodeNode | readonly Code[] | (() => Code);

/** A macro or the body of a unit. `suspends` is settled by the analysis before printing. */
export interface FunctionNode {
  readonly js: string;
  params: string;
  body: Code;
  suspends: boolean;
  /** It calls itself, if only through others. */
  recursive: boolean;
  /** Short, and neither loops nor calls anything of the template: no bound is needed on its calls. */
  leaf: boolean;
}

export type CodeNode =
  /** What follows belongs to this place of a template; or to none. */
  | { readonly node: "site"; readonly place: Place | undefined }
  /**
   * Loop turn: charges fuel for what the body is long, may end the slice. `output`: what becomes of long text; "none" where
   * nothing is written.
   */
  | { readonly node: "tick"; readonly output: "flush" | "keep" | "none"; readonly body: Code }
  | { readonly node: "call"; readonly fn: FunctionNode; readonly target: Code; readonly args: Code }
  | { readonly node: "callValue"; readonly fn: Code; readonly args: Code }
  /** Host method that reads a store: its answer may be a pending read. */
  | { readonly node: "read"; readonly code: Code; readonly place: Place }
  /** Generator call: a suspendable host method, an include, an import. */
  | { readonly node: "delegate"; readonly code: Code }
  | { readonly node: "function"; readonly fn: FunctionNode }
  | { readonly node: "lambda"; readonly params: string; readonly body: Code }
  /** Statements that end with a return, as an expression in place. */
  | { readonly node: "capture"; readonly body: Code }
  | { readonly node: "reference"; readonly fn: FunctionNode; readonly target: Code };

export const site = (place: Place): CodeNode => ({ node: "site", place });

/** A string literal that is safe in JavaScript source. */
export function literal(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

export function commas(list: readonly Code[]): Code {
  return list.flatMap((code, i) => (i === 0 ? [code] : [", ", code]));
}
