/** Strings and regular expressions. */
import { createHash } from "node:crypto";
import { bounded, bytes, isNumber, settle, Slice, Table, verb, type Value } from "../values.ts";
import type { Row } from "./index.ts";
import { failing, listOf, scalar } from "./scalars.ts";

const SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

const chars = (s: string): string[] => [...s];
/** Upper or lower case, character by character; one that would become two stays. */
const cased = (s: string, how: (c: string) => string): string =>
  chars(s)
    .map((c) => (chars(how(c)).length === 1 ? how(c) : c))
    .join("");
const upper = (s: string): string => cased(s, (c) => c.toUpperCase());
const lower = (s: string): string => cased(s, (c) => c.toLowerCase());
const separator = (c: string): boolean => (c <= "\x7f" ? !/\w/.test(c) : SPACE.test(c));
function capital(s: string): string {
  const all = chars(s);
  const first = all.findIndex((c) => !separator(c));
  return all.map((c, i) => (i === first ? upper(c) : c)).join("");
}

function trimmed(s: string, drop: (c: string) => boolean, left: boolean, right: boolean): string {
  const all = chars(s);
  while (left && all.length > 0 && drop(all[0]!)) all.shift();
  while (right && all.length > 0 && drop(all.at(-1)!)) all.pop();
  return all.join("");
}
const strip = (s: string): string => trimmed(s, (c) => SPACE.test(c), true, true);
const cutset = (left: boolean, right: boolean): Row => [
  "string, string -> string",
  (_, s: string, set: string) => trimmed(s, (c) => chars(set).includes(c), left, right),
];

function find(s: string, part: string, from = 0): number {
  for (let i = from; i + part.length <= s.length; i++) if (s.slice(i, i + part.length) === part) return i;
  return -1;
}

/** At most `limit` parts (below zero: all), cut at the separator one after the other. */
function split(s: string, separator: string, limit = -1): string[] {
  if (limit === 0) return [];
  if (separator === "") {
    const all = chars(s);
    return limit < 0 || all.length <= limit ? all : [...all.slice(0, limit - 1), all.slice(limit - 1).join("")];
  }
  const parts: string[] = [];
  let rest = s;
  for (;;) {
    const at = limit > 0 && parts.length === limit - 1 ? -1 : find(rest, separator);
    if (at === -1) return [...parts, rest];
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + separator.length);
  }
}

const replace = (s: string, from: string, to: string): string =>
  from === ""
    ? to +
      chars(s)
        .map((c) => c + to)
        .join("")
    : split(s, from).join(to);

const offset = (s: string, at: number): bigint => (at < 0 ? -1n : BigInt(bytes(s.slice(0, at)).length));

/** Words of a title begin after anything that is no letter, digit, apostrophe or underscore. */
function title(s: string): string {
  let before = " ";
  return chars(lower(s))
    .map((c) => {
      const starts = /\p{L}/u.test(c) && !/[\p{L}\p{N}_'’]/u.test(before);
      before = c;
      return starts ? upper(c) : c;
    })
    .join("");
}

function kebab(s: string): string {
  const all = chars(s);
  const is = (what: RegExp, i: number): boolean => what.test(all[i] ?? "");
  let out = "";
  for (let i = 0; i < all.length; i++) {
    const open = out !== "" && out.at(-1) !== "-";
    if (is(/^(\p{Ll}|\p{Nd})$/u, i)) out += all[i];
    else if (is(/^\p{Lu}$/u, i))
      out += (open && (is(/^\p{Ll}$/u, i - 1) || is(/^\p{Ll}$/u, i + 1)) ? "-" : "") + lower(all[i]!);
    else if (open) out += "-";
  }
  return out.at(-1) === "-" ? out.slice(0, -1) : out;
}

function abbreviate(given: string, n: number): string {
  const blank = (c: string): boolean => " \n\r\t\f".includes(c);
  const s = trimmed(given, blank, false, true);
  if (bytes(s).length <= n) return s;
  if (n < 3) return "";
  const all = chars(s);
  if (all.length < n) return s;
  const at = all.slice(0, n - 2).findLastIndex(blank);
  let kept = at > 0 ? trimmed(all.slice(0, at).join(""), blank, false, true) : "";
  if (kept.endsWith(".") || kept.endsWith(",")) kept = kept.slice(0, -1);
  return `${kept}...`;
}

function indent(given: Value, ...[width = 4n, first = false, blank = false]: Value[]): string {
  const pad =
    typeof width === "string"
      ? width
      : isNumber(width)
        ? " ".repeat(Number(width) < 0 ? failing("indent") : bounded(Number(width)))
        : failing("indent");
  return split(scalar(given), "\n")
    .map((line, i) => ((i === 0 && first !== true) || (strip(line) === "" && blank !== true) ? line : pad + line))
    .join("\n");
}

const kind = (v: Value): string =>
  v === null
    ? "nil"
    : typeof v === "bigint"
      ? "int"
      : typeof v === "number"
        ? "float64"
        : typeof v === "boolean"
          ? "bool"
          : typeof v === "string"
            ? "string"
            : v instanceof Slice
              ? "[]any"
              : v instanceof Table
                ? "map[string]any"
                : "func";

function sprintf(format: string, given: readonly Value[]): string {
  const values = given.map(settle);
  let next = 0;
  let out = "";
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== "%") {
      out += format[i];
      continue;
    }
    let flags = "";
    while ("-+# 0".includes(format[i + 1] ?? "x")) flags += format[++i];
    let width = "";
    while (/\d/.test(format[i + 1] ?? "")) width += format[++i];
    let precision: number | undefined;
    if (format[i + 1] === ".") {
      i++;
      let digits = "";
      while (/\d/.test(format[i + 1] ?? "")) digits += format[++i];
      precision = Number(digits);
    }
    const c = format[++i]!;
    if (c === "%") {
      out += "%";
      continue;
    }
    if (next >= values.length) {
      out += `%!${c}(MISSING)`;
      continue;
    }
    let s = formatted(c, values[next++]!, flags, precision);
    const missing = Number(width) - chars(s).length;
    if (missing > 0) {
      if (flags.includes("-")) s += " ".repeat(missing);
      else if (flags.includes("0") && "dfegxXob".includes(c)) s = s.replace(/^([-+]?)/, `$1${"0".repeat(missing)}`);
      else s = " ".repeat(missing) + s;
    }
    out += s;
  }
  const extra = values.slice(next);
  return extra.length === 0 ? out : `${out}%!(EXTRA ${extra.map((v) => `${kind(v)}=${verb(v)}`).join(", ")})`;
}

function formatted(c: string, v: Value, flags: string, precision: number | undefined): string {
  const signed = (s: string): string =>
    s.startsWith("-") ? s : flags.includes("+") ? `+${s}` : flags.includes(" ") ? ` ${s}` : s;
  if (c === "v") return verb(v);
  if (c === "T") return kind(v);
  if (c === "s" && typeof v === "string") return precision === undefined ? v : chars(v).slice(0, precision).join("");
  if (c === "t" && typeof v === "boolean") return String(v);
  if (c === "q" && typeof v === "string") return JSON.stringify(v);
  if (c === "c" && typeof v === "bigint") return String.fromCodePoint(Number(v));
  const radix = { d: 10, x: 16, X: 16, o: 8, b: 2 }[c];
  if (radix !== undefined && typeof v === "bigint") {
    const s = signed(v.toString(radix));
    return c === "X" ? s.toUpperCase() : s;
  }
  if ((c === "x" || c === "X") && typeof v === "string") {
    const s = [...bytes(v)].map((b) => b.toString(16).padStart(2, "0")).join("");
    return c === "X" ? s.toUpperCase() : s;
  }
  if (c === "f" && isNumber(v)) return signed(Number(v).toFixed(precision ?? 6));
  return `%!${c}(${kind(v)}=${verb(v)})`;
}

const trim: Row = ["any -> string", (_, s: Value) => strip(scalar(s))];

export const stringFunctions: Readonly<Record<string, Row>> = {
  toLower: ["string -> string", (_, s: string) => lower(s)],
  toUpper: ["string -> string", (_, s: string) => upper(s)],
  title: ["any -> string", (_, s: Value) => title(scalar(s))],
  capitalize: ["string -> string", (_, s: string) => capital(s)],
  capitalizeAll: [
    "string -> string",
    (_, s: string) =>
      chars(s)
        .map((c, i, all) => (i === 0 || separator(all[i - 1]!) ? upper(c) : c))
        .join(""),
  ],
  toKebab: ["string -> string", (_, s: string) => kebab(s)],
  abbreviate: ["string, int -> string", (_, s: string, n: bigint) => abbreviate(s, Number(n))],
  replace: [
    "any, any, any -> string",
    (_, s: Value, from: Value, to: Value) => replace(scalar(s), scalar(from), scalar(to)),
  ],
  replaceAll: ["string, string, string -> string", (_, s: string, from: string, to: string) => replace(s, from, to)],
  split: ["string, string -> []string", (_, s: string, by: string) => listOf(split(s, by))],
  splitN: ["string, string, int -> []string", (_, s: string, by: string, n: bigint) => listOf(split(s, by, Number(n)))],
  splitAfter: [
    "string, string -> []string",
    (_, s: string, by: string) => listOf(split(s, by).map((part, i, all) => (i < all.length - 1 ? part + by : part))),
  ],
  join_key: ["string, ...any -> string", (_, by: string, ...parts: Value[]) => parts.map(scalar).join(by)],
  strip: trim,
  trimSpace: trim,
  strings_trim: trim,
  trim: cutset(true, true),
  trimLeft: cutset(true, false),
  trimRight: cutset(false, true),
  trimPrefix: ["string, string -> string", (_, s: string, p: string) => (find(s, p) === 0 ? s.slice(p.length) : s)],
  trimSuffix: [
    "string, string -> string",
    (_, s: string, p: string) => (p !== "" && s.slice(-p.length) === p ? s.slice(0, -p.length) : s),
  ],
  hasPrefix: ["string, string -> bool", (_, s: string, p: string) => s.slice(0, p.length) === p],
  hasSuffix: ["string, string -> bool", (_, s: string, p: string) => p === "" || s.slice(-p.length) === p],
  index: ["string, string -> int", (_, s: string, part: string) => offset(s, find(s, part))],
  lastIndex: [
    "string, string -> int",
    (_, s: string, part: string) => {
      let at = -1;
      for (let i = find(s, part); i !== -1; i = find(s, part, i + 1)) at = i;
      return offset(s, at);
    },
  ],
  indexAny: [
    "string, string -> int",
    (_, s: string, any: string) => {
      let at = 0;
      for (const c of s) {
        if (chars(any).includes(c)) return offset(s, at);
        at += c.length;
      }
      return -1n;
    },
  ],
  runeCount: ["string -> int", (_, s: string) => BigInt(chars(s).length)],
  isdigit: ["any -> bool", (_, s: Value) => /^\p{Nd}+$/u.test(scalar(s))],
  basename: [
    "string -> string",
    (_, path: string) => {
      if (path === "") return ".";
      const parts = path.split("/").filter((part) => part !== "");
      return parts.at(-1) ?? "/";
    },
  ],
  strings_contains: ["any, any -> bool", (_, s: Value, part: Value) => find(scalar(s), scalar(part)) !== -1],
  strings_split: ["any, any -> []string", (_, s: Value, by: Value) => listOf(split(scalar(s), scalar(by)))],
  strings_splitn: [
    "any, any, int -> []string",
    (_, s: Value, by: Value, n: bigint) => listOf(split(scalar(s), scalar(by), Number(n))),
  ],
  strings_lower: ["any -> string", (_, s: Value) => lower(scalar(s))],
  indent: ["any, ...any -> string", (_, s: Value, ...options: Value[]) => indent(s, ...options)],
  make_guid: [
    "...any -> string",
    (_, ...parts: Value[]) => {
      const whole = parts.map(scalar).join(":");
      if (bytes(whole).length <= 127) return whole;
      const hash = createHash("sha256").update(whole).digest("hex").slice(0, 16);
      return `${bytes(whole)
        .toString("utf8", 0, 110)
        .replace(/\uFFFD+$/, "")}-${hash}`;
    },
  ],
  sprint: [
    "...any -> string",
    (_, ...values: Value[]) =>
      values
        .map((v, i) => {
          const blank = i > 0 && typeof v !== "string" && typeof values[i - 1] !== "string";
          return (blank ? " " : "") + verb(settle(v));
        })
        .join(""),
  ],
  sprintf: ["string, ...any -> string", (_, format: string, ...values: Value[]) => sprintf(format, values)],
  regex_search: [
    "any, any -> bool",
    (_, s: Value, pattern: Value) => {
      try {
        return new RegExp(scalar(pattern), "u").test(scalar(s));
      } catch {
        return failing("regex_search");
      }
    },
  ],
  sanitize_regex: [
    "any -> string",
    (_, s: Value) =>
      chars(scalar(s))
        .map((c) => ("\\.+*?()|[]{}^$".includes(c) ? `\\${c}` : c))
        .join(""),
  ],
};
