/** Maps. */
import { TemplateFault } from "../runtime/faults.ts";
import { setMember } from "../runtime/guards.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { entryOf, sortedKeys } from "../runtime/text.ts";
import { define, type TemplateFunction } from "./define.ts";
import { scalarText } from "./values.ts";

export const isMap = (v: unknown): v is object => typeof v === "object" && v !== null && !Array.isArray(v);

export const mapFunctions: readonly TemplateFunction[] = [
  define({
    name: "keys",
    signature: "func(m any) []string",
    doc: "Keys in byte order; nil and anything but a map have none.",
    examples: [['{{ keys(map[string]any{"b": 1, "a": 2}) | join(",") }}', "a,b"]],
    run: (runtime: Runtime, m: unknown) => {
      if (!isMap(m)) return [];
      const names = sortedKeys(m).map(String);
      runtime.charge(names.length);
      return names;
    },
  }),
  define({
    name: "merge",
    signature: "func(a any, b any) map[string]any",
    doc: "A new map with the entries of both; those of b win. Not deep.",
    examples: [['{{ merge(map[string]any{"x": 1, "y": 1}, map[string]any{"y": 2}) | toJSON() }}', '{"x":1,"y":2}']],
    run: (runtime: Runtime, ...maps: unknown[]) => {
      const out: Record<string, unknown> = {};
      for (const map of maps) {
        if (map === null) continue;
        if (!isMap(map)) throw new TemplateFault("merge: both arguments must be maps");
        const names = sortedKeys(map);
        runtime.charge(names.length);
        for (const name of names) setMember(out, String(name), entryOf(map, name));
      }
      return out;
    },
  }),
  define({
    name: "namespace",
    signature: "func(m ...any) map[string]any",
    doc: "The map itself, or a new one: a place for values that inner blocks change.",
    examples: [
      [
        '{% var ns = namespace(map[string]any{"n": 0}) %}{% for i in seq(3) %}{% ns.n = toint(ns.n) + i %}{% end %}{{ ns.n }}',
        "3",
      ],
    ],
    run: (_: Runtime, m: unknown) => (isMap(m) ? m : {}),
  }),
  define({
    name: "to_str_map",
    signature: "func(m any) map[string]string",
    doc: "A copy with the text of each value; composite values fail. Nil gives an empty map.",
    examples: [['{{ to_str_map(map[string]any{"a": 1, "b": true}) | toJSON() }}', '{"a":"1","b":"true"}']],
    run: (runtime: Runtime, m: unknown) => {
      const out: Record<string, unknown> = {};
      if (m === null) return out;
      if (!isMap(m)) throw new TemplateFault("to_str_map: not a map");
      const names = sortedKeys(m);
      runtime.charge(names.length);
      for (const name of names) setMember(out, String(name), scalarText(entryOf(m, name), "to_str_map"));
      return out;
    },
  }),
];
