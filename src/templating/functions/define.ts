/** How a template function is declared; docs/functions.md and the example tests are made from these records. */
import type { Runtime } from "../runtime/runtime.ts";
import type { Type } from "../check/types.ts";

export interface TemplateFunction {
  readonly name: string;
  /** Go-like signature with parameter names; arity and types are checked from it. */
  readonly signature: string;
  /** What it does, its edges and errors. One paragraph of plain text. */
  readonly doc: string;
  /** A template and its output; each is run by a test. */
  readonly examples: readonly (readonly [template: string, output: string])[];
  /** Gets the runtime (for charging, calling function values) and the arguments, already checked. */
  readonly run: (runtime: Runtime, ...args: never[]) => unknown;
  /** A result type that follows the arguments' static types, e.g. a filtered slice keeps its element type. */
  readonly resultType?: (args: readonly Type[]) => Type;
  /** Calling it as a statement makes sense. */
  readonly effect?: boolean;
  /** It depends on the clock or on chance: refused in incremental snippets, whose output is kept. */
  readonly clock?: boolean;
}

export function define(fn: TemplateFunction): TemplateFunction {
  return fn;
}
