/** Lists: conversions, selection, grouping, sorting. All give new lists; their arguments stay as they are. */
import { ANY_SLICE, type Type } from "../check/types.ts";
import { TemplateFault } from "../runtime/faults.ts";
import { globMatcher } from "../runtime/glob.ts";
import { setMember } from "../runtime/guards.ts";
import { FunctionValue } from "../runtime/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { byteLength, compareText, format, kindOf, textOf } from "../runtime/text.ts";
import { numberIn } from "../runtime/values.ts";
import { define, type TemplateFunction } from "./define.ts";
import { atPath, memberOf } from "./paths.ts";
import { jsonText, scalarText } from "./values.ts";

const listOf = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);
const sameList = (args: readonly Type[]): Type => (args[0]?.kind === "slice" ? args[0] : ANY_SLICE);
const plain = (v: unknown): string => (typeof v === "string" ? v : format(v));

/** A key given as a function value or as a dotted path. */
function keyReader(runtime: Runtime, key: unknown): (item: unknown) => unknown {
  if (FunctionValue.is(key)) return (item) => runtime.call(key, [item]);
  const path = scalarText(key, "key");
  return (item) => atPath(item, path);
}

/** What makes two values the same for unique: their JSON, with the kind of scalars kept apart. */
const identity = (runtime: Runtime, v: unknown): string => (typeof v === "string" ? `"${v}` : jsonText(runtime, v));

function chargeSort(runtime: Runtime, n: number): void {
  // A comparison costs several steps of a loop.
  runtime.charge(4 * n * Math.ceil(Math.log2(n + 2)));
}

interface Criterion {
  readonly path: string;
  readonly length: boolean;
  readonly exists: boolean;
  readonly descending: boolean;
}

function criterion(text: string): Criterion {
  const [expression = "", ...modifiers] = text.split(":");
  const names = new Set(modifiers.map((modifier) => modifier.trim()));
  return {
    path: expression.replace(" | length", "").trim(),
    length: expression.includes(" | length"),
    exists: names.has("exists"),
    descending: names.has("desc"),
  };
}

function sortKey(item: unknown, by: Criterion): unknown {
  const value = atPath(item, by.path);
  if (by.exists) return String(value !== null);
  if (!by.length) return value;
  if (typeof value === "string") return byteLength(value);
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

/** Nil is greatest; numbers by value, strings by bytes, other values by their text. */
function compareKeys(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  const [x, y] = [numberIn(a), numberIn(b)];
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : 0;
  return compareText(plain(a), plain(b));
}

function sortBy(runtime: Runtime, items: unknown, criteria: unknown): unknown[] {
  const list = listOf(items);
  chargeSort(runtime, list.length);
  if (FunctionValue.is(criteria)) {
    return list.toSorted((a, b) => {
      const order = runtime.call(criteria, [a, b]);
      const number = numberIn(order);
      if (number !== undefined) return Number(number);
      if (typeof order === "boolean") return order ? -1 : runtime.call(criteria, [b, a]) === true ? 1 : 0;
      throw new TemplateFault(`sort_by: the function gives ${kindOf(order)}, not an int or a bool`);
    });
  }
  const by = (Array.isArray(criteria) ? criteria : [criteria]).map((c) => criterion(scalarText(c, "sort_by")));
  const keyed = list.map((item) => ({ item, keys: by.map((c) => sortKey(item, c)) }));
  keyed.sort((a, b) => {
    for (let i = 0; i < by.length; i++) {
      const order = compareKeys(a.keys[i], b.keys[i]);
      if (order !== 0) return by[i]!.descending ? -order : order;
    }
    return 0;
  });
  return keyed.map(({ item }) => item);
}

function uniqueBy(runtime: Runtime, items: unknown, key: (item: unknown) => unknown): unknown[] {
  const list = listOf(items);
  runtime.charge(list.length * 16);
  const seen = new Set<string>();
  return list.filter((item) => {
    const id = identity(runtime, key(item));
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

const maps =
  '[]any{map[string]any{"n": "b", "w": 2, "on": true}, map[string]any{"n": "a", "w": 1}, map[string]any{"n": "c", "w": 2}}';

export const listFunctions: readonly TemplateFunction[] = [
  define({
    name: "toSlice",
    signature: "func(value any) []any",
    doc: "The list itself; nil and anything but a list give the empty list.",
    examples: [["{{ len(toSlice(nil)) }} {{ len(toSlice([]any{1, 2})) }}", "0 2"]],
    run: (_: Runtime, v: unknown) => listOf(v),
  }),
  define({
    name: "toStringSlice",
    signature: "func(value any) []string",
    doc: "The text of each item; composite items fail; anything but a list gives the empty list.",
    examples: [['{{ toStringSlice([]any{"a", 1}) | join(",") }}', "a,1"]],
    run: (r: Runtime, v: unknown) => (
      r.charge(listOf(v).length),
      listOf(v).map((item) => scalarText(item, "toStringSlice"))
    ),
  }),
  define({
    name: "shard_slice",
    signature: "func(items any, i int, n int) []any",
    doc: "The i-th of n contiguous parts; the first parts get one item more when it does not divide. A wrong i or n ≤ 1 gives the whole list.",
    examples: [
      [
        '{{ shard_slice([]any{1, 2, 3, 4, 5}, 0, 2) | join(",") }} {{ shard_slice([]any{1, 2, 3, 4, 5}, 1, 2) | join(",") }}',
        "1,2,3 4,5",
      ],
    ],
    resultType: sameList,
    run: (_: Runtime, items: unknown, i: number, n: number) => {
      const list = listOf(items);
      if (n <= 1 || i < 0 || i >= n) return list;
      const base = Math.floor(list.length / n);
      const extra = list.length % n;
      const start = i * base + Math.min(i, extra);
      return list.slice(start, start + base + (i < extra ? 1 : 0));
    },
  }),
  define({
    name: "glob_match",
    signature: "func(items any, pattern string) []any",
    doc: "Strings, or maps by their name, that match a shell pattern (* does not cross /). Another item or a bad pattern fails.",
    examples: [['{{ glob_match([]any{"be-a", "fe-b", "be-c"}, "be-*") | join(",") }}', "be-a,be-c"]],
    resultType: sameList,
    run: (runtime: Runtime, items: unknown, pattern: string) => {
      const matches = globMatcher(pattern);
      if (matches === undefined)
        throw new TemplateFault(`glob_match: syntax error in pattern ${JSON.stringify(pattern)}`);
      if (items === null || items === "") return [];
      if (!Array.isArray(items)) throw new TemplateFault(`glob_match: ${kindOf(items)} is not a list`);
      runtime.charge(items.length * (1 + (pattern.length >> 3)));
      return items.filter((item) => {
        const name: unknown = typeof item === "string" ? item : memberOf(item, "name");
        if (typeof name !== "string")
          throw new TemplateFault("glob_match: an item is neither a string nor a map with a name");
        return matches(name);
      });
    },
  }),
  define({
    name: "map_extract",
    signature: "func(items any, path string) []any",
    doc: "The value at a dotted path of each item (nil where it is missing).",
    examples: [[`{{ map_extract(${maps}, "n") | join(",") }}`, "b,a,c"]],
    run: (r: Runtime, items: unknown, path: string) => (
      r.charge(listOf(items).length),
      listOf(items).map((item) => atPath(item, path))
    ),
  }),
  define({
    name: "map",
    signature: "func(items any, f func(any) any) []any",
    doc: "What the function gives for each item.",
    examples: [['{{ []any{1, 2} | map(x => x * 10) | join(",") }}', "10,20"]],
    run: (r: Runtime, items: unknown, f: unknown) => listOf(items).map((item) => r.call(f, [item])),
  }),
  define({
    name: "filter",
    signature: "func(items any, f func(any) any) []any",
    doc: "The items for which the function gives something true.",
    examples: [['{{ []any{1, 2, 3} | filter(x => x > 1) | join(",") }}', "2,3"]],
    resultType: sameList,
    run: (r: Runtime, items: unknown, f: unknown) => listOf(items).filter((item) => r.truthy(r.call(f, [item]))),
  }),
  define({
    name: "reject",
    signature: "func(items any, f func(any) any) []any",
    doc: "The items for which the function gives nothing true.",
    examples: [['{{ []any{1, 2, 3} | reject(x => x > 1) | join(",") }}', "1"]],
    resultType: sameList,
    run: (r: Runtime, items: unknown, f: unknown) => listOf(items).filter((item) => !r.truthy(r.call(f, [item]))),
  }),
  define({
    name: "flat_map",
    signature: "func(items any, f func(any) any) []any",
    doc: "What the function gives for each item, with lists taken apart one level.",
    examples: [['{{ []any{"a,b", "c"} | flat_map(x => split(tostring(x), ",")) | join(" ") }}', "a b c"]],
    run: (r: Runtime, items: unknown, f: unknown) =>
      listOf(items).flatMap((item) => {
        const made = r.call(f, [item]);
        return Array.isArray(made) ? (made as unknown[]) : [made];
      }),
  }),
  define({
    name: "unique",
    signature: "func(items any) []any",
    doc: "Each value once, in order of first appearance.",
    examples: [['{{ unique([]any{"b", "a", "b"}) | join(",") }}', "b,a"]],
    resultType: sameList,
    run: (r: Runtime, items: unknown) => uniqueBy(r, items, (item) => item),
  }),
  define({
    name: "unique_by",
    signature: "func(items any, key any) []any",
    doc: "The first item of each key, given as a dotted path or a function.",
    examples: [[`{{ unique_by(${maps}, "w") | map_extract("n") | join(",") }}`, "b,a"]],
    resultType: sameList,
    run: (r: Runtime, items: unknown, key: unknown) => uniqueBy(r, items, keyReader(r, key)),
  }),
  define({
    name: "group_by",
    signature: "func(items any, key any) map[string]any",
    doc: "Lists of items by the text of their key, given as a dotted path or a function.",
    examples: [
      [
        `{% for k, group := range group_by(${maps}, "w") %}{{ k }}={{ map_extract(group, "n") | join(",") }};{% end %}`,
        "1=a;2=b,c;",
      ],
    ],
    run: (runtime: Runtime, items: unknown, key: unknown) => {
      const read = keyReader(runtime, key);
      const groups = new Map<string, unknown[]>();
      runtime.charge(listOf(items).length);
      for (const item of listOf(items)) {
        const name = textOf(read(item));
        const group = groups.get(name);
        if (group === undefined) groups.set(name, [item]);
        else group.push(item);
      }
      const out: Record<string, unknown> = {};
      for (const [name, group] of groups) setMember(out, name, group);
      return out;
    },
  }),
  define({
    name: "selectattr",
    signature: "func(items any, attr string, test ...any) []any",
    doc: "Items by one attribute (a literal key): with no test those whose attribute is true; with eq, ne or in and a value, by comparing text. Nil items are left out.",
    examples: [
      [
        `{{ selectattr(${maps}, "on") | map_extract("n") | join(",") }} {{ selectattr(${maps}, "w", "eq", 2) | map_extract("n") | join(",") }} {{ selectattr(${maps}, "n", "in", []any{"a", "c"}) | map_extract("w") | join(",") }}`,
        "b b,c 1,2",
      ],
    ],
    resultType: sameList,
    run: (runtime: Runtime, items: unknown, attr: string, ...test: unknown[]) => {
      const list = listOf(items).filter((item) => item !== null);
      runtime.charge(list.length);
      if (test.length === 0) return list.filter((item) => runtime.truthy(memberOf(item, attr)));
      const [op, value = null] = test;
      if (op === "in") {
        const wanted = new Set(listOf(value).map(textOf));
        return list.filter((item) => wanted.has(textOf(memberOf(item, attr))));
      }
      if (op !== "eq" && op !== "ne")
        throw new TemplateFault(`selectattr: unknown test ${JSON.stringify(textOf(op))}`, "use eq, ne or in");
      return list.filter((item) => (textOf(memberOf(item, attr)) === textOf(value)) === (op === "eq"));
    },
  }),
  define({
    name: "sort_strings",
    signature: "func(items any) []string",
    doc: "The texts of the items in byte order.",
    examples: [['{{ sort_strings([]any{"b", "B", "a"}) | join(",") }}', "B,a,b"]],
    run: (r: Runtime, items: unknown) => (
      chargeSort(r, listOf(items).length),
      listOf(items).map(plain).sort(compareText)
    ),
  }),
  define({
    name: "sort_ints",
    signature: "func(items any) []int",
    doc: "The numbers in order; an item that is no number fails.",
    examples: [['{{ sort_ints([]any{10, 9, 1}) | join(",") }}', "1,9,10"]],
    run: (runtime: Runtime, items: unknown) => {
      chargeSort(runtime, listOf(items).length);
      const numbers = listOf(items).map((item) => {
        const number = numberIn(item);
        if (number === undefined) throw new TemplateFault(`sort_ints: ${kindOf(item)} is not a number`);
        return typeof number === "bigint" ? number : Math.trunc(number);
      });
      return numbers.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    },
  }),
  define({
    name: "sort_by",
    signature: "func(items any, criteria any) ([]any, error)",
    doc: "Stable sort by criteria `$.path` or `path`, each with modifiers :desc and :exists, or `path | length`; or by a function of two items that gives an int (or whether the first comes first). Nil comes last.",
    examples: [
      [`{{ sort_by(${maps}, []string{"$.w:desc", "$.n"}) | map_extract("n") | join(",") }}`, "b,c,a"],
      [`{{ sort_by([]any{3, 1, 2}, func(a any, b any) int { return toint(a) - toint(b) }) | join(",") }}`, "1,2,3"],
    ],
    run: sortBy,
  }),
  define({
    name: "sort",
    signature: "func(items any, less func(any, any) bool) []any",
    doc: "A stable sort of a list by a function that says whether its first item comes first; nil for the natural order of numbers or texts. Gives a new list: Scriggo's sorts in place, a statement `sort(x, f)` is refused here; write `x = sort(x, f)`.",
    examples: [
      ['{{ sort([]any{3, 1, 2}, nil) | join(",") }}', "1,2,3"],
      ['{{ sort([]string{"b", "aa"}, func(a any, b any) bool { return len(a) > len(b) }) | join(",") }}', "aa,b"],
    ],
    resultType: sameList,
    run: (runtime: Runtime, items: unknown, less: unknown) => {
      const list = listOf(items);
      chargeSort(runtime, list.length);
      if (less === null) return list.toSorted(compareKeys);
      const before = (a: unknown, b: unknown): boolean => runtime.call(less, [a, b]) === true;
      return list.toSorted((a, b) => (before(a, b) ? -1 : before(b, a) ? 1 : 0));
    },
  }),
  define({
    name: "reverse",
    signature: "func(items any) []any",
    doc: "The items in reverse order, as a new list: Scriggo's reverses in place; write `x = reverse(x)`.",
    examples: [['{{ reverse([]any{1, 2, 3}) | join(",") }}', "3,2,1"]],
    resultType: sameList,
    run: (runtime: Runtime, items: unknown) => (runtime.charge(listOf(items).length), listOf(items).toReversed()),
  }),
  define({
    name: "count_by",
    signature: "func(items any, key any) map[string]any",
    doc: "Number of items by the text of their key.",
    examples: [[`{{ count_by(${maps}, "w") | toJSON() }}`, '{"1":1,"2":2}']],
    run: (r: Runtime, items: unknown, key: unknown) => {
      const read = keyReader(r, key);
      const out: Record<string, unknown> = {};
      for (const item of listOf(items)) {
        const name = textOf(read(item));
        setMember(out, name, Number(memberOf(out, name) ?? 0) + 1);
      }
      return out;
    },
  }),
  define({
    name: "index_by",
    signature: "func(items any, key any) map[string]any",
    doc: "Items by the text of their key; the last of a key wins.",
    examples: [[`{{ index_by(${maps}, "n") | dig("a", "w") }}`, "1"]],
    run: (r: Runtime, items: unknown, key: unknown) => {
      const read = keyReader(r, key);
      const out: Record<string, unknown> = {};
      r.charge(listOf(items).length);
      for (const item of listOf(items)) setMember(out, textOf(read(item)), item);
      return out;
    },
  }),
];
