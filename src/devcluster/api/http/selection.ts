/** Which objects a list or watch means. */
import type { ApiObject } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { parseFieldSelector } from "../selectors/fields.ts";
import type { FieldSelector } from "../selectors/fields.ts";
import { parseLabelSelector } from "../selectors/labels.ts";
import type { LabelMatcher } from "../selectors/labels.ts";
import type { Target } from "./target.ts";

export interface Selection {
  readonly namespace: string | undefined;
  readonly labels: LabelMatcher | undefined;
  readonly fields: FieldSelector | undefined;
  /** Set when all objects of the range are meant. */
  readonly everything: boolean;
}

export function selectionOf(view: View, target: Target, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  let fieldText = query.get("fieldSelector") ?? "";
  if (target.watch && target.name !== undefined) fieldText = `metadata.name=${target.name}`;
  const known = ["metadata.name", "metadata.namespace"].map((name) => JSON.stringify(name)).join(", ");
  const plain = view.fieldReaders.size === 2 && view.definition.builtIn;
  const fields = parseFieldSelector(fieldText, view.fieldReaders, (field) =>
    plain
      ? `${JSON.stringify(field)} is not a known field selector: only ${known}`
      : `field label not supported: ${field}`,
  );
  const everything = labels === undefined && fields === undefined;
  return { namespace: target.namespace, labels, fields, everything };
}

export const selects = (selection: Selection, object: ApiObject): boolean =>
  (selection.labels === undefined || selection.labels(object.metadata.labels)) &&
  (selection.fields === undefined || selection.fields.matches(object));
