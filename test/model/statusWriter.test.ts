import { statusWriterMachine, statusWriterReads } from "../../machines/statusWriter.ts";
import { modelTests } from "./harness.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromPromise, SimulatedClock } from "xstate";

const events = [
  ...statusWriterReads.map((type) => ({ type })),
  { type: "xstate.done.actor.write" },
  { type: "xstate.error.actor.write", error: "conflict" },
  { type: "xstate.after.backoff.statusWriter.backingOff" },
];
const input = (differs: boolean) => ({ differs: () => differs, backoffMs: (attempt: number) => 100 * attempt });
const key = ({ attempt }: { attempt: number }) => Math.min(attempt, 2);
const partOf = ["differs", "same"];

modelTests({ machine: statusWriterMachine, variant: "differs", partOf, input: input(true), events, key });
modelTests({ machine: statusWriterMachine, variant: "same", partOf, input: input(false), events, key });

const byHand = suite("statusWriter by hand");
byHand("writes nothing after a backoff when there is nothing left to write", async () => {
  let differs = true;
  let attempts = 0;
  const clock = new SimulatedClock();
  const machine = statusWriterMachine.provide({
    actors: {
      write: fromPromise(() => {
        attempts += 1;
        return Promise.reject(new Error("unreachable"));
      }),
    },
  });
  const actor = createActor(machine, { clock, input: { differs: () => differs, backoffMs: () => 100 } }).start();
  await new Promise((resolve) => setImmediate(resolve));
  assert.is(actor.getSnapshot().value, "backingOff");
  differs = false;
  clock.increment(100);
  assert.is(actor.getSnapshot().value, "idle");
  assert.is(attempts, 1);
});
byHand("looks again on each event that it reads", () => {
  for (const event of statusWriterReads.map((type) => ({ type }))) {
    let differs = false;
    const actor = createActor(statusWriterMachine, { input: { differs: () => differs, backoffMs: () => 100 } }).start();
    assert.is(actor.getSnapshot().value, "idle");
    differs = true;
    actor.send(event as never);
    assert.is(actor.getSnapshot().value, "writing", event.type);
    actor.stop();
  }
});
byHand.run();
