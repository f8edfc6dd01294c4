/** Regular expressions in RE2 syntax (linear time), and version comparison. */
import { RE2JS } from "re2js";
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { makeRegexp } from "./regexps.ts";
import { scalarText } from "./values.ts";

type Test = (text: string) => boolean;

const cache = new Map<string, Test>();
const CACHE_SIZE = 500;
const LONGEST = 4096;
/** Answers that a pattern remembers: the components of one object ask the same of its names and addresses, right after each other. */
const REMEMBERED = 32;
/** Longest text whose answer is remembered, in characters. */
const REMEMBERED_TEXT = 256;

/** A test for an RE2 pattern. Literal text with optional anchors needs no engine. */
export function regexTest(pattern: string): Test {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const test = makeTest(pattern);
  // Pure values by pattern: the oldest go when many patterns are computed.
  if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value!);
  cache.set(pattern, test);
  return test;
}

function makeTest(pattern: string): Test {
  const simple = /^(\^?)((?:[^\\.+*?()|[\]{}^$]|\\[.+*?()|[\]{}^$\\/-])*)(\$?)$/.exec(pattern);
  if (simple !== null) {
    const literal = simple[2]!.replace(/\\(.)/g, "$1");
    if (simple[1] !== "" && simple[3] !== "") return (text) => text === literal;
    if (simple[1] !== "") return (text) => text.startsWith(literal);
    if (simple[3] !== "") return (text) => text.endsWith(literal);
    return (text) => text.includes(literal);
  }
  const compiled = compiledRegex(pattern);
  return remembering((text) => compiled.matcher(text).find());
}

/** The test with its last answers at hand: the engine takes microseconds, and many times that when its code has left the caches. */
function remembering(test: Test): Test {
  const answers = new Map<string, boolean>();
  return (text) => {
    if (text.length > REMEMBERED_TEXT) return test(text);
    let answer = answers.get(text);
    if (answer === undefined) {
      answer = test(text);
      if (answers.size >= REMEMBERED) answers.delete(answers.keys().next().value!);
      answers.set(text, answer);
    }
    return answer;
  };
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
