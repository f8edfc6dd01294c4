/**
 * The `regex_replace` processor: RE2, one line at a time, replacements expanded as Go does ($1, ${name}, $$). Rules that
 * only touch blanks at a line's borders, and patterns of plain text, need no regular expression engine.
 */
import { RE2JS } from "re2js";

/** Gives the line itself when nothing was replaced. */
export type LineRule = (line: string) => string;

export interface LineProcessor {
  readonly rule: LineRule;
  /** Whether it can change nothing but blanks: HAProxy reads the same then. */
  readonly blanksOnly: boolean;
}

/** A piece of a replacement: text, or a group by number or name. */
type Piece = { readonly text: string } | { readonly group: number | string };

/** Throws what re2js throws when the pattern is not RE2. */
export function lineProcessor(pattern: string, replacement: string): LineProcessor {
  const expression = RE2JS.compile(pattern);
  const pieces = parseReplacement(replacement);
  if (pieces.every((piece) => "text" in piece)) {
    const text = pieces.map((piece) => piece.text).join("");
    const fast = borderRule(pattern, text) ?? plainRule(pattern, text);
    if (fast !== undefined) return fast;
  }
  return { rule: (line) => replaceAll(expression, pieces, line), blanksOnly: false };
}

/** Applies rules to each line of a text, as a reader of lines sees them: without a carriage return at their end. */
export function replaceLines(text: string, rules: readonly LineRule[]): string {
  let out = "";
  let kept = 0;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const before = text.slice(at, end);
    let line = before.endsWith("\r") ? before.slice(0, -1) : before;
    for (const rule of rules) line = rule(line);
    if (line !== before) {
      out += text.slice(kept, at) + line;
      kept = end;
    }
    at = end + 1;
  }
  return kept === 0 && out === "" ? text : out + text.slice(kept);
}

// --- fast paths ------------------------------------------------------------------------------------------------------

/** How RE2 patterns write a set of blanks; the values are all characters of the set. */
const BLANKS: ReadonlyMap<string, string> = new Map([
  [" ", " "],
  ["[ ]", " "],
  ["\\t", "\t"],
  ["[\\t]", "\t"],
  ["[ \\t]", " \t"],
  ["[\\t ]", " \t"],
  ["[[:blank:]]", " \t"],
  ["\\s", " \t\n\f\r"],
  ["[\\s]", " \t\n\f\r"],
  ["[[:space:]]", " \t\n\v\f\r"],
]);

/** `^BLANKS+`, `BLANKS+$` and `^BLANKS+$`, each also with `*`, and `^$`. */
function borderRule(pattern: string, text: string): LineProcessor | undefined {
  const bare = pattern.replace(/^\(\?m\)/, "");
  const blanksOnly = /^[ \t]*$/.test(text);
  if (bare === "^$") return { rule: (line) => (line === "" ? text : line), blanksOnly };
  const shape = /^(\^?)(.*?)([+*])(\$?)$/s.exec(bare);
  const set = BLANKS.get(shape?.[2] ?? "");
  if (shape === null || set === undefined) return undefined;
  const [, head, , quantifier, tail] = shape;
  const least = quantifier === "+" ? 1 : 0;
  if (head !== "" && tail !== "") {
    return { rule: (line) => (line.length >= least && leading(line, set) === line.length ? text : line), blanksOnly };
  }
  if (head !== "") {
    return {
      rule: (line) => {
        const length = leading(line, set);
        return length < least ? line : replaced(line, 0, length, text);
      },
      blanksOnly,
    };
  }
  if (tail !== "") {
    return {
      rule: (line) => {
        let start = line.length;
        while (start > 0 && set.includes(line[start - 1]!)) start--;
        return line.length - start < least ? line : replaced(line, start, line.length, text);
      },
      blanksOnly,
    };
  }
  return undefined;
}

function leading(line: string, set: string): number {
  let length = 0;
  while (length < line.length && set.includes(line[length]!)) length++;
  return length;
}

const replaced = (line: string, from: number, to: number, text: string): string =>
  to - from === text.length && line.startsWith(text, from) ? line : line.slice(0, from) + text + line.slice(to);

/** A pattern without any operator is looked for as it stands. */
function plainRule(pattern: string, text: string): LineProcessor | undefined {
  if (pattern === "" || !/^(?:[^\\.+*?()|[\]{}^$]|\\[.+*?()|[\]{}^$\\/_-])*$/.test(pattern)) return undefined;
  const wanted = pattern.replace(/\\(.)/g, "$1");
  return { rule: (line) => (line.includes(wanted) ? line.split(wanted).join(text) : line), blanksOnly: false };
}

// --- the general case --------------------------------------------------------------------------------------------------

/** `$name` takes the longest name there is, `${name}` says where it ends, `$$` is a dollar sign; others stay as they are. */
function parseReplacement(replacement: string): Piece[] {
  const pieces: Piece[] = [];
  let text = "";
  for (let at = 0; at < replacement.length;) {
    const [whole, braced, plain] = /^\$(?:\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/u.exec(replacement.slice(at)) ?? [];
    const name = braced ?? plain;
    if (whole === undefined || name === undefined) {
      text += replacement[at];
      at += replacement.startsWith("$$", at) ? 2 : 1;
      continue;
    }
    if (text !== "") pieces.push({ text });
    text = "";
    pieces.push({ group: /^(?:0|[1-9]\d{0,7})$/.test(name) ? Number(name) : name });
    at += whole.length;
  }
  if (text !== "") pieces.push({ text });
  return pieces;
}

/** All matches from left to right; an empty match right after another one does not count (Go's ReplaceAllString). */
function replaceAll(expression: RE2JS, pieces: readonly Piece[], line: string): string {
  const matcher = expression.matcher(line);
  if (!matcher.find(0)) return line;
  let out = "";
  let copied = 0;
  for (let from = 0; ;) {
    const start = matcher.start();
    const end = matcher.end();
    out += line.slice(copied, start);
    if (end > copied || start === 0) {
      for (const piece of pieces) out += "text" in piece ? piece.text : groupText(expression, matcher, piece.group);
    }
    copied = end;
    const next = from + (line.codePointAt(from)! > 0xffff ? 2 : 1);
    from = end > from ? end : next;
    if (from > line.length || !matcher.find(from)) return out + line.slice(copied);
  }
}

/** "" for a group that took no part in the match, and for one that the pattern does not have. */
function groupText(expression: RE2JS, matcher: ReturnType<RE2JS["matcher"]>, group: number | string): string {
  if (typeof group === "number") return group > matcher.groupCount() ? "" : (matcher.group(group) ?? "");
  return Object.hasOwn(expression.namedGroups(), group) ? (matcher.group(group) ?? "") : "";
}
