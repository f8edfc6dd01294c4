/** Labels and label selectors as tables show them. */
import { asText, isFields, listAt, stringAt } from "../objects.ts";

const orNone = (text: string): string => (text === "" ? "<none>" : text);

const pairs = (value: unknown): readonly string[] =>
  isFields(value)
    ? Object.keys(value)
        .toSorted()
        .map((key) => `${key}=${String(value[key])}`)
    : [];

/** `a=b,c=d`, or `<none>`. */
export const labelsText = (value: unknown): string => orNone(pairs(value).join(","));

function requirementText(requirement: unknown): string {
  const key = stringAt(requirement, "key");
  const values = listAt(requirement, "values").map(asText).toSorted().join(",");
  switch (stringAt(requirement, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
}

/** A LabelSelector: `a=b,c in (d,e),!f`, or `<none>`. */
export const selectorText = (selector: unknown): string =>
  isFields(selector)
    ? orNone(
        [...pairs(selector["matchLabels"]), ...listAt(selector, "matchExpressions").map(requirementText)]
          .toSorted()
          .join(","),
      )
    : "<none>";
