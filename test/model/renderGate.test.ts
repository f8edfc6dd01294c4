import { renderGateMachine } from "../../machines/renderGate.ts";
import { modelTests } from "./harness.ts";

/** What is remembered: `good` passed, `bad` and `worse` were refused; of other plans nothing. */
const remembered: Readonly<Record<string, boolean>> = { good: true, bad: false, worse: false };
const verdictOf = (planId: string) => {
  const passed = remembered[planId];
  return passed === undefined ? undefined : { passed, message: passed ? "" : `[ALERT] ${planId}`, tookMs: 100 };
};
const rendered = (planId: string, reason = "resource_change") => ({
  type: "PLAN.RENDERED",
  planId,
  seq: 1,
  iteration: 2,
  reasons: [reason],
});

const judged = (passed: boolean) => ({
  type: "xstate.done.actor.check",
  output: { passed, message: passed ? "" : "[ALERT] new", tookMs: 100 },
});
const unasked = { type: "xstate.error.actor.check", error: "no haproxy" };
const settled = { type: "xstate.after.settle.renderGate.open.settling" };
const rested = { type: "xstate.after.rest.renderGate.open.resting" };
const retried = ["closed", "holding", "pinned"].map((mode) => ({
  type: `xstate.after.checkRetry.renderGate.${mode}.retrying`,
}));
const input = { maxSuperseded: 1, verdictOf, isRisky: (planId: string) => planId === "risky" };
const key = ({ candidate, checking, refused, superseded, last }: Record<string, unknown>) => ({
  candidate: (candidate as { planId: string }).planId,
  checking,
  refused,
  superseded,
  last: (last as { planId: string } | undefined)?.planId,
  passed: (last as { passed: boolean } | undefined)?.passed,
});
const partOf = ["remembered", "risky", "asked", "superseded", "unasked", "retried"];

modelTests({
  machine: renderGateMachine,
  variant: "remembered",
  partOf,
  input,
  key,
  events: [rendered("good"), rendered("bad"), rendered("worse"), rendered("good", "configuration")],
});

modelTests({
  machine: renderGateMachine,
  variant: "risky",
  partOf,
  input,
  key,
  events: [rendered("good"), rendered("risky"), rendered("new1"), judged(true), judged(false), settled, rested],
});

modelTests({
  machine: renderGateMachine,
  variant: "asked",
  partOf,
  input,
  key,
  events: [
    rendered("good"),
    rendered("bad"),
    rendered("new1"),
    rendered("new1", "configuration"),
    judged(true),
    judged(false),
    settled,
    rested,
  ],
});

modelTests({
  machine: renderGateMachine,
  variant: "superseded",
  partOf,
  input: { ...input, verdictOf: () => undefined },
  key,
  events: [rendered("new1"), rendered("new2"), rendered("new3"), judged(true), judged(false), settled, rested],
});

modelTests({
  machine: renderGateMachine,
  variant: "unasked",
  partOf,
  input,
  key,
  events: [rendered("good"), rendered("bad"), rendered("worse"), rendered("new1"), unasked, settled, ...retried],
});

modelTests({
  machine: renderGateMachine,
  variant: "retried",
  partOf,
  input: { ...input, verdictOf: () => undefined },
  key,
  events: [rendered("new1"), rendered("new2"), unasked, ...retried],
});
