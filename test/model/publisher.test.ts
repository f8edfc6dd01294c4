import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromPromise, SimulatedClock } from "xstate";
import { publisherMachine, publisherReads } from "../../machines/publisher.ts";
import type { PublicationReport, PublisherInput } from "../../machines/publisher.ts";
import { modelTests } from "./harness.ts";

const report: PublicationReport = { planId: "p1", writes: 2, tookMs: 5, trouble: null };
const events = [
  ...publisherReads.map((type) => ({ type })),
  { type: "xstate.done.actor.read" },
  { type: "xstate.error.actor.read", error: new Error("no answer") },
  { type: "xstate.done.actor.publish", output: report },
  { type: "xstate.done.actor.publish", output: { ...report, trouble: { reason: "TooLarge", message: "too large" } } },
  { type: "xstate.error.actor.publish", error: "refused" },
  { type: "xstate.after.settle.publisher.waiting.settling" },
  { type: "xstate.after.patience.publisher.waiting" },
  { type: "xstate.after.audit.publisher.idle" },
  { type: "xstate.after.interval.publisher.resting" },
  { type: "xstate.after.backoff.publisher.backingOff" },
];
const input = (differs: boolean): PublisherInput => ({
  differs: () => differs,
  intervalMs: () => 10_000,
  backoffMs: (attempt) => 100 * attempt,
  reasonOf: (error) => (error instanceof Error ? "Unreachable" : "Failed"),
});
const key = ({ attempt }: { attempt: number }) => Math.min(attempt, 2);
const partOf = ["differs", "same"];
const common = { machine: publisherMachine, partOf, events, key, timersByEvent: true };

modelTests({ ...common, variant: "differs", input: input(true) });
modelTests({ ...common, variant: "same", input: input(false) });

const byHand = suite("publisher by hand");
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A publisher in simulated time, which notes when it published. */
function scene(differs: () => boolean) {
  const clock = new SimulatedClock();
  const published: number[] = [];
  let reads = 0;
  const machine = publisherMachine.provide({
    actors: {
      read: fromPromise<void>(async () => {
        reads += 1;
      }),
      publish: fromPromise<PublicationReport>(async () => {
        published.push(clock.now());
        return report;
      }),
    },
  });
  const actor = createActor(machine, { clock, input: { ...input(true), differs } }).start();
  const advance = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      await settle();
      clock.increment(100);
    }
    await settle();
  };
  return { actor, advance, published, reads: () => reads };
}

byHand("waits until nothing has happened for a second, and publishes once for all of it", async () => {
  let differs = false;
  const { actor, advance, published } = scene(() => differs);
  await advance(2_000);
  differs = true;
  for (let change = 0; change < 20; change += 1) {
    actor.send({ type: "POD.APPLIED", pod: "a", planId: "p", mode: "runtime" });
    await advance(200);
  }
  assert.equal(published, [], "while things happen");
  await advance(800);
  assert.is(published.length, 1);
});

byHand("under churn that never rests it publishes all the same, not more often than once an interval", async () => {
  const { actor, advance, published } = scene(() => true);
  for (let change = 0; change < 600; change += 1) {
    actor.send({ type: "PLAN.PASSED", planId: `p${change}` });
    await advance(100);
  }
  assert.ok(published.length >= 4, `${published.length} times in a minute`);
  for (const [index, at] of published.entries())
    if (index > 0) assert.ok(at - (published[index - 1] ?? 0) >= 10_000, `${at - (published[index - 1] ?? 0)} ms`);
});

byHand("with nothing to write it looks what is there every five minutes, and writes nothing", async () => {
  const { actor, advance, published, reads } = scene(() => false);
  await advance(2_000);
  assert.is(actor.getSnapshot().value, "idle");
  const before = reads();
  await advance(310_000);
  assert.is(reads(), before + 1);
  assert.equal(published, []);
});

byHand("is stopped in the middle: what it writes is given up", async () => {
  let aborted = false;
  const machine = publisherMachine.provide({
    actors: {
      read: fromPromise<void>(() => Promise.resolve()),
      publish: fromPromise<PublicationReport>(
        ({ signal }) =>
          new Promise(() => {
            signal.addEventListener("abort", () => (aborted = true));
          }),
      ),
    },
  });
  const clock = new SimulatedClock();
  const actor = createActor(machine, { clock, input: input(true) }).start();
  await settle();
  clock.increment(1_000);
  assert.is(actor.getSnapshot().value, "publishing");
  actor.stop();
  assert.is(aborted, true);
});
byHand.run();
