/** Whether an applied configuration fits the type: unknown fields, wrong types and duplicate items are refused. */
import { isFields } from "../objects.ts";
import type { ScalarType, TypeNode } from "../schema/type-node.ts";
import { deduce, fieldType } from "../schema/type-node.ts";
import { fieldElement, pathText } from "./field-set.ts";
import { itemElement } from "./list-items.ts";

const expected = (type: ScalarType): string => {
  if (type === "bool") return "boolean";
  return type === "int32" || type === "int64" || type === "double" ? "numeric (int or float)" : "string";
};

function scalarFits(value: unknown, type: ScalarType): boolean {
  switch (type) {
    case "bool":
      return typeof value === "boolean";
    case "int32":
    case "int64":
    case "double":
      return typeof value === "number";
    case "intOrString":
    case "quantity":
      return typeof value === "number" || typeof value === "string";
    default:
      return typeof value === "string";
  }
}

const described = (value: unknown): string => {
  if (typeof value === "string") return `"${value}"`;
  return isFields(value) || Array.isArray(value)
    ? `&value.valueUnstructured{Value:${JSON.stringify(value)}}`
    : `&value.valueUnstructured{Value:${String(value)}}`;
};

const goType = (value: unknown): string => {
  if (Array.isArray(value)) return "[]interface {}";
  if (isFields(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : typeof value;
};

function check(value: unknown, node: TypeNode, path: readonly string[], errors: string[]): void {
  if (value === null || value === undefined) return;
  const type = deduce(node, value);
  if (type.kind === "any") return;
  if (type.kind === "scalar") {
    if (!scalarFits(value, type.type)) {
      const wanted = expected(type.type);
      const got = wanted.startsWith("numeric") ? goType(value) : described(value);
      errors.push(`${pathText(path)}: expected ${wanted}, got ${got}`);
    }
    return;
  }
  if (type.kind === "list") {
    if (!Array.isArray(value)) {
      errors.push(`${pathText(path)}: expected list, got ${described(value)}`);
      return;
    }
    const seen = new Set<string>();
    for (const [i, item] of value.entries()) {
      const element = type.list === "atomic" ? `i:${i}` : itemElement(type, item);
      if (element === undefined) {
        errors.push(
          `${pathText(path)}: element ${i}: associative list with keys has an element that omits all key fields [${type.keys.map((key) => JSON.stringify(key)).join(" ")}] (and doesn't have default values for any key fields)`,
        );
        continue;
      }
      if (seen.has(element)) errors.push(`${pathText(path)}: duplicate entries for key ${pathText([element])}`);
      seen.add(element);
      check(item, type.items, [...path, element], errors);
    }
    return;
  }
  if (!isFields(value)) {
    errors.push(`${pathText(path)}: expected map, got ${described(value)}`);
    return;
  }
  for (const key of Object.keys(value).toSorted()) {
    if (path.length === 0 && (key === "apiVersion" || key === "kind")) continue;
    const below = fieldType(type, key);
    const here = [...path, fieldElement(key)];
    if (below === undefined) errors.push(`${pathText(here)}: field not declared in schema`);
    else check(value[key], below, here, errors);
  }
}

/** Texts of what does not fit, in the words of structured merge; empty when all is well. */
export function typedErrors(value: unknown, node: TypeNode): readonly string[] {
  const errors: string[] = [];
  check(value, node, [], errors);
  return errors;
}
