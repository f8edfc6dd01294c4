/** CustomResourceDefinition specs as stored. */
import type { ApiObject } from "../objects.ts";
import type { StructuralSchema } from "../schema/structural.ts";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionSpec {
  readonly group: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
}

export const specOf = (object: ApiObject): DefinitionSpec => object["spec"] as DefinitionSpec;

/** `.spec.a` and `.spec.list[0].b` as keys; the simple paths that printer columns and scale use. */
export function jsonPathKeys(path: string): readonly string[] {
  return [...path.matchAll(/\.([^.[\]'"\\]+)|\[['"]?([^\]'"]+)['"]?\]|\.((?:\\.|[^.[\]])+)/g)].map((m) =>
    (m[1] ?? m[2] ?? m[3] ?? "").replaceAll("\\", ""),
  );
}
