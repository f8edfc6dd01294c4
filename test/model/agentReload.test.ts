import { test } from "uvu";
import * as assert from "uvu/assert";
import { agentReloadMachine } from "../../machines/agentReload.ts";
import { modelTests } from "./harness.ts";
import { recordedActions } from "./recorded.ts";

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

test("a set that cannot be taken, and an answer that cannot be given, are told to the requester", () => {
  const heard = (...events: { readonly type: string }[]): string[] =>
    recordedActions(agentReloadMachine, { id: 7, attempts: 1 }, ["answerFailure"], events);
  const answered = ['answerFailure {"id":7,"error":"ECONNREFUSED"}'];
  assert.equal(heard(failed("take")), answered);
  assert.equal(heard(done("take", false), failed("answer")), answered);
});

test.run();
