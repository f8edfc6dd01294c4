import { agentRemovalsMachine } from "../../machines/agentRemovals.ts";
import { modelTests } from "./harness.ts";

const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "ECONNREFUSED" });

modelTests({
  machine: agentRemovalsMachine,
  events: [
    { type: "REMOVALS.QUEUED" },
    done("remove", true),
    done("remove", false),
    failed("remove"),
    done("cut", true),
    done("cut", false),
    failed("cut"),
    { type: "xstate.after.removalSettle.agentRemovals.settling" },
    { type: "xstate.after.removalRetry.agentRemovals.resting" },
  ],
});
