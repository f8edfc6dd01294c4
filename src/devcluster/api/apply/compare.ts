/** The fields of a value, and what differs between two values, by the rules of server-side apply's types. */
import { deepEqual, isFields, own } from "../objects.ts";
import type { ListNode, TypeNode } from "../schema/type-node.ts";
import { deduce, fieldType } from "../schema/type-node.ts";
import { FieldSetBuilder, fieldElement } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-items.ts";

const isAtomic = (node: TypeNode): boolean =>
  node.kind === "scalar" ||
  ((node.kind === "struct" || node.kind === "map") && node.atomic) ||
  (node.kind === "list" && node.list === "atomic");

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0);

function collect(value: unknown, node: TypeNode, path: readonly string[], into: FieldSetBuilder): void {
  const type = deduce(node, value);
  if (isAtomic(type) || isEmpty(value) || typeof value !== "object") {
    into.add(path);
    return;
  }
  if (Array.isArray(value) && type.kind === "list") {
    for (const item of value) {
      const element = itemElement(type, item);
      if (element === undefined) continue;
      into.add([...path, element]);
      if (type.list === "map") collect(item, type.items, [...path, element], into);
    }
    return;
  }
  if (!isFields(value)) return;
  for (const key of Object.keys(value)) {
    const below = fieldType(type, key);
    if (below !== undefined) collect(value[key], below, [...path, fieldElement(key)], into);
  }
}

/** All fields of a value: its leaves, and the items of keyed lists. */
export function fieldsOf(value: unknown, node: TypeNode): FieldSet {
  const builder = new FieldSetBuilder();
  if (isFields(value)) {
    for (const key of Object.keys(value)) {
      const below = fieldType(node, key);
      if (below !== undefined) collect(value[key], below, [fieldElement(key)], builder);
    }
  }
  return builder.build();
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

class Comparer {
  readonly added = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();

  compare(before: unknown, after: unknown, node: TypeNode, path: readonly string[]): void {
    const type = deduce(node, after ?? before);
    if (isAtomic(type) || (isEmpty(before) && isEmpty(after)) || !this.#containers(before, after)) {
      this.#leaf(before, after, path);
      return;
    }
    if (type.kind === "list") this.#lists(before, after, type, path);
    else this.#maps(before, after, type, path);
    if (path.length === 0) return;
    if (before === undefined) this.added.add(path);
    else if (after === undefined) this.removed.add(path);
  }

  #containers(before: unknown, after: unknown): boolean {
    return (before === undefined || typeof before === "object") && (after === undefined || typeof after === "object");
  }

  #leaf(before: unknown, after: unknown, path: readonly string[]): void {
    if (before === undefined) {
      if (after !== undefined) this.added.add(path);
    } else if (after === undefined) this.removed.add(path);
    else if (!deepEqual(before, after)) this.modified.add(path);
  }

  #maps(before: unknown, after: unknown, node: TypeNode, path: readonly string[]): void {
    const left = isFields(before) ? before : {};
    const right = isFields(after) ? after : {};
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const below = fieldType(node, key);
      if (below !== undefined) this.compare(own(left, key), own(right, key), below, [...path, fieldElement(key)]);
    }
  }

  #lists(before: unknown, after: unknown, node: ListNode, path: readonly string[]): void {
    const left = itemsByElement(before, node);
    const right = itemsByElement(after, node);
    for (const element of new Set([...left.keys(), ...right.keys()])) {
      const here = [...path, element];
      if (node.list === "map") this.compare(left.get(element), right.get(element), node.items, here);
      else if (!left.has(element)) this.added.add(here);
      else if (!right.has(element)) this.removed.add(here);
    }
  }
}

function itemsByElement(value: unknown, node: ListNode): Map<string, unknown> {
  const found = new Map<string, unknown>();
  if (!Array.isArray(value)) return found;
  for (const item of value) {
    const element = itemElement(node, item);
    if (element !== undefined) found.set(element, item);
  }
  return found;
}

export function compareValues(before: unknown, after: unknown, node: TypeNode): Comparison {
  const comparer = new Comparer();
  comparer.compare(before, after, node, []);
  return { added: comparer.added.build(), modified: comparer.modified.build(), removed: comparer.removed.build() };
}
