/** Numbers. */
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { INT, isFloat, FLOAT, type Type } from "../check/types.ts";
import { kindOf } from "../runtime/text.ts";
import { define, type TemplateFunction } from "./define.ts";

/** Integers and floats alike: the language has no implicit conversion between them, these functions take both. */
function numberOf(v: unknown, fn: string): number {
  if (typeof v === "number") return v;
  throw new TemplateFault(`${fn}: ${kindOf(v)} is not a number`, "convert with toint() or tofloat()");
}

const numeric = (args: readonly Type[]): Type =>
  args.some((type) => isFloat(type) || type.kind === "any") ? FLOAT : INT;

export const numberFunctions: readonly TemplateFunction[] = [
  define({
    name: "ceil",
    signature: "func(x any) float64",
    doc: "The least whole number that is not below x.",
    examples: [["{{ ceil(7 / 2.0) }}", "4"]],
    run: (_: Runtime, x: unknown) => Math.ceil(numberOf(x, "ceil")),
  }),
  define({
    name: "floor",
    signature: "func(x any) float64",
    doc: "The greatest whole number that is not above x.",
    examples: [["{{ floor(3.7) }}", "3"]],
    run: (_: Runtime, x: unknown) => Math.floor(numberOf(x, "floor")),
  }),
  define({
    name: "abs",
    signature: "func(x any) float64",
    doc: "Without its sign.",
    examples: [["{{ abs(-3) }}", "3"]],
    resultType: numeric,
    run: (_: Runtime, x: unknown) => Math.abs(numberOf(x, "abs")),
  }),
  define({
    name: "min",
    signature: "func(x any, y ...any) float64",
    doc: "The least of the numbers.",
    examples: [["{{ min(3, 1, 2) }}", "1"]],
    resultType: numeric,
    run: (_: Runtime, ...xs: unknown[]) => Math.min(...xs.map((x) => numberOf(x, "min"))),
  }),
  define({
    name: "max",
    signature: "func(x any, y ...any) float64",
    doc: "The greatest of the numbers.",
    examples: [["{{ max(3, 1, 2) }}", "3"]],
    resultType: numeric,
    run: (_: Runtime, ...xs: unknown[]) => Math.max(...xs.map((x) => numberOf(x, "max"))),
  }),
  define({
    name: "pow",
    signature: "func(x any, y any) float64",
    doc: "The power y of x.",
    examples: [["{{ pow(2, 10) }}", "1024"]],
    run: (_: Runtime, x: unknown, y: unknown) => numberOf(x, "pow") ** numberOf(y, "pow"),
  }),
  define({
    name: "seq",
    signature: "func(n int) []int",
    doc: "The numbers 0 … n-1; none when n is not positive.",
    examples: [["{% for i in seq(3) %}{{ i }}{% end %}", "012"]],
    run: (runtime: Runtime, n: number) => {
      if (n <= 0) return [];
      if (n > 10_000_000) throw new TemplateFault(`seq: ${n} numbers are too many`);
      runtime.charge(n);
      return Array.from({ length: n }, (_, i) => i);
    },
  }),
];
