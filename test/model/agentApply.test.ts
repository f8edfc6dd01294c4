import { test } from "uvu";
import * as assert from "uvu/assert";
import { agentApplyMachine } from "../../machines/agentApply.ts";
import { modelTests } from "./harness.ts";
import { recordedActions } from "./recorded.ts";

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

test("whatever fails before the set is the tail is answered", () => {
  const heard = (...events: { readonly type: string }[]): string[] =>
    recordedActions(agentApplyMachine, { id: 7 }, ["answerFailure"], events);
  const answered = ['answerFailure {"id":7,"error":"ENOSPC"}'];
  assert.equal(heard(failed("stage")), answered);
  assert.equal(heard(done("stage", "operate"), failed("write")), answered);
  assert.equal(heard(done("stage", "operate"), done("write"), failed("operate"), failed("owe")), answered);
  assert.equal(heard(done("stage", "operate"), done("write"), failed("operate"), done("owe")), []);
});

test("what fails after the turning point is told before the reload that it makes necessary", () => {
  const heard = (...events: { readonly type: string }[]): string[] =>
    recordedActions(agentApplyMachine, { id: 7 }, ["tellFailure"], events);
  const told = ['tellFailure {"id":7,"error":"ENOSPC"}'];
  const written = [done("stage", "operate"), done("write")];
  assert.equal(heard(...written, failed("operate")), told);
  assert.equal(heard(...written, done("operate", true), failed("commit")), told);
  assert.equal(heard(...written, done("operate", false), done("owe")), []);
});

test.run();
