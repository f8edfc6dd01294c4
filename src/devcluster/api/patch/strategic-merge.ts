/** Strategic merge patch: merge patch in which lists of built-in kinds merge by key, with `$patch` and its relatives. */
import { deepEqual, isFields, own, setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { ListNode, TypeNode } from "../schema/type-node.ts";
import { deduce, fieldType } from "../schema/type-node.ts";
import { StatusError } from "../status.ts";

const DELETE_FROM = "$deleteFromPrimitiveList/";
const ORDER = "$setElementOrder/";

/** `a:1 b:x`: the inside of a map as Go prints it. */
const goMap = (value: unknown): string =>
  isFields(value)
    ? Object.keys(value)
        .toSorted()
        .map((key) => `${key}:${isFields(value[key]) ? `map[${goMap(value[key])}]` : String(value[key])}`)
        .join(" ")
    : "";

const missingKey = (key: string, item: unknown): StatusError =>
  new StatusError(500, "", `map: map[${goMap(item)}] does not contain declared merge key: ${key}`);

/** The patched value; nothing of `target` is changed. */
export function strategicMerge(target: unknown, patch: unknown, node: TypeNode): unknown {
  if (!isFields(patch)) return patch;
  const directive = patch["$patch"];
  if (directive === "replace") return without(patch, "$patch");
  if (directive === "delete") return {};
  return mergeMaps(isFields(target) ? target : {}, patch, deduce(node, patch));
}

function without(value: Fields, key: string): Fields {
  const copy = { ...value };
  delete copy[key];
  return copy;
}

function mergeMaps(target: Fields, patch: Fields, node: TypeNode): Fields {
  const result: Fields = { ...target };
  const retain = patch["$retainKeys"];
  if (Array.isArray(retain)) for (const key of Object.keys(result)) if (!retain.includes(key)) delete result[key];
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (key.startsWith(DELETE_FROM)) {
      const name = key.slice(DELETE_FROM.length);
      const list = own(result, name);
      if (Array.isArray(list) && Array.isArray(value)) {
        setOwn(
          result,
          name,
          list.filter((item) => !value.some((gone) => deepEqual(item, gone))),
        );
      }
    } else if (!key.startsWith("$")) mergeField(result, key, value, node);
  }
  for (const key of Object.keys(patch)) {
    const name = key.startsWith(ORDER) ? key.slice(ORDER.length) : key;
    const type = fieldType(node, name);
    const list = own(result, name);
    const order = own(patch, key);
    if (type?.kind !== "list" || type.mergeKey === undefined || !Array.isArray(list) || !Array.isArray(order)) continue;
    // without an order of its own a patched list begins with the patch's items
    if (key === name && Object.hasOwn(patch, `${ORDER}${name}`)) continue;
    setOwn(result, name, inOrder(list, order, type, listAt(target, name)));
  }
  return result;
}

const listAt = (value: Fields, key: string): readonly unknown[] => {
  const list = own(value, key);
  return Array.isArray(list) ? list : [];
};

function mergeField(result: Fields, key: string, value: unknown, node: TypeNode): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const type = fieldType(node, key) ?? { kind: "any" };
  if (Array.isArray(value) && type.kind === "list" && type.mergeKey !== undefined) {
    const live = own(result, key);
    setOwn(result, key, mergeLists(Array.isArray(live) ? live : [], value, type, type.mergeKey));
  } else if (isFields(value)) setOwn(result, key, strategicMerge(own(result, key), value, type));
  else setOwn(result, key, value);
}

function mergeLists(live: readonly unknown[], patch: readonly unknown[], node: ListNode, mergeKey: string): unknown[] {
  if (mergeKey === "") {
    const result = [...live];
    for (const item of patch) if (!result.some((known) => deepEqual(known, item))) result.push(item);
    return result;
  }
  if (patch.some((item) => isFields(item) && item["$patch"] === "replace" && Object.keys(item).length === 1)) {
    return patch.filter((item) => !isFields(item) || item["$patch"] !== "replace");
  }
  let result = [...live];
  for (const item of patch) {
    if (!isFields(item)) continue;
    const id = own(item, mergeKey);
    if (id === undefined) throw missingKey(mergeKey, item);
    const same = (known: unknown): boolean => isFields(known) && deepEqual(own(known, mergeKey), id);
    if (item["$patch"] === "delete") {
      result = result.filter((known) => !same(known));
      continue;
    }
    const at = result.findIndex(same);
    const merged = strategicMerge(at === -1 ? {} : result[at], item, node.items);
    if (at === -1) result.push(merged);
    else result[at] = merged;
  }
  return result;
}

/** Items that the order names stand in its order; live items it does not name keep their place before their successors. */
function inOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  node: ListNode,
  live: readonly unknown[],
): unknown[] {
  const key = node.mergeKey ?? "";
  const idOf = (item: unknown): string => JSON.stringify(key === "" || !isFields(item) ? item : own(item, key));
  const wanted = new Map(order.map((item, i) => [idOf(item), i]));
  const named = list.filter((item) => wanted.has(idOf(item)));
  named.sort((a, b) => (wanted.get(idOf(a)) ?? 0) - (wanted.get(idOf(b)) ?? 0));
  const serverOnly = list.filter((item) => !wanted.has(idOf(item)));
  const position = new Map(live.map((item, i) => [idOf(item), i]));
  const place = (item: unknown): number => position.get(idOf(item)) ?? -1;
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    while (next < serverOnly.length && place(item) >= 0 && place(serverOnly[next]) < place(item))
      result.push(serverOnly[next++]);
    result.push(item);
  }
  return [...result, ...serverOnly.slice(next)];
}
