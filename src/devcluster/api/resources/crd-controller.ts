/** Serves what CustomResourceDefinitions define: follows their store, keeps views registered and conditions up to date. */
import { secondsTime } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import { defaultWriteOptions } from "../operations/context.ts";
import type { ApiState } from "../operations/context.ts";
import { ownUpdate } from "../operations/ownership.ts";
import { definitionView } from "./crd-definition.ts";
import { specOf } from "./crd-names.ts";
import { viewsOf } from "./crd-view.ts";
import type { View } from "./definition.ts";

export const customResourceDefinitions = {
  group: "apiextensions.k8s.io",
  plural: "customresourcedefinitions",
} as const;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Which name of the definition another one of its group has already; undefined for none. */
function clash(state: ApiState, object: ApiObject): Pick<Condition, "reason" | "message"> | undefined {
  const spec = specOf(object);
  for (const record of state.database.store(customResourceDefinitions).records()) {
    const other = specOf(record.object);
    if (record.object.metadata.name === object.metadata.name || other.group !== spec.group) continue;
    if (
      !state.registry
        .views()
        .some((view) => view.group === other.group && view.definition.plural === other.names.plural)
    )
      continue;
    const kinds = new Set([other.names.kind, other.names.listKind]);
    if (kinds.has(spec.names.kind))
      return { reason: "KindConflict", message: `${JSON.stringify(spec.names.kind)} is already in use` };
    if (kinds.has(spec.names.listKind))
      return { reason: "ListKindConflict", message: `${JSON.stringify(spec.names.listKind)} is already in use` };
    const short = spec.names.shortNames?.find((name) => other.names.shortNames?.includes(name));
    if (short !== undefined)
      return { reason: "ShortNamesConflict", message: `${JSON.stringify(short)} is already in use` };
  }
  return undefined;
}

function acceptedStatus(state: ApiState, object: ApiObject): Fields {
  const spec = specOf(object);
  const lastTransitionTime = secondsTime(state.now());
  const refused = clash(state, object);
  const condition = (type: string, ok: boolean, reason: string, message: string): Condition => ({
    lastTransitionTime,
    message,
    reason,
    status: ok ? "True" : "False",
    type,
  });
  const conditions =
    refused === undefined
      ? [
          condition("NamesAccepted", true, "NoConflicts", "no conflicts found"),
          condition("Established", true, "InitialNamesAccepted", "the initial names have been accepted"),
        ]
      : [
          condition("NamesAccepted", false, refused.reason, refused.message),
          condition("Established", false, "NotAccepted", "not all names are accepted"),
        ];
  const stored = (object["status"] as { storedVersions?: string[] } | undefined)?.storedVersions ?? [];
  const storage = spec.versions.find((version) => version.storage)?.name;
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  return { conditions, acceptedNames: refused === undefined ? spec.names : { plural: "", kind: "" }, storedVersions };
}

/** The conditions as they must be; undefined when they are so already. */
function wantedStatus(state: ApiState, object: ApiObject): Fields | undefined {
  const status = object["status"] as { conditions?: Condition[] | null; storedVersions?: string[] } | undefined;
  const storage = specOf(object).versions.find((version) => version.storage)?.name ?? "";
  const known = (status?.conditions ?? []).some((condition) => condition.type === "Established");
  if (object.metadata.deletionTimestamp !== undefined) {
    if ((status?.conditions ?? []).some((condition) => condition.type === "Terminating")) return undefined;
    const terminating = {
      lastTransitionTime: secondsTime(state.now()),
      message: "CustomResource deletion is in progress",
      reason: "InstanceDeletionInProgress",
      status: "True",
      type: "Terminating",
    };
    return { ...status, conditions: [...(status?.conditions ?? []), terminating] };
  }
  if (known && (status?.storedVersions ?? []).includes(storage)) return undefined;
  const made = acceptedStatus(state, object);
  return known ? { ...status, storedVersions: made["storedVersions"] } : made;
}

const isEstablished = (object: ApiObject): boolean => {
  const status = object["status"] as { conditions?: Condition[] | null } | undefined;
  return (status?.conditions ?? []).some(
    (condition) => condition.type === "Established" && condition.status === "True",
  );
};

/** Whose the conditions are. */
const writer = { ...defaultWriteOptions, fieldManager: "kube-apiserver", subresource: "status" } as const;

/** Starts following; the views of established definitions are in the registry from then on. */
export function followDefinitions(state: ApiState): void {
  const store = state.database.store(customResourceDefinitions);
  const served = new Map<string, readonly View[]>();
  const serve = (key: string, views: readonly View[]): void => {
    for (const view of served.get(key) ?? []) {
      if (!views.some((other) => other.apiVersion === view.apiVersion)) state.registry.remove(view);
    }
    for (const view of views) state.registry.add(view);
    if (views.length > 0) served.set(key, views);
    else served.delete(key);
  };
  store.listen((change) => {
    const { key, object } = change.after;
    if (change.deleted) {
      serve(key, []);
      const spec = specOf(object);
      state.database.drop({ group: spec.group, plural: spec.names.plural });
      return;
    }
    if (isEstablished(object)) serve(key, viewsOf(object));
    const status = wantedStatus(state, object);
    // the condition is a write of its own, after the one that is being told now
    if (status !== undefined) setImmediate(() => refresh(key));
  });
  const refresh = (key: string): void => {
    const stored = store.get(key);
    if (stored === undefined) return;
    const status = wantedStatus(state, stored.object);
    if (status === undefined) return;
    const object = { ...stored.object, metadata: { ...stored.object.metadata }, status };
    ownUpdate(definitionView, stored.object, object, state, writer);
    store.put(key, object);
  };
}
