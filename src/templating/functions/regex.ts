/** Regular expressions in RE2 syntax (linear time), and version comparison. */
import { RE2JS } from "re2js";
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { makeRegexp } from "./regexps.ts";
import { scalarText } from "./values.ts";

type Test = (text: string) => boolean;

const cache = new Map<string, RememberedTest>();
const CACHE_SIZE = 500;
const LONGEST = 4096;
/**
 * Answers that are remembered, over all patterns, before those that nobody asked for since the last time are let go. An object that is
 * rendered again, or is named by another one, has its names and addresses asked the same as before.
 */
const GENERATION = 16_384;
/** Longest text whose answer is remembered, in characters. */
const REMEMBERED_TEXT = 256;
/** Answers of the present generation. */
let young = 0;

interface RememberedTest {
  readonly test: Test;
  /** Lets go of what was not asked for since the last time. */
  readonly age: () => void;
  readonly forget: () => void;
}

/** A test for an RE2 pattern. Literal text with optional anchors needs no engine. */
export function regexTest(pattern: string): Test {
  const known = cache.get(pattern);
  if (known !== undefined) return known.test;
  const made = makeTest(pattern);
  // Pure values by pattern: the oldest go when many patterns are computed.
  if (cache.size >= CACHE_SIZE) {
    const [oldest, { forget }] = cache.entries().next().value!;
    cache.delete(oldest);
    forget();
  }
  cache.set(pattern, made);
  return made.test;
}

function makeTest(pattern: string): RememberedTest {
  const simple = /^(\^?)((?:[^\\.+*?()|[\]{}^$]|\\[.+*?()|[\]{}^$\\/-])*)(\$?)$/.exec(pattern);
  if (simple !== null) {
    const literal = simple[2]!.replace(/\\(.)/g, "$1");
    const test = literalTest(simple[1] !== "", literal, simple[3] !== "");
    return { test, age: () => undefined, forget: () => undefined };
  }
  const compiled = compiledRegex(pattern);
  return remembering((text) => compiled.matcher(text).find());
}

function literalTest(atStart: boolean, literal: string, atEnd: boolean): Test {
  if (atStart && atEnd) return (text) => text === literal;
  if (atStart) return (text) => text.startsWith(literal);
  if (atEnd) return (text) => text.endsWith(literal);
  return (text) => text.includes(literal);
}

/** The test with its last answers at hand: the engine takes microseconds, and many times that when its code has left the caches. */
function remembering(test: Test): RememberedTest {
  let now = new Map<string, boolean>();
  let before = new Map<string, boolean>();
  return {
    test: (text) => {
      if (text.length > REMEMBERED_TEXT) return test(text);
      const known = now.get(text);
      if (known !== undefined) return known;
      const answer = before.get(text) ?? test(text);
      if (young >= GENERATION) {
        for (const each of cache.values()) each.age();
        young = 0;
      }
      now.set(ofItsOwn(text), answer);
      young += 1;
      return answer;
    },
    age: () => {
      before = now;
      now = new Map();
    },
    forget: () => {
      young -= now.size;
      now = new Map();
      before = new Map();
    },
  };
}

/** The same text that keeps no other one alive: V8 has parts of a text look into the whole of it. */
function ofItsOwn(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string);
}

/** An RE2 pattern, compiled; a fault for a bad one. */
export function compiledRegex(pattern: string): RE2JS {
  if (pattern.length > LONGEST) throw new TemplateFault(`regular expression is longer than ${LONGEST} characters`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new TemplateFault(
      `invalid regular expression ${JSON.stringify(pattern)}: ${(error as Error).message}`,
      "patterns are RE2: no look-around, no back-references",
    );
  }
}

/** `major.minor` of a version text, or undefined. */
function version(text: string): [number, number] | undefined {
  const parts = /^v?(\d+)(?:\.(\d+))?/.exec(text.trim());
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2] ?? 0)];
}

export const regexFunctions: readonly TemplateFunction[] = [
  define({
    name: "regex_search",
    signature: "func(text any, pattern any) bool",
    doc: "Whether the RE2 pattern is found anywhere in the text. Lenient. A bad pattern stops the render.",
    examples: [
      ['{{ regex_search("web-01.prod", `^web-\\d+\\.`) }}', "true"],
      ['{{ regex_search("abc", "x|y") }}', "false"],
    ],
    run: (runtime: Runtime, text: unknown, pattern: unknown) => {
      const subject = scalarText(text, "regex_search");
      const expression = scalarText(pattern, "regex_search");
      runtime.charge(8 + 4 * subject.length * (1 + (expression.length >> 4)));
      return regexTest(expression)(subject);
    },
  }),
  define({
    name: "regexp",
    signature: "func(pattern string) Regexp",
    doc: "An RE2 pattern as a value with the methods Match, Find, FindAll, FindSubmatch, FindAllSubmatch, ReplaceAll (with $1, ${name}, $$), ReplaceAllFunc and Split; n is the most results, -1 for all. A bad pattern stops the render.",
    examples: [
      ['{{ regexp(`(\\w+)@(\\w+)`).ReplaceAll("me@home", "$2.$1") }}', "home.me"],
      ['{% var re = regexp("a+") %}{{ re.FindAll("aa b a", -1) | join(",") }} {{ re.Match("xyz") }}', "aa,a false"],
    ],
    run: (runtime: Runtime, pattern: string) => {
      runtime.charge(64 + pattern.length * 8);
      return makeRegexp(runtime, pattern, compiledRegex(pattern));
    },
  }),
  define({
    name: "sanitize_regex",
    signature: "func(text any) string",
    doc: "Escapes everything that means something in a regular expression.",
    examples: [['{{ sanitize_regex("a.b/c*") }}', "a\\.b/c\\*"]],
    run: (_: Runtime, text: unknown) => scalarText(text, "sanitize_regex").replace(/[\\.+*?()|[\]{}^$]/g, "\\$&"),
  }),
  define({
    name: "semver_gte",
    signature: "func(version any, least any) bool",
    doc: "Whether version is at least the given one, by major and minor number. False when version cannot be read.",
    examples: [['{{ semver_gte("3.4.1", "3.3") }} {{ semver_gte("3.2", "3.10") }}', "true false"]],
    run: (_: Runtime, given: unknown, least: unknown) => {
      const wanted = version(scalarText(least, "semver_gte"));
      if (wanted === undefined)
        throw new TemplateFault(`semver_gte: ${JSON.stringify(scalarText(least, "semver_gte"))} is not a version`);
      const have = version(scalarText(given, "semver_gte"));
      return have !== undefined && (have[0] > wanted[0] || (have[0] === wanted[0] && have[1] >= wanted[1]));
    },
  }),
];
