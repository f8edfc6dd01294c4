/** JSONPath: reading a place of a value, and a copy of the value with another one there. */
import { TemplateFault } from "../runtime/faults.ts";
import { setMember } from "../runtime/guards.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { kindOf, sortedKeys } from "../runtime/text.ts";
import { define, type TemplateFunction } from "./define.ts";
import { isMap } from "./maps.ts";
import { memberOf } from "./paths.ts";

/** A key, an element's index, or undefined for `[*]`. */
export type Step = string | number | undefined;

/** Steps of a JSONPath of keys, elements and `[*]`; `$`, braces and the first dot may be left out. */
export function jsonPath(path: string, fn: string): Step[] {
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/s, "$1")
    .replace(/^\$/, "");
  const steps: Step[] = [];
  while (rest !== "") {
    const bare = steps.length === 0 && !/^[.[]/.test(rest);
    const step =
      /^\.((?:\\.|[^.[\]\\*])(?:\\.|[^.[\]\\])*)|^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|(\d+)|(\*))\]|^\.?(\*)/s.exec(
        bare ? `.${rest}` : rest,
      );
    if (step === null)
      throw new TemplateFault(
        `${fn}: cannot read path ${JSON.stringify(path)} at ${JSON.stringify(rest)}`,
        "use dotted keys, ['key'], [0] and [*]",
      );
    rest = rest.slice(bare ? step[0].length - 1 : step[0].length);
    const key = step[1] ?? step[2] ?? step[3];
    steps.push(key !== undefined ? key.replace(/\\(.)/gs, "$1") : step[4] !== undefined ? Number(step[4]) : undefined);
  }
  return steps;
}

export function follow(runtime: Runtime, value: unknown, steps: readonly Step[]): unknown {
  let at = value;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    runtime.charge(1);
    if (step === undefined) {
      const items: unknown[] = Array.isArray(at)
        ? at
        : isMap(at)
          ? sortedKeys(at).map((key) => memberOf(at, String(key)))
          : [];
      return items.map((item) => follow(runtime, item, steps.slice(i + 1))).filter((item) => item !== null);
    }
    at = typeof step === "number" ? (Array.isArray(at) ? ((at[step] as unknown) ?? null) : null) : memberOf(at, step);
    if (at === null) return null;
  }
  return at;
}

/** `jsonpathSet` for hosts: a copy of `value` with `to` at the path. */
export function setAtPath(value: unknown, path: string, to: unknown): unknown {
  return replaceAt({ charge: () => {} }, value, jsonPath(path, "deriveResource"), to, "deriveResource");
}

/** A copy with `to` at the end of the steps. Only what lies on the path is copied; missing maps are made. */
export function replaceAt(
  runtime: Pick<Runtime, "charge">,
  value: unknown,
  steps: readonly Step[],
  to: unknown,
  fn: string,
): unknown {
  const [step, ...rest] = steps;
  if (steps.length === 0) return to;
  const refuse = (wanted: string): never => {
    throw new TemplateFault(`${fn}: the path enters ${kindOf(value)} where it wants ${wanted}`);
  };
  if (step === undefined || typeof step === "number") {
    if (step === undefined && isMap(value)) {
      const out: Record<string, unknown> = {};
      for (const key of sortedKeys(value)) {
        runtime.charge(1);
        setMember(out, String(key), replaceAt(runtime, memberOf(value, String(key)), rest, to, fn));
      }
      return out;
    }
    if (!Array.isArray(value)) return value === null && step === undefined ? null : refuse("a list");
    runtime.charge(value.length);
    if (step === undefined) return value.map((item: unknown) => replaceAt(runtime, item, rest, to, fn));
    if (step > value.length)
      throw new TemplateFault(`${fn}: index ${step} is beyond the end of a list of ${value.length}`);
    const out: unknown[] = [...(value as unknown[])];
    out[step] = replaceAt(runtime, out[step] ?? null, rest, to, fn);
    return out;
  }
  if (value !== null && !isMap(value)) refuse("a map");
  const out: Record<string, unknown> = {};
  if (value !== null) {
    const names = sortedKeys(value as object);
    runtime.charge(names.length);
    for (const name of names) setMember(out, String(name), memberOf(value, String(name)));
  }
  setMember(out, step, replaceAt(runtime, memberOf(value, step), rest, to, fn));
  return out;
}

export const jsonPathFunctions: readonly TemplateFunction[] = [
  define({
    name: "jsonpathGet",
    signature: "func(item any, path string) any",
    doc: "Value at a JSONPath of keys, elements and [*] (which gives a list); nil when a link is missing. A path that cannot be read fails.",
    examples: [
      ['{{ map[string]any{"a": []any{map[string]any{"b.c": 5}}} | jsonpathGet("$.a[0][\'b.c\']") }}', "5"],
      [
        '{{ map[string]any{"a": []any{map[string]any{"n": 1}, map[string]any{"n": 2}}} | jsonpathGet("{.a[*].n}") | join(",") }}',
        "1,2",
      ],
    ],
    run: (runtime: Runtime, item: unknown, path: string) => follow(runtime, item, jsonPath(path, "jsonpathGet")),
  }),
  define({
    name: "jsonpathSet",
    signature: "func(item any, path string, value any) any",
    doc: "A copy of item with value at a JSONPath; item stays as it is. Missing maps on the way are made, [*] sets every entry, an index may be one beyond the end. Entering a value that is no map or list fails.",
    examples: [
      [
        '{{ map[string]any{"spec": map[string]any{"a": 1}} | jsonpathSet("$.spec.b.c", 2) | toJSON() }}',
        '{"spec":{"a":1,"b":{"c":2}}}',
      ],
      ['{{ jsonpathSet(map[string]any{"l": []any{1, 2}}, "l[*]", 0) | toJSON() }}', '{"l":[0,0]}'],
    ],
    run: (runtime: Runtime, item: unknown, path: string, value: unknown) =>
      replaceAt(runtime, item, jsonPath(path, "jsonpathSet"), value, "jsonpathSet"),
  }),
];
