/** Regexp values: what regexp() gives. RE2 syntax, linear time, Go's rules for empty matches and replacements. */
import type { RE2JS } from "re2js";
import { hostObject, type HostObject } from "../runtime/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { textOf } from "../runtime/text.ts";

/** Positions of a match and its groups, start and end by turns; -1 = the group took no part. */
type Match = readonly number[];

function* matches(pattern: RE2JS, text: string): Generator<Match> {
  const matcher = pattern.matcher(text);
  let last = -1;
  while (matcher.find()) {
    const found: number[] = [];
    for (let group = 0; group <= matcher.groupCount(); group++) found.push(matcher.start(group), matcher.end(group));
    // An empty match right after another one counts as none.
    if (found[0] === found[1] && found[0] === last) continue;
    last = found[1]!;
    yield found;
  }
}

function take<T>(items: Iterable<T>, n: number): T[] {
  const out: T[] = [];
  for (const item of items) {
    if (n >= 0 && out.length >= n) break;
    out.push(item);
  }
  return out;
}

const groupText = (text: string, match: Match, group: number): string =>
  match[2 * group] === undefined || match[2 * group]! < 0 ? "" : text.slice(match[2 * group], match[2 * group + 1]);

/** `$1`, `${1}`, `$name`, `${name}` and `$$` in a replacement; the longest name counts, an unknown one is empty. */
export function expand(
  replacement: string,
  text: string,
  match: Match,
  names: Readonly<Record<string, number>>,
): string {
  if (!replacement.includes("$")) return replacement;
  return replacement.replace(
    /\$(?:\$|\{(\w+)\}|(\w+))/g,
    (all, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare;
      if (name === undefined) return "$";
      if (/^\d+$/.test(name)) return groupText(text, match, Number(name));
      return Object.hasOwn(names, name) ? groupText(text, match, names[name]!) : "";
    },
  );
}

function replaceMatches(pattern: RE2JS, text: string, by: (match: Match) => string): string {
  let out = "";
  let at = 0;
  for (const match of matches(pattern, text)) {
    out += text.slice(at, match[0]) + by(match);
    at = match[1]!;
  }
  return out + text.slice(at);
}

/** Makes the value; `source` is what it shows. */
export function makeRegexp(runtime: Runtime, source: string, pattern: RE2JS): HostObject {
  const names = pattern.namedGroups() as Readonly<Record<string, number>>;
  const charge = (text: string): void => runtime.charge(8 + 4 * text.length * (1 + (source.length >> 4)));
  const all = (text: string, match: Match): string[] =>
    Array.from({ length: match.length / 2 }, (_, group) => groupText(text, match, group));
  const replaced = (text: string, by: (match: Match) => string): string => {
    charge(text);
    return replaceMatches(pattern, text, (match) => {
      const made = by(match);
      runtime.chargeText(made.length);
      return made;
    });
  };
  return hostObject("Regexp", {
    String: (): string => source,
    Match: (text: string): boolean => (charge(text), pattern.matcher(text).find()),
    Find: (text: string): string => {
      charge(text);
      const [match] = take(matches(pattern, text), 1);
      return match === undefined ? "" : groupText(text, match, 0);
    },
    FindAll: (text: string, n: number): string[] => (
      charge(text),
      take(matches(pattern, text), n).map((match) => groupText(text, match, 0))
    ),
    FindSubmatch: (text: string): string[] | null => {
      charge(text);
      const [match] = take(matches(pattern, text), 1);
      return match === undefined ? null : all(text, match);
    },
    FindAllSubmatch: (text: string, n: number): string[][] => (
      charge(text),
      take(matches(pattern, text), n).map((match) => all(text, match))
    ),
    ReplaceAll: (text: string, replacement: string): string =>
      replaced(text, (match) => expand(replacement, text, match, names)),
    ReplaceAllFunc: (text: string, f: unknown): string =>
      replaced(text, (match) => textOf(runtime.call(f, [groupText(text, match, 0)]))),
    Split: (text: string, n: number): string[] | null => {
      charge(text);
      if (n === 0) return null;
      const parts: string[] = [];
      let at = 0;
      for (const match of matches(pattern, text)) {
        if (n > 0 && parts.length === n - 1) break;
        // Go does not cut before the first character.
        if (match[1] === 0) continue;
        if (match[0] === match[1] && match[0] === text.length) continue;
        parts.push(text.slice(at, match[0]));
        at = match[1]!;
      }
      parts.push(text.slice(at));
      return parts;
    },
  });
}
