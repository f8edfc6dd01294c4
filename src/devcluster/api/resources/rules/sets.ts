/** Rules of jobs, daemon sets and stateful sets. */
import { at, deepEqual, isFields, listAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import type { KindRules } from "../definition.ts";
import { containerErrors, podSpecDefaults, templateErrors, withTemplateDefaults } from "./workloads.ts";

const fields = (value: unknown): Fields => (isFields(value) ? value : {});

/** A rolling update's settings, where the strategy is one. */
function rolling(strategy: unknown, defaults: Fields): Fields {
  const made: Fields = { ...fields(strategy) };
  made["type"] ??= "RollingUpdate";
  if (made["type"] === "RollingUpdate") made["rollingUpdate"] = { ...defaults, ...fields(made["rollingUpdate"]) };
  return made;
}

/** An annotation that counts the changes of a DaemonSet's template, from older times. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

function countTemplate(object: ApiObject, old: ApiObject | undefined): void {
  const before = Number(old?.metadata.annotations?.[TEMPLATE_GENERATION] ?? "0");
  const changed = old === undefined || !deepEqual(at(object, "spec", "template"), at(old, "spec", "template"));
  const annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(before + (changed ? 1 : 0)) };
  object.metadata = { ...object.metadata, annotations };
}

export const daemonSetRules: KindRules = {
  defaults(object, old) {
    const spec = withTemplateDefaults(fields(object["spec"]));
    spec["updateStrategy"] = rolling(spec["updateStrategy"], { maxUnavailable: 1, maxSurge: 0 });
    spec["revisionHistoryLimit"] ??= 10;
    object["spec"] = spec;
    countTemplate(object, old);
  },
  prepareCreate(object) {
    object["status"] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
  },
  validate: templateErrors,
};

export const statefulSetRules: KindRules = {
  defaults(object) {
    const spec = withTemplateDefaults(fields(object["spec"]));
    spec["podManagementPolicy"] ??= "OrderedReady";
    spec["updateStrategy"] = rolling(spec["updateStrategy"], { partition: 0, maxUnavailable: 1 });
    spec["persistentVolumeClaimRetentionPolicy"] = {
      whenDeleted: "Retain",
      whenScaled: "Retain",
      ...fields(spec["persistentVolumeClaimRetentionPolicy"]),
    };
    spec["replicas"] ??= 1;
    spec["revisionHistoryLimit"] ??= 10;
    object["spec"] = spec;
  },
  prepareCreate(object) {
    object["status"] = { replicas: 0, availableReplicas: 0 };
  },
  validate: templateErrors,
};

function jobSpecDefaults(given: unknown): Fields {
  const spec: Fields = { ...fields(given) };
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  spec["parallelism"] ??= 1;
  spec["backoffLimit"] ??= spec["backoffLimitPerIndex"] === undefined ? 6 : 2_147_483_647;
  spec["completionMode"] ??= "NonIndexed";
  spec["suspend"] ??= false;
  spec["podReplacementPolicy"] ??= spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed";
  spec["manualSelector"] ??= false;
  return withTemplateDefaults(spec);
}

/** The labels by which a Job knows its pods. */
function ownLabels(object: ApiObject): Fields {
  const { name, uid } = object.metadata;
  return {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
}

export const jobRules: KindRules = {
  defaults(object) {
    const spec = jobSpecDefaults(object["spec"]);
    const labels = fields(fields(fields(spec["template"])["metadata"])["labels"]);
    if (Object.keys(labels).length > 0 && Object.keys(object.metadata.labels ?? {}).length === 0) {
      object.metadata.labels = { ...labels } as Record<string, string>;
    }
    object["spec"] = spec;
  },
  prepareCreate(object) {
    const spec: Fields = { ...fields(object["spec"]) };
    if (spec["manualSelector"] !== true) {
      const template = fields(spec["template"]);
      const metadata = fields(template["metadata"]);
      const labels = { ...ownLabels(object), ...fields(metadata["labels"]) };
      spec["template"] = { ...template, metadata: { ...metadata, labels } };
      spec["selector"] = {
        matchLabels: { "batch.kubernetes.io/controller-uid": object.metadata.uid, ...matchLabels(spec) },
      };
    }
    object["spec"] = spec;
    object["status"] = {};
    if (Object.keys(object.metadata.labels ?? {}).length === 0) {
      object.metadata.labels = { ...fields(at(spec, "template", "metadata", "labels")) } as Record<string, string>;
    }
  },
  validate: (object) => containerErrors(object, ["spec", "template", "spec"]),
};

const matchLabels = (spec: Fields): Fields => fields(fields(spec["selector"])["matchLabels"]);

export const cronJobRules: KindRules = {
  defaults(object) {
    const spec: Fields = { ...fields(object["spec"]) };
    spec["concurrencyPolicy"] ??= "Allow";
    spec["suspend"] ??= false;
    spec["successfulJobsHistoryLimit"] ??= 3;
    spec["failedJobsHistoryLimit"] ??= 1;
    const template = fields(spec["jobTemplate"]);
    const job: Fields = { ...fields(template["spec"]) };
    const pod = fields(job["template"]);
    // only the pods' own defaults: those of the Job come when it is made
    if (listAt(pod, "spec", "containers").length > 0) {
      job["template"] = { ...pod, spec: podSpecDefaults(fields(pod["spec"])) };
      spec["jobTemplate"] = { ...template, spec: job };
    }
    object["spec"] = spec;
  },
  prepareCreate(object) {
    object["status"] = {};
  },
  validate: (object) => containerErrors(object, ["spec", "jobTemplate", "spec", "template", "spec"]),
};
