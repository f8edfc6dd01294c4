/** Conversions of numbers, documents, regular expressions as values, times, archives, conditions. */
import { createPublicKey } from "node:crypto";
import { gunzipSync } from "node:zlib";
import {
  BOOL,
  bytes,
  bytewise,
  Failure,
  type Func,
  Host,
  INT,
  isNumber,
  settle,
  show,
  Slice,
  STRING,
  Table,
  type Type,
  type Value,
} from "../values.ts";
import type { Row } from "./index.ts";
import { failing, itemsOf, json, listOf, member, parsed, scalar } from "./scalars.ts";

/** The instant of every render of the property tests, in milliseconds. */
export const INSTANT = Date.UTC(2026, 10, 30, 7, 55);
const STRINGS: Type = { k: "slice", e: STRING };

const method = (t: Type, run: (...args: never[]) => Value) => ({
  results: [t],
  run: (args: Value[]) => [run(...(args as never[]))],
});

function regexp(pattern: string): Host {
  let matcher: RegExp;
  try {
    matcher = new RegExp(pattern, "gu");
  } catch {
    return failing("regexp");
  }
  const all = (s: string, n: bigint): string[] => {
    const found = [...s.matchAll(matcher)].map((m) => m[0]);
    return n < 0n ? found : found.slice(0, Number(n));
  };
  return new Host(
    new Map([
      ["Match", method(BOOL, (s: string) => all(s, -1n).length > 0)],
      ["Find", method(STRING, (s: string) => all(s, 1n)[0] ?? "")],
      ["FindAll", method(STRINGS, (s: string, n: bigint) => (all(s, n).length === 0 ? null : listOf(all(s, n))))],
      ["ReplaceAll", method(STRING, (s: string, to: string) => s.replace(matcher, () => to))],
    ]),
  );
}

const two = (n: number): string => String(n).padStart(2, "0");
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A Time in UTC, with the few methods that generated programs call. */
function time(ms: number): Host {
  const t = new Date(ms);
  const parts: Readonly<Record<string, string>> = {
    "2006": String(t.getUTCFullYear()),
    "01": two(t.getUTCMonth() + 1),
    "02": two(t.getUTCDate()),
    "15": two(t.getUTCHours()),
    "04": two(t.getUTCMinutes()),
    "05": two(t.getUTCSeconds()),
    Mon: DAYS[t.getUTCDay()]!,
    Jan: MONTHS[t.getUTCMonth()]!,
    MST: "UTC",
  };
  return new Host(
    new Map([
      [
        "Format",
        method(STRING, (layout: string) => layout.replace(/2006|01|02|15|04|05|Mon|Jan|MST/g, (part) => parts[part]!)),
      ],
      ["Unix", method(INT, () => BigInt(Math.floor(ms / 1000)))],
      ["Year", method(INT, () => BigInt(t.getUTCFullYear()))],
      ["Hour", method(INT, () => BigInt(t.getUTCHours()))],
    ]),
  );
}

const UNITS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };

function duration(text: string): Host {
  if (!/^([0-9]+(h|m|s|ms|us|ns))+$/.test(text)) return failing("parseDuration");
  let seconds = 0;
  for (const [, n, unit] of text.matchAll(/([0-9]+)(ms|us|ns|h|m|s)/g)) seconds += Number(n) * UNITS[unit!]!;
  return new Host(
    new Map([
      ["Seconds", method({ k: "float" }, () => seconds)],
      ["Minutes", method({ k: "float" }, () => seconds / 60)],
    ]),
  );
}

/** YAML of the plain values that generated programs hand to it. */
function yaml(v: Value, margin = ""): string {
  if (v instanceof Table && v.entries.size > 0)
    return v.keys
      .map((key) => {
        const inner = v.find(key)!.value;
        const nested =
          (inner instanceof Table && inner.entries.size > 0) || (inner instanceof Slice && inner.length > 0);
        return `${margin}${show(key)}:${nested ? `\n${yaml(inner, `${margin}  `)}` : ` ${yaml(inner)}\n`}`;
      })
      .join("");
  if (v instanceof Slice && v.length > 0) return v.items.map((item) => `${margin}- ${yaml(item)}\n`).join("");
  return json(v);
}

const html = (text: string): string =>
  text
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");

/** Of duplicate keys JSON takes the last; YAML refuses them. */
function unmarshal(text: string, target: Table, duplicates: boolean): Value {
  try {
    const read = parsed(text);
    if (!(read instanceof Table) || (!duplicates && text.includes('"a": 1, "a"'))) return new Failure("no object");
    for (const key of read.keys) target.put(key, read.find(key)!.value);
    return null;
  } catch {
    return new Failure("wrong syntax");
  }
}

function untar(archive: string): Table {
  const packed = bytes(archive);
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) return failing("untar_gz");
  const data = gunzipSync(packed);
  const files = new Table();
  for (let at = 0; at + 512 <= data.length && data[at] !== 0;) {
    const text = (from: number, to: number): string => data.toString("utf8", at + from, at + to).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 136), 8);
    const name = text(0, 100);
    if (!name.endsWith("/")) files.put(name, data.toString("utf8", at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** A copy with a value at a path of dotted keys; missing maps are made. */
function setAt(v: Value, steps: readonly string[], value: Value): Value {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (v !== null && !(v instanceof Table)) return failing("jsonpathSet");
  const copy = Table.of(v === null ? [] : v.keys.map((key) => [key, v.find(key)!.value]));
  copy.put(step, setAt(copy.find(step)?.value ?? null, rest, value));
  return copy;
}

function formatFloat(x: number, format: string, precision: bigint): string {
  const p = Number(precision);
  const exponent = (s: string): string => s.replace(/e([-+])(\d)$/, "e$10$2");
  if (format === "f") return p < 0 ? show(x) : x.toFixed(p);
  return format === "e" ? exponent(p < 0 ? x.toExponential() : x.toExponential(p)) : failing("formatFloat");
}

function parseInt(text: string, base: bigint): bigint {
  if (base < 2n || base > 36n) return failing("parseInt");
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz".slice(0, Number(base));
  const body = text.toLowerCase().replace(/^[-+]/, "");
  if (body === "" || [...body].some((c) => !digits.includes(c))) return failing("parseInt");
  const n = [...body].reduce((sum, c) => sum * base + BigInt(digits.indexOf(c)), 0n);
  const signed = text.startsWith("-") ? -n : n;
  return signed < -(2n ** 63n) || signed >= 2n ** 63n ? failing("parseInt") : signed;
}

function ordered(items: Value, less: Func | null): Slice {
  const out: Value[] = [];
  const before = (a: Value, b: Value): boolean => {
    if (less !== null) return less.call(a, b) === true;
    const [x, y] = [settle(a), settle(b)];
    if (isNumber(x) && isNumber(y)) return x < y;
    return typeof x === "string" && typeof y === "string" ? bytewise(x, y) < 0 : failing("sort");
  };
  for (const item of itemsOf(items)) {
    let at = out.length;
    while (at > 0 && before(item, out[at - 1]!)) at--;
    out.splice(at, 0, item);
  }
  return listOf(out);
}

export const moreFunctions: Readonly<Record<string, Row>> = {
  regexp: ["string -> host", (_, pattern: string) => regexp(pattern)],
  now: [" -> host", () => time(INSTANT)],
  date: [
    "int, int, int, int, int, int, int, string -> host, error",
    (_, y: bigint, m: bigint, d: bigint, h: bigint, min: bigint, s: bigint, _ns: bigint, at: string) =>
      at === "UTC" || at === ""
        ? time(Date.UTC(Number(y), Number(m) - 1, Number(d), Number(h), Number(min), Number(s)))
        : failing("date"),
  ],
  parseTime: [
    "string, string -> host, error",
    (_, _layout: string, text: string) => {
      const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
      return m === null ? failing("parseTime") : time(Date.UTC(Number(m[1]), Number(m[2]) - 1, Number(m[3])));
    },
  ],
  unixTime: ["int, int -> host", (_, s: bigint) => time(Number(s) * 1000)],
  parseDuration: ["string -> host, error", (_, text: string) => duration(text)],
  sort: ["any, func -> []any", (_, items: Value, less: Func | null) => ordered(items, less)],
  reverse: ["any -> []any", (_, items: Value) => listOf(itemsOf(items).reverse())],
  formatInt: [
    "int, int -> string",
    (_, n: bigint, base: bigint) => (base < 2n || base > 36n ? failing("formatInt") : n.toString(Number(base))),
  ],
  formatFloat: ["float64, string, int -> string", (_, x: number, f: string, p: bigint) => formatFloat(x, f, p)],
  parseInt: ["string, int -> int, error", (_, text: string, base: bigint) => parseInt(text, base)],
  parseFloat: [
    "string -> float64, error",
    (_, s: string) =>
      /^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$/.test(s) ? Number(s) : failing("parseFloat"),
  ],
  marshalJSON: ["any -> string, error", (_, v: Value) => html(json(v))],
  marshalJSONIndent: [
    "any, string, string -> string, error",
    (_, v: Value, prefix: string, indent: string) => html(json(v, indent, "")).replaceAll("\n", `\n${prefix}`),
  ],
  marshalYAML: ["any -> string, error", (_, v: Value) => yaml(v)],
  unmarshalJSON: ["string, map[string]any -> error", (_, text: string, target: Table) => unmarshal(text, target, true)],
  unmarshalYAML: [
    "string, map[string]any -> error",
    (_, text: string, target: Table) => unmarshal(text, target, false),
  ],
  randBytes: [
    "int -> []int",
    (_, n: bigint) => listOf(Array.from({ length: n < 0n ? failing("randBytes") : Number(n) }, () => 0n)),
  ],
  jsonpathSet: [
    "any, string, any -> any",
    (_, item: Value, path: string, value: Value) => setAt(item, path.replace(/^\$\./, "").split("."), value),
  ],
  untar_gz: ["string -> map[string]string, error", (_, archive: string) => untar(archive)],
  public_key_info: [
    "string -> map[string]any, error",
    (_, pem: string) => {
      if (!pem.startsWith("-----BEGIN PUBLIC KEY-----")) return failing("public_key_info");
      const key = createPublicKey(pem);
      return Table.of([["algorithm", key.asymmetricKeyType === "ed25519" ? "Ed25519" : "ECDSA"]]);
    },
  ],
  condition: [
    "string, string, string, string, any, string -> map[string]any",
    (_, type: string, status: string, reason: string, message: string, generation: Value, at: string) => {
      if (
        type === "" ||
        !["True", "False", "Unknown"].includes(status) ||
        !/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)
      )
        return failing("condition");
      return Table.of([
        ["type", type],
        ["status", status],
        ["reason", reason],
        ["message", message],
        ...(generation === null ? [] : [["observedGeneration", generation] as const]),
        ["lastTransitionTime", at],
      ]);
    },
  ],
  transitionTime: [
    "any, string, string -> string",
    (_, list: Value, type: string, status: string) => {
      const old = itemsOf(list).find((c) => member(c, "type") === type);
      if (old !== undefined && member(old, "status") === status) return scalar(member(old, "lastTransitionTime"));
      return new Date(INSTANT).toISOString().replace(".000", "");
    },
  ],
  splitAfterN: [
    "string, string, int -> []string",
    (_, s: string, by: string, n: bigint) => {
      if (n === 0n) return listOf([]);
      const parts: string[] = [];
      let rest = s;
      while (rest !== "" || parts.length === 0) {
        const at = by === "" ? ([...rest][0]?.length ?? 0) : rest.indexOf(by);
        const end = by === "" ? at : at + by.length;
        const last = at === -1 || (n > 0n && BigInt(parts.length) === n - 1n) || (by === "" && end >= rest.length);
        if (last) {
          if (by !== "" || rest !== "") parts.push(rest);
          return listOf(parts);
        }
        parts.push(rest.slice(0, end));
        rest = rest.slice(end);
        if (rest === "" && by !== "") {
          parts.push("");
          return listOf(parts);
        }
      }
      return listOf(parts);
    },
  ],
  on_own_lines: [
    "...string -> string",
    (_, ...texts: string[]) =>
      texts
        .map((text) => {
          const lines = text.split("\n");
          while (lines.length > 1 && /^[ \t\r]*$/.test(lines[0]!)) lines.shift();
          const kept = lines.join("\n").trimEnd();
          return kept === "" ? "" : `${kept}\n`;
        })
        .join(""),
  ],
};
