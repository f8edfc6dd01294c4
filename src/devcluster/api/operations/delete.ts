/** Deletion: preconditions, finalizers, propagation. */
import type { ApiObject, Fields } from "../objects.ts";
import { isFields, secondsTime } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { storageKey } from "../resources/definition.ts";
import { StatusError, fieldNotSupported, forbidden, notFound, optionsInvalid } from "../status.ts";
import { storedVersion } from "../storage/record.ts";
import type { StoredVersion } from "../storage/record.ts";
import type { Asking } from "./asking.ts";
import type { ApiState } from "./context.ts";
import { shownObject } from "./encode.ts";

export interface DeleteOptions {
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan";
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
  /** The options as they were sent, for webhooks. */
  readonly sent: Fields;
  /** Part of a collection: webhooks are not told the name apart from the object. */
  readonly collection: boolean;
  readonly warn: (text: string) => void;
}

export const defaultDeleteOptions: DeleteOptions = {
  propagationPolicy: "Background",
  uid: undefined,
  resourceVersion: undefined,
  dryRun: false,
  sent: {},
  collection: false,
  warn: () => undefined,
};

/** From a DeleteOptions body and the query. */
export function deleteOptions(
  body: unknown,
  query: URLSearchParams,
  more: Pick<DeleteOptions, "collection" | "warn" | "propagationPolicy">,
): DeleteOptions {
  const given = isFields(body) ? body : {};
  const preconditions = isFields(given["preconditions"]) ? given["preconditions"] : {};
  const policy = given["propagationPolicy"] ?? query.get("propagationPolicy") ?? more.propagationPolicy;
  if (policy !== "Background" && policy !== "Foreground" && policy !== "Orphan") {
    throw optionsInvalid(
      "DeleteOptions",
      fieldNotSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]),
    );
  }
  const orphan = given["orphanDependents"] === true;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const { apiVersion: _version, kind: _kind, ...sent } = given;
  return {
    ...more,
    sent,
    propagationPolicy: orphan ? "Orphan" : policy,
    uid: text(preconditions["uid"]),
    resourceVersion: text(preconditions["resourceVersion"]),
    dryRun:
      query.getAll("dryRun").includes("All") || (Array.isArray(given["dryRun"]) && given["dryRun"].includes("All")),
  };
}

export interface Deleted {
  /** The object's last state (or its present one, where finalizers keep it). */
  readonly stored: StoredVersion;
  readonly gone: boolean;
}

const PROTECTED = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

function checkPreconditions(view: View, stored: StoredVersion, options: DeleteOptions): void {
  const { uid = "", resourceVersion = "", name } = stored.object.metadata;
  const refuse = (what: string, wanted: string, is: string): StatusError =>
    new StatusError(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ${view.definition.kind}${view.definition.group === "" ? "" : `.${view.definition.group}`} "${name}": the ${what} in the precondition (${wanted}) does not match the ${what} in record (${is}). The object might have been ${what === "UID" ? "deleted and then recreated" : "modified"}`,
      { name, ...(view.definition.group === "" ? {} : { group: view.definition.group }), kind: view.definition.kind },
    );
  if (options.uid !== undefined && options.uid !== uid) throw refuse("UID", options.uid, uid);
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw refuse("ResourceVersion", options.resourceVersion, resourceVersion);
  }
}

/** Finalizers that keep the object after this request. */
function pendingFinalizers(view: View, object: ApiObject, options: DeleteOptions): string[] {
  const finalizers = new Set(object.metadata.finalizers ?? []);
  if (options.propagationPolicy === "Foreground") finalizers.add("foregroundDeletion");
  if (options.propagationPolicy === "Orphan") finalizers.add("orphan");
  if (view.definition.plural === "customresourcedefinitions") {
    finalizers.add("customresourcecleanup.apiextensions.k8s.io");
  }
  return [...finalizers];
}

/** A webhook can refuse a deletion; it cannot change what is deleted. */
function* askAbout(view: View, stored: StoredVersion, options: DeleteOptions): Asking<void> {
  const old = shownObject(view, stored);
  const question = {
    operation: "DELETE",
    view,
    subresource: "",
    disguise: undefined,
    namespace: stored.namespace,
    name: options.collection ? "" : old.metadata.name,
    object: undefined,
    old,
    dryRun: options.dryRun,
    options: options.sent,
    warn: options.warn,
  } as const;
  yield { ...question, phase: "mutating" };
  yield { ...question, phase: "validating" };
}

/** Deletes an object, or marks it when something has to happen first. */
export function* remove(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  options: DeleteOptions,
): Asking<Deleted> {
  const { definition } = view;
  const store = state.database.store(definition);
  const key = storageKey(definition, namespace, name);
  let stored = store.get(key);
  if (stored === undefined) throw notFound(definition, name);
  checkPreconditions(view, stored, options);
  const isNamespace = definition.group === "" && definition.plural === "namespaces";
  if (isNamespace && PROTECTED.has(name)) throw forbidden(definition, name, "this namespace may not be deleted");
  yield* askAbout(view, stored, options);
  stored = store.get(key);
  if (stored === undefined) throw notFound(definition, name);
  const finalizers = pendingFinalizers(view, stored.object, options);
  if (finalizers.length === 0 && !isNamespace) {
    if (options.dryRun) return { stored, gone: true };
    const last = store.remove(stored.key);
    state.aftermath.gone(stored.object);
    return { stored: last ?? stored, gone: true };
  }
  if (stored.object.metadata.deletionTimestamp !== undefined) return { stored, gone: false };
  const object = markDeleted(view, stored.object, finalizers, isNamespace, state);
  if (options.dryRun) return { stored: storedVersion(stored.key, object, stored.revision), gone: false };
  const marked = store.put(stored.key, object);
  state.aftermath.marked(definition, marked.key);
  return { stored: marked, gone: false };
}

function markDeleted(
  view: View,
  old: ApiObject,
  finalizers: readonly string[],
  isNamespace: boolean,
  state: ApiState,
): ApiObject {
  const metadata = { ...old.metadata, deletionTimestamp: secondsTime(state.now()), deletionGracePeriodSeconds: 0 };
  if (isNamespace) delete (metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds;
  if (finalizers.length > 0) metadata.finalizers = [...finalizers];
  if (view.definition.generation) metadata.generation = (metadata.generation ?? 0) + 1;
  const object: ApiObject = { ...old, metadata };
  if (isNamespace) object["status"] = { ...(isFields(old["status"]) ? old["status"] : {}), phase: "Terminating" };
  return object;
}

/** Removes an object whose last finalizer went with this write; false where something else still keeps it. */
export function completeDeletion(state: ApiState, view: View, stored: StoredVersion, last: ApiObject): boolean {
  if (view.definition.group === "" && view.definition.plural === "namespaces") return false;
  state.database.store(view.definition).remove(stored.key, last);
  state.aftermath.gone(last);
  return true;
}
