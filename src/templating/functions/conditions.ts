/** Conditions of a status (Kubernetes API conventions, metav1.Condition). */
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { memberOf } from "./paths.ts";
import { kubernetesTime } from "./times.ts";

export const conditionFunctions: readonly TemplateFunction[] = [
  define({
    name: "condition",
    signature:
      "func(conditionType string, status string, reason string, message string, observedGeneration any, lastTransitionTime string) map[string]any",
    doc: "A condition as Kubernetes wants it in a status. The status is True, False or Unknown, the reason one word in CamelCase; anything else fails. Where observedGeneration is nil it is left out.",
    examples: [
      [
        '{{ condition("Accepted", "True", "Accepted", "ok", 3, "2026-11-30T07:55:00Z") | toJSON() }}',
        '{"lastTransitionTime":"2026-11-30T07:55:00Z","message":"ok","observedGeneration":3,"reason":"Accepted","status":"True","type":"Accepted"}',
      ],
    ],
    run: (
      _: Runtime,
      type: string,
      status: string,
      reason: string,
      message: string,
      generation: unknown,
      time: string,
    ) => {
      if (type === "") throw new TemplateFault("condition: the type is empty");
      if (!["True", "False", "Unknown"].includes(status))
        throw new TemplateFault(`condition: the status is ${JSON.stringify(status)}`, "use True, False or Unknown");
      if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))
        throw new TemplateFault(
          `condition: the reason is ${JSON.stringify(reason)}`,
          "a reason is one word in CamelCase",
        );
      if (generation !== null && typeof generation !== "number" && typeof generation !== "bigint")
        throw new TemplateFault("condition: observedGeneration is no number", "give item.metadata.generation");
      return {
        type,
        status,
        reason,
        message,
        ...(generation === null ? {} : { observedGeneration: generation }),
        lastTransitionTime: time,
      };
    },
  }),
  define({
    name: "transitionTime",
    signature: "func(existingConditions any, conditionType string, status string) string",
    doc: "The lastTransitionTime for a condition: that of the existing condition of this type while its status is the same, else the instant of the render. The list is a status's conditions, or nil.",
    examples: [
      [
        '{% var old = []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}} %}{{ transitionTime(old, "Ready", "True") }} {{ transitionTime(old, "Ready", "False") }}',
        "2026-01-01T00:00:00Z 2026-11-30T07:55:00Z",
      ],
    ],
    run: (runtime: Runtime, existing: unknown, type: string, status: string) => {
      for (const condition of Array.isArray(existing) ? (existing as unknown[]) : []) {
        const time = memberOf(condition, "lastTransitionTime");
        if (memberOf(condition, "type") !== type || memberOf(condition, "status") !== status) continue;
        if (typeof time === "string" && time !== "") return time;
      }
      return kubernetesTime(runtime.instant());
    },
  }),
];
