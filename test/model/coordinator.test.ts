import { coordinatorMachine } from "../../machines/coordinator.ts";
import { modelTests } from "./harness.ts";

const trigger = (reason: string, coalescible: boolean) => ({ type: "RECONCILE.TRIGGERED", reason, coalescible });

modelTests({
  machine: coordinatorMachine,
  input: { iterationReady: false, podsSettled: false },
  events: [
    trigger("resource_change", true),
    trigger("drift_prevention", false),
    { type: "ITERATION.ACCEPTED", iteration: 1, version: "v", generation: 1, planId: "p", driftIntervalMs: 1 },
    { type: "PODS.SETTLED" },
    { type: "xstate.done.actor.render", output: { kind: "rendered", planId: "p1", seq: 5, iteration: 2 } },
    { type: "xstate.done.actor.render", output: { kind: "failed", iteration: 2, message: "map.tmpl:1:2" } },
    { type: "xstate.error.actor.render", error: "defect" },
  ],
  key: ({ current, pending, iterationReady, podsSettled }: Record<string, unknown>) => ({
    current,
    pending,
    iterationReady,
    podsSettled,
  }),
});
