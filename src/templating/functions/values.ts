/** Looking into values of any shape, defaults and conversions. */
import { FailFault, TemplateFault } from "../runtime/faults.ts";
import { ErrorValue, FunctionValue, HostObject } from "../runtime/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { entryOf, formatNumber, kindOf, show, sortedKeys, textOf } from "../runtime/text.ts";
import { type Integer, short } from "../runtime/numbers.ts";
import { FloatValue, numberIn, PointerValue } from "../runtime/values.ts";
import { define, type TemplateFunction } from "./define.ts";
import { memberOf } from "./paths.ts";

/** Text of a scalar; composites are refused so that no Go-like dump slips into a configuration. */
export function scalarText(v: unknown, fn: string): string {
  if (typeof v === "object" && v !== null && !ErrorValue.is(v) && !FloatValue.is(v))
    throw new TemplateFault(`${fn}: cannot make text of ${kindOf(v)}`, "use toJSON() or join()");
  return v === null || v === undefined ? "" : show(v);
}

/** A whole number read strictly (no blanks), or 0. */
export function integerOf(v: unknown): Integer {
  if (typeof v === "number" && Number.isSafeInteger(v)) return v;
  const number = numberIn(v);
  if (typeof number === "bigint") return number;
  if (number !== undefined) return Math.abs(number) < 2 ** 63 ? short(BigInt(Math.trunc(number))) : 0;
  if (typeof v !== "string" || !/^[+-]?\d+$/.test(v)) return 0;
  if (v.length < 16) return Number(v) + 0;
  const value = BigInt(v.startsWith("+") ? v.slice(1) : v);
  return BigInt.asIntN(64, value) === value ? short(value) : 0;
}

/** JSON with sorted keys. `indent` as in JSON.stringify. */
export function jsonText(runtime: Pick<Runtime, "charge" | "chargeText">, v: unknown, indent = ""): string {
  const write = (value: unknown, margin: string, depth: number): string => {
    runtime.charge(24);
    if (depth > 100) throw new TemplateFault("toJSON: value is nested too deeply");
    if (value === null || value === undefined) return "null";
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "number") {
      if (!Number.isFinite(value)) throw new TemplateFault(`toJSON: unsupported value ${show(value)}`);
      return formatNumber(value);
    }
    if (typeof value !== "object" || FloatValue.is(value)) return show(value);
    if (PointerValue.is(value)) return write(PointerValue.target(value), margin, depth + 1);
    if (HostObject.is(value) || FunctionValue.is(value))
      throw new TemplateFault(`toJSON: unsupported type ${kindOf(value)}`);
    if (ErrorValue.is(value)) return JSON.stringify(ErrorValue.message(value));
    const inner = indent === "" ? "" : `${margin}${indent}`;
    const gap = indent === "" ? "" : `\n${inner}`;
    const end = indent === "" ? "" : `\n${margin}`;
    let out = "";
    if (Array.isArray(value)) {
      for (const item of value) out += `${out === "" ? "" : ","}${gap}${write(item, inner, depth + 1)}`;
      return out === "" ? "[]" : `[${out}${end}]`;
    }
    const colon = indent === "" ? ":" : ": ";
    for (const key of sortedKeys(value))
      out += `${out === "" ? "" : ","}${gap}${JSON.stringify(String(key))}${colon}${write(entryOf(value, key), inner, depth + 1)}`;
    return out === "" ? "{}" : `{${out}${end}}`;
  };
  const text = write(v, "", 0);
  runtime.chargeText(text.length);
  return text;
}

/** A value of a template as plain JSON of its own, for hosts that keep it. Functions and host objects are a fault. */
export function plainJson(v: unknown): unknown {
  return JSON.parse(jsonText({ charge: () => undefined, chargeText: () => undefined }, v));
}

const textOfPart = (part: unknown): string => scalarText(part, "first_seen");

export const valueFunctions: readonly TemplateFunction[] = [
  define({
    name: "fallback",
    signature: "func(value any, otherwise any) any",
    doc: "Gives otherwise when value is nil. Empty strings, 0 and false are values and are kept.",
    examples: [['{{ nil | fallback("x") }} {{ "" | fallback("x") }}{{ 0 | fallback(5) }}', "x 0"]],
    run: (_: Runtime, value: unknown, otherwise: unknown) => value ?? otherwise,
  }),
  define({
    name: "coalesce",
    signature: "func(value any, otherwise any) any",
    doc: "Another name of fallback.",
    examples: [['{{ coalesce(nil, "x") }}', "x"]],
    run: (_: Runtime, value: unknown, otherwise: unknown) => value ?? otherwise,
  }),
  define({
    name: "dig",
    signature: "func(value any, keys ...any) any",
    doc: "Follows keys into nested maps; nil as soon as a link is missing or is not a map. Slices are not entered.",
    examples: [
      ['{{ map[string]any{"spec": map[string]any{"port": 80}} | dig("spec", "port") }}', "80"],
      ['{{ map[string]any{} | dig("spec", "port") | fallback("none") }}', "none"],
    ],
    run: (_: Runtime, value: unknown, ...keys: unknown[]) => {
      let at = value;
      for (const key of keys) {
        at = memberOf(at, textOf(key));
        if (at === null) return null;
      }
      return at;
    },
  }),
  define({
    name: "dig_string",
    signature: "func(value any, otherwise any, keys ...any) string",
    doc: "Like dig, with otherwise in place of nil, as text.",
    examples: [['{{ dig_string(map[string]any{"a": 5}, "x", "a") }} {{ dig_string(nil, "x", "a") }}', "5 x"]],
    run: (_: Runtime, value: unknown, otherwise: unknown, ...keys: unknown[]) => {
      let at = value;
      for (const key of keys) at = memberOf(at, textOf(key));
      return scalarText(at ?? otherwise, "dig_string");
    },
  }),
  define({
    name: "isNil",
    signature: "func(value any) bool",
    doc: "Whether value is nil.",
    examples: [['{{ isNil(nil) }} {{ isNil("") }}', "true false"]],
    run: (_: Runtime, value: unknown) => value === null,
  }),
  define({
    name: "tostring",
    signature: "func(value any) string",
    doc: "Text of a scalar: nil is empty, numbers are written without exponent. Slices and maps fail: use toJSON or join.",
    examples: [["{{ tostring(1.50) }} {{ tostring(true) }} [{{ tostring(nil) }}]", "1.5 true []"]],
    run: (_: Runtime, value: unknown) => scalarText(value, "tostring"),
  }),
  define({
    name: "toint",
    signature: "func(value any) int",
    doc: "Whole number: floats are truncated, strings are read strictly (no blanks); anything else, nil too, gives 0.",
    examples: [['{{ toint("42") }} {{ toint(3.9) }} {{ toint("4x") }} {{ toint(nil) }}', "42 3 0 0"]],
    run: (_: Runtime, value: unknown) => integerOf(value),
  }),
  define({
    name: "tofloat",
    signature: "func(value any) float64",
    doc: "Floating-point number: nil gives 0; a string that is no number fails.",
    examples: [['{{ tofloat("2.50") }} {{ tofloat(nil) }}', "2.5 0"]],
    run: (_: Runtime, value: unknown) => {
      if (value === null) return 0;
      const number = numberIn(value);
      if (number !== undefined) return Number(number);
      const text = typeof value === "string" ? value : "";
      if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text))
        throw new TemplateFault(`tofloat: ${JSON.stringify(textOf(value))} is not a number`);
      return Number(text);
    },
  }),
  define({
    name: "toJSON",
    signature: "func(value any) string",
    doc: "JSON text with sorted keys and no blanks. Functions and infinite numbers fail.",
    examples: [['{{ toJSON(map[string]any{"b": []any{1, "x"}, "a": nil}) }}', '{"a":null,"b":[1,"x"]}']],
    run: (runtime: Runtime, value: unknown) => jsonText(runtime, value),
  }),
  define({
    name: "debug",
    signature: "func(value any, label ...any) string",
    doc: "The value as indented JSON in comment lines, under a line with the label, for a look into a rendered file.",
    examples: [['{{ debug(map[string]any{"a": 1}, "item") }}', '# DEBUG item:\n# {\n#   "a": 1\n# }\n']],
    run: (runtime: Runtime, value: unknown, ...label: unknown[]) => {
      const head = label.length === 0 ? "# DEBUG:" : `# DEBUG ${scalarText(label[0], "debug")}:`;
      return `${head}\n${jsonText(runtime, value, "  ")
        .split("\n")
        .map((line) => `# ${line}\n`)
        .join("")}`;
    },
  }),
  define({
    name: "fail",
    signature: "func(message string) string",
    doc: "Stops the render with the message. In an incremental snippet only the object at hand is left out.",
    examples: [['{% if false %}{{ fail("port is missing") }}{% end %}ok', "ok"]],
    effect: true,
    run: (_: Runtime, message: string) => {
      throw new FailFault(message);
    },
  }),
  define({
    name: "first_seen",
    signature: "func(parts ...any) bool",
    doc: "Whether this combination of parts is asked for the first time in this render. Without parts always true.",
    examples: [['{{ first_seen("a", 1) }} {{ first_seen("a", 1) }} {{ first_seen("a1") }}', "true false true"]],
    run: (runtime: Runtime, ...parts: unknown[]) => parts.length === 0 || runtime.firstSeen(parts, textOfPart),
  }),
];
