import { schedulerMachine } from "../../machines/scheduler.ts";
import { modelTests } from "./harness.ts";

const pod = { id: "a", namespace: "d", name: "a", address: "127.0.0.1:1", version: "3.4.7" };
const released = (planId: string, reason: string) => ({
  type: "PLAN.RELEASED",
  planId,
  seq: 1,
  iteration: 1,
  reasons: [reason],
});
const completed = (deployment: number, planId: string, failed: number, pending: number) => ({
  type: "DEPLOYMENT.COMPLETED",
  deployment,
  planId,
  total: 1,
  succeeded: 1 - failed - pending,
  failed,
  pending,
});

modelTests({
  machine: schedulerMachine,
  input: { pods: 1 },
  events: [
    released("p1", "resource_change"),
    released("p2", "drift_prevention"),
    { type: "PLAN.REFUSED", planId: "p1", iteration: 1, message: "no" },
    { type: "PODS.CHANGED", pods: [pod] },
    { type: "PODS.CHANGED", pods: [] },
    completed(1, "p1", 0, 0),
    completed(2, "p1", 0, 0),
    completed(2, "p2", 1, 0),
    completed(1, "p2", 1, 0),
    completed(1, "p2", 0, 1),
  ],
  key: (context: { deployment: number; pods: number; released: unknown; pending: unknown; deployed: string }) => ({
    deployment: context.deployment,
    pods: context.pods,
    released: context.released,
    pending: context.pending,
    deployed: context.deployed,
  }),
  // Numbers grow without end; the first ones show everything.
  skip: (snapshot) => (snapshot.context as { deployment: number }).deployment > 2,
});
