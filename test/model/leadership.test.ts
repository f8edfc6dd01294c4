import { leadershipMachine } from "../../machines/leadership.ts";
import { modelTests } from "./harness.ts";

modelTests({
  machine: leadershipMachine,
  input: { backoffMs: (attempt: number) => 100 * attempt },
  events: [
    { type: "TERM.DEPOSED", epoch: 4 },
    { type: "TERM.DEPOSED", epoch: 9 },
    { type: "xstate.done.actor.claimEpoch", output: 5 },
    { type: "xstate.error.actor.claimEpoch", error: "conflict" },
    { type: "xstate.after.backoff.leadership.waiting" },
    { type: "xstate.after.standDown.leadership.standingDown" },
  ],
  key: ({ epoch, highest, attempt }: Record<string, number>) => ({
    epoch,
    highest,
    attempt: Math.min(attempt ?? 0, 2),
  }),
});
