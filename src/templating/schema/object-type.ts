/** The static type of a resource and of the objects in it: known fields, by their JSON names and their Go-style names. */
import type { ObjectField, ObjectType, Type } from "../check/types.ts";
import { ANY, ANY_SLICE, BOOL, FLOAT, INT, STRING } from "../check/types.ts";

/** The parts of an OpenAPI v3 schema that decide a type. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-group-version-kind"?: unknown;
}

/** Follows `$ref` within its document; undefined when it leads nowhere. */
export type Resolve = (reference: string) => Schema | undefined;

/** The Go-style name of a field: the first letter upper case, other characters than letters, digits and _ as _. */
export function goName(json: string): string {
  const safe = json.replace(/[^\p{L}\p{N}_]/gu, "_");
  const [first = ""] = safe;
  return first.toUpperCase() + safe.slice(first.length);
}

/** What every object has in `metadata` (metav1.ObjectMeta), where a schema does not say it. */
const METADATA: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    generation: { type: "integer" },
    creationTimestamp: { type: "string" },
    deletionTimestamp: { type: "string" },
    deletionGracePeriodSeconds: { type: "integer" },
    selfLink: { type: "string" },
    labels: { type: "object", additionalProperties: { type: "string" } },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    finalizers: { type: "array", items: { type: "string" } },
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          manager: { type: "string" },
          operation: { type: "string" },
          apiVersion: { type: "string" },
          time: { type: "string" },
          fieldsType: { type: "string" },
          fieldsV1: { type: "object" },
          subresource: { type: "string" },
        },
      },
    },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        required: ["apiVersion", "kind", "name", "uid"],
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          name: { type: "string" },
          uid: { type: "string" },
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
  },
};

class SchemaObject implements ObjectType {
  readonly kind = "object";
  readonly name: string;
  readonly resource: ObjectType["resource"];
  readonly open: boolean;
  readonly #schema: Schema;
  readonly #resolve: Resolve;
  readonly #prefix: string;
  readonly #fields = new Map<string, ObjectField>();
  readonly #jsonNames = new Map<string, string>();

  /** `prefix` = the name that nested types begin with: `resources.gateways.`, `resources.gateways.Spec`. */
  constructor(name: string, prefix: string, schema: Schema, resolve: Resolve, resource: ObjectType["resource"]) {
    this.name = name;
    this.resource = resource;
    this.open = schema["x-kubernetes-preserve-unknown-fields"] === true || allowsOthers(schema);
    this.#prefix = prefix;
    this.#schema = schema;
    this.#resolve = resolve;
    // A JSON name wins over the Go-style name of another field.
    const properties = Object.keys(schema.properties ?? {});
    if (resource !== undefined) properties.push("apiVersion", "kind", "metadata");
    for (const json of properties) this.#jsonNames.set(goName(json), json);
    for (const json of properties) this.#jsonNames.set(json, json);
  }

  field(name: string): ObjectField | undefined {
    const json = this.#jsonNames.get(name);
    if (json === undefined) return undefined;
    let field = this.#fields.get(json);
    if (field === undefined) {
      // An object within another one says what it is; a whole resource need not, as its address does.
      const embedded = this.resource?.kind === "" && (json === "apiVersion" || json === "kind");
      const optional = !embedded && !(this.#schema.required ?? []).includes(json);
      field = { json, type: typeOf(this.#property(json), this.#prefix + goName(json), this.#resolve), optional };
      this.#fields.set(json, field);
    }
    return field;
  }

  #property(json: string): Schema {
    const { properties } = this.#schema;
    const given = properties !== undefined && Object.hasOwn(properties, json) ? properties[json]! : {};
    if (this.resource === undefined) return given;
    if (json === "metadata") return resolved(given, this.#resolve).properties === undefined ? METADATA : given;
    return json === "apiVersion" || json === "kind" ? { type: "string" } : given;
  }

  names(): readonly string[] {
    return [...new Set(this.#jsonNames.values())];
  }

  nested(name: string): ObjectType | undefined {
    // Longer field names first: SpecListeners may begin with the field Spec or be one of its own.
    const fields = this.names().toSorted((a, b) => b.length - a.length);
    for (const json of fields) {
      const own = goName(json);
      if (!name.startsWith(own)) continue;
      let { type } = this.field(json)!;
      while (type.kind === "slice" || type.kind === "map") type = type.element;
      if (type.kind !== "object") continue;
      const found = name === own ? type : type.nested(name.slice(own.length));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const allowsOthers = (schema: Schema): boolean =>
  schema.additionalProperties !== undefined && schema.additionalProperties !== false;

/** Follows references; what stands beside one (descriptions, defaults) does not matter here. */
function resolved(schema: Schema, resolve: Resolve): Schema {
  let at = schema;
  for (let steps = 0; steps < 20; steps++) {
    const next = at.$ref ?? (at.allOf?.length === 1 && at.properties === undefined ? at.allOf[0]!.$ref : undefined);
    if (next === undefined) return at;
    at = resolve(next) ?? {};
  }
  return {};
}

/** The type of what a schema describes. `name` = how its objects are called. */
function typeOf(given: Schema, name: string, resolve: Resolve): Type {
  const schema = resolved(given, resolve);
  if (schema["x-kubernetes-int-or-string"] === true) return ANY;
  switch (schema.type) {
    case "string":
      return schema.oneOf !== undefined || schema.anyOf !== undefined || schema.format === "int-or-string"
        ? ANY
        : STRING;
    case "integer":
      return INT;
    case "number":
      return FLOAT;
    case "boolean":
      return BOOL;
    case "array":
      return schema.items === undefined ? ANY_SLICE : { kind: "slice", element: typeOf(schema.items, name, resolve) };
    case "object":
    case undefined: {
      const embedded = schema["x-kubernetes-embedded-resource"] === true;
      if (schema.properties !== undefined || embedded) {
        const resource = embedded ? { apiVersion: "", kind: "" } : undefined;
        return new SchemaObject(name, name, schema, resolve, resource);
      }
      if (schema.type === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true) return ANY;
      const { additionalProperties } = schema;
      const element = typeof additionalProperties === "object" ? typeOf(additionalProperties, name, resolve) : ANY;
      return { kind: "map", key: STRING, element };
    }
    default:
      return ANY;
  }
}

/** The type of a whole resource; undefined when the schema does not describe its fields. */
export function resourceType(
  alias: string,
  schema: Schema,
  resolve: Resolve,
  apiVersion: string,
  kind: string,
): ObjectType | undefined {
  const whole = resolved(schema, resolve);
  if (whole.properties === undefined) return undefined;
  return new SchemaObject(`resources.${alias}.T`, `resources.${alias}.`, whole, resolve, { apiVersion, kind });
}
