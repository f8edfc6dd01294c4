/** Structural schemas of custom resources: their shape, pruning and defaulting. */
import { deepCopy, isFields, own, setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { objectMetaType } from "./compact-types.ts";
import { anyNode } from "./type-node.ts";
import type { FieldNode, ListNode, ScalarType, StructNode, TypeNode } from "./type-node.ts";

export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly reason?: string;
  readonly optionalOldSelf?: boolean;
}

/** openAPIV3Schema as a CustomResourceDefinition holds it. */
export interface StructuralSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly CelRule[];
}

const additional = (schema: StructuralSchema): StructuralSchema | undefined => {
  if (schema.additionalProperties === true) return {};
  return schema.additionalProperties === false ? undefined : schema.additionalProperties;
};

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** A copy without the fields that the schema does not specify; their paths go to `unknown`. */
export function prune(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  unknown: string[],
  root = false,
): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return value;
    return value.map((item, i) => prune(item, items, `${path}[${i}]`, unknown));
  }
  if (!isFields(value)) return value;
  const extra = additional(schema);
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const embedded = root || schema["x-kubernetes-embedded-resource"] === true;
  const result: Fields = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    const property = schema.properties === undefined ? undefined : own(schema.properties, key);
    if (embedded && (key === "metadata" || key === "apiVersion" || key === "kind")) setOwn(result, key, item);
    else if (property !== undefined)
      setOwn(result, key, prune(item, property as StructuralSchema, join(path, key), unknown));
    else if (extra !== undefined) setOwn(result, key, prune(item, extra, join(path, key), unknown));
    else if (open) setOwn(result, key, item);
    else unknown.push(join(path, key));
  }
  return result;
}

/** Fills in defaults, in place; a null that is not allowed is dropped and defaulted. */
export function applyDefaults(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) applyDefaults(item, schema.items);
    return;
  }
  if (!isFields(value)) return;
  const properties = schema.properties ?? {};
  for (const key of Object.keys(properties)) {
    const property = properties[key] as StructuralSchema;
    const given = own(value, key);
    if (given === null && property.nullable !== true && property.default !== undefined) delete value[key];
    if (own(value, key) === undefined && property.default !== undefined) setOwn(value, key, deepCopy(property.default));
    const filled = own(value, key);
    if (filled !== undefined) applyDefaults(filled, property);
  }
  const extra = additional(schema);
  if (extra === undefined) return;
  for (const key of Object.keys(value)) if (!Object.hasOwn(properties, key)) applyDefaults(value[key], extra);
}

/** Drops nulls that neither are nullable nor have a default (Kubernetes stores them as absent). */
export function dropNulls(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) dropNulls(item, schema.items);
    return;
  }
  if (!isFields(value)) return;
  for (const key of Object.keys(value)) {
    const property = schema.properties === undefined ? undefined : own(schema.properties, key);
    const below = (property as StructuralSchema | undefined) ?? additional(schema);
    if (below === undefined) continue;
    if (value[key] === null && below.nullable !== true && property !== undefined) delete value[key];
    else dropNulls(value[key], below);
  }
}

const scalarOf = (schema: StructuralSchema): ScalarType | undefined => {
  if (schema["x-kubernetes-int-or-string"] === true) return "intOrString";
  switch (schema.type) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "integer":
      return "int64";
    case "number":
      return "double";
    default:
      return undefined;
  }
};

/** The type tree that merging uses. */
export function typeOf(schema: StructuralSchema, name = ""): TypeNode {
  const scalar = scalarOf(schema);
  if (scalar !== undefined) return { kind: "scalar", type: scalar };
  if (schema.type === "array") return listType(schema);
  if (schema.type !== "object") return anyNode;
  const atomic = schema["x-kubernetes-map-type"] === "atomic";
  const extra = additional(schema);
  if (schema.properties === undefined && extra !== undefined) return { kind: "map", values: typeOf(extra), atomic };
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return { kind: "struct", name, fields: structFields(schema), atomic, open, inlined: new Map() };
}

function listType(schema: StructuralSchema): ListNode {
  const items = schema.items === undefined ? anyNode : typeOf(schema.items);
  const list = schema["x-kubernetes-list-type"] ?? "atomic";
  return { kind: "list", items, list, keys: schema["x-kubernetes-list-map-keys"] ?? [], mergeKey: undefined };
}

function structFields(schema: StructuralSchema): Map<string, FieldNode> {
  const fields = new Map<string, FieldNode>();
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const base = { type: typeOf(property), number: 0, presence: "pointer", retainKeys: false } as const;
    fields.set(key, property.default === undefined ? base : { ...base, default: property.default });
  }
  return fields;
}

/** The type tree of a whole custom resource: its schema with the metadata of every object. */
export function customResourceType(schema: StructuralSchema, kind: string): StructNode {
  const root = typeOf({ ...schema, type: "object" }, kind);
  const fields = root.kind === "struct" ? root.fields : new Map<string, FieldNode>();
  fields.set("metadata", { type: objectMetaType, number: 0, presence: "pointer", retainKeys: false });
  fields.delete("apiVersion");
  fields.delete("kind");
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return { kind: "struct", name: kind, fields, atomic: false, open, inlined: new Map() };
}
