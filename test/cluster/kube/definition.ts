/** A definition of a kind with everything in its schema that decides the type of a field. */
import type { KubeObject } from "../../../src/stores/types.ts";
import type { ObjectType } from "../../../src/templating/index.ts";

export const GROUP_VERSION = "typed.example.org/v1";
export const PLURAL = "ploughs";

const spec = {
  type: "object",
  required: ["host", "weight"],
  properties: {
    host: { type: "string" },
    weight: { type: "integer", format: "int32" },
    share: { type: "number" },
    on: { type: "boolean" },
    port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    "max-conn": { type: "integer", format: "int64", default: 7 },
    tags: { type: "array", items: { type: "string" } },
    targets: {
      type: "array",
      items: {
        type: "object",
        required: ["address"],
        properties: { address: { type: "string" }, backup: { type: "boolean", nullable: true } },
      },
    },
    labels: { type: "object", additionalProperties: { type: "string" } },
    limits: { type: "object", additionalProperties: { type: "object", properties: { rate: { type: "integer" } } } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    known: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { size: { type: "integer" } } },
    anything: { "x-kubernetes-preserve-unknown-fields": true },
    child: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
  },
} as const;

/** The kind is no singular of its plural. */
export const definition: KubeObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${PLURAL}.typed.example.org` },
  spec: {
    group: "typed.example.org",
    scope: "Namespaced",
    names: { plural: PLURAL, singular: "share", kind: "Share", listKind: "ShareList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: { spec, status: { type: "object", properties: { ready: { type: "boolean" } } } },
          },
        },
      },
    ],
  },
};

type FieldType = NonNullable<ReturnType<ObjectType["field"]>>["type"];

/** A type with all that is in it, a line a field: `.spec.host string`; `?` marks what may be absent. */
export function fieldsOf(type: ObjectType | undefined): readonly string[] {
  const lines: string[] = [];
  const walk = (at: string, node: FieldType): void => {
    lines.push(
      `${at} ${node.kind === "basic" ? node.name : node.kind}${node.kind === "object" && node.open ? " open" : ""}`,
    );
    if (node.kind === "slice" || node.kind === "map") walk(`${at}[]`, node.element);
    if (node.kind !== "object") return;
    for (const name of node.names().toSorted()) {
      const field = node.field(name)!;
      walk(`${at}.${name}${field.optional ? "?" : ""}`, field.type);
    }
  };
  if (type !== undefined) walk("", type);
  return lines;
}
