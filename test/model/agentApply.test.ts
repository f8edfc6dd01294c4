import { agentApplyMachine } from "../../machines/agentApply.ts";
import { modelTests } from "./harness.ts";

const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "ENOSPC" });

modelTests({
  machine: agentApplyMachine,
  input: { id: 7 },
  key: ({ next }: Record<string, unknown>) => ({ next }),
  events: [
    done("stage", "answered"),
    done("stage", "operate"),
    done("stage", "reload"),
    failed("stage"),
    done("write"),
    failed("write"),
    done("operate", true),
    done("operate", false),
    failed("operate"),
    done("commit"),
    failed("commit"),
    done("owe"),
    failed("owe"),
  ],
});
