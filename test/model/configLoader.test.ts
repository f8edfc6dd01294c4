import { configLoaderMachine } from "../../machines/configLoader.ts";
import { modelTests } from "./harness.ts";

modelTests({
  machine: configLoaderMachine,
  callbacks: ["source"],
  events: [
    { type: "SOURCE.CHANGED" },
    { type: "SOURCE.GONE" },
    { type: "xstate.done.actor.assemble", output: { kind: "assembled", version: "v1", generation: 2 } },
    { type: "xstate.done.actor.assemble", output: { kind: "held", generation: 2, message: "library at 1, wanted 2" } },
    { type: "xstate.done.actor.assemble", output: { kind: "invalid", generation: 2, message: "spec.maps" } },
    { type: "xstate.error.actor.assemble", error: "defect" },
    { type: "xstate.error.actor.source", error: "defect" },
    { type: "xstate.after.sourceRestart.configLoader.broken" },
  ],
});
