import { agentReloadMachine } from "../../machines/agentReload.ts";
import { modelTests } from "./harness.ts";

const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "ECONNREFUSED" });

modelTests({
  machine: agentReloadMachine,
  input: { id: 7, attempts: 1 },
  key: ({ attempts, end, restored }: Record<string, unknown>) => ({ attempts, end, restored }),
  events: [
    done("take", true),
    done("take", false),
    failed("take"),
    done("load", true),
    done("load", false),
    failed("load"),
    { type: "xstate.after.retryPause.agentReload.loadPausing" },
    done("adopt"),
    failed("adopt"),
    { type: "xstate.after.retryPause.agentReload.adoptPausing" },
    done("restore", true),
    done("restore", false),
    failed("restore"),
    done("answer"),
    failed("answer"),
  ],
});
