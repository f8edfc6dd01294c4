/** Numbers. */
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type Integer, short } from "../runtime/numbers.ts";
import { numberIn } from "../runtime/values.ts";
import { INT, isFloat, FLOAT, type Type } from "../check/types.ts";
import { formatNumber, kindOf } from "../runtime/text.ts";
import { define, type TemplateFunction } from "./define.ts";

/** Integers and floats alike: the language has no implicit conversion between them, these functions take both. */
function numberOf(v: unknown, fn: string): Integer {
  const number = numberIn(v);
  if (number !== undefined) return number;
  throw new TemplateFault(`${fn}: ${kindOf(v)} is not a number`, "convert with toint() or tofloat()");
}

const numeric = (args: readonly Type[]): Type =>
  args.some((type) => isFloat(type) || type.kind === "any") ? FLOAT : INT;

/** Float verbs of formatFloat: e, f and g. */
function floatText(v: number, format: string, precision: number): string {
  if (!["e", "f", "g"].includes(format))
    throw new TemplateFault(`formatFloat: the format is ${JSON.stringify(format)}`, 'use "e", "f" or "g"');
  if (precision < -1 || precision > 100) throw new TemplateFault("formatFloat: the precision is out of range");
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "+Inf" : "-Inf";
  const exponent = (text: string): string => text.replace(/e([+-])(\d)$/, "e$10$2");
  if (format === "f") return precision === -1 ? formatNumber(v) : v.toFixed(precision);
  if (format === "e") return exponent(precision === -1 ? v.toExponential() : v.toExponential(precision));
  const digits = precision === -1 ? v.toExponential() : v.toExponential(Math.max(precision, 1) - 1);
  const [mantissa = "", power = "0"] = digits.split("e");
  const most = precision === -1 ? 21 : Math.max(precision, 1);
  const shown = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  if (Number(power) < -4 || Number(power) >= most) return exponent(`${shown}e${power}`);
  return formatNumber(Number(digits));
}

const DIGITS = /^[+-]?[0-9a-z]+$/i;

export const numberFunctions: readonly TemplateFunction[] = [
  define({
    name: "ceil",
    signature: "func(x any) float64",
    doc: "The least whole number that is not below x.",
    examples: [["{{ ceil(7 / 2.0) }}", "4"]],
    run: (_: Runtime, x: unknown) => Math.ceil(Number(numberOf(x, "ceil"))),
  }),
  define({
    name: "floor",
    signature: "func(x any) float64",
    doc: "The greatest whole number that is not above x.",
    examples: [["{{ floor(3.7) }}", "3"]],
    run: (_: Runtime, x: unknown) => Math.floor(Number(numberOf(x, "floor"))),
  }),
  define({
    name: "abs",
    signature: "func(x any) float64",
    doc: "Without its sign.",
    examples: [["{{ abs(-3) }}", "3"]],
    resultType: numeric,
    run: (_: Runtime, given: unknown) => {
      const x = numberOf(given, "abs");
      if (typeof x === "number") return Math.abs(x);
      return x < 0n ? short(BigInt.asIntN(64, -x)) : x;
    },
  }),
  define({
    name: "min",
    signature: "func(x any, y ...any) float64",
    doc: "The least of the numbers.",
    examples: [["{{ min(3, 1, 2) }}", "1"]],
    resultType: numeric,
    run: (_: Runtime, ...xs: unknown[]) => xs.map((x) => numberOf(x, "min")).reduce((a, b) => (b < a ? b : a)),
  }),
  define({
    name: "max",
    signature: "func(x any, y ...any) float64",
    doc: "The greatest of the numbers.",
    examples: [["{{ max(3, 1, 2) }}", "3"]],
    resultType: numeric,
    run: (_: Runtime, ...xs: unknown[]) => xs.map((x) => numberOf(x, "max")).reduce((a, b) => (b > a ? b : a)),
  }),
  define({
    name: "pow",
    signature: "func(x any, y any) float64",
    doc: "The power y of x.",
    examples: [["{{ pow(2, 10) }}", "1024"]],
    run: (_: Runtime, x: unknown, y: unknown) => Number(numberOf(x, "pow")) ** Number(numberOf(y, "pow")),
  }),
  define({
    name: "formatInt",
    signature: "func(n int, base int) string",
    doc: "The number in a base from 2 to 36.",
    examples: [["{{ formatInt(255, 16) }} {{ formatInt(-5, 2) }}", "ff -101"]],
    run: (_: Runtime, n: number | bigint, base: number) => {
      if (base < 2 || base > 36) throw new TemplateFault(`formatInt: base ${base} is not from 2 to 36`);
      return n.toString(base);
    },
  }),
  define({
    name: "formatFloat",
    signature: "func(x float64, format string, precision int) string",
    doc: 'The number with a format: "f" (no exponent), "e" (exponent) or "g" (as short as possible), and a precision; -1 means as many digits as are needed.',
    examples: [['{{ formatFloat(3.14159, "f", 2) }} {{ formatFloat(1500, "e", -1) }}', "3.14 1.5e+03"]],
    run: (_: Runtime, x: number, format: string, precision: number) => floatText(x, format, precision),
  }),
  define({
    name: "parseInt",
    signature: "func(text string, base int) (int, error)",
    doc: "The number that a text in a base from 2 to 36 says; no blanks, nothing else beside a sign. An error beyond 64 bits.",
    examples: [
      ['{{ parseInt("ff", 16) }}', "255"],
      ['{% var _, err = parseInt("x", 10) %}{{ err }}', 'parseInt: "x" is no integer of base 10'],
    ],
    run: (_: Runtime, text: string, base: number) => {
      if (base < 2 || base > 36) throw new TemplateFault(`parseInt: base ${base} is not from 2 to 36`);
      let value = 0n;
      for (const digit of text.replace(/^[+-]/, "")) {
        const n = Number.parseInt(digit, 36);
        if (!DIGITS.test(text) || !(n < base))
          throw new TemplateFault(`parseInt: ${JSON.stringify(text)} is no integer of base ${base}`);
        value = value * BigInt(base) + BigInt(n);
        if (value > 2n ** 63n) break;
      }
      if (!DIGITS.test(text))
        throw new TemplateFault(`parseInt: ${JSON.stringify(text)} is no integer of base ${base}`);
      if (text.startsWith("-")) value = -value;
      if (BigInt.asIntN(64, value) !== value)
        throw new TemplateFault(`parseInt: ${JSON.stringify(text)} is beyond 64 bits`);
      return short(value);
    },
  }),
  define({
    name: "parseFloat",
    signature: "func(text string) (float64, error)",
    doc: "The floating-point number that a text says; anything else is an error.",
    examples: [
      ['{{ parseFloat("2.50") }}', "2.5"],
      ['{% var _, err = parseFloat("x") %}{{ err }}', 'parseFloat: "x" is no number'],
    ],
    run: (_: Runtime, text: string) => {
      if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text)))
        throw new TemplateFault(`parseFloat: ${JSON.stringify(text)} is no number`);
      return Number(text);
    },
  }),
  define({
    name: "seq",
    signature: "func(n int) []int",
    doc: "The numbers 0 … n-1; none when n is not positive.",
    examples: [["{% for i in seq(3) %}{{ i }}{% end %}", "012"]],
    run: (runtime: Runtime, n: number) => {
      if (n <= 0) return [];
      if (n > 4_000_000) throw new TemplateFault(`seq: ${n} numbers are too many`);
      runtime.charge(2 * n);
      const list: number[] = [];
      for (let i = 0; i < n; i++) list.push(i);
      return list;
    },
  }),
];
