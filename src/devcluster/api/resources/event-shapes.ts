/** Events are one object in two shapes: core `v1` (as stored) and `events.k8s.io/v1`. */
import { own } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";

/** [core, events.k8s.io] names of the same field. */
const pairs: readonly (readonly [string, string])[] = [
  ["message", "note"],
  ["involvedObject", "regarding"],
  ["source", "deprecatedSource"],
  ["count", "deprecatedCount"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["reportingComponent", "reportingController"],
];

function rename(object: ApiObject, apiVersion: string, from: 0 | 1, to: 0 | 1): ApiObject {
  const names = new Map(pairs.map((pair) => [pair[from], pair[to]]));
  const result: Fields = {};
  for (const key of Object.keys(object)) {
    const value = own(object, key);
    // both shapes have reportingInstance; only the old names are renamed
    result[names.get(key) ?? key] = value;
  }
  result["apiVersion"] = apiVersion;
  return result as ApiObject;
}

export function eventFromStored(object: ApiObject): ApiObject {
  const shown = rename(object, "events.k8s.io/v1", 0, 1);
  for (const key of ["reportingController", "reportingInstance"]) if (shown[key] === "") delete shown[key];
  return shown;
}
export const eventToStored = (object: ApiObject): ApiObject =>
  object.apiVersion === "v1" ? object : rename(object, "v1", 1, 0);
