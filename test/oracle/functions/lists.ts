/** Lists: selection, grouping, sorting. */
import {
  bounded,
  bytes,
  bytewise,
  Func,
  isNumber,
  settle,
  Slice,
  Table,
  truth,
  verb,
  type Type,
  type Value,
} from "../values.ts";
import { globIsValid, globMatches } from "./glob.ts";
import type { Row } from "./index.ts";
import { along, failing, itemsOf, json, listOf, member, scalar } from "./scalars.ts";

const sameAsFirst = (args: readonly Type[]): Type =>
  args[0]?.k === "slice" ? args[0] : { k: "slice", e: { k: "any" } };

function invoke(f: Func | null, item: Value): Value {
  return f === null ? failing("call of a nil function") : f.call(item);
}

/** A key given as a function or as a path. */
const keyOf =
  (key: Value) =>
  (item: Value): Value =>
    key instanceof Func ? key.call(item) : along(item, scalar(key));

/** Groups of items by the text of their key. */
function groups(items: Value, key: Value): Map<string, Value[]> {
  const all = new Map<string, Value[]>();
  for (const item of itemsOf(items)) {
    const name = scalar(keyOf(key)(item));
    all.set(name, [...(all.get(name) ?? []), item]);
  }
  return all;
}

function distinct(items: Value, key: (item: Value) => Value): Slice {
  const kept: Value[] = [];
  const seen: string[] = [];
  for (const item of itemsOf(items)) {
    const id = json(key(item));
    if (seen.includes(id)) continue;
    seen.push(id);
    kept.push(item);
  }
  return listOf(kept);
}

/** A stable insertion sort. */
function sorted(items: readonly Value[], compare: (a: Value, b: Value) => number): Value[] {
  const out: Value[] = [];
  for (const item of items) {
    let at = out.length;
    while (at > 0 && compare(out[at - 1]!, item) > 0) at--;
    out.splice(at, 0, item);
  }
  return out;
}

function ranked(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [x, y] = [settle(a), settle(b)];
  if (isNumber(x) && isNumber(y)) return x < y ? -1 : x > y ? 1 : 0;
  return bytewise(typeof x === "string" ? x : verb(x), typeof y === "string" ? y : verb(y));
}

function sortBy(items: Value, criteria: Value): Slice {
  if (criteria instanceof Func)
    return listOf(
      sorted(itemsOf(items), (a, b) => {
        const answer = criteria.call(a, b);
        if (isNumber(answer)) return Number(answer);
        if (typeof answer !== "boolean") return failing("sort_by: the function gives no order");
        return answer ? -1 : criteria.call(b, a) === true ? 1 : 0;
      }),
    );
  const all = (criteria instanceof Slice ? criteria.items : [criteria]).map(scalar);
  const compare = (a: Value, b: Value): number => {
    for (const one of all) {
      const [expression = "", ...modifiers] = one.split(":").map((part) => part.trim());
      const read = (item: Value): Value => {
        const v = along(item, expression.replace(" | length", "").trim());
        if (modifiers.includes("exists")) return v === null ? "false" : "true";
        if (!expression.includes(" | length")) return v;
        if (typeof v === "string") return BigInt(bytes(v).length);
        return v instanceof Slice ? BigInt(v.length) : v instanceof Table ? BigInt(v.entries.size) : 0n;
      };
      const c = ranked(read(a), read(b));
      if (c !== 0) return modifiers.includes("desc") ? -c : c;
    }
    return 0;
  };
  return listOf(sorted(itemsOf(items), compare));
}

export const listFunctions: Readonly<Record<string, Row>> = {
  shard_slice: [
    "any, int, int -> []any",
    (_, items: Value, i: bigint, n: bigint) => {
      const all = itemsOf(items);
      if (n <= 1n || i < 0n || i >= n) return listOf(all);
      bounded(Number(n));
      // Dealt out one by one: how many each of the n parts holds.
      const sizes = Array.from({ length: Number(n) }, () => 0);
      all.forEach((_item, at) => {
        sizes[at % Number(n)]!++;
      });
      const before = sizes.slice(0, Number(i)).reduce((sum, size) => sum + size, 0);
      return listOf(all.slice(before, before + sizes[Number(i)]!));
    },
    sameAsFirst,
  ],
  glob_match: [
    "any, string -> []any",
    (_, items: Value, pattern: string) =>
      listOf(
        itemsOf(items).filter((item) => {
          if (!globIsValid(pattern)) failing("glob_match: bad pattern");
          const name =
            typeof item === "string" ? item : item instanceof Table ? member(item, "name") : failing("glob_match");
          return globMatches(pattern, typeof name === "string" ? name : failing("glob_match: no name"));
        }),
      ),
    sameAsFirst,
  ],
  map_extract: [
    "any, string -> []any",
    (_, items: Value, path: string) => listOf(itemsOf(items).map((item) => along(item, path))),
  ],
  map: ["any, func -> []any", (_, items: Value, f: Func) => listOf(itemsOf(items).map((item) => invoke(f, item)))],
  filter: [
    "any, func -> []any",
    (_, items: Value, f: Func) => listOf(itemsOf(items).filter((item) => truth(invoke(f, item)))),
    sameAsFirst,
  ],
  reject: [
    "any, func -> []any",
    (_, items: Value, f: Func) => listOf(itemsOf(items).filter((item) => !truth(invoke(f, item)))),
    sameAsFirst,
  ],
  flat_map: [
    "any, func -> []any",
    (_, items: Value, f: Func) =>
      listOf(
        itemsOf(items).flatMap((item) => {
          const made = invoke(f, item);
          return made instanceof Slice ? made.items : [made];
        }),
      ),
  ],
  unique: ["any -> []any", (_, items: Value) => distinct(items, (item) => item), sameAsFirst],
  unique_by: ["any, any -> []any", (_, items: Value, key: Value) => distinct(items, keyOf(key)), sameAsFirst],
  group_by: [
    "any, any -> map[string]any",
    (_, items: Value, key: Value) => Table.of([...groups(items, key)].map(([name, group]) => [name, listOf(group)])),
  ],
  count_by: [
    "any, any -> map[string]any",
    (_, items: Value, key: Value) =>
      Table.of([...groups(items, key)].map(([name, group]) => [name, BigInt(group.length)])),
  ],
  index_by: [
    "any, any -> map[string]any",
    (_, items: Value, key: Value) => Table.of([...groups(items, key)].map(([name, group]) => [name, group.at(-1)!])),
  ],
  selectattr: [
    "any, string, ...any -> []any",
    (_, items: Value, attr: string, ...test: Value[]) => {
      const [op, wanted = null] = test;
      if (test.length > 0 && (typeof op !== "string" || !["eq", "ne", "in"].includes(op) || test.length !== 2))
        failing("selectattr");
      const same = (a: Value, b: Value): boolean =>
        (typeof a === "string" ? a : verb(settle(a))) === (typeof b === "string" ? b : verb(settle(b)));
      return listOf(
        itemsOf(items).filter((item) => {
          if (item === null) return false;
          const v = member(item, attr);
          if (op === undefined) return truth(v);
          if (op === "in") return itemsOf(wanted).some((w) => same(v, w));
          return same(v, wanted) === (op === "eq");
        }),
      );
    },
    sameAsFirst,
  ],
  sort_strings: [
    "any -> []string",
    (_, items: Value) =>
      listOf(
        sorted(
          itemsOf(items).map((item) => (typeof item === "string" ? item : verb(settle(item)))),
          (a, b) => bytewise(a as string, b as string),
        ),
      ),
  ],
  sort_ints: [
    "any -> []int",
    (_, items: Value) =>
      listOf(
        sorted(
          itemsOf(items).map((item) => {
            const v = settle(item);
            return typeof v === "bigint" ? v : failing("sort_ints: not an int");
          }),
          ranked,
        ),
      ),
  ],
  sort_by: ["any, any -> []any, error", (_, items: Value, criteria: Value) => sortBy(items, criteria), sameAsFirst],
  join: [
    "any, string -> string",
    (_, items: Value, separator: string) =>
      itemsOf(items)
        .map((item) => (typeof item === "string" ? item : verb(settle(item))))
        .join(separator),
  ],
};
