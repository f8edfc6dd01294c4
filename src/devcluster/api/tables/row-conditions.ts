/** Conditions of a table's rows: finished pods are marked as completed. */
import { stringAt } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { View } from "../resources/definition.ts";

export function rowConditions(view: View, object: ApiObject): readonly Fields[] | undefined {
  if (view.definition.kind !== "Pod" || !view.definition.builtIn) return undefined;
  const phase = stringAt(object, "status", "phase");
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}
