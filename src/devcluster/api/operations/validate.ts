/** All checks of an object that is about to be stored; throws 422. */
import { asText, at } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import type { RuleContext, View } from "../resources/definition.ts";
import { validateCustomResource } from "../schema/custom-resource.ts";
import { fieldInvalid, invalid } from "../status.ts";
import type { FieldError } from "../status.ts";
import { metadataErrors } from "./metadata.ts";

/** The numbers behind a custom resource's scale subresource. */
function scaleErrors(view: View, object: ApiObject): FieldError[] {
  const { scale } = view.definition;
  const errors: FieldError[] = [];
  for (const path of scale === undefined ? [] : [scale.spec, scale.status]) {
    const value = at(object, ...path);
    const text = `.${path.join(".")}`;
    if (value === undefined || value === null) continue;
    if (!Number.isInteger(value)) {
      const actual = typeof value === "number" ? "float64" : typeof value === "boolean" ? "bool" : typeof value;
      const detail = `${text} accessor error: ${asText(value)} is of the type ${actual}, expected int64`;
      errors.push(fieldInvalid(text, 0, detail));
    } else if ((value as number) < 0) errors.push(fieldInvalid(text, value, "should be a non-negative integer"));
  }
  return errors;
}

export function validateObject(view: View, object: ApiObject, old: ApiObject | undefined, context: RuleContext): void {
  const errors = metadataErrors(view, object, old);
  if (view.schema !== undefined)
    errors.push(...validateCustomResource(object, old, view.schema, scaleErrors(view, object)));
  errors.push(...(view.definition.rules.validate?.(object, old, context) ?? []));
  if (errors.length === 0) return;
  const name = object.metadata.name ?? "";
  throw invalid(view.definition, name, errors);
}
