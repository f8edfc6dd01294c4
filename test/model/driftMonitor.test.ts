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

const events = [
  { type: "DEPLOYMENT.COMPLETED", deployment: 1, planId: "p", total: 0, succeeded: 0, failed: 0, pending: 0 },
  accepted(0),
  accepted(5_000),
  { type: "xstate.after.interval.driftMonitor.waiting" },
];
const key = ({ intervalMs }: { intervalMs: number }) => intervalMs;
const partOf = ["on", "off"];

modelTests({ machine: driftMonitorMachine, variant: "on", partOf, input: { intervalMs: 60_000 }, events, key });
modelTests({ machine: driftMonitorMachine, variant: "off", partOf, input: { intervalMs: 0 }, events, key });
