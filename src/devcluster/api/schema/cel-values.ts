/** JSON values as CEL sees them: integers are BigInt where the schema says integer, times are times, names are escaped. */
import { isFields, own } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { StructuralSchema } from "./structural.ts";

const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The CEL name of a property (Kubernetes' escaping: `a-b` is written `a__dash__b`); undefined when it cannot be named. */
export function celName(property: string): string | undefined {
  if (RESERVED.has(property)) return `__${property}__`;
  const escaped = property
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}

/** The evaluator looks at an object's `constructor`: keys of that kind are safe in a Map only. */
const HOSTILE = ["__proto__", "constructor"];

function objectValue(value: Fields, schema: StructuralSchema): Fields | Map<string, unknown> {
  if (isFields(schema.additionalProperties) && HOSTILE.some((key) => Object.hasOwn(value, key))) {
    const items = schema.additionalProperties as StructuralSchema;
    return new Map(Object.keys(value).map((key) => [key, celValue(value[key], items)]));
  }
  const result: Fields = {};
  const extra = isFields(schema.additionalProperties) ? (schema.additionalProperties as StructuralSchema) : undefined;
  for (const key of Object.keys(value)) {
    const property = schema.properties === undefined ? undefined : own(schema.properties, key);
    if (property !== undefined) {
      const name = celName(key);
      if (name !== undefined) result[name] = celValue(value[key], property as StructuralSchema);
    } else if (extra !== undefined) result[key] = celValue(value[key], extra);
    else if (!HOSTILE.includes(key)) result[key] = celValue(value[key], {});
  }
  return result;
}

/** Converts a value for CEL by its schema. */
export function celValue(value: unknown, schema: StructuralSchema): unknown {
  if (typeof value === "number") {
    if (schema.type === "number") return value;
    return Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "string" && (schema.format === "date-time" || schema.format === "date")) return new Date(value);
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema.items ?? {}));
  if (!isFields(value)) return value;
  const known = schema["x-kubernetes-embedded-resource"] === true ? { ...schema, type: "object" } : schema;
  return objectValue(value, known);
}
