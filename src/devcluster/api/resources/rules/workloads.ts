/** Rules of pods, deployments and replica sets: the defaults that show, and what must be there. */
import { asText, at, deepEqual, isFields, listAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { fieldInvalid, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules } from "../definition.ts";

/** `repo/app:tag` → always pull only `latest`. */
const pullPolicy = (image: unknown): string => {
  const text = asText(image ?? "");
  const name = text.slice(text.lastIndexOf("/") + 1);
  return !text.includes("@") && (!name.includes(":") || name.endsWith(":latest")) ? "Always" : "IfNotPresent";
};

/** A reference to a field of the pod names its API version. */
const withFieldVersion = (source: Fields): Fields =>
  isFields(source["fieldRef"]) ? { ...source, fieldRef: { apiVersion: "v1", ...source["fieldRef"] } } : source;

const envDefaults = (variable: Fields): Fields =>
  isFields(variable["valueFrom"]) ? { ...variable, valueFrom: withFieldVersion(variable["valueFrom"]) } : variable;

function containerDefaults(container: unknown): Fields {
  const made: Fields = { ...(container as Fields) };
  if (Array.isArray(made["env"])) made["env"] = made["env"].map(envDefaults);
  made["terminationMessagePath"] ??= "/dev/termination-log";
  made["terminationMessagePolicy"] ??= "File";
  made["imagePullPolicy"] ??= pullPolicy(made["image"]);
  if (Array.isArray(made["ports"])) {
    made["ports"] = made["ports"].map((port: Fields) => ({ ...port, protocol: port["protocol"] ?? "TCP" }));
  }
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    if (isFields(made[probe])) made[probe] = probeDefaults(made[probe]);
  }
  return made;
}

function probeDefaults(probe: Fields): Fields {
  const http = probe["httpGet"];
  return {
    ...probe,
    ...(isFields(http) ? { httpGet: { ...http, path: http["path"] ?? "/", scheme: http["scheme"] ?? "HTTP" } } : {}),
    timeoutSeconds: probe["timeoutSeconds"] ?? 1,
    periodSeconds: probe["periodSeconds"] ?? 10,
    successThreshold: probe["successThreshold"] ?? 1,
    failureThreshold: probe["failureThreshold"] ?? 3,
  };
}

const itemDefaults = (source: Fields): Fields =>
  Array.isArray(source["items"]) ? { ...source, items: source["items"].map(withFieldVersion) } : source;

function projectionDefaults(source: Fields): Fields {
  const token = source["serviceAccountToken"];
  if (isFields(token)) return { ...source, serviceAccountToken: { expirationSeconds: 3600, ...token } };
  return isFields(source["downwardAPI"]) ? { ...source, downwardAPI: itemDefaults(source["downwardAPI"]) } : source;
}

const MODE = 0o644;

function volumeDefaults(volume: Fields): Fields {
  const made: Fields = { ...volume };
  for (const kind of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (isFields(made[kind])) made[kind] = { defaultMode: MODE, ...made[kind] };
  }
  const { downwardAPI, projected, hostPath } = made;
  if (isFields(downwardAPI)) made["downwardAPI"] = itemDefaults(downwardAPI);
  if (isFields(projected) && Array.isArray(projected["sources"])) {
    made["projected"] = { ...projected, sources: projected["sources"].map(projectionDefaults) };
  }
  if (isFields(hostPath)) made["hostPath"] = { type: "", ...hostPath };
  return made;
}

/** What a pod spec gets where it says nothing. */
export function podSpecDefaults(spec: Fields): Fields {
  const made: Fields = { ...spec };
  made["containers"] = listAt(made, "containers").map(containerDefaults);
  if (Array.isArray(made["initContainers"])) made["initContainers"] = made["initContainers"].map(containerDefaults);
  if (Array.isArray(made["volumes"])) made["volumes"] = made["volumes"].map(volumeDefaults);
  made["restartPolicy"] ??= "Always";
  made["terminationGracePeriodSeconds"] ??= 30;
  made["dnsPolicy"] ??= "ClusterFirst";
  made["securityContext"] ??= {};
  made["schedulerName"] ??= "default-scheduler";
  if (typeof made["serviceAccountName"] === "string") made["serviceAccount"] ??= made["serviceAccountName"];
  return made;
}

/** Every pod stands five minutes of a node that is not ready or not reached. */
function tolerations(given: readonly unknown[]): readonly unknown[] {
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) => !given.some((toleration) => at(toleration, "key") === key || at(toleration, "key") === undefined),
  );
  return [
    ...given,
    ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 })),
  ];
}

/** Guaranteed: each container's limits are its requests, of both kinds; BestEffort: none says anything. */
function qosClass(spec: Fields): string {
  const containers = [...listAt(spec, "containers"), ...listAt(spec, "initContainers")];
  const amounts = containers.map((container) => ({
    limits: at(container, "resources", "limits"),
    requests: at(container, "resources", "requests"),
  }));
  const some = (value: unknown): value is Fields => isFields(value) && Object.keys(value).length > 0;
  if (!amounts.some(({ limits, requests }) => some(limits) || some(requests))) return "BestEffort";
  const fixed = amounts.every(
    ({ limits, requests }) =>
      some(limits) &&
      limits["cpu"] !== undefined &&
      limits["memory"] !== undefined &&
      (requests === undefined || deepEqual(limits, requests)),
  );
  return fixed ? "Guaranteed" : "Burstable";
}

export const podRules: KindRules = {
  defaults(object) {
    const spec = podSpecDefaults(isFields(object["spec"]) ? object["spec"] : {});
    spec["enableServiceLinks"] ??= true;
    object["spec"] = spec;
  },
  prepareCreate(object) {
    const spec: Fields = { ...(object["spec"] as Fields) };
    spec["serviceAccountName"] ??= "default";
    spec["serviceAccount"] ??= spec["serviceAccountName"];
    spec["priority"] ??= 0;
    spec["preemptionPolicy"] ??= "PreemptLowerPriority";
    spec["tolerations"] = tolerations(listAt(spec, "tolerations"));
    object["spec"] = spec;
    object["status"] = { phase: "Pending", qosClass: qosClass(spec) };
  },
  validate: (object) => containerErrors(object, ["spec"]),
};

export function containerErrors(object: ApiObject, path: readonly string[]): FieldError[] {
  const containers = listAt(object, ...path, "containers");
  const field = `${path.join(".")}.containers`;
  if (containers.length === 0) return [fieldRequired(field)];
  return containers.flatMap((container, i) => {
    const errors: FieldError[] = [];
    if (!at(container, "name")) errors.push(fieldRequired(`${field}[${i}].name`));
    if (!at(container, "image")) errors.push(fieldRequired(`${field}[${i}].image`));
    return errors;
  });
}

/** The spec with its pod template's defaults. */
export function withTemplateDefaults(spec: Fields): Fields {
  const template = isFields(spec["template"]) ? spec["template"] : {};
  const pod = podSpecDefaults(isFields(template["spec"]) ? template["spec"] : {});
  return { ...spec, template: { ...template, spec: pod } };
}

/** A workload needs a selector that its template answers to, and containers. */
export function templateErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const selector = at(object, "spec", "selector", "matchLabels");
  const labels = at(object, "spec", "template", "metadata", "labels");
  if (at(object, "spec", "selector") === undefined) {
    errors.push(fieldRequired("spec.selector"));
    errors.push(
      fieldInvalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`"),
    );
  } else if (isFields(selector)) {
    const has = isFields(labels) ? labels : {};
    if (Object.entries(selector).some(([key, value]) => has[key] !== value)) {
      errors.push(
        fieldInvalid("spec.template.metadata.labels", labels ?? null, "`selector` does not match template `labels`"),
      );
    }
  }
  errors.push(...containerErrors(object, ["spec", "template", "spec"]));
  if (old !== undefined && !deepEqual(at(object, "spec", "selector"), at(old, "spec", "selector"))) {
    errors.push(fieldInvalid("spec.selector", at(object, "spec", "selector"), "field is immutable"));
  }
  return errors;
}

export const deploymentRules: KindRules = {
  defaults(object) {
    const spec: Fields = { ...(isFields(object["spec"]) ? object["spec"] : {}) };
    spec["replicas"] ??= 1;
    spec["revisionHistoryLimit"] ??= 10;
    spec["progressDeadlineSeconds"] ??= 600;
    const strategy: Fields = { ...(isFields(spec["strategy"]) ? spec["strategy"] : {}) };
    strategy["type"] ??= "RollingUpdate";
    if (strategy["type"] === "RollingUpdate") {
      const rolling = isFields(strategy["rollingUpdate"]) ? strategy["rollingUpdate"] : {};
      strategy["rollingUpdate"] = {
        maxUnavailable: rolling["maxUnavailable"] ?? "25%",
        maxSurge: rolling["maxSurge"] ?? "25%",
      };
    }
    spec["strategy"] = strategy;
    object["spec"] = withTemplateDefaults(spec);
  },
  prepareCreate(object) {
    object["status"] = {};
  },
  validate: templateErrors,
};

export const replicaSetRules: KindRules = {
  defaults(object) {
    const spec: Fields = { ...(isFields(object["spec"]) ? object["spec"] : {}) };
    spec["replicas"] ??= 1;
    object["spec"] = withTemplateDefaults(spec);
  },
  prepareCreate(object) {
    object["status"] = { replicas: 0 };
  },
  validate: templateErrors,
};
