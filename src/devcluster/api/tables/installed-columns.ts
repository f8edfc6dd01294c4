/** Columns of what charts install: roles, budgets, jobs and the like. */
import { asText, at, isFields, listAt, stringAt } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import { age, shortDuration } from "../resources/ages.ts";
import type { Column } from "../resources/definition.ts";
import { ageColumn, column, nameColumn, wide } from "./columns.ts";
import { labelsText, selectorText } from "./selector-text.ts";
import { podTemplateColumns } from "./workload-columns.ts";

const integer = { type: "integer" } as const;

const numberAt = (object: unknown, ...path: readonly string[]): number => {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
};

const orElse = (object: ApiObject, other: string, ...path: readonly string[]): string => {
  const value = at(object, ...path);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : other;
};

/** What kinds without columns of their own show. */
export const plainColumns: readonly Column[] = [
  nameColumn,
  column("Created At", (object) => object.metadata.creationTimestamp ?? "", { type: "date" }),
];

const subjects = (kind: string) => (object: ApiObject) =>
  listAt(object, "subjects")
    .filter((subject) => stringAt(subject, "kind") === kind)
    .map((subject) =>
      kind === "ServiceAccount"
        ? `${stringAt(subject, "namespace")}/${stringAt(subject, "name")}`
        : stringAt(subject, "name"),
    )
    .join(", ");

const bindingColumns: readonly Column[] = [
  nameColumn,
  column("Role", (object) => `${stringAt(object, "roleRef", "kind")}/${stringAt(object, "roleRef", "name")}`),
  ageColumn,
  wide("Users", subjects("User")),
  wide("Groups", subjects("Group")),
  wide("ServiceAccounts", subjects("ServiceAccount")),
];

const hasCondition = (object: ApiObject, type: string): boolean =>
  listAt(object, "status", "conditions").some(
    (condition) => stringAt(condition, "type") === type && stringAt(condition, "status") === "True",
  );

function jobStatus(object: ApiObject): string {
  if (hasCondition(object, "Complete")) return "Complete";
  if (hasCondition(object, "Failed")) return "Failed";
  if (object.metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find((type) => hasCondition(object, type)) ?? "Running";
}

function completions(object: ApiObject): string {
  const done = numberAt(object, "status", "succeeded");
  const wanted = at(object, "spec", "completions");
  if (typeof wanted === "number") return `${done}/${wanted}`;
  const parallel = numberAt(object, "spec", "parallelism");
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}

function jobDuration(object: ApiObject, now: number): string {
  const start = Date.parse(stringAt(object, "status", "startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(stringAt(object, "status", "completionTime"));
  return shortDuration((Number.isNaN(end) ? now : end) - start);
}

/** `cpu: <unknown>/80%`, two of them and how many more. */
function metricsText(object: ApiObject): string {
  const metrics = listAt(object, "spec", "metrics");
  const current = listAt(object, "status", "currentMetrics");
  if (metrics.length === 0) return "<none>";
  const texts = metrics.map((metric, i) => {
    const source = at(metric, "resource") === undefined ? "containerResource" : "resource";
    const name = stringAt(metric, source, "name");
    const average = at(metric, source, "target", "averageValue");
    const used = at(current[i], source, "current", average === undefined ? "averageUtilization" : "averageValue");
    const percent = (value: unknown): string => `${asText(value)}%`;
    const goal = at(metric, source, "target", "averageUtilization");
    if (average !== undefined) return `${name}: ${asText(used ?? "<unknown>")}/${asText(average)}`;
    return `${name}: ${used === undefined ? "<unknown>" : percent(used)}/${goal === undefined ? "<auto>" : percent(goal)}`;
  });
  const more = texts.length > 2 ? ` + ${texts.length - 2} more...` : "";
  return `${texts.slice(0, 2).join(", ")}${more}`;
}

function quotaText(object: ApiObject, limits: boolean): string {
  const hard = at(object, "status", "hard");
  return Object.keys(isFields(hard) ? hard : {})
    .toSorted()
    .filter((name) => name.startsWith("limits.") === limits)
    .map(
      (name) =>
        `${name}: ${orElse(object, "0", "status", "used", name)}/${orElse(object, "0", "status", "hard", name)}`,
    )
    .join(", ");
}

const webhookColumns: readonly Column[] = [
  nameColumn,
  column("Webhooks", (object) => listAt(object, "webhooks").length, integer),
  ageColumn,
];

const template = ["spec", "template", "spec"] as const;

export const installedColumns: Readonly<Record<string, readonly Column[]>> = {
  Role: plainColumns,
  ClusterRole: plainColumns,
  LimitRange: plainColumns,
  RoleBinding: bindingColumns,
  ClusterRoleBinding: bindingColumns,
  MutatingWebhookConfiguration: webhookColumns,
  ValidatingWebhookConfiguration: webhookColumns,
  NetworkPolicy: [
    nameColumn,
    column("Pod-Selector", (object) => selectorText(at(object, "spec", "podSelector"))),
    ageColumn,
  ],
  PodDisruptionBudget: [
    nameColumn,
    column("Min Available", (object) => orElse(object, "N/A", "spec", "minAvailable")),
    column("Max Unavailable", (object) => orElse(object, "N/A", "spec", "maxUnavailable")),
    column("Allowed Disruptions", (object) => numberAt(object, "status", "disruptionsAllowed"), integer),
    ageColumn,
  ],
  PriorityClass: [
    nameColumn,
    column("Value", (object) => numberAt(object, "value"), integer),
    column("Global-Default", (object) => at(object, "globalDefault") === true, { type: "boolean" }),
    ageColumn,
    column("PreemptionPolicy", (object) => stringAt(object, "preemptionPolicy")),
  ],
  ResourceQuota: [
    nameColumn,
    column("Request", (object) => quotaText(object, false)),
    column("Limit", (object) => quotaText(object, true)),
    ageColumn,
  ],
  HorizontalPodAutoscaler: [
    nameColumn,
    column(
      "Reference",
      (object) =>
        `${stringAt(object, "spec", "scaleTargetRef", "kind")}/${stringAt(object, "spec", "scaleTargetRef", "name")}`,
    ),
    column("Targets", metricsText),
    column("MinPods", (object) => orElse(object, "<unset>", "spec", "minReplicas")),
    column("MaxPods", (object) => numberAt(object, "spec", "maxReplicas")),
    column("Replicas", (object) => numberAt(object, "status", "currentReplicas")),
    ageColumn,
  ],
  PersistentVolumeClaim: [
    nameColumn,
    column("Status", (object) =>
      object.metadata.deletionTimestamp === undefined ? stringAt(object, "status", "phase") : "Terminating",
    ),
    column("Volume", (object) => stringAt(object, "spec", "volumeName")),
    column("Capacity", (object) => orElse(object, "", "status", "capacity", "storage")),
    column("Access Modes", (object) => listAt(object, "status", "accessModes").map(String).join(",")),
    column("StorageClass", (object) => stringAt(object, "spec", "storageClassName")),
    column("VolumeAttributesClass", (object) => orElse(object, "<unset>", "spec", "volumeAttributesClassName")),
    ageColumn,
    wide("VolumeMode", (object) => orElse(object, "<unset>", "spec", "volumeMode")),
  ],
  Job: [
    nameColumn,
    column("Status", jobStatus),
    column("Completions", completions),
    column("Duration", jobDuration),
    ageColumn,
    ...podTemplateColumns(template),
    wide("Selector", (object) => selectorText(at(object, "spec", "selector"))),
  ],
  CronJob: [
    nameColumn,
    column("Schedule", (object) => stringAt(object, "spec", "schedule")),
    column("Timezone", (object) => orElse(object, "<none>", "spec", "timeZone")),
    column("Suspend", (object) => (at(object, "spec", "suspend") === true ? "True" : "False"), { type: "boolean" }),
    column("Active", (object) => listAt(object, "status", "active").length, integer),
    column("Last Schedule", (object, now) => {
      const last = at(object, "status", "lastScheduleTime");
      return last === undefined ? "<none>" : age(last, now);
    }),
    ageColumn,
    ...podTemplateColumns(["spec", "jobTemplate", "spec", "template", "spec"]),
    wide("Selector", (object) => selectorText(at(object, "spec", "jobTemplate", "spec", "selector"))),
  ],
  DaemonSet: [
    nameColumn,
    column("Desired", (object) => numberAt(object, "status", "desiredNumberScheduled"), integer),
    column("Current", (object) => numberAt(object, "status", "currentNumberScheduled"), integer),
    column("Ready", (object) => numberAt(object, "status", "numberReady"), integer),
    column("Up-to-date", (object) => numberAt(object, "status", "updatedNumberScheduled"), integer),
    column("Available", (object) => numberAt(object, "status", "numberAvailable"), integer),
    column("Node Selector", (object) => labelsText(at(object, ...template, "nodeSelector"))),
    ageColumn,
    ...podTemplateColumns(template),
    wide("Selector", (object) => selectorText(at(object, "spec", "selector"))),
  ],
  StatefulSet: [
    nameColumn,
    column(
      "Ready",
      (object) => `${numberAt(object, "status", "readyReplicas")}/${numberAt(object, "spec", "replicas")}`,
    ),
    ageColumn,
    ...podTemplateColumns(template),
  ],
};
