/** What the API knows of a resource: one definition, served in one or more versions (views). */
import type { ApiObject, Fields } from "../objects.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import type { StructNode } from "../schema/type-node.ts";
import type { FieldReaders } from "../selectors/fields.ts";
import type { FieldError, KindName, ResourceName } from "../status.ts";
import type { ResourceStore } from "../storage/resource-store.ts";

/** A column of a Table. `cell` makes what is shown; ages are texts made by the server. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** Above 0: only shown by `-o wide`. */
  readonly priority?: number;
  cell(object: ApiObject, now: number): unknown;
}

/** What rules may ask of the rest of the API. */
export interface RuleContext {
  readonly now: number;
  random(): number;
  warn(text: string): void;
  store(resource: ResourceName): ResourceStore;
  /** A new address of the service range. */
  allocateIP(): string;
  allocateNodePort(): number;
}

/** The rules of one kind. Objects may be changed in place here: they are not stored yet. */
export interface KindRules {
  /** Defaults that decoding fills in; `old` is the stored object of an update. */
  defaults?(object: ApiObject, old: ApiObject | undefined): void;
  /** What creation adds or removes (allocated addresses, status). */
  prepareCreate?(object: ApiObject, context: RuleContext): void;
  prepareUpdate?(object: ApiObject, old: ApiObject, context: RuleContext): void;
  validate?(object: ApiObject, old: ApiObject | undefined, context: RuleContext): FieldError[];
  /** How a metadata.name is judged; default: DNS-1123 subdomain. */
  readonly nameRule?: "subdomain" | "label" | "service" | "path" | "none";
}

export interface ScalePaths {
  readonly spec: readonly string[];
  readonly status: readonly string[];
  readonly selector: readonly string[] | undefined;
}

export interface ResourceDefinition extends ResourceName, KindName {
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** False: made by a CustomResourceDefinition. */
  readonly builtIn: boolean;
  readonly storageVersion: string;
  /** Whether metadata.generation is kept. */
  readonly generation: boolean;
  readonly status: boolean;
  /** Built-ins whose status endpoint also takes labels and annotations. */
  readonly statusTakesMetadata: boolean;
  readonly scale: ScalePaths | undefined;
  /** A PUT must name the resourceVersion that it replaces. */
  readonly conditionalUpdate: boolean;
  /** PUT to a missing name creates it. */
  readonly createOnUpdate: boolean;
  /** DELETE answers with the object, not with a Status. */
  readonly deleteAnswersObject: boolean;
  /** DELETE without a policy leaves the dependents. */
  readonly orphansByDefault: boolean;
  readonly rules: KindRules;
  /** Set while the CustomResourceDefinition is being deleted: nothing is created any more. */
  terminating?: boolean;
}

/** A resource as one served version shows it. */
export interface View {
  readonly definition: ResourceDefinition;
  readonly version: string;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The kind in this version (the same everywhere but for Event's two groups). */
  readonly group: string;
  readonly type: StructNode;
  /** Custom resources: their schema. */
  readonly schema: StructuralSchema | undefined;
  readonly columns: readonly Column[];
  readonly fieldReaders: FieldReaders;
  readonly verbs: readonly string[];
  /** Warning sent with every answer of a deprecated version. */
  readonly deprecation: string | undefined;
  /** Stored form → this version's form; identity where undefined. */
  readonly fromStored: ((object: ApiObject) => ApiObject) | undefined;
  readonly toStored: ((object: ApiObject) => ApiObject) | undefined;
  /** The OpenAPI schema shown to `kubectl explain`. */
  readonly openApi: Fields;
}

export const allVerbs: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** The key an object is stored under. */
export const storageKey = (definition: ResourceDefinition, namespace: string, name: string): string =>
  definition.namespaced ? `${namespace}/${name}` : name;
