/** Columns of pods, deployments, replica sets and nodes. */
import { at, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import { age } from "../resources/ages.ts";
import type { Column } from "../resources/definition.ts";
import { ageColumn, column, nameColumn, wide } from "./columns.ts";
import { podStatus } from "./pod-status.ts";
import { selectorText } from "./selector-text.ts";

const number = (object: unknown, ...path: readonly string[]): number => {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
};

const orNone = (text: string): string => (text === "" ? "<none>" : text);

function readinessGates(object: ApiObject): string {
  const gates = listAt(object, "spec", "readinessGates").map((gate) => stringAt(gate, "conditionType"));
  if (gates.length === 0) return "<none>";
  const conditions = listAt(object, "status", "conditions");
  const met = gates.filter((gate) =>
    conditions.some((c) => stringAt(c, "type") === gate && stringAt(c, "status") === "True"),
  );
  return `${met.length}/${gates.length}`;
}

const firstAddress = (object: ApiObject): string =>
  stringAt(listAt(object, "status", "podIPs")[0], "ip") || stringAt(object, "status", "podIP");

export const podColumns: readonly Column[] = [
  nameColumn,
  column("Ready", (object, now) => podStatus(object, now).ready),
  column("Status", (object, now) => podStatus(object, now).text),
  column("Restarts", (object, now) => podStatus(object, now).restarts),
  ageColumn,
  wide("IP", (object) => orNone(firstAddress(object))),
  wide("Node", (object) => orNone(stringAt(object, "spec", "nodeName"))),
  wide("Nominated Node", (object) => orNone(stringAt(object, "status", "nominatedNodeName"))),
  wide("Readiness Gates", readinessGates),
];

/** Containers and images of the pod spec at `path`. */
export const podTemplateColumns = (path: readonly string[]): readonly Column[] =>
  (["name", "image"] as const).map((field) =>
    wide(field === "name" ? "Containers" : "Images", (object) =>
      listAt(object, ...path, "containers")
        .map((container) => stringAt(container, field))
        .join(","),
    ),
  );
const templateColumns: readonly Column[] = [
  ...podTemplateColumns(["spec", "template", "spec"]),
  wide("Selector", (object) => selectorText(at(object, "spec", "selector"))),
];
const integer = { type: "integer" } as const;

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column("Ready", (object) => `${number(object, "status", "readyReplicas")}/${number(object, "spec", "replicas")}`),
  column("Up-to-date", (object) => number(object, "status", "updatedReplicas"), integer),
  column("Available", (object) => number(object, "status", "availableReplicas"), integer),
  ageColumn,
  ...templateColumns,
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  column("Desired", (object) => number(object, "spec", "replicas"), integer),
  column("Current", (object) => number(object, "status", "replicas"), integer),
  column("Ready", (object) => number(object, "status", "readyReplicas"), integer),
  ageColumn,
  ...templateColumns,
];

function nodeStatus(object: ApiObject): string {
  const ready = listAt(object, "status", "conditions").find((c) => stringAt(c, "type") === "Ready");
  const text = ready === undefined ? "Unknown" : stringAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return at(object, "spec", "unschedulable") === true ? `${text},SchedulingDisabled` : text;
}

function nodeRoles(object: ApiObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.keys(object.metadata.labels ?? {})
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return orNone(roles.toSorted().join(","));
}

const nodeAddress =
  (type: string) =>
  (object: ApiObject): string =>
    orNone(
      stringAt(
        listAt(object, "status", "addresses").find((a) => stringAt(a, "type") === type),
        "address",
      ),
    );

const nodeInfo =
  (field: string) =>
  (object: ApiObject): string =>
    stringAt(object, "status", "nodeInfo", field) || "<unknown>";

export const nodeColumns: readonly Column[] = [
  nameColumn,
  column("Status", nodeStatus),
  column("Roles", nodeRoles),
  ageColumn,
  column("Version", (object) => stringAt(object, "status", "nodeInfo", "kubeletVersion")),
  wide("Internal-IP", nodeAddress("InternalIP")),
  wide("External-IP", nodeAddress("ExternalIP")),
  wide("OS-Image", nodeInfo("osImage")),
  wide("Kernel-Version", nodeInfo("kernelVersion")),
  wide("Container-Runtime", nodeInfo("containerRuntimeVersion")),
];

const eventTimes = (object: ApiObject): { readonly first: unknown; readonly last: unknown } => {
  const series = at(object, "series", "lastObservedTime");
  const eventTime = at(object, "eventTime");
  const first = at(object, "firstTimestamp") ?? eventTime;
  const last = series ?? at(object, "lastTimestamp") ?? first;
  return { first, last };
};

function eventObject(object: ApiObject): string {
  const kind = stringAt(object, "involvedObject", "kind").toLowerCase();
  const name = stringAt(object, "involvedObject", "name");
  return name === "" ? kind : `${kind}/${name}`;
}

function eventSource(object: ApiObject): string {
  const component = stringAt(object, "source", "component") || stringAt(object, "reportingComponent");
  const host = stringAt(object, "source", "host") || stringAt(object, "reportingInstance");
  return host === "" ? component : `${component}, ${host}`;
}

function eventCount(object: ApiObject): number {
  const series = at(object, "series");
  if (isFields(series)) return number(series, "count");
  return Math.max(1, number(object, "count"));
}

export const eventColumns: readonly Column[] = [
  column("Last Seen", (object, now) => age(eventTimes(object).last, now)),
  column("Type", (object) => stringAt(object, "type")),
  column("Reason", (object) => stringAt(object, "reason")),
  column("Object", eventObject),
  wide("Subobject", (object) => stringAt(object, "involvedObject", "fieldPath")),
  wide("Source", eventSource),
  column("Message", (object) => stringAt(object, "message").trim()),
  wide("First Seen", (object, now) => age(eventTimes(object).first, now)),
  column("Count", eventCount, { type: "integer", priority: 1 }),
  { ...nameColumn, priority: 1 },
];
