import { Subject } from "rxjs";
import { SimulatedClock } from "xstate";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Bus } from "../../../src/controller/bus.ts";
import type { BusEvent } from "../../../src/controller/events.ts";
import { WatchPool, type WatchRequest } from "../../../src/controller/watch-pool.ts";
import type { KubeClient, WatchSignal } from "../../../src/kube/types.ts";
import type { KubeObject } from "../../../src/stores/types.ts";

function rig() {
  const streams: { readonly resource: string; readonly signals: Subject<WatchSignal> }[] = [];
  const listWatch = ({ resource }: { resource: string }): Subject<WatchSignal> => {
    const signals = new Subject<WatchSignal>();
    streams.push({ resource, signals });
    return signals;
  };
  const clock = new SimulatedClock();
  const bus = new Bus({
    now: () => clock.now(),
    onFailure: (_name, _event, error) => assert.unreachable(String(error)),
  });
  const said: BusEvent[] = [];
  bus.observe("test", (event) => said.push(event));
  const pool = new WatchPool({
    kube: { listWatch } as unknown as KubeClient,
    bus,
    registry: { add: () => undefined, remove: () => undefined },
    clock,
  });
  return { pool, streams, said };
}

const request = (alias: string, more: Partial<WatchRequest> = {}): WatchRequest => ({
  alias,
  apiVersion: "v1",
  resource: "things",
  labelSelector: "",
  fieldSelector: "",
  indexBy: ["metadata.name"],
  ignoreFields: [],
  windowMs: 0,
  ...more,
});
const byColour = request("byColour", { indexBy: ["spec.colour"], ignoreFields: ["status"] });
const thing = (name: string, spec: object, resourceVersion = "1"): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, resourceVersion },
  spec,
});
const list = (signals: Subject<WatchSignal>, ...objects: KubeObject[]): void => {
  signals.next({ type: "RELIST", reason: "start" });
  signals.next({ type: "PAGE", objects });
  signals.next({ type: "SYNCED", resourceVersion: "1" });
};

test("Aliases that ask for the same objects are stores of one stream, each with its own index; a change of an object is told once", () => {
  const { pool, streams, said } = rig();
  const things = request("things");
  const [first, second, ...none] = pool.acquire([things, request("others", { resource: "others" }), byColour]);
  assert.equal(none, []);
  assert.equal(
    streams.map(({ resource }) => resource),
    ["things", "others"],
  );
  assert.equal(
    [first, second].map((acquired) => acquired?.requests.map(({ alias }) => alias)),
    [["things", "byColour"], ["others"]],
  );
  const watch = first!.watch.value;
  const { signals } = streams[0]!;
  list(signals, thing("a", { colour: "red" }), thing("b", {}));
  assert.ok(watch.isSynced());
  const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);
  assert.equal(names(watch.store(things).version().list()), ["a", "b"]);
  assert.equal(names(watch.store(byColour).version().fetch(["red"])), ["a"]);
  said.length = 0;
  const changes = (): object[] =>
    said
      .splice(0)
      .map((event) => (event.type === "RESOURCES.CHANGED" ? { alias: event.alias, count: event.count } : event));
  signals.next({ type: "MODIFIED", object: thing("a", { colour: "blue" }, "2") });
  assert.equal(changes(), [{ alias: "things", count: 1 }]);
  assert.equal(names(watch.store(byColour).version().fetch(["blue"])), ["a"]);
  signals.next({ type: "ADDED", object: { ...thing("c", {}), status: {} } });
  assert.equal(changes(), [{ alias: "things", count: 1 }], "a change that one of the stores holds");
  signals.next({ type: "MODIFIED", object: { ...thing("a", { colour: "blue" }, "3"), status: { seen: true } } });
  assert.equal(changes(), [{ alias: "things", count: 1 }], "a field that only the other store trims away");
  signals.next({ type: "MODIFIED", object: { ...thing("a", { colour: "blue" }, "4"), status: { seen: true } } });
  assert.equal(changes(), []);
  signals.next({ type: "DELETED", object: thing("a", {}) });
  assert.equal(changes(), [{ alias: "things", count: 1 }]);
  assert.equal([watch.store(things).size, watch.store(byColour).size], [2, 0]);
  list(signals, thing("d", { colour: "red" }));
  assert.equal(names(watch.store(byColour).version().list()), ["d"]);
  assert.equal(names(watch.store(things).version().list()), ["d"], "what a new list does not hold leaves every store");
});

test("A request finds an open watch whose stream has its store; one that lacks it does not serve it", () => {
  const { pool, streams } = rig();
  const [both] = pool.acquire([request("things"), byColour]);
  const [one] = pool.acquire([{ ...byColour, alias: "other name" }]);
  assert.is(one!.watch.value, both!.watch.value);
  assert.is(one!.watch.value.store(byColour), both!.watch.value.store(byColour));
  const [trimmed] = pool.acquire([request("things", { ignoreFields: ["metadata.labels"] })]);
  assert.is.not(trimmed!.watch.value, both!.watch.value);
  const [slower] = pool.acquire([request("things", { windowMs: 500 })]);
  assert.is.not(slower!.watch.value, both!.watch.value);
  const [selected] = pool.acquire([request("things", { labelSelector: "a=b" })]);
  assert.is.not(selected!.watch.value, both!.watch.value);
  assert.is(streams.length, 4);
  const { id } = both!.watch.value;
  both!.watch.release();
  assert.ok(pool.holds(id) && streams[0]!.signals.observed, "somebody needs it still");
  one!.watch.release();
  assert.not.ok(pool.holds(id) || streams[0]!.signals.observed);
  one!.watch.release();
  const [anew] = pool.acquire([request("things"), byColour]);
  assert.ok(anew!.watch.value !== both!.watch.value && streams[4]!.signals.observed, "the last one has closed it");
});

test("A store that nobody needs any more is filled no longer, and its changes ask for nothing", () => {
  const { pool, streams, said } = rig();
  const things = request("things");
  const [both] = pool.acquire([things, byColour]);
  const { signals } = streams[0]!;
  list(signals, thing("a", {}));
  const former = both!.watch.value.store(things);
  const [one] = pool.acquire([byColour]);
  both!.watch.release();
  both!.watch.release();
  said.length = 0;
  signals.next({ type: "ADDED", object: thing("b", {}) });
  assert.equal([former.size, said.length], [1, 0], "only the store that is gone would have held it");
  signals.next({ type: "ADDED", object: thing("c", { colour: "red" }) });
  assert.equal([one!.watch.value.store(byColour).size, said.length], [1, 1]);
  const [again] = pool.acquire([things]);
  assert.is.not(again!.watch.value, one!.watch.value, "it would lack what was there before");
  const [whole] = pool.acquire([things, byColour]);
  assert.ok(
    whole!.watch.value.store(things) && whole!.watch.value.store(byColour),
    "nor does the watch that had both once",
  );
  assert.is(streams.length, 3);
});

test("The order in which a configuration names its aliases does not make another watch", () => {
  const { pool, streams } = rig();
  const [there] = pool.acquire([request("things"), byColour]);
  const [back] = pool.acquire([byColour, request("things")]);
  assert.is(there!.watch.value, back!.watch.value);
  assert.is(streams.length, 1);
});

test.run();
