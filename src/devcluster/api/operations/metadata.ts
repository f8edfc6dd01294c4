/** The server's part of metadata, and what is demanded of the client's. */
import type { ApiObject, Metadata } from "../objects.ts";
import { isFields, secondsTime } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { fieldForbidden, fieldInvalid, fieldRequired } from "../status.ts";
import type { FieldError } from "../status.ts";
import type { ApiState } from "./context.ts";

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Drops what a client may not say of an object that is to be created; its namespace is the URL's. */
export function draftMetadata(view: View, given: Metadata, namespace: string): Metadata {
  const metadata: Metadata = { ...given };
  const ours = [
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "uid",
    "creationTimestamp",
  ] as const;
  for (const key of ours) delete metadata[key];
  if (view.definition.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
  return metadata;
}

/** Fills in what creation gives: name, uid, times. */
export function initialMetadata(view: View, given: Metadata, namespace: string, state: ApiState): Metadata {
  const metadata = draftMetadata(view, given, namespace);
  if (!metadata.name && metadata.generateName) {
    let suffix = "";
    for (let i = 0; i < 5; i++) suffix += ALPHABET[Math.floor(state.random() * ALPHABET.length)];
    metadata.name = metadata.generateName.slice(0, 58) + suffix;
  }
  metadata.uid = state.uid();
  metadata.creationTimestamp = secondsTime(state.now());
  if (view.definition.generation) metadata.generation = 1;
  return metadata;
}

/** The new metadata of an existing object: the server's fields stay as they were. */
export function keptMetadata(given: Metadata, old: Metadata): Metadata {
  const metadata: Metadata = { ...given, name: old.name };
  const keep = [
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "generateName",
  ] as const;
  for (const key of keep) {
    if (old[key] === undefined) delete metadata[key];
    else Object.assign(metadata, { [key]: old[key] });
  }
  return metadata;
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What is wrong with a DNS-1123 subdomain; undefined when nothing is. */
export function subdomainFault(name: string): string | undefined {
  if (name.length > 253) return "must be no more than 253 bytes";
  return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_TEXT;
}

export function labelFault(name: string): string | undefined {
  if (name.length > 63) return "must be no more than 63 bytes";
  return LABEL.test(name) ? undefined : LABEL_TEXT;
}

/** DNS-1035: begins with a letter. */
export const isLabel1035 = (name: string): boolean => name.length <= 63 && LABEL_1035.test(name);

/** What is wrong with the key of a label or annotation. */
export function qualifiedNameFault(key: string): string | undefined {
  const slash = key.indexOf("/");
  const prefix = slash === -1 ? undefined : key.slice(0, slash);
  const name = slash === -1 ? key : key.slice(slash + 1);
  if (prefix !== undefined) {
    if (prefix === "") return "prefix part must be non-empty";
    const fault = subdomainFault(prefix);
    if (fault !== undefined) return `prefix part ${fault}`;
  }
  if (name === "") return `name part must be non-empty`;
  if (name.length > 63) return "name part must be no more than 63 bytes";
  return QUALIFIED.test(name) ? undefined : QUALIFIED_TEXT;
}

function labelErrors(metadata: Metadata): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    const fault = qualifiedNameFault(key);
    if (fault !== undefined) errors.push(fieldInvalid("metadata.labels", key, fault));
    if (value.length > 63) errors.push(fieldInvalid("metadata.labels", value, "must be no more than 63 bytes"));
    else if (!LABEL_VALUE.test(value)) errors.push(fieldInvalid("metadata.labels", value, LABEL_VALUE_TEXT));
  }
  let size = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    size += key.length + Buffer.byteLength(value);
    const fault = qualifiedNameFault(key.toLowerCase());
    if (fault !== undefined) errors.push(fieldInvalid("metadata.annotations", key, fault));
  }
  if (size > 262_144) {
    errors.push({
      field: "metadata.annotations",
      reason: "FieldValueTooLong",
      message: "Too long: may not be more than 262144 bytes",
    });
  }
  return errors;
}

function referenceErrors(metadata: Metadata): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, reference] of (metadata.ownerReferences ?? []).entries()) {
    const at = `metadata.ownerReferences[${i}]`;
    if (!reference.uid) errors.push(fieldRequired(`${at}.uid`, "must not be empty"));
    if (!reference.name) errors.push(fieldRequired(`${at}.name`, "must not be empty"));
    if (!reference.kind) errors.push(fieldRequired(`${at}.kind`, "must not be empty"));
    if (!reference.apiVersion)
      errors.push(fieldInvalid(`${at}.apiVersion`, reference.apiVersion ?? "", "version must not be empty"));
  }
  const controllers = (metadata.ownerReferences ?? []).filter((reference) => reference.controller === true);
  if (controllers.length > 1) {
    errors.push(
      fieldInvalid(
        "metadata.ownerReferences",
        metadata.ownerReferences,
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]?.name} and ${controllers[1]?.name}`,
      ),
    );
  }
  return errors;
}

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

function finalizerErrors(metadata: Metadata, old: Metadata | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, finalizer] of (metadata.finalizers ?? []).entries()) {
    const at = `metadata.finalizers[${i}]`;
    if (STANDARD_FINALIZERS.has(finalizer)) continue;
    const fault = qualifiedNameFault(finalizer);
    if (fault !== undefined) errors.push(fieldInvalid(at, finalizer, fault));
    else if (!finalizer.includes("/")) {
      errors.push(fieldInvalid(at, finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (old?.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers ?? []);
    const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
    if (added.length > 0) {
      errors.push(
        fieldForbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((f) => JSON.stringify(f)).join(", ")}}`,
        ),
      );
    }
  }
  return errors;
}

/** A name that only has to stand in a path. */
function pathErrors(name: string): FieldError[] {
  if (name === "." || name === "..") return [fieldInvalid("metadata.name", name, `may not be '${name}'`)];
  return ["/", "%"]
    .filter((part) => name.includes(part))
    .map((part) => fieldInvalid("metadata.name", name, `may not contain '${part}'`));
}

function nameErrors(view: View, object: ApiObject): FieldError[] {
  const { name } = object.metadata;
  if (!name) return [fieldRequired("metadata.name", "name or generateName is required")];
  const rule = view.definition.rules.nameRule ?? "subdomain";
  if (rule === "none") return [];
  if (rule === "path") return pathErrors(name);
  const fault = rule === "subdomain" ? subdomainFault(name) : labelFault(name);
  return fault === undefined ? [] : [fieldInvalid("metadata.name", name, fault)];
}

export function metadataErrors(view: View, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (!isFields(object.metadata)) return [fieldRequired("metadata")];
  return [
    ...(old === undefined ? nameErrors(view, object) : []),
    ...labelErrors(object.metadata),
    ...referenceErrors(object.metadata),
    ...finalizerErrors(object.metadata, old?.metadata),
  ];
}
