import { agentDrainMachine } from "../../machines/agentDrain.ts";
import { modelTests } from "./harness.ts";

const reading = (worker: string, accepted: number) => ({
  type: "xstate.done.actor.look",
  output: { worker, accepted },
});

modelTests({
  machine: agentDrainMachine,
  input: { quietMs: 5_000, limitMs: 45_000 },
  timersByEvent: true,
  events: [
    reading("1", 0),
    reading("1", 2),
    reading("2", 0),
    reading("2", 1),
    { type: "xstate.error.actor.look", error: "ECONNREFUSED" },
    { type: "xstate.done.actor.watch", output: { worker: "1", accepted: 0 } },
    { type: "xstate.error.actor.watch", error: "ECONNREFUSED" },
    { type: "xstate.after.lookInterval.agentDrain.stopping.waiting" },
    { type: "xstate.after.patience.agentDrain.stopping" },
    { type: "xstate.after.lookInterval.agentDrain.draining.counting.pausing" },
    { type: "xstate.after.quietPeriod.agentDrain.draining.counting" },
    { type: "xstate.after.limit.agentDrain.draining" },
  ],
  key: ({ last, came }: { last?: object; came: number }) => ({ last, came: Math.min(came, 3) }),
});
