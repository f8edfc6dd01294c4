/** All checks of an object that is about to be stored; throws 422. */
import type { ApiObject } from "../objects.ts";
import type { RuleContext, View } from "../resources/definition.ts";
import { validateCustomResource } from "../schema/custom-resource.ts";
import { invalid } from "../status.ts";
import { metadataErrors } from "./metadata.ts";

export function validateObject(view: View, object: ApiObject, old: ApiObject | undefined, context: RuleContext): void {
  const errors = metadataErrors(view, object, old);
  if (view.schema !== undefined) errors.push(...validateCustomResource(object, old, view.schema));
  errors.push(...(view.definition.rules.validate?.(object, old, context) ?? []));
  if (errors.length === 0) return;
  const name = object.metadata.name ?? "";
  throw invalid(view.definition, name, errors);
}
