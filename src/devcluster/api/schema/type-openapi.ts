/** An OpenAPI schema of a built-in type: names and types only, for `kubectl explain`. */
import type { Fields } from "../objects.ts";
import type { TypeNode } from "./type-node.ts";

const DEPTH = 8;

/** Deeper than eight levels everything is an object. */
export function openApiOfType(node: TypeNode, depth = 0): Fields {
  switch (node.kind) {
    case "any":
      return { type: "object" };
    case "scalar":
      if (node.type === "int32" || node.type === "int64") return { type: "integer", format: node.type };
      if (node.type === "double") return { type: "number", format: "double" };
      return { type: node.type === "bool" ? "boolean" : "string" };
    case "map":
      return { type: "object", additionalProperties: openApiOfType(node.values, depth + 1) };
    case "list":
      return { type: "array", items: openApiOfType(node.items, depth + 1) };
    case "struct": {
      if (depth > DEPTH) return { type: "object" };
      const properties: Fields = {};
      if (depth === 0) {
        properties["apiVersion"] = { type: "string" };
        properties["kind"] = { type: "string" };
      }
      for (const [name, field] of node.fields) properties[name] = openApiOfType(field.type, depth + 1);
      return { type: "object", properties };
    }
  }
}
