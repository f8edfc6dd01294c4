/** Rules of namespaces, config maps, secrets and service accounts. */
import { deepEqual, isFields, at, stringAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { fieldForbidden, fieldInvalid, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules } from "../definition.ts";

const KEY = /^[-._a-zA-Z0-9]+$/;
const MAX_DATA = 1_048_576;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export const namespaceRules: KindRules = {
  nameRule: "label",
  defaults(object) {
    const { name } = object.metadata;
    if (name) object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": name };
  },
  prepareCreate(object) {
    const spec = isFields(object["spec"]) ? object["spec"] : {};
    object["spec"] = { ...spec, finalizers: ["kubernetes"] };
    object["status"] = { phase: "Active" };
    const labels = object.metadata.labels ?? {};
    object.metadata.labels = { ...labels, "kubernetes.io/metadata.name": object.metadata.name };
  },
};

function dataErrors(object: ApiObject, fields: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const field of fields) {
    const data = isFields(object[field]) ? object[field] : {};
    for (const [key, value] of Object.entries(data)) {
      if (!KEY.test(key) || key === "." || key === "..") errors.push(fieldInvalid(`${field}[${key}]`, key, KEY_TEXT));
      else if (key.length > 253) errors.push(fieldInvalid(`${field}[${key}]`, key, "must be no more than 253 bytes"));
      // What is written in base64 counts as the bytes that it stands for.
      const encoding = field === "binaryData" || object["kind"] === "Secret" ? "base64" : "utf8";
      size += typeof value === "string" ? Buffer.byteLength(value, encoding) : 0;
    }
  }
  if (size > MAX_DATA) {
    const message = `Too long: may not be more than ${MAX_DATA} bytes`;
    errors.push({ field: fields.length > 1 ? "[]" : "data", reason: "FieldValueTooLong", message });
  }
  return errors;
}

function immutableErrors(object: ApiObject, old: ApiObject | undefined, fields: readonly string[]): FieldError[] {
  if (old?.["immutable"] !== true) return [];
  const errors: FieldError[] = [];
  if (object["immutable"] !== true)
    errors.push(fieldForbidden("immutable", "field is immutable when `immutable` is set"));
  for (const field of fields) {
    if (!deepEqual(object[field], old[field])) {
      errors.push(fieldForbidden(field, "field is immutable when `immutable` is set"));
    }
  }
  return errors;
}

export const configMapRules: KindRules = {
  validate(object, old) {
    const errors = dataErrors(object, ["data", "binaryData"]);
    const data = isFields(object["data"]) ? object["data"] : {};
    for (const key of Object.keys(isFields(object["binaryData"]) ? object["binaryData"] : {})) {
      if (Object.hasOwn(data, key))
        errors.push(fieldInvalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
    return [...errors, ...immutableErrors(object, old, ["data", "binaryData"])];
  },
};

function secretTypeErrors(object: ApiObject): FieldError[] {
  const data = isFields(object["data"]) ? object["data"] : {};
  const demand = (key: string): FieldError[] => (Object.hasOwn(data, key) ? [] : [fieldRequired(`data[${key}]`)]);
  switch (object["type"]) {
    case "kubernetes.io/tls":
      return [...demand("tls.crt"), ...demand("tls.key")];
    case "kubernetes.io/basic-auth":
      if (Object.hasOwn(data, "username") || Object.hasOwn(data, "password")) return [];
      return [fieldRequired("data[username]"), fieldRequired("data[password]")];
    case "kubernetes.io/ssh-auth":
      return demand("ssh-privatekey");
    case "kubernetes.io/dockerconfigjson":
      return demand(".dockerconfigjson");
    default:
      return [];
  }
}

export const secretRules: KindRules = {
  defaults(object) {
    if (object["type"] === undefined) object["type"] = "Opaque";
    const plain = object["stringData"];
    if (!isFields(plain)) return;
    const data: Fields = { ...(isFields(object["data"]) ? object["data"] : {}) };
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(String(value)).toString("base64");
    delete object["stringData"];
    object["data"] = data;
  },
  validate(object, old, context) {
    const errors = [...dataErrors(object, ["data"]), ...secretTypeErrors(object)];
    const certificate = Buffer.from(stringAt(object, "data", "tls.crt"), "base64").toString("latin1");
    if (object["type"] === "kubernetes.io/tls" && errors.length === 0 && !certificate.includes("-----BEGIN")) {
      context.warn("tls: failed to find any PEM data in certificate input");
    }
    if (old !== undefined && object["type"] !== old["type"]) {
      errors.push(fieldInvalid("type", object["type"], "field is immutable"));
    }
    return [...errors, ...immutableErrors(object, old, ["data"])];
  },
};

export const leaseRules: KindRules = {
  validate(object) {
    const errors: FieldError[] = [];
    const duration = at(object, "spec", "leaseDurationSeconds");
    if (typeof duration === "number" && duration <= 0) {
      errors.push(fieldInvalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
    }
    const transitions = at(object, "spec", "leaseTransitions");
    if (typeof transitions === "number" && transitions < 0) {
      errors.push(fieldInvalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
    }
    return errors;
  },
};

/** What the newer API demands. */
function newEventErrors(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof object["eventTime"] !== "string") errors.push(fieldRequired("eventTime"));
  const type = stringAt(object, "type");
  if (type !== "Normal" && type !== "Warning") errors.push(fieldInvalid("type", "", `has invalid value: ${type}`));
  if (errors.length > 0) return errors;
  for (const field of ["reportingController", "reportingInstance", "action", "reason"]) {
    if (stringAt(object, field) === "") errors.push(fieldRequired(field));
  }
  return errors;
}

export const eventRules: KindRules = {
  validate(object, old) {
    if (old !== undefined) return [];
    const involved = stringAt(object, "involvedObject", "namespace") || stringAt(object, "regarding", "namespace");
    const own = object.metadata.namespace ?? "";
    const fits = (involved === "" && own === "default") || involved === own;
    return [
      ...(fits ? [] : [fieldInvalid("involvedObject.namespace", involved, "does not match event.namespace")]),
      ...(object.apiVersion === "events.k8s.io/v1" ? newEventErrors(object) : []),
    ];
  },
};
