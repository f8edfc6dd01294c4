import { deployerMachine } from "../../machines/deployer.ts";
import { modelTests } from "./harness.ts";

const pod = (id: string) => ({ id, namespace: "d", name: id, address: `${id}:5555`, version: "3.4.7" });
const settled = (id: string, planId: string, outcome: string) => ({
  type: "POD.SETTLED",
  pod: id,
  planId,
  outcome,
  mode: "runtime",
  message: outcome === "failed" ? "no" : "",
});

modelTests({
  machine: deployerMachine,
  input: { admitted: [pod("a")], backoffMs: (attempt: number) => 100 * attempt },
  events: [
    { type: "DEPLOYMENT.SCHEDULED", deployment: 1, planId: "p1", seq: 1, verify: false },
    { type: "DEPLOYMENT.SCHEDULED", deployment: 2, planId: "p2", seq: 2, verify: true },
    { type: "PODS.CHANGED", pods: [pod("a"), pod("b")] },
    { type: "PODS.CHANGED", pods: [pod("b")] },
    { type: "PODS.CHANGED", pods: [] },
    { type: "PLAN.PASSED", planId: "p1" },
    { type: "PLAN.REFUSED", planId: "p1", iteration: 1, message: "no" },
    settled("a", "p1", "applied"),
    settled("b", "p1", "failed"),
    settled("b", "p1", "unchanged"),
    settled("a", "p2", "applied"),
    settled("a", "p1", "reverted"),
    { type: "POD.DEPOSED", pod: "a", epoch: 7 },
    { type: "xstate.error.actor.podApply:a", actorId: "podApply:a", error: "defect" },
    { type: "xstate.after.patience.deployer.deploying" },
  ],
  key: ({ deployment, planId, pods, waiting, succeeded, failed }: Record<string, unknown>) => ({
    deployment,
    planId,
    pods: (pods as { id: string }[]).map(({ id }) => id),
    waiting,
    succeeded,
    failed,
  }),
  // A deployment counts what it hears; more than its pods can say is not heard twice.
  skip: ({ context }) =>
    (context as { succeeded: number; failed: number }).succeeded + (context as { failed: number }).failed > 3,
});
