import { podProbeMachine } from "../../machines/podProbe.ts";
import { modelTests } from "./harness.ts";

modelTests({
  machine: podProbeMachine,
  child: true,
  input: { pod: "a", address: "127.0.0.1:1", backoffMs: (attempt: number) => 100 * attempt },
  events: [
    { type: "xstate.done.actor.probe", output: { version: "3.4.7" } },
    { type: "xstate.error.actor.probe", error: "refused" },
    { type: "xstate.after.backoff.podProbe.waiting" },
  ],
  key: ({ attempt }: { attempt: number }) => Math.min(attempt, 2),
});
