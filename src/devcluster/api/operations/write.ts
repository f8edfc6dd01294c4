/** Create, update and patch: decode, default, own, ask the webhooks, validate, store. */
import type { Asking, Question } from "./asking.ts";
import { applyOnto, ownUpdate } from "./ownership.ts";
import type { ApiState, WriteOptions } from "./context.ts";
import { ruleContext } from "./context.ts";
import { checkIdentity, decode } from "./decode.ts";
import { shownObject, toStored } from "./encode.ts";
import { draftMetadata, initialMetadata, keptMetadata } from "./metadata.ts";
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

/** What webhooks are asked about a write; without an answer a question changes nothing. */
function questionOf(
  view: View,
  options: WriteOptions,
  about: Pick<Question, "phase" | "operation" | "namespace" | "name" | "object" | "old">,
): Question {
  const { disguise, dryRun, sent, warn } = options;
  const subresource = disguise?.subresource ?? options.subresource;
  return { view, subresource, disguise, dryRun, options: sent, warn, ...about };
}

/** Decodes what a mutating webhook made of an object. */
const decodeMutated = (view: View, mutated: ApiObject, options: WriteOptions, old?: ApiObject): ApiObject =>
  decode(view, mutated, { ...options, fieldValidation: "Ignore" }, old);

/** Creates an object from a body. */
export function* create(
  state: ApiState,
  view: View,
  namespace: string,
  body: unknown,
  options: WriteOptions,
): Asking<Written> {
  checkIdentity(view, body, namespace, undefined);
  const object = decode(view, body, options);
  return yield* finishCreate(state, view, namespace, object, options);
}

/** What a webhook sees of an object that is about to be created: nothing that the server will give it. */
function* mutatedDraft(view: View, namespace: string, draft: ApiObject, options: WriteOptions): Asking<ApiObject> {
  const mutated = yield questionOf(view, options, {
    phase: "mutating",
    operation: "CREATE",
    namespace,
    name: draft.metadata.name ?? "",
    object: draft,
    old: undefined,
  });
  return mutated === undefined ? draft : decodeMutated(view, mutated, options);
}

function* finishCreate(
  state: ApiState,
  view: View,
  namespace: string,
  decoded: ApiObject,
  options: WriteOptions,
  applied = false,
): Asking<Written> {
  if (decoded.metadata.resourceVersion && !applied) {
    throw internalError("resourceVersion should not be set on objects to be created");
  }
  const { definition } = view;
  const context = ruleContext(state, options);
  if (definition.namespaced) checkNamespace(state, definition, namespace, decoded.metadata.name ?? "");
  if (definition.terminating === true) {
    throw new StatusError(403, "Forbidden", `create not allowed while custom resource definition is terminating`);
  }
  let draft: ApiObject = { ...decoded, metadata: draftMetadata(view, decoded.metadata, namespace) };
  if (definition.status && view.schema !== undefined) delete draft["status"];
  if (!applied) {
    delete draft.metadata.managedFields;
    ownUpdate(view, undefined, draft, state, options);
  }
  draft = yield* mutatedDraft(view, namespace, draft, options);
  const object: ApiObject = { ...draft, metadata: initialMetadata(view, draft.metadata, namespace, state) };
  definition.rules.prepareCreate?.(object, context);
  validateObject(view, object, undefined, context);
  const { name } = object.metadata;
  yield questionOf(view, options, {
    phase: "validating",
    operation: "CREATE",
    namespace,
    name,
    object,
    old: undefined,
  });
  const key = storageKey(definition, namespace, name);
  if (store(state, view).get(key) !== undefined) throw alreadyExists(definition, name);
  if (options.dryRun) return { stored: storedVersion(key, toStored(view, object), 0), created: true };
  return { stored: store(state, view).put(key, toStored(view, object)), created: true };
}

/** How often a write without a resourceVersion begins again because another came between. */
const ATTEMPTS = 5;

/** Runs an attempt until nobody changed the object while the webhooks were asked. */
function* settled(view: View, name: string, attempt: () => Asking<Written | undefined>): Asking<Written> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const written = yield* attempt();
    if (written !== undefined) return written;
  }
  throw modified(view.definition, name);
}

/** Replaces an object by a body (PUT). */
export function* update(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  body: unknown,
  options: WriteOptions,
): Asking<Written> {
  checkIdentity(view, body, namespace, name);
  return yield* settled(view, name, () => replace(state, view, namespace, name, body, options));
}

function* replace(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  body: unknown,
  options: WriteOptions,
): Asking<Written | undefined> {
  const key = storageKey(view.definition, namespace, name);
  const stored = store(state, view).get(key);
  if (stored === undefined) {
    if (!view.definition.createOnUpdate || options.subresource !== "") throw notFound(view.definition, name);
    const object = decode(view, body, options);
    object.metadata = { ...object.metadata, name };
    delete object.metadata.resourceVersion;
    return yield* finishCreate(state, view, namespace, object, options);
  }
  const old = shownObject(view, stored);
  const object = decode(view, body, options, old);
  if (view.definition.conditionalUpdate && !object.metadata.resourceVersion) {
    throw invalid({ group: view.definition.group, kind: view.definition.plural }, name, [
      fieldInvalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  return yield* finishUpdate(state, view, stored, object, options);
}

/** What a PATCH makes of the current object. */
export type PatchFunction = (current: ApiObject) => unknown;

/** Patches an existing object (JSON, merge or strategic merge). */
export function* patch(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  change: PatchFunction,
  options: WriteOptions,
): Asking<Written> {
  return yield* settled(view, name, function* () {
    const stored = read(state, view, namespace, name);
    const old = shownObject(view, stored);
    const body = change(old);
    checkIdentity(view, body, namespace, name);
    return yield* finishUpdate(state, view, stored, decodePatched(view, body, options, old), options);
  });
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
export function* apply(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  config: unknown,
  options: WriteOptions,
): Asking<Written> {
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
  const sent = {
    named,
    namespace: stringAt(metadata, "namespace"),
    versioned: metadata["resourceVersion"] !== undefined,
  };
  return yield* settled(view, name, () => applyOnce(state, view, namespace, sent, options));
}

/** An applied configuration; `namespace` as the client wrote it. */
interface SentConfiguration {
  readonly named: ApiObject;
  readonly namespace: string;
  readonly versioned: boolean;
}

function* applyOnce(
  state: ApiState,
  view: View,
  namespace: string,
  sent: SentConfiguration,
  options: WriteOptions,
): Asking<Written | undefined> {
  const { named } = sent;
  const { name } = named.metadata;
  const stored = store(state, view).get(storageKey(view.definition, namespace, name));
  if (stored === undefined && options.subresource !== "") throw notFound(view.definition, name);
  if (stored === undefined) {
    const applied = applyOnto(view, undefined, named, sent.namespace, state, options);
    const { managedFields } = applied.metadata;
    const object = decode(view, applied, { ...options, fieldValidation: "Ignore" });
    if (managedFields !== undefined) object.metadata.managedFields = managedFields;
    return yield* finishCreate(state, view, namespace, object, options, true);
  }
  const old = shownObject(view, stored);
  const applied = applyOnto(view, old, named, sent.namespace, state, options);
  if (!sent.versioned) delete applied.metadata.resourceVersion;
  const object = decode(view, applied, { ...options, fieldValidation: "Ignore" }, old);
  return yield* finishUpdate(state, view, stored, object, options, applied.metadata.managedFields ?? []);
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

/** Stores the new state; undefined when the stored one changed while webhooks were asked. */
function* finishUpdate(
  state: ApiState,
  view: View,
  stored: StoredVersion,
  decoded: ApiObject,
  options: WriteOptions,
  managed?: readonly ManagedFieldsEntry[],
): Asking<Written | undefined> {
  const { definition } = view;
  const old = shownObject(view, stored);
  const context = ruleContext(state, options);
  let object = writable(view, decoded, old, options.subresource);
  checkPreconditions(view, object, old);
  object = { ...object, metadata: keptMetadata(object.metadata, old.metadata) };
  if (managed === undefined) ownUpdate(view, old, object, state, options);
  else if (managed.length > 0) object.metadata.managedFields = [...managed];
  const about = { operation: "UPDATE", namespace: stored.namespace, name: old.metadata.name, old } as const;
  const mutated = yield questionOf(view, options, { ...about, phase: "mutating", object });
  if (mutated !== undefined) {
    object = writable(view, decodeMutated(view, mutated, options, old), old, options.subresource);
    object = { ...object, metadata: keptMetadata(object.metadata, old.metadata) };
  }
  // after it: what the server allocates is nobody's
  definition.rules.prepareUpdate?.(object, old, context);
  if (definition.generation && contentChanged(view, object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  validateObject(view, object, old, context);
  yield questionOf(view, options, { ...about, phase: "validating", object });
  if (store(state, view).get(stored.key) !== stored) return undefined;
  if (unchanged(object, old)) return { stored, created: false };
  if (options.dryRun) return { stored: storedVersion(stored.key, toStored(view, object), 0), created: false };
  const done = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
  if (done && completeDeletion(state, view, stored, toStored(view, object))) {
    return { stored: storedVersion(stored.key, toStored(view, object), stored.revision), created: false };
  }
  return { stored: store(state, view).put(stored.key, toStored(view, object)), created: false };
}
