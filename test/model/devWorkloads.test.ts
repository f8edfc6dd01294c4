import { test } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromCallback, fromPromise, SimulatedClock } from "xstate";
import { type DevWorkloadsEvent, devWorkloadsMachine } from "../../machines/devWorkloads.ts";
import { modelTests } from "./harness.ts";

const turn = (): Promise<void> => new Promise((wake) => setImmediate(wake));

function workloads(watches: () => void = () => undefined): {
  readonly clock: SimulatedClock;
  readonly looks: () => number;
  readonly changed: () => void;
  readonly settle: (error?: Error) => Promise<void>;
} {
  const clock = new SimulatedClock();
  let looks = 0;
  let end: { resolve: () => void; reject: (error: Error) => void };
  const machine = devWorkloadsMachine.provide({
    actors: {
      watches: fromCallback<DevWorkloadsEvent>(watches),
      reconcile: fromPromise<void>(() => {
        looks += 1;
        return new Promise((resolve, reject) => {
          end = { resolve, reject };
        });
      }),
    },
  });
  const actor = createActor(machine, { clock }).start();
  return {
    clock,
    looks: () => looks,
    changed: () => actor.send({ type: "WORKLOADS.CHANGED" }),
    settle: (error) => (error === undefined ? end.resolve() : end.reject(error), turn()),
  };
}

test("a change brings one look, and no look comes without a change", async () => {
  const one = workloads();
  assert.is(one.looks(), 0);
  one.changed();
  assert.is(one.looks(), 1);
  await one.settle();
  one.clock.increment(60_000);
  assert.is(one.looks(), 1);
});

test("changes during a look bring one more", async () => {
  const one = workloads();
  one.changed();
  one.changed();
  one.changed();
  assert.is(one.looks(), 1);
  await one.settle();
  assert.is(one.looks(), 2);
  await one.settle();
  assert.is(one.looks(), 2);
});

test("a look that failed is repeated after a while", async () => {
  const one = workloads();
  one.changed();
  one.changed();
  await one.settle(new Error("conflict"));
  one.clock.increment(999);
  assert.is(one.looks(), 1);
  one.clock.increment(1);
  assert.is(one.looks(), 2);
  await one.settle();
  assert.is(one.looks(), 2);
});

test("watches that break bring a look after a while", () => {
  const one = workloads(() => {
    throw new Error("no API");
  });
  one.clock.increment(1_000);
  assert.is(one.looks(), 1);
});

test.run();

modelTests({
  machine: devWorkloadsMachine,
  callbacks: ["watches"],
  events: [
    { type: "WORKLOADS.CHANGED" },
    { type: "xstate.done.actor.reconcile" },
    { type: "xstate.error.actor.reconcile", error: "conflict" },
    { type: "xstate.error.actor.watches", actorId: "watches", error: "no API" },
    { type: "xstate.after.retry.devWorkloads.refused" },
  ],
});
