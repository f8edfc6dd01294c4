/** The resource customresourcedefinitions itself. */
import { anyNode } from "../schema/type-node.ts";
import type { StructNode, TypeNode } from "../schema/type-node.ts";
import { objectMetaType } from "../schema/compact-types.ts";
import { metadataFields } from "../selectors/fields.ts";
import { columnsOf } from "../tables/built-in-columns.ts";
import { allVerbs } from "./definition.ts";
import type { View } from "./definition.ts";
import { rulesOf } from "./rules/index.ts";

const text: TypeNode = { kind: "scalar", type: "string" };
const flag: TypeNode = { kind: "scalar", type: "bool" };

/** `always`: fields that are written even when they are empty. */
const struct = (name: string, fields: Record<string, TypeNode>, always: readonly string[] = []): StructNode => ({
  kind: "struct",
  name,
  fields: new Map(
    Object.entries(fields).map(([key, type]) => {
      const presence = always.includes(key) ? "always" : "pointer";
      return [key, { type, number: 0, presence, retainKeys: false }];
    }),
  ),
  atomic: false,
  open: false,
  inlined: new Map(),
});
const list = (items: TypeNode, keys?: readonly string[]): TypeNode => ({
  kind: "list",
  items,
  list: keys === undefined ? "atomic" : "map",
  keys: keys ?? [],
  mergeKey: undefined,
});

const names = struct(
  "CustomResourceDefinitionNames",
  {
    plural: text,
    singular: text,
    kind: text,
    listKind: text,
    shortNames: list(text),
    categories: list(text),
  },
  ["plural", "kind"],
);

const printerColumn = struct("CustomResourceColumnDefinition", {
  name: text,
  type: text,
  format: text,
  description: text,
  priority: { kind: "scalar", type: "int32" },
  jsonPath: text,
});

const version = struct("CustomResourceDefinitionVersion", {
  name: text,
  served: flag,
  storage: flag,
  deprecated: flag,
  deprecationWarning: text,
  schema: struct("CustomResourceValidation", { openAPIV3Schema: anyNode }),
  subresources: struct("CustomResourceSubresources", {
    status: anyNode,
    scale: struct("CustomResourceSubresourceScale", {
      specReplicasPath: text,
      statusReplicasPath: text,
      labelSelectorPath: text,
    }),
  }),
  additionalPrinterColumns: list(printerColumn),
  selectableFields: list(struct("SelectableField", { jsonPath: text })),
});

const condition = struct("CustomResourceDefinitionCondition", {
  type: text,
  status: text,
  reason: text,
  message: text,
  lastTransitionTime: { kind: "scalar", type: "time" },
  observedGeneration: { kind: "scalar", type: "int64" },
});

const spec = struct(
  "CustomResourceDefinitionSpec",
  {
    group: text,
    scope: text,
    names,
    versions: list(version),
    conversion: struct("CustomResourceConversion", { strategy: text, webhook: anyNode }),
    preserveUnknownFields: flag,
  },
  ["group", "scope", "names", "versions"],
);

const status = struct(
  "CustomResourceDefinitionStatus",
  {
    conditions: list(condition, ["type"]),
    acceptedNames: names,
    storedVersions: list(text),
  },
  ["conditions", "acceptedNames", "storedVersions"],
);

const type = struct("CustomResourceDefinition", { metadata: objectMetaType, spec, status }, [
  "metadata",
  "spec",
  "status",
]);

/** The view of apiextensions.k8s.io/v1. */
export const definitionView: View = {
  definition: {
    group: "apiextensions.k8s.io",
    plural: "customresourcedefinitions",
    singular: "customresourcedefinition",
    kind: "CustomResourceDefinition",
    listKind: "CustomResourceDefinitionList",
    namespaced: false,
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    builtIn: true,
    storageVersion: "v1",
    generation: true,
    status: true,
    statusTakesMetadata: false,
    scale: undefined,
    conditionalUpdate: true,
    createOnUpdate: false,
    deleteAnswersObject: true,
    orphansByDefault: false,
    rules: rulesOf("CustomResourceDefinition"),
  },
  version: "v1",
  apiVersion: "apiextensions.k8s.io/v1",
  group: "apiextensions.k8s.io",
  type,
  schema: undefined,
  columns: columnsOf("CustomResourceDefinition"),
  fieldReaders: metadataFields,
  verbs: allVerbs,
  deprecation: undefined,
  fromStored: undefined,
  toStored: undefined,
  openApi: {},
};
