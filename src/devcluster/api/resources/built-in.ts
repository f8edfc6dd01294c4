/** The built-in resources, in the order of discovery. */
import { builtinType } from "../schema/compact-types.ts";
import { metadataFields } from "../selectors/fields.ts";
import type { FieldReader } from "../selectors/fields.ts";
import { stringAt } from "../objects.ts";
import { columnsOf } from "../tables/built-in-columns.ts";
import { allVerbs } from "./definition.ts";
import type { KindRules, ResourceDefinition, View } from "./definition.ts";
import { eventFromStored, eventToStored } from "./event-shapes.ts";
import { rulesOf } from "./rules/index.ts";
import { shapes } from "./shapes.ts";
import type { Shape } from "./shapes.ts";

const singularOf = (kind: string): string => kind.toLowerCase();

function definitionOf(shape: Shape): ResourceDefinition {
  const rules: KindRules = rulesOf(shape.kind);
  return {
    group: shape.group,
    plural: shape.plural,
    singular: singularOf(shape.kind),
    kind: shape.kind,
    listKind: `${shape.kind}List`,
    namespaced: shape.cluster !== true,
    shortNames: shape.shortNames ?? [],
    categories: shape.categories ?? [],
    builtIn: true,
    storageVersion: shape.version,
    generation: shape.generation === true,
    status: shape.status === true,
    statusTakesMetadata: shape.statusTakesMetadata === true,
    scale:
      shape.scale === true
        ? { spec: ["spec", "replicas"], status: ["status", "replicas"], selector: ["status", "selector"] }
        : undefined,
    conditionalUpdate: shape.conditionalUpdate === true,
    createOnUpdate: shape.createOnUpdate === true,
    deleteAnswersObject: shape.deleteAnswersObject === true,
    orphansByDefault: shape.orphansByDefault === true,
    rules,
  };
}

const readerOf = (path: string): FieldReader => {
  if (path === "source") return (object) => stringAt(object, "source", "component");
  const keys = path.split(".");
  return (object) => stringAt(object, ...keys);
};

function viewOf(shape: Shape): View {
  const definition = definitionOf(shape);
  const fields = new Map(metadataFields);
  for (const path of shape.fields ?? []) fields.set(path, readerOf(path));
  return {
    definition,
    version: shape.version,
    apiVersion: shape.group === "" ? shape.version : `${shape.group}/${shape.version}`,
    group: shape.group,
    type: builtinType(shape.kind),
    schema: undefined,
    columns: columnsOf(shape.kind),
    fieldReaders: fields,
    verbs: allVerbs,
    deprecation: undefined,
    fromStored: undefined,
    toStored: undefined,
    openApi: {},
  };
}

/** events.k8s.io/v1: the stored core Event in its newer shape. */
function newEvents(core: View): View {
  const fields = new Map(metadataFields);
  for (const path of core.fieldReaders.keys()) {
    if (path.startsWith("involvedObject.")) {
      const renamed = path.replace("involvedObject", "regarding");
      fields.set(renamed, readerOf(renamed));
    }
  }
  for (const path of ["reason", "type", "reportingController"]) fields.set(path, readerOf(path));
  return {
    ...core,
    group: "events.k8s.io",
    apiVersion: "events.k8s.io/v1",
    type: builtinType("events.Event"),
    columns: core.columns.map((column) => ({
      ...column,
      cell: (object, now) => column.cell(eventToStored(object), now),
    })),
    fieldReaders: fields,
    fromStored: eventFromStored,
    toStored: eventToStored,
  };
}

/** All built-in views but CustomResourceDefinition's (see crd-view.ts). */
export function builtInViews(): readonly View[] {
  const views = shapes.map(viewOf);
  const core = views.find((view) => view.definition.kind === "Event");
  return core === undefined ? views : [...views, newEvents(core)];
}
