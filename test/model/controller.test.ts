import { controllerMachine } from "../../machines/controller.ts";
import { modelTests } from "./harness.ts";

const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "defect" });
const restarted = (state: string) => ({ type: `xstate.after.componentRestart.controller.${state}.failed` });
const pod = { id: "a", namespace: "d", name: "a", address: "a:5555", version: "3.4.7" };
const refused = (dependsOnInputs: boolean) => ({
  type: "xstate.done.actor.trial",
  output: { kind: "refused", reason: "HAProxyValidationFailed", message: "[ALERT] no", dependsOnInputs },
});
const accepted = {
  type: "xstate.done.actor.trial",
  output: { kind: "accepted", planId: "p", watches: ["w1"], driftIntervalMs: 5_000 },
};
const loaded = { type: "CONFIG.LOADED", version: "v2", generation: 2 };
const input = {
  backoffMs: (attempt: number) => attempt,
  contestMs: (times: number) => times,
  jitter: (ms: number) => ms,
  verdictOf: () => undefined,
  statusDiffers: () => false,
  hasEvents: () => false,
  publishing: { differs: () => false, intervalMs: () => 10_000, backoffMs: () => 1, reasonOf: () => "" },
};
const key = ({
  generation,
  iteration,
  watches,
  refusalDependsOnInputs,
  pods,
  podsSettled,
}: Record<string, unknown>) => ({
  generation,
  iteration,
  watches,
  refusalDependsOnInputs,
  pods: (pods as unknown[]).length,
  podsSettled,
});
const partOf = ["configuration", "term", "process"];
const skip = ({ context }: { context: unknown }): boolean => (context as { iteration: number }).iteration > 1;

modelTests({
  machine: controllerMachine,
  timersByEvent: true,
  variant: "configuration",
  partOf,
  input,
  key,
  skip,
  events: [
    loaded,
    { type: "RESOURCES.CHANGED", watch: "w1", alias: "things", count: 1, revision: 2 },
    accepted,
    refused(true),
    refused(false),
    failed("trial"),
    { type: "xstate.after.retrial.controller.configuration.stale" },
    { type: "xstate.after.trialRetry.controller.configuration.untried" },
    failed("reconciler"),
    restarted("serving"),
  ],
});

modelTests({
  machine: controllerMachine,
  timersByEvent: true,
  variant: "term",
  partOf,
  input,
  key,
  skip,
  events: [
    { type: "TERM.BEGAN", epoch: 4 },
    { type: "TERM.ENDED", epoch: 4, reason: "lost" },
    { type: "PODS.CHANGED", pods: [pod] },
    { type: "PODS.SETTLED" },
    ...[
      "coordinator",
      "renderGate",
      "scheduler",
      "deployer",
      "driftMonitor",
      "statusWriter",
      "eventRecorder",
      "publisher",
    ].map(failed),
    restarted("term"),
    failed("warmer"),
    { type: "xstate.after.componentRestart.controller.term.following.failed" },
  ],
});

modelTests({
  machine: controllerMachine,
  timersByEvent: true,
  variant: "process",
  partOf,
  input,
  key,
  skip,
  events: [
    ...["configLoader", "discovery", "leaderElection"].map(failed),
    ...["configLoading", "discovering", "leadership"].map(restarted),
    { type: "CONTROLLER.STOPPING" },
    { type: "xstate.done.actor.leaderElection" },
  ],
});
