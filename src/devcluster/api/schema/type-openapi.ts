/** An OpenAPI schema of a built-in type, without descriptions: for `kubectl explain`, and for whoever checks names of fields. */
import type { Fields } from "../objects.ts";
import type { FieldNode, ScalarType, StructNode, TypeNode } from "./type-node.ts";

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

/** Where the document keeps the schema of a struct; `kubectl explain` shows the last part as the type's name. */
const referenceOf = (node: StructNode): string => `io.k8s.api.${node.name.replace(/^\w+\./, "")}`;

/** The schema of a type; structs are named, and added to `named` for the document to hold. */
function schemaOf(node: TypeNode, named: Map<string, StructNode>): Fields {
  switch (node.kind) {
    case "any":
      return { type: "object" };
    case "scalar":
      return SCALARS[node.type] ?? { type: "string" };
    case "map":
      return { type: "object", additionalProperties: schemaOf(node.values, named) };
    case "list":
      return { type: "array", items: schemaOf(node.items, named) };
    case "struct":
      named.set(referenceOf(node), node);
      return { allOf: [{ $ref: `#/components/schemas/${referenceOf(node)}` }] };
  }
}

function structSchema(node: StructNode, named: Map<string, StructNode>, head: Fields = {}): Fields {
  const properties: Fields = { ...head };
  const required: string[] = [];
  for (const [name, field] of node.fields) {
    properties[name] = schemaOf(field.type, named);
    if (isRequired(field)) required.push(name);
  }
  return { type: "object", ...(required.length > 0 && { required }), properties };
}

/** The schema of a built-in kind; those of the structs in it are put into `schemas`. */
export function openApiOfKind(kind: StructNode, schemas: Fields): Fields {
  const named = new Map<string, StructNode>();
  const schema = structSchema(kind, named, { apiVersion: { type: "string" }, kind: { type: "string" } });
  // a struct that is met on the way is added at the end, and met in its turn
  for (const [name, node] of named) schemas[name] ??= structSchema(node, named);
  return schema;
}
