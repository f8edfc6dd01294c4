/** Views made from a CustomResourceDefinition. */
import { asText, isFields } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import { customResourceType } from "../schema/structural.ts";
import { metadataFields } from "../selectors/fields.ts";
import { ageColumn, nameColumn } from "../tables/columns.ts";
import { age } from "./ages.ts";
import { jsonPathKeys, specOf } from "./crd-names.ts";
import type { DefinitionVersion, PrinterColumn } from "./crd-names.ts";
import { evaluateJsonPath } from "./json-path.ts";
import { allVerbs } from "./definition.ts";
import type { Column, ResourceDefinition, View } from "./definition.ts";

function cellOf(column: PrinterColumn): Column["cell"] {
  const find = evaluateJsonPath(column.jsonPath);
  return (object, now) => {
    const found = find(object);
    if (found.length === 0 || found[0] === undefined || found[0] === null) return null;
    const value = found[0];
    switch (column.type) {
      case "integer":
      case "number":
        return typeof value === "number" ? value : null;
      case "boolean":
        return typeof value === "boolean" ? value : null;
      case "date":
        return typeof value === "string" ? age(value, now) : null;
      default:
        return found.length > 1 ? found.map(asText).join(",") : asText(value);
    }
  };
}

function columnsOf(version: DefinitionVersion): readonly Column[] {
  if (version.additionalPrinterColumns === undefined || version.additionalPrinterColumns.length === 0) {
    return [nameColumn, { ...ageColumn, type: "date" }];
  }
  const more = version.additionalPrinterColumns.map((column) => ({
    name: column.name,
    type: column.type,
    ...(column.format === undefined ? {} : { format: column.format }),
    description: column.description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    priority: column.priority ?? 0,
    cell: cellOf(column),
  }));
  return [nameColumn, ...more];
}

/** The schema with what every object has, for `kubectl explain`. */
function openApiOf(version: DefinitionVersion): Fields {
  const schema = (version.schema?.openAPIV3Schema ?? {}) as Fields;
  const properties = isFields(schema["properties"]) ? schema["properties"] : {};
  return {
    ...schema,
    type: "object",
    properties: {
      apiVersion: {
        type: "string",
        description: "APIVersion defines the versioned schema of this representation of an object.",
      },
      kind: {
        type: "string",
        description: "Kind is a string value representing the REST resource this object represents.",
      },
      metadata: { type: "object", description: "Standard object's metadata." },
      ...properties,
    },
  };
}

function fieldReaders(version: DefinitionVersion): View["fieldReaders"] {
  const readers = new Map(metadataFields);
  for (const { jsonPath } of version.selectableFields ?? []) {
    const find = evaluateJsonPath(jsonPath);
    readers.set(jsonPath.replace(/^\./, ""), (object) => asText(find(object)[0] ?? ""));
  }
  return readers;
}

/** The views of all served versions; [] while nothing is served. The storage version's comes first. */
export function viewsOf(object: ApiObject): readonly View[] {
  const spec = specOf(object);
  const storage = spec.versions.find((version) => version.storage) ?? spec.versions[0];
  if (storage === undefined) return [];
  const names = spec.names;
  const base = {
    group: spec.group,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    builtIn: false,
    storageVersion: storage.name,
    generation: true,
    statusTakesMetadata: false,
    conditionalUpdate: true,
    createOnUpdate: false,
    deleteAnswersObject: false,
    orphansByDefault: false,
    rules: {},
  };
  return spec.versions
    .filter((version) => version.served || version.storage)
    .map((version) => {
      const scale = version.subresources?.scale;
      const definition: ResourceDefinition = {
        ...base,
        status: version.subresources?.status !== undefined,
        scale:
          scale === undefined
            ? undefined
            : {
                spec: jsonPathKeys(scale.specReplicasPath),
                status: jsonPathKeys(scale.statusReplicasPath),
                selector: scale.labelSelectorPath === undefined ? undefined : jsonPathKeys(scale.labelSelectorPath),
              },
        ...(object.metadata.deletionTimestamp === undefined ? {} : { terminating: true }),
      };
      const apiVersion = `${spec.group}/${version.name}`;
      const schema = version.schema?.openAPIV3Schema ?? {};
      const warning =
        version.deprecationWarning ??
        `${apiVersion} ${names.kind} is deprecated${newest(
          spec.versions.map((v) => v.name),
          version.name,
          spec.group,
          names.kind,
        )}`;
      return {
        definition,
        version: version.name,
        apiVersion,
        group: spec.group,
        type: customResourceType(schema, names.kind),
        schema,
        columns: columnsOf(version),
        fieldReaders: fieldReaders(version),
        verbs: version.served ? allVerbs : [],
        deprecation: version.deprecated === true ? warning : undefined,
        fromStored: undefined,
        toStored: undefined,
        openApi: openApiOf(version),
      };
    });
}

const newest = (versions: readonly string[], own: string, group: string, kind: string): string => {
  const best = versions.toSorted(compareVersions)[0];
  return best === undefined || best === own ? "" : `; use ${group}/${best} ${kind}`;
};

/** Order of stability: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
export function compareVersions(a: string, b: string): number {
  const parse = (version: string): readonly number[] | undefined => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return undefined;
    const stage = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left === right) return a < b ? -1 : 1;
    return left === undefined ? 1 : -1;
  }
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return (right[i] as number) - (left[i] as number);
  return 0;
}
