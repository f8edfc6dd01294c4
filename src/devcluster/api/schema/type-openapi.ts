/** An OpenAPI schema of a built-in type, without descriptions: for `kubectl explain`, and for whoever checks names of fields. */
import type { Fields } from "../objects.ts";
import type { FieldNode, ScalarType, TypeNode } from "./type-node.ts";

const SCALARS: Readonly<Partial<Record<ScalarType, Fields>>> = {
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  intOrString: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
};

/** What Go always writes is required, but for what it cannot leave out: structs, times, and ports that may be a name. */
function isRequired({ presence, type }: FieldNode): boolean {
  if (presence !== "always" || type.kind === "struct") return false;
  return type.kind !== "scalar" || !["time", "microTime", "intOrString"].includes(type.type);
}

/** A struct within itself is any object. `within`: names of the structs around. */
export function openApiOfType(node: TypeNode, within: readonly string[] = []): Fields {
  switch (node.kind) {
    case "any":
      return { type: "object" };
    case "scalar":
      return SCALARS[node.type] ?? { type: "string" };
    case "map":
      return { type: "object", additionalProperties: openApiOfType(node.values, within) };
    case "list":
      return { type: "array", items: openApiOfType(node.items, within) };
    case "struct": {
      if (within.includes(node.name)) return { type: "object" };
      const properties: Fields = {};
      const required: string[] = [];
      if (within.length === 0) {
        properties["apiVersion"] = { type: "string" };
        properties["kind"] = { type: "string" };
      }
      for (const [name, field] of node.fields) {
        properties[name] = openApiOfType(field.type, [...within, node.name]);
        if (isRequired(field)) required.push(name);
      }
      return { type: "object", ...(required.length > 0 && { required }), properties };
    }
  }
}
