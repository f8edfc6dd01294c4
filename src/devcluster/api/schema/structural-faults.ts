/** Whether an openAPIV3Schema is structural: what a CustomResourceDefinition is refused for. */
import { RE2JS } from "re2js";
import { deepEqual, isFields } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../status.ts";
import type { FieldError } from "../status.ts";
import { compileRule } from "./cel-rules.ts";
import { prune } from "./structural.ts";
import type { StructuralSchema } from "./structural.ts";
import { schemaErrors } from "./validate.ts";

const child = (path: string, key: string): string => `${path}.properties[${key}]`;

class Check {
  readonly errors: FieldError[] = [];

  node(schema: StructuralSchema, path: string, root: boolean): void {
    this.#type(schema, path, root);
    this.#forbidden(schema as Fields, path);
    this.#lists(schema, path);
    this.#default(schema, path);
    this.#pattern(schema, path);
    this.#rules(schema, path);
    for (const part of ["allOf", "anyOf", "oneOf"] as const) {
      const free = part === "anyOf" && schema["x-kubernetes-int-or-string"] === true;
      for (const [i, below] of (schema[part] ?? []).entries()) this.#junctor(below, `${path}.${part}[${i}]`, free);
    }
    if (schema.not !== undefined) this.#junctor(schema.not, `${path}.not`);
    for (const [key, below] of Object.entries(schema.properties ?? {})) {
      if (root && key === "metadata") continue;
      this.node(below, child(path, key), false);
    }
    if (schema.items !== undefined) this.node(schema.items, `${path}.items`, false);
    if (isFields(schema.additionalProperties)) {
      this.node(schema.additionalProperties, `${path}.additionalProperties`, false);
    }
  }

  #type(schema: StructuralSchema, path: string, root: boolean): void {
    const types = ["array", "boolean", "integer", "number", "object", "string"];
    if (schema.type && !types.includes(schema.type))
      this.errors.push(fieldNotSupported(`${path}.type`, schema.type, types));
    const free =
      schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
    if (root) {
      if (!schema.type) this.errors.push(fieldRequired(`${path}.type`, "must not be empty at the root"));
      else if (schema.type !== "object")
        this.errors.push(fieldInvalid(`${path}.type`, schema.type, "must be object at the root"));
    } else if (!schema.type && !free) {
      const what = path.endsWith("]")
        ? "specified object fields"
        : path.endsWith(".items")
          ? "specified array items"
          : "specified object fields";
      this.errors.push(fieldRequired(`${path}.type`, `must not be empty for ${what}`));
    }
  }

  #forbidden(schema: Fields, path: string): void {
    if (schema["$ref"] !== undefined) this.errors.push(fieldForbidden(`${path}.$ref`, "$ref is not supported"));
    if (schema["uniqueItems"] === true) {
      this.errors.push(
        fieldForbidden(
          `${path}.uniqueItems`,
          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
      );
    }
    if (
      isFields(schema["properties"]) &&
      Object.keys(schema["properties"]).length > 0 &&
      schema["additionalProperties"] !== undefined &&
      schema["additionalProperties"] !== false
    ) {
      this.errors.push(
        fieldForbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
      );
    }
  }

  #lists(schema: StructuralSchema, path: string): void {
    if (schema.type !== "array") return;
    if (schema.items === undefined) this.errors.push(fieldRequired(`${path}.items`, "must be specified"));
    if (schema["x-kubernetes-list-type"] !== "map") return;
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    if (keys.length === 0) {
      this.errors.push(
        fieldRequired(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
      );
    }
    for (const key of keys) {
      const property = schema.items?.properties?.[key];
      if (property !== undefined && property.default === undefined && !(schema.items?.required ?? []).includes(key)) {
        this.errors.push(
          fieldRequired(
            `${path}.items.properties[${key}].default`,
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
          ),
        );
      }
    }
  }

  #default(schema: StructuralSchema, path: string): void {
    if (schema.default === undefined) return;
    const unknown: string[] = [];
    const pruned = prune(schema.default, schema, "", unknown);
    if (!deepEqual(pruned, schema.default)) {
      this.errors.push(fieldInvalid(`${path}.default`, schema.default, "must not have unknown fields"));
      return;
    }
    for (const error of schemaErrors(schema.default, undefined, schema, `${path}.default`)) {
      this.errors.push({ ...error, message: error.message.replace(`${path}.default in body`, " in body") });
    }
  }

  #pattern(schema: StructuralSchema, path: string): void {
    if (!schema.pattern) return;
    try {
      RE2JS.compile(schema.pattern);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.errors.push(
        fieldInvalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${why}`),
      );
    }
  }

  #rules(schema: StructuralSchema, path: string): void {
    for (const [i, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
      const at = `${path}.x-kubernetes-validations[${i}].rule`;
      if (!rule.rule.trim()) {
        this.errors.push(fieldRequired(at, "rule is not specified"));
        continue;
      }
      const compiled = compileRule(rule.rule);
      if (compiled instanceof Error) {
        this.errors.push(fieldInvalid(at, rule.rule, `compilation failed: ${compiled.message}`));
      }
    }
  }

  /** Below anyOf and the like; `typed`: the alternatives of an int-or-string, which name their types. */
  #junctor(schema: StructuralSchema, path: string, typed = false): void {
    for (const key of ["type", "default", "nullable", "additionalProperties", "description", "title"] as const) {
      const value = (schema as Fields)[key];
      if (value === undefined || value === false || value === "") continue;
      if (key === "type" && typed) continue;
      const wanted = key === "type" || key === "description" || key === "title" ? "empty" : "undefined";
      this.errors.push(fieldForbidden(`${path}.${key}`, `must be ${wanted} to be structural`));
    }
    for (const part of ["allOf", "anyOf", "oneOf"] as const) {
      for (const [i, below] of (schema[part] ?? []).entries()) this.#junctor(below, `${path}.${part}[${i}]`);
    }
    if (schema.not !== undefined) this.#junctor(schema.not, `${path}.not`);
    for (const [key, below] of Object.entries(schema.properties ?? {})) this.#junctor(below, child(path, key));
    if (schema.items !== undefined) this.#junctor(schema.items, `${path}.items`);
  }
}

/** Everything that keeps the schema from being structural; paths begin with `path`. */
export function schemaFaults(schema: StructuralSchema, path: string): readonly FieldError[] {
  const check = new Check();
  check.node(schema, path, true);
  return check.errors;
}
