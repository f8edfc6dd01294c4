/** Create, update and patch: decode, default, own, validate, store. */
import { applyOnto, ownUpdate } from "./ownership.ts";
import type { ApiState, WriteOptions } from "./context.ts";
import { ruleContext } from "./context.ts";
import { checkIdentity, decode } from "./decode.ts";
import { shownObject } from "./encode.ts";
import { initialMetadata, keptMetadata } from "./metadata.ts";
import { checkNamespace } from "./namespaces.ts";
import { completeDeletion } from "./delete.ts";
import { validateObject } from "./validate.ts";
import { asText, deepEqual, isFields, stringAt } from "../objects.ts";
import type { ApiObject, Fields, ManagedFieldsEntry } from "../objects.ts";
import { storageKey } from "../resources/definition.ts";
import type { View } from "../resources/definition.ts";
import { DecodeError } from "../schema/go-codec.ts";
import {
  StatusError,
  alreadyExists,
  badRequest,
  conflict,
  internalError,
  invalid,
  modified,
  notFound,
} from "../status.ts";
import { fieldInvalid } from "../status.ts";
import { storedVersion } from "../storage/record.ts";
import type { StoredVersion } from "../storage/record.ts";

export interface Written {
  readonly stored: StoredVersion;
  readonly created: boolean;
}

const store = (state: ApiState, view: View) => state.database.store(view.definition);

/** The stored object, or 404. */
export function read(state: ApiState, view: View, namespace: string, name: string): StoredVersion {
  const stored = store(state, view).get(storageKey(view.definition, namespace, name));
  if (stored === undefined) throw notFound(view.definition, name);
  return stored;
}

const toStored = (view: View, object: ApiObject): ApiObject => {
  if (view.toStored !== undefined) return view.toStored(object);
  if (view.definition.builtIn || view.version === view.definition.storageVersion) return object;
  return { ...object, apiVersion: `${view.definition.group}/${view.definition.storageVersion}` };
};

/** Creates an object from a body. */
export function create(state: ApiState, view: View, namespace: string, body: unknown, options: WriteOptions): Written {
  checkIdentity(view, body, namespace, undefined);
  const object = decode(view, body, options);
  return finishCreate(state, view, namespace, object, options);
}

function finishCreate(
  state: ApiState,
  view: View,
  namespace: string,
  decoded: ApiObject,
  options: WriteOptions,
  applied = false,
): Written {
  if (decoded.metadata.resourceVersion && !applied) {
    throw internalError("resourceVersion should not be set on objects to be created");
  }
  const { definition } = view;
  const context = ruleContext(state, options);
  const object: ApiObject = { ...decoded, metadata: initialMetadata(view, decoded.metadata, namespace, state) };
  if (definition.namespaced) checkNamespace(state, definition, namespace, object.metadata.name ?? "");
  if (definition.terminating === true) {
    throw new StatusError(403, "Forbidden", `create not allowed while custom resource definition is terminating`);
  }
  if (definition.status && view.schema !== undefined) delete object["status"];
  if (!applied) {
    delete object.metadata.managedFields;
    ownUpdate(view, undefined, object, state, options);
  }
  definition.rules.prepareCreate?.(object, context);
  validateObject(view, object, undefined, context);
  const key = storageKey(definition, namespace, object.metadata.name);
  if (store(state, view).get(key) !== undefined) throw alreadyExists(definition, object.metadata.name);
  if (options.dryRun) return { stored: storedVersion(key, toStored(view, object), 0), created: true };
  return { stored: store(state, view).put(key, toStored(view, object)), created: true };
}

/** Replaces an object by a body (PUT). */
export function update(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  body: unknown,
  options: WriteOptions,
): Written {
  checkIdentity(view, body, namespace, name);
  const key = storageKey(view.definition, namespace, name);
  const stored = store(state, view).get(key);
  if (stored === undefined) {
    if (!view.definition.createOnUpdate || options.subresource !== "") throw notFound(view.definition, name);
    const object = decode(view, body, options);
    object.metadata = { ...object.metadata, name };
    delete object.metadata.resourceVersion;
    return finishCreate(state, view, namespace, object, options);
  }
  const old = shownObject(view, stored);
  const object = decode(view, body, options, old);
  if (view.definition.conditionalUpdate && !object.metadata.resourceVersion) {
    throw invalid({ group: view.definition.group, kind: view.definition.plural }, name, [
      fieldInvalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  return finishUpdate(state, view, stored, object, options);
}

/** What a PATCH makes of the current object. */
export type PatchFunction = (current: ApiObject) => unknown;

/** Patches an existing object (JSON, merge or strategic merge). */
export function patch(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  change: PatchFunction,
  options: WriteOptions,
): Written {
  const stored = read(state, view, namespace, name);
  const old = shownObject(view, stored);
  const body = change(old);
  checkIdentity(view, body, namespace, name);
  return finishUpdate(state, view, stored, decodePatched(view, body, options, old), options);
}

/** A patch whose result does not decode is invalid, where a body that does not is a bad request. */
function decodePatched(view: View, body: unknown, options: WriteOptions, old: ApiObject): ApiObject {
  try {
    return decode(view, body, options, old);
  } catch (error) {
    if (!(error instanceof StatusError) || !(error.cause instanceof DecodeError)) throw error;
    throw invalid({ group: "", kind: "" }, "", [fieldInvalid("patch", JSON.stringify(body), error.cause.message)]);
  }
}

/** Server-side apply. */
export function apply(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  config: unknown,
  options: WriteOptions,
): Written {
  if (!isFields(config)) throw badRequest("error decoding YAML: expected an object");
  const metadata = isFields(config["metadata"]) ? config["metadata"] : {};
  if (metadata["managedFields"] !== undefined) throw badRequest("metadata.managedFields must be nil");
  if (typeof config["apiVersion"] !== "string" || typeof config["kind"] !== "string") {
    throw badRequest(
      `invalid object type: ${asText(config["apiVersion"] ?? "/")}, Kind=${asText(config["kind"] ?? "")}`,
    );
  }
  checkIdentity(view, config, namespace, name);
  const named = {
    ...config,
    metadata: { ...metadata, name, ...(view.definition.namespaced ? { namespace } : {}) },
  } as unknown as ApiObject;
  const sentNamespace = stringAt(metadata, "namespace");
  const stored = store(state, view).get(storageKey(view.definition, namespace, name));
  if (stored === undefined && options.subresource !== "") throw notFound(view.definition, name);
  if (stored === undefined) {
    const applied = applyOnto(view, undefined, named, sentNamespace, state, options);
    const { managedFields } = applied.metadata;
    const object = decode(view, applied, { ...options, fieldValidation: "Ignore" });
    if (managedFields !== undefined) object.metadata.managedFields = managedFields;
    return finishCreate(state, view, namespace, object, options, true);
  }
  const old = shownObject(view, stored);
  const applied = applyOnto(view, old, named, sentNamespace, state, options);
  if (metadata["resourceVersion"] === undefined) delete applied.metadata.resourceVersion;
  const object = decode(view, applied, { ...options, fieldValidation: "Ignore" }, old);
  return finishUpdate(state, view, stored, object, options, applied.metadata.managedFields ?? []);
}

/** The parts that the endpoint does not write are the old ones. */
function writable(view: View, object: ApiObject, old: ApiObject, subresource: string): ApiObject {
  if (!view.definition.status) return object;
  if (subresource === "") {
    const { status: _dropped, ...rest } = object;
    return old["status"] === undefined ? rest : { ...rest, status: old["status"] };
  }
  const metadata = { ...old.metadata };
  if (view.definition.statusTakesMetadata) {
    const { labels, annotations } = object.metadata;
    if (labels === undefined) delete metadata.labels;
    else metadata.labels = labels;
    if (annotations === undefined) delete metadata.annotations;
    else metadata.annotations = annotations;
  }
  const { managedFields, resourceVersion, uid } = object.metadata;
  const { status: _old, ...rest } = old;
  const merged = { ...metadata, ...(uid === undefined ? {} : { uid }) };
  if (managedFields !== undefined) merged.managedFields = managedFields;
  else delete merged.managedFields;
  if (resourceVersion !== undefined) merged.resourceVersion = resourceVersion;
  else delete merged.resourceVersion;
  return { ...rest, metadata: merged, ...(object["status"] === undefined ? {} : { status: object["status"] }) };
}

function checkPreconditions(view: View, object: ApiObject, old: ApiObject): void {
  const { resourceVersion, uid } = object.metadata;
  if (uid && uid !== old.metadata.uid) {
    throw conflict(
      view.definition,
      old.metadata.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (resourceVersion && resourceVersion !== "0" && resourceVersion !== old.metadata.resourceVersion) {
    if (!/^\d+$/.test(resourceVersion)) {
      throw invalid(view.definition, old.metadata.name, [
        fieldInvalid("metadata.resourceVersion", resourceVersion, "must be a number"),
      ]);
    }
    throw modified(view.definition, old.metadata.name);
  }
}

const withoutTimes = (entries: readonly ManagedFieldsEntry[] | undefined): unknown =>
  entries?.map(({ time: _time, ...rest }) => rest);

/** Whether nothing but time stamps of managed fields differs. */
function unchanged(object: ApiObject, old: ApiObject): boolean {
  const { metadata: a, ...restA } = object;
  const { metadata: b, ...restB } = old;
  const { managedFields: managedA, resourceVersion: _a, ...metaA } = a;
  const { managedFields: managedB, resourceVersion: _b, ...metaB } = b;
  return (
    deepEqual(restA, restB) && deepEqual(metaA, metaB) && deepEqual(withoutTimes(managedA), withoutTimes(managedB))
  );
}

function contentChanged(view: View, object: ApiObject, old: ApiObject): boolean {
  const strip = (value: ApiObject): Fields => {
    const { metadata: _m, ...rest } = value as Fields;
    if (view.definition.status) delete rest["status"];
    return rest;
  };
  return !deepEqual(strip(object), strip(old));
}

function finishUpdate(
  state: ApiState,
  view: View,
  stored: StoredVersion,
  decoded: ApiObject,
  options: WriteOptions,
  managed?: readonly ManagedFieldsEntry[],
): Written {
  const { definition } = view;
  const old = shownObject(view, stored);
  const context = ruleContext(state, options);
  let object = writable(view, decoded, old, options.subresource);
  checkPreconditions(view, object, old);
  object = { ...object, metadata: keptMetadata(object.metadata, old.metadata) };
  if (managed === undefined) ownUpdate(view, old, object, state, options);
  else if (managed.length > 0) object.metadata.managedFields = [...managed];
  // after it: what the server allocates is nobody's
  definition.rules.prepareUpdate?.(object, old, context);
  if (definition.generation && contentChanged(view, object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  validateObject(view, object, old, context);
  if (unchanged(object, old)) return { stored, created: false };
  if (options.dryRun) return { stored: storedVersion(stored.key, toStored(view, object), 0), created: false };
  const done = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
  if (done && completeDeletion(state, view, stored, toStored(view, object))) {
    return { stored: storedVersion(stored.key, toStored(view, object), stored.revision), created: false };
  }
  return { stored: store(state, view).put(stored.key, toStored(view, object)), created: false };
}
