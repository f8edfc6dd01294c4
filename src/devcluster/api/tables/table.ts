/** Tables: what `kubectl get` asks for. */
import type { ApiObject, Fields } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { rowConditions } from "./row-conditions.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

export const columnDefinitions = (view: View): readonly Fields[] =>
  view.columns.map((column) => ({
    name: column.name,
    type: column.type,
    format: column.format ?? "",
    description: column.description ?? "",
    priority: column.priority ?? 0,
  }));

export const partialMetadata = (object: ApiObject): Fields => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: object.metadata,
});

export function tableRow(view: View, object: ApiObject, now: number, include: IncludeObject): Fields {
  const row: Fields = { cells: view.columns.map((column) => column.cell(object, now)) };
  const conditions = rowConditions(view, object);
  if (conditions !== undefined) row["conditions"] = conditions;
  if (include === "Metadata") row["object"] = partialMetadata(object);
  else if (include === "Object") row["object"] = object;
  return row;
}

/** A whole Table; `columns: false` leaves the definitions out (later events of a watch). */
export const tableOf = (view: View, metadata: Fields, rows: readonly Fields[], columns = true): Fields => ({
  kind: "Table",
  apiVersion: "meta.k8s.io/v1",
  metadata,
  columnDefinitions: columns ? columnDefinitions(view) : null,
  rows,
});
