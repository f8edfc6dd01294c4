/** Validation of a custom resource: schema first, CEL rules only where the schema found nothing that forbids them. */
import type { ApiObject } from "../objects.ts";
import type { FieldError } from "../status.ts";
import { celErrors, hasRules } from "./cel-rules.ts";
import type { StructuralSchema } from "./structural.ts";
import { schemaErrors } from "./validate.ts";

/** Findings that make the CEL rules unsafe to run. */
const BLOCKING = new Set([
  "FieldValueRequired",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
]);

const SKIPPED: FieldError = {
  field: "",
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

/** `more`: findings of other checks; they stand between those of the schema and of the rules. */
export function validateCustomResource(
  object: ApiObject,
  old: ApiObject | undefined,
  schema: StructuralSchema,
  more: readonly FieldError[] = [],
): FieldError[] {
  const errors = [...schemaErrors(object, old, schema), ...more];
  if (!hasRules(schema)) return errors;
  if (errors.some((error) => BLOCKING.has(error.reason))) return [...errors, SKIPPED];
  return [...errors, ...celErrors(object, old, schema)];
}
