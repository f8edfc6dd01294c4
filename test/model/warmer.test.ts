import { warmerMachine } from "../../machines/warmer.ts";
import { modelTests } from "./harness.ts";

modelTests({
  machine: warmerMachine,
  events: [
    { type: "RECONCILE.TRIGGERED", reason: "resource_change", coalescible: true },
    { type: "ITERATION.ACCEPTED", iteration: 2, version: "v2", generation: 2, planId: "p", driftIntervalMs: 60_000 },
    { type: "xstate.done.actor.render", output: { planId: "p2", message: "" } },
    { type: "xstate.done.actor.render", output: { planId: "", message: "the template failed" } },
    { type: "xstate.error.actor.render", error: "no configuration serves" },
  ],
  key: (context) => context,
});
