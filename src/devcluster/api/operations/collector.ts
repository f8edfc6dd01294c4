/**
 * What controllers of a real cluster do after a deletion: dependents follow their owner, `orphan` and
 * `foregroundDeletion` are worked off, namespaces and definitions lose their content first. Runs behind the request that
 * caused it, never inside.
 */
import type { ApiObject } from "../objects.ts";
import { listAt } from "../objects.ts";
import type { ResourceName } from "../status.ts";
import type { StoredVersion } from "../storage/record.ts";
import { rangeOf } from "../storage/sorted-records.ts";
import type { Aftermath, ApiState } from "./context.ts";
import { unasked } from "./asking.ts";
import { defaultDeleteOptions, remove } from "./delete.ts";

const isNamespace = (resource: ResourceName): boolean => resource.group === "" && resource.plural === "namespaces";
const isDefinition = (resource: ResourceName): boolean =>
  resource.group === "apiextensions.k8s.io" && resource.plural === "customresourcedefinitions";

const CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

/** Deletes a stored object as a client would, but that no webhook is asked. */
function deleteStored(state: ApiState, resource: ResourceName, stored: StoredVersion): void {
  const view = state.registry.storageView(resource.group, resource.plural);
  if (view === undefined) return;
  unasked(remove(state, view, stored.namespace, stored.object.metadata.name, defaultDeleteOptions));
}

/** After `owner` is gone: deletes what names it and has no other owner left. */
function collectDependents(state: ApiState, owner: ApiObject): void {
  const { uid, namespace } = owner.metadata;
  setImmediate(() => {
    if (uid !== undefined) {
      for (const { resource, key } of state.database.dependentsOf(uid)) {
        const stored = state.database.store(resource).get(key);
        if (stored === undefined) continue;
        const others = (stored.object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
        if (others.length === 0) deleteStored(state, resource, stored);
        else state.database.store(resource).put(key, withOwners(stored.object, others));
      }
    }
    for (const reference of owner.metadata.ownerReferences ?? []) retryOwner(state, reference.uid);
    if (namespace !== undefined && namespace !== "")
      continueDeletion(state, { group: "", plural: "namespaces" }, namespace);
    retryDefinition(state, owner);
  });
}

const withOwners = (
  object: ApiObject,
  ownerReferences: NonNullable<ApiObject["metadata"]["ownerReferences"]>,
): ApiObject => {
  const metadata = { ...object.metadata, ownerReferences };
  if (ownerReferences.length === 0) delete (metadata as { ownerReferences?: unknown }).ownerReferences;
  return { ...object, metadata };
};

/** An owner that waits for its dependents may be done now. */
function retryOwner(state: ApiState, uid: string): void {
  const at = state.database.locate(uid);
  if (at !== undefined) continueDeletion(state, at.resource, at.key);
}

/** The aftermath of deletions of `state`. */
export const aftermathOf = (state: () => ApiState): Aftermath => ({
  gone: (owner) => collectDependents(state(), owner),
  marked: (resource, key) => continueDeletion(state(), resource, key),
});

/** Deletes what names only owners that do not exist, a moment after it was written. */
export function followOwners(state: ApiState): void {
  state.database.listen((resource, change) => {
    const references = change.deleted ? undefined : change.after.object.metadata.ownerReferences;
    if (references === undefined || references.length === 0) return;
    setImmediate(() => {
      const stored = state.database.store(resource).get(change.after.key);
      if (stored === undefined || stored.object.metadata.deletionTimestamp !== undefined) return;
      const owners = stored.object.metadata.ownerReferences ?? [];
      if (owners.length > 0 && owners.every((reference) => state.database.locate(reference.uid) === undefined)) {
        deleteStored(state, resource, stored);
      }
    });
  });
}

function retryDefinition(state: ApiState, gone: ApiObject): void {
  const [group = "", version] = gone.apiVersion.includes("/") ? gone.apiVersion.split("/") : [""];
  if (version === undefined) return;
  const definitions = state.database.store({ group: "apiextensions.k8s.io", plural: "customresourcedefinitions" });
  for (const record of definitions.records()) {
    if (record.object.metadata.deletionTimestamp === undefined) continue;
    if (record.object.metadata.name.endsWith(`.${group}`)) {
      continueDeletion(state, { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" }, record.key);
    }
  }
}

/** Works on an object that is marked as deleted: does what its finalizers stand for and removes it when none is left. */
function continueDeletion(state: ApiState, resource: ResourceName, key: string): void {
  setImmediate(() => {
    const store = state.database.store(resource);
    const stored = store.get(key);
    if (stored?.object.metadata.deletionTimestamp === undefined) return;
    if (isNamespace(resource)) {
      if (emptyNamespace(state, stored.object.metadata.name)) store.remove(key);
      return;
    }
    const finalizers = new Set(stored.object.metadata.finalizers ?? []);
    const before = finalizers.size;
    if (finalizers.has("orphan")) {
      releaseDependents(state, stored.object.metadata.uid ?? "");
      finalizers.delete("orphan");
    }
    if (finalizers.has("foregroundDeletion") && deleteDependents(state, stored.object.metadata.uid ?? "")) {
      finalizers.delete("foregroundDeletion");
    }
    if (isDefinition(resource) && finalizers.has(CLEANUP) && emptyDefinition(state, stored.object)) {
      finalizers.delete(CLEANUP);
    }
    if (finalizers.size === before && before > 0) return;
    const metadata = { ...stored.object.metadata, finalizers: [...finalizers] };
    const object = { ...stored.object, metadata };
    if (finalizers.size > 0) store.put(key, object);
    else {
      store.remove(key, object);
      collectDependents(state, object);
    }
  });
}

/** Deletes everything in a namespace; true when nothing is left. */
function emptyNamespace(state: ApiState, namespace: string): boolean {
  let left = 0;
  for (const definition of state.registry.definitions()) {
    if (!definition.namespaced) continue;
    const store = state.database.store(definition);
    const records = store.records();
    const [start, end] = rangeOf(records, namespace);
    for (const record of records.slice(start, end)) {
      deleteStored(state, definition, record);
      if (store.get(record.key) !== undefined) left++;
    }
  }
  return left === 0;
}

function releaseDependents(state: ApiState, uid: string): void {
  for (const { resource, key } of state.database.dependentsOf(uid)) {
    const store = state.database.store(resource);
    const stored = store.get(key);
    if (stored === undefined) continue;
    const others = (stored.object.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
    store.put(key, withOwners(stored.object, others));
  }
}

/** Deletes the dependents; true when none is left that blocks its owner. */
function deleteDependents(state: ApiState, uid: string): boolean {
  for (const { resource, key } of state.database.dependentsOf(uid)) {
    const stored = state.database.store(resource).get(key);
    if (stored !== undefined) deleteStored(state, resource, stored);
  }
  return !state.database.dependentsOf(uid).some(({ resource, key }) => {
    const references = listAt(state.database.store(resource).get(key)?.object, "metadata", "ownerReferences");
    return references.some(
      (r) =>
        (r as { uid?: string; blockOwnerDeletion?: boolean }).uid === uid &&
        (r as { blockOwnerDeletion?: boolean }).blockOwnerDeletion === true,
    );
  });
}

/** Deletes all objects of a CustomResourceDefinition; true when none is left. */
function emptyDefinition(state: ApiState, definition: ApiObject): boolean {
  const spec = definition["spec"] as { group: string; names: { plural: string } };
  const resource = { group: spec.group, plural: spec.names.plural };
  const store = state.database.store(resource);
  for (const record of store.records()) deleteStored(state, resource, record);
  return store.size === 0;
}
