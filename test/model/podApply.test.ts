import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromPromise, setup, SimulatedClock } from "xstate";
import { podApplyMachine } from "../../machines/podApply.ts";
import type { ApplyReply, KnownState, PodApplyReport, SendRequest } from "../../machines/podApply.ts";
import { modelTests } from "./harness.ts";

const known = (applied: string, more: Partial<KnownState> = {}): KnownState => ({
  applied,
  running: applied,
  lastGood: "p0",
  blobStored: true,
  drifted: false,
  ...more,
});
const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "no answer" });
const input = { pod: "a", backoffMs: (attempt: number) => 100 * attempt };
const partOf = ["apply", "moved", "drift", "promote", "revert", "blob"];
const key = ({
  wanted,
  verify,
  owed,
  known: state,
  inFlight,
  form,
  attempt,
  rereads,
  validated,
  refused,
}: Record<string, unknown>) => ({
  wanted,
  verify,
  owed,
  known: state,
  inFlight,
  form,
  attempt: Math.min(attempt as number, 1),
  rereads,
  validated,
  refused,
});
const backoff = { type: "xstate.after.backoff.podApply.work.backingOff" };

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "apply",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: false },
    { type: "POD.APPLY", planId: "p2", seq: 2, verify: false },
    done("readState", known("p1")),
    done("send", { kind: "applied", mode: "runtime", known: known("p2") }),
    done("send", { kind: "rejected", message: "[ALERT] no", known: known("p0") }),
    done("send", { kind: "deposed", epoch: 9 }),
    failed("readState"),
    failed("send"),
    { type: "xstate.after.silence.podApply.work.reading" },
    { type: "xstate.after.silence.podApply.work.sending" },
    backoff,
  ],
});

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "moved",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: false },
    done("readState", known("p0")),
    done("send", { kind: "applied", mode: "reload", known: known("p1") }),
    done("send", { kind: "moved" }),
    done("send", { kind: "baseline_unknown" }),
    backoff,
  ],
});

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "drift",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: true },
    done("readState", known("p1")),
    done("readState", known("p1", { drifted: true })),
    done("send", { kind: "applied", mode: "reload", known: known("p1") }),
    failed("send"),
    backoff,
  ],
});

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "promote",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: false },
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: true },
    { type: "POD.PROMOTE", planId: "p1" },
    { type: "POD.PROMOTE", planId: "p2" },
    done("readState", known("p1")),
    done("readState", known("p1", { lastGood: "p1" })),
    done("promote", { kind: "applied", mode: "noop", known: known("p1", { lastGood: "p1" }) }),
    done("promote", { kind: "moved" }),
    failed("promote"),
    failed("readState"),
    { type: "xstate.after.promotionSettle.podApply.promotion.settling" },
  ],
});

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "revert",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: false },
    { type: "POD.REVERT", planId: "p1" },
    done("readState", known("p0")),
    done("readState", known("p1")),
    done("readState", known("p1", { running: "p0" })),
    done("send", { kind: "applied", mode: "runtime", known: known("p1", { running: "p0" }) }),
    done("revert", { kind: "applied", mode: "file_only", known: known("p0") }),
    done("revert", { kind: "baseline_unknown" }),
    failed("revert"),
    backoff,
  ],
});

modelTests({
  machine: podApplyMachine,
  child: true,
  timersByEvent: true,
  variant: "blob",
  partOf,
  input,
  key,
  events: [
    { type: "POD.APPLY", planId: "p1", seq: 1, verify: false },
    { type: "POD.APPLY", planId: "p2", seq: 2, verify: false },
    done("readState", known("p1", { blobStored: false })),
    done("readState", known("", { blobStored: false })),
    done("send", { kind: "applied", mode: "runtime", known: known("p2", { blobStored: false }) }),
    done("storeBlob", { tookMs: 60 }),
    failed("storeBlob"),
    { type: "xstate.after.blobSettle.podApply.blob.settling" },
    { type: "xstate.after.blobRetry.podApply.blob.failed" },
  ],
});

const byHand = suite("podApply by hand");
byHand("a plan that passes while an older one is being promoted is promoted next", async () => {
  const clock = new SimulatedClock();
  const asked: string[] = [];
  const machine = podApplyMachine.provide({
    actors: {
      readState: fromPromise(() => Promise.resolve(known("p2"))),
      promote: fromPromise<ApplyReply, { pod: string; planId: string }>(({ input: { planId } }) => {
        asked.push(planId);
        // The first answer never comes.
        return planId === "p2" && asked.length === 1
          ? new Promise(() => {})
          : Promise.resolve({ kind: "applied", mode: "noop", known: known("p3", { lastGood: planId }) });
      }),
      send: fromPromise<ApplyReply, SendRequest>(() =>
        Promise.resolve({ kind: "applied", mode: "runtime", known: known("p3", { lastGood: "p0" }) }),
      ),
    },
  });
  const parent = setup({ actors: { subject: machine } }).createMachine({
    invoke: { id: "subject", src: "subject", input },
  });
  const root = createActor(parent, { clock }).start();
  const pod = root.getSnapshot().children["subject"]!;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  pod.send({ type: "POD.APPLY", planId: "p2", seq: 1, verify: false });
  await turn();
  pod.send({ type: "POD.PROMOTE", planId: "p2" });
  clock.increment(250);
  assert.equal(asked, ["p2"]);
  pod.send({ type: "POD.APPLY", planId: "p3", seq: 2, verify: false });
  await turn();
  pod.send({ type: "POD.PROMOTE", planId: "p3" });
  clock.increment(250);
  await turn();
  assert.equal(asked, ["p2", "p3"]);
  clock.increment(1_000);
  assert.equal(asked, ["p2", "p3"], "and not again");
  root.stop();
});
byHand(
  "an agent that does not answer is reported once within 10 s, for a read and for an apply, and heard later",
  async () => {
    const clock = new SimulatedClock();
    const reports: string[] = [];
    const state = Promise.withResolvers<KnownState>();
    const reply = Promise.withResolvers<ApplyReply>();
    const machine = podApplyMachine.provide({
      actors: {
        readState: fromPromise(() => state.promise),
        send: fromPromise<ApplyReply, SendRequest>(() => reply.promise),
      },
    });
    const parent = setup({
      types: { events: {} as PodApplyReport },
      actors: { subject: machine },
      actions: { note: (_, report: string) => reports.push(report) },
    }).createMachine({
      invoke: { id: "subject", src: "subject", input },
      on: {
        "POD.SETTLED": {
          actions: { type: "note", params: ({ event }) => `${event.planId} ${event.outcome} ${event.message}` },
        },
      },
    });
    const root = createActor(parent, { clock }).start();
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const silent = "p1 failed the agent has not answered for 8 s; the request goes on";
    root.getSnapshot().children["subject"]!.send({ type: "POD.APPLY", planId: "p1", seq: 1, verify: false });
    clock.increment(10_000);
    clock.increment(50_000);
    assert.equal(reports, [silent]);
    state.resolve(known("p0"));
    await turn();
    clock.increment(10_000);
    clock.increment(50_000);
    assert.equal(reports, [silent, silent]);
    reply.resolve({ kind: "applied", mode: "runtime", known: known("p1") });
    await turn();
    assert.equal(reports, [silent, silent, "p1 applied "]);
    root.stop();
  },
);
byHand.run();
