import { test } from "uvu";
import * as assert from "uvu/assert";
import { Bus } from "../../../src/controller/bus.ts";
import type { BusEvent } from "../../../src/controller/index.ts";

const began: BusEvent = { type: "TERM.BEGAN", epoch: 1 };
const ended: BusEvent = { type: "TERM.ENDED", epoch: 1, reason: "lost" };
const make = (now: () => number = () => 0) => {
  const failures: string[] = [];
  const bus = new Bus({
    now,
    onFailure: (subscriber, event, error) => failures.push(`${subscriber} ${event.type} ${String(error)}`),
  });
  return { bus, failures };
};

test("every subscriber sees one order, also when one answers an event with another", () => {
  const { bus } = make();
  const seen: string[] = [];
  bus.subscribe("first", ["TERM.BEGAN", "TERM.ENDED"], (event) => {
    seen.push(`first ${event.type}`);
    if (event.type === "TERM.BEGAN") bus.publish(ended);
  });
  bus.subscribe("second", ["TERM.BEGAN", "TERM.ENDED"], (event) => seen.push(`second ${event.type}`));
  bus.publish(began);
  assert.equal(seen, ["first TERM.BEGAN", "second TERM.BEGAN", "first TERM.ENDED", "second TERM.ENDED"]);
});

test("a subscriber that throws is counted and named, and the others get the event", () => {
  const { bus, failures } = make();
  let heard = 0;
  bus.subscribe("bad", ["TERM.BEGAN"], () => {
    throw new Error("no");
  });
  bus.subscribe("good", ["TERM.BEGAN"], () => (heard += 1));
  bus.publish(began);
  bus.publish(began);
  assert.is(heard, 2);
  assert.equal(bus.metrics().failures, { bad: 2 });
  assert.equal(failures, ["bad TERM.BEGAN Error: no", "bad TERM.BEGAN Error: no"]);
});

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await new Promise((wake) => setImmediate(wake));
};

test("who subscribes at leisure hears the same events in the same order, after everybody else and after this turn", async () => {
  const { bus } = make();
  const seen: string[] = [];
  const hear =
    (name: string) =>
    (event: BusEvent): void => {
      seen.push(`${name} ${event.type}`);
    };
  bus.subscribe("writer", ["TERM.BEGAN", "TERM.ENDED"], hear("writer"), { atLeisure: ["TERM.BEGAN", "TERM.ENDED"] });
  bus.subscribe("partly", ["TERM.BEGAN", "TERM.ENDED"], hear("partly"), { atLeisure: ["TERM.BEGAN"] });
  bus.subscribe("actor", ["TERM.BEGAN", "TERM.ENDED"], hear("actor"));
  bus.publish(began);
  bus.publish(ended);
  assert.equal(seen.splice(0), ["actor TERM.BEGAN", "partly TERM.ENDED", "actor TERM.ENDED"]);
  assert.is(bus.metrics().depth, 3);
  await turns();
  assert.equal(seen, ["writer TERM.BEGAN", "partly TERM.BEGAN", "writer TERM.ENDED"]);
  assert.is(bus.metrics().depth, 0);
});

test("who has left hears nothing more, at leisure neither; what it says there has its cause", async () => {
  const { bus, failures } = make();
  let heard = 0;
  const causes: unknown[] = [];
  const leave = bus.subscribe("gone", ["TERM.BEGAN"], () => (heard += 1), { atLeisure: ["TERM.BEGAN"] });
  bus.subscribe(
    "bad",
    ["TERM.BEGAN"],
    () => {
      throw new Error("no");
    },
    { atLeisure: ["TERM.BEGAN"] },
  );
  bus.subscribe("answers", ["TERM.BEGAN"], () => bus.publish(ended), { atLeisure: ["TERM.BEGAN"] });
  bus.observe("observer", (event, { cause }) => {
    if (event.type === "TERM.ENDED") causes.push(cause);
  });
  bus.publish(began);
  leave();
  await turns();
  assert.is(heard, 0);
  assert.equal(failures, ["bad TERM.BEGAN Error: no"]);
  assert.equal(causes, [began]);
});

test("a subscription ends at once, also in the middle of a delivery", () => {
  const { bus } = make();
  let heard = 0;
  let leave = (): void => {};
  bus.subscribe("first", ["TERM.BEGAN"], () => {
    leave();
  });
  leave = bus.subscribe("second", ["TERM.BEGAN"], () => (heard += 1));
  bus.publish(began);
  assert.is(heard, 0);
});

test("who comes in the middle of a delivery hears the next event, not this one", () => {
  const { bus } = make();
  const seen: string[] = [];
  let joined = false;
  bus.subscribe("first", ["TERM.BEGAN"], () => {
    if (joined) return;
    joined = true;
    bus.subscribe("late", ["TERM.BEGAN"], () => seen.push("late"));
  });
  bus.publish(began);
  assert.equal(seen, []);
  bus.publish(began);
  assert.equal(seen, ["late"]);
});

test("observers hear everything before those that named their types", () => {
  const { bus } = make();
  const seen: string[] = [];
  bus.subscribe("named", ["TERM.BEGAN"], () => seen.push("named"));
  const leave = bus.observe("all", (event) => seen.push(event.type));
  bus.publish(began);
  leave();
  bus.publish(ended);
  assert.equal(seen, ["TERM.BEGAN", "named"]);
});

test("the longest wait in the queue is kept", () => {
  let now = 0;
  const { bus } = make(() => now);
  bus.subscribe("slow", ["TERM.BEGAN"], () => {
    bus.publish(ended);
    now += 7;
  });
  bus.publish(began);
  const { published, depth, maxAgeMs } = bus.metrics();
  assert.equal({ published, depth, maxAgeMs }, { published: 2, depth: 0, maxAgeMs: 7 });
});

test.run();
