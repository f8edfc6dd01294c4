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

interface Shape {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  readonly generation?: true;
  readonly status?: true;
  readonly scale?: true;
  readonly statusTakesMetadata?: true;
  readonly deleteAnswersObject?: true;
  readonly createOnUpdate?: true;
  readonly conditionalUpdate?: true;
  /** Paths beside metadata that a field selector may name. */
  readonly fields?: readonly string[];
}

const shapes: readonly Shape[] = [
  { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"] },
  { group: "", version: "v1", kind: "Endpoints", plural: "endpoints", shortNames: ["ep"] },
  {
    group: "",
    version: "v1",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    fields: [
      "involvedObject.kind",
      "involvedObject.namespace",
      "involvedObject.name",
      "involvedObject.uid",
      "involvedObject.apiVersion",
      "involvedObject.resourceVersion",
      "involvedObject.fieldPath",
      "reason",
      "reportingComponent",
      "source",
      "type",
    ],
  },
  {
    group: "",
    version: "v1",
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    cluster: true,
    status: true,
    statusTakesMetadata: true,
    deleteAnswersObject: true,
    fields: ["status.phase"],
  },
  {
    group: "",
    version: "v1",
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    cluster: true,
    status: true,
    statusTakesMetadata: true,
    fields: ["spec.unschedulable"],
  },
  {
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    generation: true,
    status: true,
    statusTakesMetadata: true,
    deleteAnswersObject: true,
    fields: ["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase", "status.podIP"],
  },
  { group: "", version: "v1", kind: "Secret", plural: "secrets", fields: ["type"] },
  {
    group: "",
    version: "v1",
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    deleteAnswersObject: true,
  },
  {
    group: "",
    version: "v1",
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    status: true,
    statusTakesMetadata: true,
    deleteAnswersObject: true,
    fields: ["spec.clusterIP", "spec.type"],
  },
  {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    generation: true,
    status: true,
    statusTakesMetadata: true,
    scale: true,
  },
  {
    group: "apps",
    version: "v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    generation: true,
    status: true,
    statusTakesMetadata: true,
    scale: true,
    fields: ["status.replicas"],
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "Ingress",
    plural: "ingresses",
    shortNames: ["ing"],
    generation: true,
    status: true,
    statusTakesMetadata: true,
  },
  {
    group: "networking.k8s.io",
    version: "v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    cluster: true,
    generation: true,
  },
  { group: "discovery.k8s.io", version: "v1", kind: "EndpointSlice", plural: "endpointslices", generation: true },
  {
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
    plural: "leases",
    createOnUpdate: true,
    conditionalUpdate: true,
  },
];

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
