/** The columns of the built-in kinds. */
import { at, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import type { Column } from "../resources/definition.ts";
import { ageColumn, column, nameColumn, wide } from "./columns.ts";
import { installedColumns } from "./installed-columns.ts";
import {
  endpointSliceColumns,
  endpointsColumns,
  ingressClassColumns,
  ingressColumns,
  serviceColumns,
} from "./network-columns.ts";
import { deploymentColumns, eventColumns, nodeColumns, podColumns, replicaSetColumns } from "./workload-columns.ts";

const count = (object: ApiObject, ...fields: readonly string[]): number =>
  fields.reduce((sum, field) => {
    const value = at(object, field);
    return sum + (isFields(value) ? Object.keys(value).length : 0);
  }, 0);

function versionsText(object: ApiObject): string {
  return listAt(object, "spec", "versions")
    .map((version) => `${stringAt(version, "name")}${at(version, "storage") === true ? "(storage)" : ""}`)
    .join(",");
}

const established = (object: ApiObject): boolean =>
  listAt(object, "status", "conditions").some(
    (condition) => stringAt(condition, "type") === "Established" && stringAt(condition, "status") === "True",
  );

const columns: Readonly<Record<string, readonly Column[]>> = {
  Namespace: [nameColumn, column("Status", (object) => stringAt(object, "status", "phase")), ageColumn],
  ConfigMap: [nameColumn, column("Data", (object) => count(object, "data", "binaryData")), ageColumn],
  Secret: [
    nameColumn,
    column("Type", (object) => stringAt(object, "type")),
    column("Data", (object) => count(object, "data")),
    ageColumn,
  ],
  Lease: [nameColumn, column("Holder", (object) => stringAt(object, "spec", "holderIdentity")), ageColumn],
  Service: serviceColumns,
  Endpoints: endpointsColumns,
  EndpointSlice: endpointSliceColumns,
  Ingress: ingressColumns,
  IngressClass: ingressClassColumns,
  Pod: podColumns,
  Deployment: deploymentColumns,
  ReplicaSet: replicaSetColumns,
  Node: nodeColumns,
  Event: eventColumns,
  CustomResourceDefinition: [
    nameColumn,
    column("Scope", (object) => stringAt(object, "spec", "scope")),
    column("Versions", versionsText),
    column("Created At", (object) => object.metadata.creationTimestamp ?? "", { type: "date" }),
    wide("Group", (object) => stringAt(object, "spec", "group")),
    wide("Kind", (object) => stringAt(object, "spec", "names", "kind")),
    wide("ShortNames", (object) => listAt(object, "spec", "names", "shortNames").map(String).join(",")),
    column("Established", established, { type: "boolean", priority: 1 }),
  ],
};

/** Name and Age where a kind has nothing of its own. */
export const columnsOf = (kind: string): readonly Column[] =>
  columns[kind] ?? installedColumns[kind] ?? [nameColumn, ageColumn];
