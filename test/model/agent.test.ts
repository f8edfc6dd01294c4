import { test } from "uvu";
import * as assert from "uvu/assert";
import { agentMachine } from "../../machines/agent.ts";
import { modelTests } from "./harness.ts";
import { recordedActions, stateAfter } from "./recorded.ts";

const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "defect" });
const apply = { type: "APPLY.REQUESTED", id: 1 };
const another = { type: "APPLY.REQUESTED", id: 3 };
const start = { type: "START.REQUESTED", id: 2 };
const lost = { type: "WORKER.LOST" };
const input = { reloadIntervalMs: 5_000, maxWaiting: 1, reloadAttempts: 3 };
const key = ({ applies, starts, current, restMs }: Record<string, unknown>) => ({ applies, starts, current, restMs });
const partOf = ["beginning", "work", "pacing", "files", "removals"];
const begun = [done("recover"), done("attach"), done("reconcile", false)];
/** One wrapper asks at a time. */
const skip = ({ context }: { context: unknown }, { type }: { type: string }): boolean =>
  type === "START.REQUESTED" && (context as { starts: unknown[] }).starts.length > 0;
const common = { machine: agentMachine, timersByEvent: true, partOf, input, key, skip };

modelTests({
  ...common,
  variant: "beginning",
  events: [
    ...begun,
    done("reconcile", true),
    failed("recover"),
    failed("attach"),
    failed("reconcile"),
    { type: "xstate.after.recoverRetry.agent.broken" },
    { type: "xstate.after.attachRetry.agent.detached.pausing" },
    apply,
    start,
    done("prepareStart"),
    failed("prepareStart"),
    lost,
  ],
});

modelTests({
  ...common,
  variant: "work",
  events: [
    ...begun,
    apply,
    start,
    done("apply", { id: 1, next: "done" }),
    done("apply", { id: 1, next: "reload" }),
    failed("apply"),
    done("reload", { id: 1, end: "loaded" }),
    done("reload", { id: 1, end: "lost" }),
    failed("reload"),
    done("prepareStart"),
    failed("prepareStart"),
    lost,
  ],
});

modelTests({
  ...common,
  variant: "pacing",
  events: [
    ...begun,
    done("reconcile", true),
    apply,
    done("apply", { id: 1, next: "reload" }),
    done("schedule"),
    failed("schedule"),
    done("reload", { id: 1, end: "refused" }),
    { type: "xstate.after.reloadInterval.agent.ready.pacing.quiet.wait.least" },
    done("weigh", 0),
    done("weigh", 40_000),
    failed("weigh"),
    { type: "xstate.after.stretch.agent.ready.pacing.quiet.wait.stretched" },
  ],
});

modelTests({
  ...common,
  variant: "files",
  events: [
    ...begun,
    apply,
    done("apply", { id: 1, next: "done" }),
    { type: "xstate.after.foldDelay.agent.ready.files.dirty" },
    done("fold", "more"),
    done("fold", "diverged"),
    done("fold", "whole"),
    done("fold", "owed"),
    failed("fold"),
    { type: "xstate.after.foldRetry.agent.ready.files.unfoldable" },
  ],
});

modelTests({
  ...common,
  variant: "removals",
  events: [...begun, { type: "REMOVALS.QUEUED" }, failed("removals"), lost],
});

const actions = ["refuseBusy", "refuseWaiting", "answerFailure", "markReady", "noteHandover", "logFailure"];
const heard = (...events: { readonly type: string }[]): string[] =>
  recordedActions(agentMachine, input, actions, events);
/** What a whole life begins with: nobody waits when HAProxy is looked for, then the agent is ready. */
const beginning = ['refuseWaiting {"ids":[]}', "markReady"];
const afterBeginning = (...events: { readonly type: string }[]): string[] => {
  const ran = heard(...begun, ...events);
  assert.equal(ran.slice(0, 2), beginning);
  return ran.slice(2);
};

test("a request that cannot be served is answered at once", () => {
  assert.equal(heard(apply, another), ['refuseBusy {"id":3}']);
  assert.equal(heard(apply, done("recover")), ['refuseWaiting {"ids":[1]}']);
  assert.equal(heard(done("recover"), apply), ['refuseWaiting {"ids":[]}', 'refuseWaiting {"ids":[1]}']);
  assert.equal(afterBeginning(apply, lost), ['refuseWaiting {"ids":[1]}']);
});

test("a request whose step failed hears of it", () => {
  const told = (id: number): string[] => [`answerFailure {"id":${id},"error":"defect"}`];
  assert.equal(heard(done("recover"), start, failed("prepareStart")).slice(1), told(2));
  assert.equal(afterBeginning(start, failed("prepareStart")), told(2));
  assert.equal(afterBeginning(apply, failed("apply")), told(1));
  const reloaded = [apply, done("apply", { id: 1, next: "reload" }), done("reload", { id: 1, end: "loaded" })];
  assert.equal(
    afterBeginning(...reloaded, apply, done("apply", { id: 1, next: "reload" }), failed("schedule")),
    told(1),
  );
});

test("a reload that is owed while nobody is at it is wanted again, one that somebody is at is not", () => {
  const pacing = (...events: { readonly type: string }[]): unknown =>
    (stateAfter(agentMachine, input, [...begun, ...events]) as { ready: { pacing: unknown } }).ready.pacing;
  const folding = [
    apply,
    done("apply", { id: 1, next: "done" }),
    { type: "xstate.after.foldDelay.agent.ready.files.dirty" },
  ];
  const content = { quiet: { wish: "content", wait: "least" } };
  const reload = [apply, done("apply", { id: 1, next: "reload" })];
  const refused = done("reload", { id: 1, end: "refused" });
  const foldAgain = { type: "xstate.after.foldDelay.agent.ready.files.dirty" };
  assert.equal(pacing(...reload, refused, foldAgain), content);
  assert.equal(pacing(...reload, refused, foldAgain, done("fold", "whole")), content);
  const pending = { quiet: { wish: "pending", wait: "least" } };
  assert.equal(pacing(...reload, refused, foldAgain, done("fold", "owed")), pending);
  // The reload is under way when the fold ends.
  assert.equal(pacing(...folding, ...reload, done("fold", "owed")), content);
});

test("a step of nobody's that fails is logged by its name", () => {
  const logged = (what: string): string => `logFailure {"what":"${what}","error":"defect"}`;
  assert.equal(heard(failed("recover")), [logged("recover")]);
  assert.equal(heard(done("recover"), done("attach"), failed("reconcile")).slice(1, 2), [logged("reconcile")]);
  assert.equal(afterBeginning(failed("removals")), [logged("removals")]);
  const reload = [apply, done("apply", { id: 1, next: "reload" })];
  assert.equal(afterBeginning(...reload, failed("reload")).slice(0, 1), [logged("reload")]);
  assert.equal(afterBeginning(...reload, lost), ["noteHandover"]);
  const folding = [
    apply,
    done("apply", { id: 1, next: "done" }),
    { type: "xstate.after.foldDelay.agent.ready.files.dirty" },
  ];
  assert.equal(afterBeginning(...folding, failed("fold")), [logged("fold")]);
  const again = { type: "xstate.after.foldRetry.agent.ready.files.unfoldable" };
  assert.equal(afterBeginning(...folding, failed("fold"), again, failed("fold")), [logged("fold"), logged("fold")]);
});

test.run();
