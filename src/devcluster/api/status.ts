/** The API's errors: every refusal is a Status object with a code, a reason and details. */
import type { Fields } from "./objects.ts";

export interface StatusCause {
  reason?: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** Names a resource in messages: `configmaps`, `widgets.demo.io`. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

export interface KindName {
  readonly group: string;
  readonly kind: string;
}

export const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);

/** An error that is answered as a Status with this HTTP code. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** More of the Status object, for example `metadata.continue` of an expired list. */
  readonly metadata: Fields;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    extra: { headers?: Record<string, string>; metadata?: Fields } = {},
  ) {
    super(message);
    this.name = "StatusError";
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.headers = extra.headers ?? {};
    this.metadata = extra.metadata ?? {};
  }

  toStatus(): Fields {
    const status: Fields = {
      kind: "Status",
      apiVersion: "v1",
      metadata: this.metadata,
      status: "Failure",
      message: this.message,
    };
    if (this.reason !== "") status["reason"] = this.reason;
    if (this.details !== undefined) status["details"] = this.details;
    status["code"] = this.code;
    return status;
  }
}

const withGroup = (name: string | undefined, group: string, kind: string): StatusDetails => ({
  ...(name === undefined || name === "" ? {} : { name }),
  ...(group === "" ? {} : { group }),
  ...(kind === "" ? {} : { kind }),
});

export const notFound = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    404,
    "NotFound",
    `${qualified(resource.plural, resource.group)} "${name}" not found`,
    withGroup(name, resource.group, resource.plural),
  );

export const alreadyExists = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    409,
    "AlreadyExists",
    `${qualified(resource.plural, resource.group)} "${name}" already exists`,
    withGroup(name, resource.group, resource.plural),
  );

export const conflict = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource.plural, resource.group)} "${name}": ${why}`,
    withGroup(name, resource.group, resource.plural),
  );

export const modified = (resource: ResourceName, name: string): StatusError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

export const forbidden = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError(
    403,
    "Forbidden",
    `${qualified(resource.plural, resource.group)} "${name}" is forbidden: ${why}`,
    withGroup(name, resource.group, resource.plural),
  );

export const badRequest = (message: string): StatusError => new StatusError(400, "BadRequest", message);

export const internalError = (message: string): StatusError => new StatusError(500, "", message);

/** One finding of validation. `reason` as in StatusCause, `message` without the field. */
export interface FieldError {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/** 422 of a whole object. Equal findings count once. */
export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): StatusError {
  const seen = new Set<string>();
  const texts: string[] = [];
  for (const error of errors) {
    const text = `${error.field === "" ? "<nil>" : error.field}: ${error.message}`;
    if (!seen.has(text)) texts.push(text);
    seen.add(text);
  }
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new StatusError(422, "Invalid", `${qualified(kind.kind, kind.group)} "${name}" is invalid: ${list}`, {
    ...withGroup(name, kind.group, kind.kind),
    causes: errors.map((e) => ({ reason: e.reason, message: e.message, field: e.field === "" ? "<nil>" : e.field })),
  });
}

const shown = (value: unknown): string => JSON.stringify(value) ?? "null";

export const fieldRequired = (field: string, detail = ""): FieldError => ({
  field,
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`,
});
export const fieldInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: "FieldValueInvalid",
  message: detail === "" ? `Invalid value: ${shown(value)}` : `Invalid value: ${shown(value)}: ${detail}`,
});
/** As fieldInvalid, where the value is too large to be told. */
export const fieldInvalidUnshown = (field: string, detail: string): FieldError => ({
  field,
  reason: "FieldValueInvalid",
  message: `Invalid value: ${detail}`,
});
export const fieldTypeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  field,
  reason: "FieldValueTypeInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
});
export const fieldNotSupported = (field: string, value: unknown, supported: readonly unknown[]): FieldError => ({
  field,
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((v) => (typeof v === "string" ? JSON.stringify(v) : JSON.stringify(shown(v)))).join(", ")}`,
});
export const fieldDuplicate = (field: string, value: unknown): FieldError => ({
  field,
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
});
export const fieldForbidden = (field: string, detail: string): FieldError => ({
  field,
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
});
export const fieldTooLong = (field: string, max: number, unit = "bytes"): FieldError => ({
  field,
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${max} ${unit}`,
});
export const fieldTooMany = (field: string, actual: number, max: number): FieldError => ({
  field,
  reason: "FieldValueTooMany",
  message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? "item" : "items"}`,
});

/** 422 of the options of a request: `kind` is `ListOptions`, `PatchOptions`, … */
export const optionsInvalid = (kind: string, error: FieldError): StatusError =>
  invalid({ group: "meta.k8s.io", kind }, "", [error]);
