/** Looking into values, defaults, conversions, numbers. */
import {
  bounded,
  FLOAT,
  INT,
  isNumber,
  keyText,
  order,
  settle,
  Slice,
  Stop,
  Table,
  type Type,
  type Value,
  wrap,
} from "../values.ts";
import type { Row } from "./index.ts";
import { failing, itemsOf, json, listOf, member, scalar } from "./scalars.ts";

const other = (v: Value, otherwise: Value): Value => (v === null ? otherwise : v);
const dig = (v: Value, keys: readonly Value[]): Value => keys.reduce((at: Value, key) => member(at, scalar(key)), v);
const num = (v: Value): number => (isNumber(v) ? Number(v) : failing("not a number"));

function toint(given: Value): bigint {
  const v = settle(given);
  if (typeof v === "bigint") return v;
  if (typeof v === "number") return Number.isFinite(v) ? BigInt(Math.trunc(v)) : 0n;
  if (typeof v !== "string" || !/^[-+]?[0-9]+$/.test(v)) return 0n;
  const n = BigInt(v.replace("+", ""));
  return n < -(2n ** 63n) || n >= 2n ** 63n ? 0n : n;
}

const kindOfResult = (args: readonly Type[]): Type =>
  args.every((t) => t.k === "int" || (t.k === "untyped" && (t.of === "int" || t.of === "rune"))) ? INT : FLOAT;

/** The least (sign 1) or greatest (sign -1) of numbers. */
function extreme(sign: number, values: readonly Value[]): Value {
  for (const v of values) num(v);
  return values.reduce((best, v) => (sign * order(v, best) < 0 ? v : best));
}

const seq = (n: bigint): Value => listOf(Array.from({ length: Math.max(0, bounded(Number(n))) }, (_, i) => BigInt(i)));

export const valueFunctions: Readonly<Record<string, Row>> = {
  fallback: ["any, any -> any", (_, v: Value, d: Value) => other(v, d)],
  coalesce: ["any, any -> any", (_, v: Value, d: Value) => other(v, d)],
  dig: ["any, ...any -> any", (_, v: Value, ...keys: Value[]) => dig(v, keys)],
  dig_string: [
    "any, any, ...any -> string",
    (_, v: Value, d: Value, ...keys: Value[]) => scalar(other(dig(v, keys), d)),
  ],
  isNil: ["any -> bool", (_, v: Value) => v === null],
  tostring: ["any -> string", (_, v: Value) => scalar(v)],
  toint: ["any -> int", (_, v: Value) => toint(v)],
  tofloat: [
    "any -> float64",
    (_, v: Value) => {
      if (v === null) return 0;
      if (isNumber(v)) return Number(v);
      if (typeof v !== "string" || !/^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$/.test(v))
        failing("no number");
      return Number(v);
    },
  ],
  toJSON: ["any -> string", (_, v: Value) => json(v)],
  debug: [
    "any, ...any -> string",
    (_, v: Value, ...label: Value[]) =>
      `# DEBUG${label.length > 0 ? ` ${scalar(label[0]!)}` : ""}:\n# ${json(v, "  ").replaceAll("\n", "\n# ")}\n`,
  ],
  fail: [
    "string -> string",
    (_, message: string) => {
      throw new Stop("fail", message);
    },
  ],
  first_seen: [
    "...any -> bool",
    ({ seen }, ...parts: Value[]) => {
      const key = parts
        .map((p) =>
          typeof settle(p) === "string" || p === null ? JSON.stringify(scalar(p)) : JSON.stringify(scalar(p)),
        )
        .join(",");
      if (parts.length > 0 && seen.has(key)) return false;
      seen.add(key);
      return true;
    },
  ],
  ceil: ["any -> float64", (_, v: Value) => Math.ceil(num(v))],
  floor: ["any -> float64", (_, v: Value) => Math.floor(num(v))],
  abs: [
    "any -> float64",
    (_, v: Value) => (typeof v === "bigint" ? (v < 0n ? wrap(-v) : v) : Math.abs(num(v))),
    kindOfResult,
  ],
  min: ["any, ...any -> float64", (_, ...v: Value[]) => extreme(1, v), kindOfResult],
  max: ["any, ...any -> float64", (_, ...v: Value[]) => extreme(-1, v), kindOfResult],
  pow: ["any, any -> float64", (_, x: Value, y: Value) => num(x) ** num(y)],
  seq: ["int -> []int", (_, n: bigint) => seq(n)],
  keys: ["any -> []string", (_, m: Value) => listOf(m instanceof Table ? m.keys.map(keyText) : [])],
  merge: [
    "any, any -> map[string]any",
    (_, a: Value, b: Value) => {
      const table = new Table();
      for (const from of [a, b]) {
        if (from instanceof Table) for (const key of from.keys) table.put(keyText(key), from.find(key)!.value);
        else if (from !== null) failing("merge: not a map");
      }
      return table;
    },
  ],
  namespace: [
    "...any -> map[string]any",
    (_, ...m: Value[]) =>
      m.length === 0 || m[0] === null ? new Table() : m[0] instanceof Table ? m[0] : failing("namespace"),
  ],
  to_str_map: [
    "any -> map[string]string",
    (_, m: Value) => {
      if (m === null) return new Table();
      if (!(m instanceof Table)) return failing("to_str_map: not a map");
      return Table.of(m.keys.map((key) => [keyText(key), scalar(m.find(key)!.value)]));
    },
  ],
  toSlice: ["any -> []any", (_, v: Value) => (v instanceof Slice ? v : listOf([]))],
  toStringSlice: ["any -> []string", (_, v: Value) => listOf(itemsOf(v).map(scalar))],
  semver_gte: [
    "any, any -> bool",
    (_, version: Value, least: Value) => {
      const read = (v: Value): number[] | undefined =>
        /^\s*v?([0-9]+)(?:\.([0-9]+))?/
          .exec(scalar(v))
          ?.slice(1, 3)
          .map((n) => Number(n ?? 0));
      const wanted = read(least);
      if (wanted === undefined) return failing("semver_gte");
      const have = read(version);
      if (have === undefined) return false;
      return have[0]! !== wanted[0]! ? have[0]! > wanted[0]! : have[1]! >= wanted[1]!;
    },
  ],
};
