import { reconcilerMachine } from "../../machines/reconciler.ts";
import { modelTests } from "./harness.ts";

modelTests({
  machine: reconcilerMachine,
  input: { iteration: 3, watches: ["w1"] },
  events: [
    { type: "RESOURCES.CHANGED", watch: "w1", alias: "things", count: 1, revision: 2 },
    { type: "RESOURCES.CHANGED", watch: "other", alias: "things", count: 1, revision: 2 },
    { type: "WATCH.SYNCED", watch: "w1", alias: "things" },
    { type: "WATCH.SYNCED", watch: "other", alias: "things" },
    { type: "PODS.CHANGED", pods: [] },
    { type: "TERM.BEGAN", epoch: 4 },
    { type: "DRIFT.FIRED" },
  ],
});
