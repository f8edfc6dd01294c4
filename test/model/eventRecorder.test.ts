import { eventRecorderMachine, eventRecorderReads } from "../../machines/eventRecorder.ts";
import { modelTests } from "./harness.ts";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromPromise, SimulatedClock } from "xstate";

const events = [
  ...eventRecorderReads.map((type) => ({ type })),
  { type: "xstate.done.actor.record", output: 3 },
  { type: "xstate.error.actor.record", error: "unreachable" },
  { type: "xstate.after.backoff.eventRecorder.backingOff" },
];
const input = (hasWork: boolean) => ({ hasWork: () => hasWork, backoffMs: (attempt: number) => 100 * attempt });
const key = ({ attempt }: { attempt: number }) => Math.min(attempt, 2);
const partOf = ["work", "nothing"];

modelTests({ machine: eventRecorderMachine, variant: "work", partOf, input: input(true), events, key });
modelTests({ machine: eventRecorderMachine, variant: "nothing", partOf, input: input(false), events, key });

const byHand = suite("eventRecorder by hand");
byHand("writes nothing after a backoff when there is nothing left to write", async () => {
  let hasWork = true;
  let attempts = 0;
  const clock = new SimulatedClock();
  const machine = eventRecorderMachine.provide({
    actors: {
      record: fromPromise(() => {
        attempts += 1;
        return Promise.reject(new Error("unreachable"));
      }),
    },
  });
  const actor = createActor(machine, { clock, input: { hasWork: () => hasWork, backoffMs: () => 100 } }).start();
  await new Promise((resolve) => setImmediate(resolve));
  assert.is(actor.getSnapshot().value, "backingOff");
  hasWork = false;
  clock.increment(100);
  assert.is(actor.getSnapshot().value, "idle");
  assert.is(attempts, 1);
});
byHand("looks again on each event that it reads", () => {
  for (const event of eventRecorderReads.map((type) => ({ type }))) {
    let hasWork = false;
    const actor = createActor(eventRecorderMachine, {
      input: { hasWork: () => hasWork, backoffMs: () => 100 },
    }).start();
    assert.is(actor.getSnapshot().value, "idle");
    hasWork = true;
    actor.send(event as never);
    assert.is(actor.getSnapshot().value, "recording", event.type);
    actor.stop();
  }
});
byHand.run();
