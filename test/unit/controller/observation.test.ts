import { SimulatedClock } from "xstate";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Bus } from "../../../src/controller/bus.ts";
import { Observation } from "../../../src/controller/observation.ts";
import type { Log } from "../../../src/controller/ports.ts";

function rig() {
  const clock = new SimulatedClock();
  const errors: string[] = [];
  const quiet = (): void => undefined;
  const log = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (_fields: object, message: string) => void errors.push(message),
  } as unknown as Log;
  const bus = new Bus({
    now: () => clock.now(),
    onFailure: (_name, _event, error) => assert.unreachable(String(error)),
  });
  const observation = new Observation(
    {
      ports: { clock, wallClock: () => 1_000_000 + clock.now(), log, haproxyVersion: "3.4.7" },
      actors: { entries: () => [] } as unknown as ConstructorParameters<typeof Observation>[0]["actors"],
      metrics: {
        resources: () => ({}),
        rejectedInputs: () => 0,
        retained: () => false,
        validated: () => undefined,
        gatePinned: () => false,
        published: () => ({ objects: 0, lagMs: 0 }),
      },
      about: () => ({}),
      panels: () => ({}),
    },
    bus,
  );
  bus.subscribe("reconciler", ["RESOURCES.CHANGED"], () => {
    bus.publish({ type: "RECONCILE.TRIGGERED", reason: "resource_change", coalescible: true }, "reconciler");
  });
  const change = (): void => {
    bus.publish({ type: "RESOURCES.CHANGED", watch: "w", alias: "things", count: 1, revision: 1 }, "watcher:things");
  };
  return { clock, bus, observation, change, errors };
}
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

test("what is seen is told two turns later, with the moment in which it was seen", async () => {
  const { clock, observation, change, bus } = rig();
  change();
  assert.equal(observation.history.last(10), [], "nobody waits for it");
  clock.increment(3);
  observation.renderBegan();
  clock.increment(5);
  bus.publish(
    { type: "PLAN.RENDERED", planId: "p1", seq: 1, iteration: 1, reasons: ["resource_change"] },
    "coordinator",
  );
  clock.increment(100);
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(
    observation.history.last(10).map(({ at, type }) => [Date.parse(at), type]),
    [
      [1_000_008, "PLAN.RENDERED"],
      [1_000_000, "RECONCILE.TRIGGERED"],
      [1_000_000, "RESOURCES.CHANGED"],
    ],
  );
  const [life] = observation.lives.list();
  assert.equal([life?.at, life?.renderBeganMs, life?.renderedMs], [1_000_000, 3, 8]);
  assert.equal(
    life?.changes,
    { things: 1 },
    "in the order in which it was seen: the render answers the change before it",
  );
  observation.close();
});

test("what is not on a change's way to its pods is told at once, after all that was seen before it", () => {
  const { bus, observation, change } = rig();
  change();
  bus.publish({ type: "TERM.BEGAN", epoch: 7 }, "leaderElection");
  assert.equal(
    observation.history.last(10).map(({ type }) => type),
    ["TERM.BEGAN", "RECONCILE.TRIGGERED", "RESOURCES.CHANGED"],
  );
  observation.close();
});

test("who asks for the events is told what has been seen so far", () => {
  const { observation, change } = rig();
  change();
  const [newest] = observation.events(10, undefined);
  assert.is(newest?.type, "RECONCILE.TRIGGERED");
  assert.is(observation.events(10, newest?.correlation_id).length, 2);
  observation.close();
});

test("one thing that cannot be told keeps nothing else from being told", async () => {
  const { observation, change, errors } = rig();
  const add = observation.history.add.bind(observation.history);
  let failed = 0;
  observation.history.add = (...args) => {
    failed += 1;
    if (failed === 1) throw new Error("no room");
    add(...args);
  };
  change();
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(errors, ["What was seen could not be told"]);
  assert.equal(
    observation.history.last(10).map(({ type }) => type),
    ["RECONCILE.TRIGGERED"],
  );
  observation.close();
});

test.run();
