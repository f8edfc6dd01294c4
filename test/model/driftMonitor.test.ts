import { driftMonitorMachine } from "../../machines/driftMonitor.ts";
import { modelTests } from "./harness.ts";

const accepted = (driftIntervalMs: number) => ({
  type: "ITERATION.ACCEPTED",
  iteration: 1,
  version: "v",
  generation: 1,
  planId: "p",
  driftIntervalMs,
});

modelTests({
  machine: driftMonitorMachine,
  input: { intervalMs: 60_000 },
  events: [
    { type: "DEPLOYMENT.COMPLETED", deployment: 1, planId: "p", total: 0, succeeded: 0, failed: 0, pending: 0 },
    accepted(0),
    accepted(5_000),
    { type: "xstate.after.interval.driftMonitor.waiting" },
  ],
  key: ({ intervalMs }: { intervalMs: number }) => intervalMs,
});
