/**
 * Sets of fields, as managedFields write them: `{"f:spec":{".":{},"f:ports":{"k:{\"port\":80}":{"f:port":{}}}}}`.
 * A set is a tree; a node is in the set itself (`self`) or only leads to others.
 */
import { isFields, canonicalJson } from "../objects.ts";
import type { Fields } from "../objects.ts";

export interface FieldSet {
  readonly self: boolean;
  /** By path element: `f:name`, `k:{…}`, `v:…`, `i:3`. */
  readonly children: ReadonlyMap<string, FieldSet>;
}

const none: ReadonlyMap<string, FieldSet> = new Map();
export const emptySet: FieldSet = { self: false, children: none };

export const isEmptySet = (set: FieldSet): boolean => !set.self && set.children.size === 0;

/** Builds a set by adding paths. */
export class FieldSetBuilder {
  #self = false;
  readonly #children = new Map<string, FieldSetBuilder>();

  add(path: readonly string[], from = 0): void {
    const element = path[from];
    if (element === undefined) {
      this.#self = true;
      return;
    }
    let child = this.#children.get(element);
    if (child === undefined) this.#children.set(element, (child = new FieldSetBuilder()));
    child.add(path, from + 1);
  }

  build(): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, child] of this.#children) children.set(element, child.build());
    return { self: this.#self, children };
  }
}

type Combine = (a: boolean, b: boolean) => boolean;

function combine(a: FieldSet, b: FieldSet, keep: Combine): FieldSet {
  const children = new Map<string, FieldSet>();
  const visit = (element: string): void => {
    if (children.has(element)) return;
    const child = combine(a.children.get(element) ?? emptySet, b.children.get(element) ?? emptySet, keep);
    if (!isEmptySet(child)) children.set(element, child);
  };
  for (const element of a.children.keys()) visit(element);
  for (const element of b.children.keys()) visit(element);
  return { self: keep(a.self, b.self), children };
}

export const unionOf = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x || y);
export const intersectionOf = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x && y);
export const differenceOf = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x && !y);

/** Without everything at or below the paths that are in `removed`. */
export function withoutBelow(set: FieldSet, removed: FieldSet): FieldSet {
  if (removed.self) return emptySet;
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const below = removed.children.get(element);
    const kept = below === undefined ? child : withoutBelow(child, below);
    if (!isEmptySet(kept)) children.set(element, kept);
  }
  return { self: set.self, children };
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a.self !== b.self || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !sameSet(child, other)) return false;
  }
  return true;
}

/** The paths in the set, each a list of path elements, in order. */
export function pathsOf(set: FieldSet, prefix: readonly string[] = []): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  if (set.self) found.push(prefix);
  for (const [element, child] of [...set.children].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    found.push(...pathsOf(child, [...prefix, element]));
  }
  return found;
}

/** The form of managedFields' `fieldsV1`. */
export function toFieldsV1(set: FieldSet): Fields {
  const result: Fields = {};
  if (set.self && set.children.size > 0) result["."] = {};
  for (const [element, child] of [...set.children].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    result[element] = toFieldsV1(child);
  }
  return result;
}

export function fromFieldsV1(value: unknown, root = true): FieldSet {
  if (!isFields(value)) return emptySet;
  const children = new Map<string, FieldSet>();
  let self = false;
  for (const [element, child] of Object.entries(value)) {
    if (element === ".") self = true;
    else children.set(element, fromFieldsV1(child, false));
  }
  return { self: self || (!root && children.size === 0), children };
}

/** `.spec.ports[port=80,protocol="TCP"].port`: how messages write a path. */
export function pathText(path: readonly string[]): string {
  let text = "";
  for (const element of path) {
    const body = element.slice(2);
    if (element.startsWith("f:")) text += `.${body}`;
    else if (element.startsWith("k:")) {
      const keys = Object.entries(JSON.parse(body) as Fields);
      text += `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    } else if (element.startsWith("v:")) text += `[=${body}]`;
    else text += `[${body}]`;
  }
  return text;
}

export const fieldElement = (name: string): string => `f:${name}`;
export const valueElement = (value: unknown): string => `v:${canonicalJson(value)}`;
export const keyElement = (keys: Fields): string => `k:${canonicalJson(keys)}`;
