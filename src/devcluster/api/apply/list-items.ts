/** How the items of a set or map list are told apart. */
import { isFields, own } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { ListNode, TypeNode } from "../schema/type-node.ts";
import { keyElement, valueElement } from "./field-set.ts";

const builtinKeyDefaults: Readonly<Record<string, unknown>> = { protocol: "TCP" };

function keyDefault(items: TypeNode, key: string): unknown {
  if (items.kind !== "struct") return undefined;
  const field = items.fields.get(key);
  if (field === undefined) return undefined;
  // the built-in types carry no defaults; the one list key that has one is protocol
  return field.default ?? (field.number > 0 ? builtinKeyDefaults[key] : undefined);
}

/** The path element of an item; undefined when it lacks a key. */
export function itemElement(list: ListNode, item: unknown): string | undefined {
  if (list.list === "set") return valueElement(item);
  if (!isFields(item)) return undefined;
  const keys: Fields = {};
  let found = false;
  for (const key of list.keys.toSorted()) {
    const value = own(item, key) ?? keyDefault(list.items, key);
    if (value === undefined) continue;
    keys[key] = value;
    found = true;
  }
  return found ? keyElement(keys) : undefined;
}
