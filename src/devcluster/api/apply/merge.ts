/** Merging an applied configuration into the live object, and removing what its manager gave up. */
import { isFields, own, setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { ListNode, TypeNode } from "../schema/type-node.ts";
import { deduce, fieldType } from "../schema/type-node.ts";
import { emptySet, fieldElement } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-items.ts";

/** The live value with the configuration laid over it. */
export function mergeConfiguration(live: unknown, config: unknown, node: TypeNode): unknown {
  const type = deduce(node, config);
  if (isFields(config) && (type.kind === "map" || type.kind === "struct") && !type.atomic && isFields(live)) {
    const result: Fields = { ...live };
    for (const key of Object.keys(config)) {
      const below = fieldType(type, key);
      if (below !== undefined) setOwn(result, key, mergeConfiguration(own(live, key), config[key], below));
    }
    return result;
  }
  if (Array.isArray(config) && type.kind === "list" && type.list !== "atomic" && Array.isArray(live)) {
    return mergeLists(live, config, type);
  }
  return config;
}

/** Shared items in the configuration's order; items only the live object has keep their place among their neighbours. */
function mergeLists(live: readonly unknown[], config: readonly unknown[], node: ListNode): unknown[] {
  const elements = (items: readonly unknown[]): string[] => items.map((item) => itemElement(node, item) ?? "");
  const liveElements = elements(live);
  const configElements = elements(config);
  const inConfig = new Set(configElements);
  const liveAt = new Map(liveElements.map((element, i) => [element, i]));
  const done = new Set<string>();
  const result: unknown[] = [];
  let next = 0;
  // live items that the configuration does not name, and those already merged, up to the next one that is due
  const advance = (): void => {
    for (; next < live.length; next++) {
      const element = liveElements[next] as string;
      if (done.has(element)) continue;
      if (inConfig.has(element)) return;
      result.push(live[next]);
    }
  };
  for (const [i, element] of configElements.entries()) {
    advance();
    const at = liveAt.get(element);
    result.push(at === undefined ? config[i] : mergeConfiguration(live[at], config[i], node.items));
    done.add(element);
  }
  advance();
  return result;
}

const isField = (element: string): boolean => element.startsWith("f:");
/** A struct field counts as owned when anything below it is; a list item only when it is owned itself. */
const isMember = (element: string, set: FieldSet | undefined): boolean =>
  set !== undefined && (set.self || (isField(element) && set.children.size > 0));

/** `merged` without what is in `last` and owned by nobody (`owned` is the union of all managers' sets). */
export function removeGivenUp(value: unknown, node: TypeNode, last: FieldSet, owned: FieldSet, root = true): unknown {
  const type = deduce(node, value);
  if (isFields(value)) return removeFields(value, type, last, owned, root);
  if (!Array.isArray(value) || type.kind !== "list" || type.list === "atomic") return value;
  const result: unknown[] = [];
  for (const item of value) {
    const element = itemElement(type, item) ?? "";
    const given = last.children.get(element);
    const kept = owned.children.get(element);
    if (given === undefined) result.push(item);
    else if (isMember(element, given) && !isMember(element, kept)) continue;
    else result.push(removeGivenUp(item, type.items, given, kept ?? emptySet, false));
  }
  return result;
}

function removeFields(value: Fields, node: TypeNode, last: FieldSet, owned: FieldSet, root: boolean): Fields {
  const result: Fields = {};
  for (const key of Object.keys(value)) {
    const element = fieldElement(key);
    const given = last.children.get(element);
    const kept = owned.children.get(element);
    const below = fieldType(node, key);
    const whole = isMember(element, given) && !isMember(element, kept) && !(root && key === "metadata");
    if (whole) continue;
    const inner = given === undefined || below === undefined;
    setOwn(result, key, inner ? value[key] : removeGivenUp(value[key], below, given, kept ?? emptySet, false));
  }
  return result;
}
