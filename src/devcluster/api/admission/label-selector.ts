/** LabelSelectors of objects (matchLabels and matchExpressions). */
import { isFields, listAt, own, stringAt } from "../objects.ts";
import type { Fields } from "../objects.ts";

function requirementHolds(requirement: unknown, labels: Fields): boolean {
  const value = own(labels, stringAt(requirement, "key"));
  const values = listAt(requirement, "values");
  switch (stringAt(requirement, "operator")) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

/** An empty or missing selector takes everything. */
export function selectorMatches(selector: unknown, labels: Fields): boolean {
  if (!isFields(selector)) return true;
  const wanted = isFields(selector["matchLabels"]) ? selector["matchLabels"] : {};
  return (
    Object.keys(wanted).every((key) => own(labels, key) === wanted[key]) &&
    listAt(selector, "matchExpressions").every((requirement) => requirementHolds(requirement, labels))
  );
}
