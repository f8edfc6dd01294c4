/** Strings. Functions marked lenient take any scalar and make text of it first. */
import { createHash } from "node:crypto";
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { byteLength, format } from "../runtime/text.ts";
import { define, type TemplateFunction } from "./define.ts";
import { sprintf } from "./sprintf.ts";
import { integerOf, scalarText } from "./values.ts";

const SPACE = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LEADING_SPACE = new RegExp(`^[${SPACE}]+`, "u");
const STARTS_WITH_SPACE = new RegExp(`^[${SPACE}]`, "u");

/** Without leading and trailing white space as Unicode defines it. */
export function stripped(s: string): string {
  const start = LEADING_SPACE.exec(s)?.[0].length ?? 0;
  let end = s.length;
  while (end > start && LEADING_SPACE.test(s[end - 1]!)) end--;
  return s.slice(start, end);
}

function mapCase(s: string, convert: (c: string) => string): string {
  // A character whose other case has two characters keeps its own, so that lengths in characters stay.
  if (!/[^\0-\x7f]/.test(s)) return convert(s);
  return Array.from(s, (c) => {
    const converted = convert(c);
    return [...converted].length === 1 ? converted : c;
  }).join("");
}

const lower = (s: string): string => mapCase(s, (c) => c.toLowerCase());
const upper = (s: string): string => mapCase(s, (c) => c.toUpperCase());

function chargeReplace(runtime: Runtime, s: string, from: string, to: string): void {
  runtime.charge(s.length >> 4);
  if (to.length > from.length) runtime.chargeText(Math.ceil(s.length / Math.max(1, from.length)) * to.length);
}

function replaced(runtime: Runtime, s: string, from: string, to: string): string {
  chargeReplace(runtime, s, from, to);
  if (from !== "") return s.split(from).join(to);
  // Go puts the replacement before each character and at the end.
  return to + Array.from(s, (c) => c + to).join("");
}

function splitText(runtime: Runtime, s: string, separator: string, limit = -1): string[] {
  runtime.charge(separator === "" ? s.length * 2 : s.length >> 2);
  if (limit === 0) return [];
  const parts = separator === "" ? Array.from(s) : s.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function trimSet(s: string, cutset: string, left: boolean, right: boolean): string {
  const set = new Set(cutset);
  const points = Array.from(s);
  let from = 0;
  let to = points.length;
  if (left) while (from < to && set.has(points[from]!)) from++;
  if (right) while (to > from && set.has(points[to - 1]!)) to--;
  return points.slice(from, to).join("");
}

const byteIndex = (s: string, at: number): number => (at < 0 ? -1 : byteLength(s.slice(0, at)));

/** What stands between words: all but letters, digits and underscores; beyond ASCII only white space. */
const separates = (c: string): boolean => (c <= "\x7f" ? !/[0-9A-Za-z_]/.test(c) : STARTS_WITH_SPACE.test(c));

/** The first character that separates no words in upper case. */
function capital(s: string): string {
  let start = 0;
  for (const c of s) {
    if (!separates(c)) return s.slice(0, start) + upper(c) + s.slice(start + c.length);
    start += c.length;
  }
  return s;
}

/** Every character after a separator in upper case. */
function capitals(s: string): string {
  let before = " ";
  return Array.from(s, (c) => {
    const converted = separates(before) ? upper(c) : c;
    before = c;
    return converted;
  }).join("");
}

/** Words begin at an upper-case letter next to a lower-case one, and after anything that is no letter or digit. */
function kebab(s: string): string {
  const points = Array.from(s);
  const isLower = (c: string | undefined): boolean => c !== undefined && /^\p{Ll}$/u.test(c);
  let out = "";
  points.forEach((c, i) => {
    if (isLower(c) || /^\p{Nd}$/u.test(c)) out += c;
    else if (/^\p{Lu}$/u.test(c)) {
      if (out !== "" && !out.endsWith("-") && (isLower(points[i - 1]) || isLower(points[i + 1]))) out += "-";
      out += lower(c);
    } else if (out !== "" && !out.endsWith("-")) out += "-";
  });
  return out.replace(/-$/, "");
}

const BLANKS_AT_END = /[ \n\r\t\f]+$/;

/** Scriggo's rule: a text of n characters or more (and more than n bytes) is cut at a blank within its first n - 2. */
function abbreviated(given: string, n: number): string {
  const s = given.replace(BLANKS_AT_END, "");
  if (byteLength(s) <= n) return s;
  if (n < 3) return "";
  const points = Array.from(s);
  if (points.length < n) return s;
  const kept = points.slice(0, n - 2).join("");
  const blank = kept.search(/[ \n\r\t\f][^ \n\r\t\f]*$/);
  return `${(blank > 0 ? kept.slice(0, blank) : "").replace(BLANKS_AT_END, "").replace(/[.,]$/, "")}...`;
}

export function joined(runtime: Runtime, items: unknown, separator: string): string {
  if (!Array.isArray(items)) return "";
  runtime.charge(items.length * 8);
  const parts = items.map((item) => (typeof item === "string" ? item : format(item)));
  runtime.chargeText(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
}

const indentFunction = define({
  name: "indent",
  signature: "func(text any, width ...any) string",
  doc: "Indents lines by width blanks (default 4) or by a given string. Further arguments: first (bool, default false: the first line is left), blank (bool, default false: lines of white space are left).",
  examples: [
    ['{{ indent("a\\nb\\n\\nc", 2) }}', "a\n  b\n\n  c"],
    ['{{ indent("a\\nb", "> ", true) }}', "> a\n> b"],
  ],
  run: (runtime: Runtime, value: unknown, ...options: unknown[]) => {
    const text = scalarText(value, "indent");
    const given = options[0] ?? 4;
    const width = typeof given === "string" ? given : Number(integerOf(given));
    if (typeof width === "number" && width < 0) throw new TemplateFault("indent: width is negative");
    const lines = text.split("\n");
    if (typeof width === "number") runtime.chargeText(width * lines.length);
    const margin = typeof width === "string" ? width : " ".repeat(width);
    runtime.chargeText(margin.length * lines.length);
    return lines
      .map((line, i) =>
        (i === 0 && options[1] !== true) || (stripped(line) === "" && options[2] !== true) ? line : margin + line,
      )
      .join("\n");
  },
});

export const stringFunctions: readonly TemplateFunction[] = [
  define({
    name: "toLower",
    signature: "func(s string) string",
    doc: "Lower case.",
    examples: [['{{ toLower("ÄbC") }}', "äbc"]],
    run: (r: Runtime, s: string) => (r.charge(s.length >> 4), lower(s)),
  }),
  define({
    name: "toUpper",
    signature: "func(s string) string",
    doc: "Upper case, character by character.",
    examples: [['{{ toUpper("äbß") }}', "ÄBß"]],
    run: (r: Runtime, s: string) => (r.charge(s.length >> 4), upper(s)),
  }),
  define({
    name: "title",
    signature: "func(s any) string",
    doc: "Title case: the first letter of each word is upper case, the rest lower case. Lenient.",
    examples: [['{{ title("hello WORLD-wide") }}', "Hello World-Wide"]],
    run: (_: Runtime, s: unknown) =>
      lower(scalarText(s, "title")).replace(
        /(^|[^\p{L}\p{N}_'’])(\p{L})/gu,
        (_all, before: string, letter: string) => before + upper(letter),
      ),
  }),
  define({
    name: "capitalize",
    signature: "func(s string) string",
    doc: "Upper case for the first character that is a letter, digit or underscore.",
    examples: [['{{ capitalize("abc def") }}', "Abc def"]],
    run: (_: Runtime, s: string) => capital(s),
  }),
  define({
    name: "capitalizeAll",
    signature: "func(s string) string",
    doc: "Upper case for the first character of each word; words are parted by anything but letters, digits and underscores.",
    examples: [['{{ capitalizeAll("abc def") }}', "Abc Def"]],
    run: (_: Runtime, s: string) => capitals(s),
  }),
  define({
    name: "toKebab",
    signature: "func(s string) string",
    doc: "Words in lower case, joined by dashes.",
    examples: [['{{ toKebab("maxConnRate limit_x") }}', "max-conn-rate-limit-x"]],
    run: (_: Runtime, s: string) => kebab(s),
  }),
  define({
    name: "abbreviate",
    signature: "func(s string, n int) string",
    doc: "A text of n characters or more is cut at a blank within its first n - 2 characters and ends with dots; below n = 3 nothing is left of it.",
    examples: [['{{ abbreviate("one two three", 10) }}', "one two..."]],
    run: (_: Runtime, s: string, n: number) => abbreviated(s, n),
  }),
  define({
    name: "replace",
    signature: "func(s any, old any, new any) string",
    doc: "Replaces all occurrences. Lenient.",
    examples: [['{{ "a.b.c" | replace(".", "_") }}', "a_b_c"]],
    run: (r: Runtime, s: unknown, from: unknown, to: unknown) =>
      replaced(r, scalarText(s, "replace"), scalarText(from, "replace"), scalarText(to, "replace")),
  }),
  define({
    name: "replaceAll",
    signature: "func(s string, old string, new string) string",
    doc: "Replaces all occurrences.",
    examples: [['{{ replaceAll("aXbX", "X", "-") }}', "a-b-"]],
    run: (r: Runtime, s: string, from: string, to: string) => replaced(r, s, from, to),
  }),
  define({
    name: "split",
    signature: "func(s string, separator string) []string",
    doc: "Parts between the separators; an empty separator splits into characters.",
    examples: [['{{ split("a,b,c", ",") | join(" ") }}', "a b c"]],
    run: (r: Runtime, s: string, by: string) => splitText(r, s, by),
  }),
  define({
    name: "splitN",
    signature: "func(s string, separator string, n int) []string",
    doc: "At most n parts; the last holds the rest. n < 0: all.",
    examples: [['{{ splitN("a,b,c", ",", 2) | join(" ") }}', "a b,c"]],
    run: (r: Runtime, s: string, by: string, n: number) => splitText(r, s, by, n),
  }),
  define({
    name: "splitAfter",
    signature: "func(s string, separator string) []string",
    doc: "Parts with their separators.",
    examples: [['{{ splitAfter("a,b", ",") | join("|") }}', "a,|b"]],
    run: (r: Runtime, s: string, by: string) =>
      splitText(r, s, by).map((part, i, all) => (i < all.length - 1 ? part + by : part)),
  }),
  define({
    name: "splitAfterN",
    signature: "func(s string, separator string, n int) []string",
    doc: "At most n parts with their separators; the last holds the rest. n < 0: all.",
    examples: [['{{ splitAfterN("a,b,c", ",", 2) | join("|") }}', "a,|b,c"]],
    run: (r: Runtime, s: string, by: string, n: number) =>
      splitText(r, s, by, n).map((part, i, all) => (i < all.length - 1 ? part + by : part)),
  }),
  define({
    name: "join",
    signature: "func(items any, separator string) string",
    doc: "Text of the items with the separator between them; anything but a slice gives the empty string.",
    examples: [['{{ []any{"a", 1, true} | join("-") }}', "a-1-true"]],
    run: (r: Runtime, items: unknown, separator: string) => joined(r, items, separator),
  }),
  define({
    name: "join_key",
    signature: "func(separator string, parts ...any) string",
    doc: "Text of the parts with the separator between them.",
    examples: [['{{ join_key("_", "ns", "svc", 80) }}', "ns_svc_80"]],
    run: (r: Runtime, separator: string, ...parts: unknown[]) =>
      joined(
        r,
        parts.map((part) => scalarText(part, "join_key")),
        separator,
      ),
  }),
  define({
    name: "strip",
    signature: "func(s any) string",
    doc: "Without white space at both ends. Lenient.",
    examples: [['[{{ strip("  a b\\n") }}]', "[a b]"]],
    run: (_: Runtime, s: unknown) => stripped(scalarText(s, "strip")),
  }),
  define({
    name: "trimSpace",
    signature: "func(s any) string",
    doc: "Another name of strip.",
    examples: [['[{{ trimSpace(" a ") }}]', "[a]"]],
    run: (_: Runtime, s: unknown) => stripped(scalarText(s, "trimSpace")),
  }),
  define({
    name: "trim",
    signature: "func(s string, cutset string) string",
    doc: "Without the characters of cutset at both ends.",
    examples: [['{{ trim("/a/b/", "/") }}', "a/b"]],
    run: (_: Runtime, s: string, set: string) => trimSet(s, set, true, true),
  }),
  define({
    name: "trimLeft",
    signature: "func(s string, cutset string) string",
    doc: "Without the characters of cutset at the start.",
    examples: [['{{ trimLeft("//a/", "/") }}', "a/"]],
    run: (_: Runtime, s: string, set: string) => trimSet(s, set, true, false),
  }),
  define({
    name: "trimRight",
    signature: "func(s string, cutset string) string",
    doc: "Without the characters of cutset at the end.",
    examples: [['{{ trimRight("/a//", "/") }}', "/a"]],
    run: (_: Runtime, s: string, set: string) => trimSet(s, set, false, true),
  }),
  define({
    name: "trimPrefix",
    signature: "func(s string, prefix string) string",
    doc: "Without the prefix, if s begins with it.",
    examples: [['{{ trimPrefix("www.a.b", "www.") }}', "a.b"]],
    run: (_: Runtime, s: string, p: string) => (s.startsWith(p) ? s.slice(p.length) : s),
  }),
  define({
    name: "trimSuffix",
    signature: "func(s string, suffix string) string",
    doc: "Without the suffix, if s ends with it.",
    examples: [['{{ trimSuffix("a/", "/") }}', "a"]],
    run: (_: Runtime, s: string, p: string) => (s.endsWith(p) ? s.slice(0, s.length - p.length) : s),
  }),
  define({
    name: "hasPrefix",
    signature: "func(s string, prefix string) bool",
    doc: "Whether s begins with prefix.",
    examples: [['{{ hasPrefix("/api", "/") }}', "true"]],
    run: (_: Runtime, s: string, p: string) => s.startsWith(p),
  }),
  define({
    name: "hasSuffix",
    signature: "func(s string, suffix string) bool",
    doc: "Whether s ends with suffix.",
    examples: [['{{ hasSuffix("a.pem", ".pem") }}', "true"]],
    run: (_: Runtime, s: string, p: string) => s.endsWith(p),
  }),
  define({
    name: "index",
    signature: "func(s string, part string) int",
    doc: "Byte offset of the first occurrence, or -1.",
    examples: [['{{ index("äb", "b") }} {{ index("a", "x") }}', "2 -1"]],
    run: (_: Runtime, s: string, p: string) => byteIndex(s, s.indexOf(p)),
  }),
  define({
    name: "lastIndex",
    signature: "func(s string, part string) int",
    doc: "Byte offset of the last occurrence, or -1.",
    examples: [['{{ lastIndex("a/b/c", "/") }}', "3"]],
    run: (_: Runtime, s: string, p: string) => byteIndex(s, s.lastIndexOf(p)),
  }),
  define({
    name: "indexAny",
    signature: "func(s string, characters string) int",
    doc: "Byte offset of the first of these characters, or -1.",
    examples: [['{{ indexAny("a=b;c", ";=") }}', "1"]],
    run: (_: Runtime, s: string, set: string) => {
      const wanted = new Set(set);
      let at = 0;
      for (const c of s) {
        if (wanted.has(c)) return byteIndex(s, at);
        at += c.length;
      }
      return -1;
    },
  }),
  define({
    name: "runeCount",
    signature: "func(s string) int",
    doc: "Number of characters (len counts bytes).",
    examples: [['{{ runeCount("äb") }} {{ len("äb") }}', "2 3"]],
    run: (_: Runtime, s: string) => Array.from(s).length,
  }),
  define({
    name: "isdigit",
    signature: "func(s any) bool",
    doc: "Whether the text is not empty and has only digits. Lenient.",
    examples: [['{{ isdigit("080") }} {{ isdigit("8a") }} {{ isdigit("") }}', "true false false"]],
    run: (_: Runtime, s: unknown) => /^\p{Nd}+$/u.test(scalarText(s, "isdigit")),
  }),
  define({
    name: "basename",
    signature: "func(path string) string",
    doc: "Last element of a path, without trailing slashes.",
    examples: [['{{ basename("/etc/maps/host.map") }} {{ basename("") }}', "host.map ."]],
    run: (_: Runtime, path: string) =>
      path === "" ? "." : path.replace(/\/+$/, "") === "" ? "/" : path.replace(/\/+$/, "").split("/").at(-1),
  }),
  define({
    name: "strings_contains",
    signature: "func(s any, part any) bool",
    doc: "Whether s contains part. Lenient.",
    examples: [['{{ strings_contains("abc", "b") }}', "true"]],
    run: (_: Runtime, s: unknown, p: unknown) =>
      scalarText(s, "strings_contains").includes(scalarText(p, "strings_contains")),
  }),
  define({
    name: "strings_split",
    signature: "func(s any, separator any) []string",
    doc: "As split. Lenient.",
    examples: [['{{ strings_split("a b", " ") | join(",") }}', "a,b"]],
    run: (r: Runtime, s: unknown, by: unknown) =>
      splitText(r, scalarText(s, "strings_split"), scalarText(by, "strings_split")),
  }),
  define({
    name: "strings_splitn",
    signature: "func(s any, separator any, n int) []string",
    doc: "As splitN. Lenient.",
    examples: [['{{ strings_splitn("a:b:c", ":", 2) | join(" ") }}', "a b:c"]],
    run: (r: Runtime, s: unknown, by: unknown, n: number) =>
      splitText(r, scalarText(s, "strings_splitn"), scalarText(by, "strings_splitn"), n),
  }),
  define({
    name: "strings_trim",
    signature: "func(s any) string",
    doc: "As strip.",
    examples: [['[{{ strings_trim(" a ") }}]', "[a]"]],
    run: (_: Runtime, s: unknown) => stripped(scalarText(s, "strings_trim")),
  }),
  define({
    name: "strings_lower",
    signature: "func(s any) string",
    doc: "As toLower. Lenient.",
    examples: [['{{ strings_lower("AB") }}', "ab"]],
    run: (_: Runtime, s: unknown) => lower(scalarText(s, "strings_lower")),
  }),
  indentFunction,
  define({
    name: "on_own_lines",
    signature: "func(texts ...string) string",
    doc: "Puts each text on lines of its own: empty lines before and after it are dropped, a line end is added, and a text of white space alone gives nothing. With render_glob each snippet's output is such a text, so that one without a line end does not run into the next.",
    examples: [['{{ on_own_lines("\\n\\n  a\\n b", " \\n", "c\\n\\n") }}', "  a\n b\nc\n"]],
    run: (runtime: Runtime, ...texts: string[]) => {
      let out = "";
      for (const text of texts) {
        runtime.charge(1 + (text.length >> 4));
        const kept = text.replace(/^(?:[ \t\r]*\n)+/, "").replace(/\s+$/, "");
        if (kept !== "") out += `${kept}\n`;
      }
      runtime.chargeText(out.length);
      return out;
    },
  }),
  define({
    name: "make_guid",
    signature: "func(parts ...any) string",
    doc: "Parts joined with colons, for HAProxy's guid. Above 127 bytes it is cut and ends with a hash of the whole.",
    examples: [['{{ make_guid("be", "default", "web") }}', "be:default:web"]],
    run: (r: Runtime, ...parts: unknown[]) => {
      const whole = joined(
        r,
        parts.map((part) => scalarText(part, "make_guid")),
        ":",
      );
      if (byteLength(whole) <= 127) return whole;
      const hash = createHash("sha256").update(whole).digest("hex").slice(0, 16);
      return `${Buffer.from(whole)
        .subarray(0, 110)
        .toString("utf8")
        .replace(/\uFFFD+$/, "")}-${hash}`;
    },
  }),
  define({
    name: "sprint",
    signature: "func(values ...any) string",
    doc: "Values written like %v; a blank between two that are no strings.",
    examples: [['{{ sprint("a", 1, 2, "b") }}', "a1 2b"]],
    run: (_: Runtime, ...values: unknown[]) =>
      values
        .map(
          (v, i) =>
            (i > 0 && typeof v !== "string" && typeof values[i - 1] !== "string" ? " " : "") +
            (typeof v === "string" ? v : format(v)),
        )
        .join(""),
  }),
  define({
    name: "sprintf",
    signature: "func(format string, values ...any) string",
    doc: "Go's formatting: %s %v %d %q %x %X %o %b %c %t %f %e %g %T %%, with flags, width and precision.",
    examples: [['{{ sprintf("%s:%05d|%-4s|%.2f %q %x", "a", 42, "b", 1.5, "q", 255) }}', 'a:00042|b   |1.50 "q" ff']],
    run: (r: Runtime, text: string, ...values: unknown[]) => sprintf(r, text, values),
  }),
];
