import { test } from "uvu";
import * as assert from "uvu/assert";
import { edges } from "../../src/observe/page/map-data.js";
import { messageOf } from "../../src/observe/index.ts";
import type { RenderLife } from "../../src/observe/index.ts";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";

const SECRET = "planted-5ecret-value";

/** A page that keeps what it is told. */
function attach(world: World) {
  const frames: string[] = [];
  let backlog = 0;
  const leave = world.controller.observation.feed.attach({
    write: (frame) => frames.push(frame),
    backlog: () => backlog,
  });
  return {
    frames,
    leave,
    stall: (bytes: number) => {
      backlog = bytes;
    },
    /** Data of the frames of one kind. */
    of: (kind: string): Record<string, unknown>[] =>
      frames
        .filter((frame) => frame.startsWith(`event: ${kind}\n`))
        .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as Record<string, unknown>),
  };
}

/** The feed looks ten times a second of real time. */
const looked = (ms = 260): Promise<void> => new Promise((done) => setTimeout(done, ms));
const livesOf = (world: World): readonly RenderLife[] => world.controller.observation.lives.list();

const begun = async (seed: number): Promise<World> => {
  const world = await startWorld(seed, (empty) => {
    empty.addPod("one");
    empty.addPod("two");
    empty.setObject("a", SECRET);
  });
  await world.advance(1_000);
  return world;
};

test("a change has one id from the watcher to every pod, and its life says how it went", async () => {
  const world = await begun(1);
  world.setObject("a", 2);
  await world.advance(300);
  const [life] = livesOf(world);
  assert.is(life?.state, "in force");
  assert.equal(life?.reasons, ["resource_change"]);
  assert.equal(life?.changes, { things: 1 });
  assert.equal(
    life?.pods.map(({ mode, ok }) => ({ mode, ok })),
    [
      { mode: "file_only", ok: true },
      { mode: "file_only", ok: true },
    ],
  );
  const types = world.controller.observation.events(100, life?.id).map(({ type }) => type);
  assert.equal(types.toReversed().slice(0, 5), [
    "RESOURCES.CHANGED",
    "RECONCILE.TRIGGERED",
    "PLAN.RENDERED",
    "PLAN.RELEASED",
    "DEPLOYMENT.SCHEDULED",
  ]);
  for (const type of ["POD.APPLIED", "DEPLOYMENT.COMPLETED", "PLAN.PASSED"]) assert.ok(types.includes(type), type);
  const pipeline = world.controller.variables["pipeline"]?.() as {
    correlation_id: string;
    validation: { passed: boolean };
  };
  assert.is(pipeline.correlation_id, life?.id);
  assert.is(pipeline.validation.passed, true);
  await world.close();
});

test("changes that one render answers go on under its id, whichever of them one asks for", async () => {
  const world = await begun(2);
  const { observation } = world.controller;
  for (let value = 1; value <= 6; value += 1) {
    world.setObject("a", value);
    world.controller.bus.publish({ type: "RECONCILE.TRIGGERED", reason: "resync", coalescible: true });
  }
  await world.advance(1_000);
  const merged = livesOf(world).find((life) => life.merged > 0);
  assert.ok(merged, "a render answered several triggers");
  const trigger = observation
    .events(1_000, undefined)
    .find(({ type, correlation_id: id }) => type === "RECONCILE.TRIGGERED" && id !== merged?.id && resolves(id));
  function resolves(id: string): boolean {
    return observation
      .events(1_000, id)
      .some(({ type, correlation_id: at }) => type === "PLAN.RENDERED" && at === merged?.id);
  }
  assert.ok(trigger, "the id of a merged trigger leads to the render");
  await world.close();
});

test("a page is told everything once, then what changes: charts, events, lives, panels", async () => {
  const world = await begun(3);
  const page = attach(world);
  const [full] = page.of("full") as [Record<string, never>];
  const actors = full["actors"] as unknown as { name: string; states: string[] }[];
  assert.ok(actors.some(({ name, states }) => name === "coordinator" && states.includes("coordinator.idle")));
  assert.ok(actors.some(({ name }) => name.startsWith("podApply:")));
  await looked();
  page.frames.length = 0;
  world.setObject("a", 7);
  await world.advance(300);
  await looked(800);
  const ticks = page.of("tick");
  const told = ticks.flatMap((tick) => tick["events"] as { type: string; id: string }[]);
  assert.ok(told.some(({ type }) => type === "POD.APPLIED"));
  const changed = ticks.flatMap((tick) => tick["actors"] as { name: string; passed: string[]; edges: string[] }[]);
  assert.ok(
    changed.some(({ name, passed }) => name === "coordinator" && passed.includes("coordinator.rendering")),
    "a state that lasted no time is told as passed",
  );
  assert.ok(
    changed.some(({ name, edges: taken }) => name === "coordinator" && taken.includes("coordinator.idle#0")),
    "edges are named as the drawing names them",
  );
  const lives = ticks.flatMap((tick) => tick["lives"] as RenderLife[]);
  assert.is(lives.at(0)?.state, "in force");
  const panels = ticks.map((tick) => tick["panels"]).find((one) => one !== undefined) as {
    pods: { applied: string; last: { mode: string } }[];
    stores: object[];
  };
  assert.is(panels.pods[0]?.applied, world.wanted().id);
  assert.is(panels.pods[0]?.last.mode, "file_only");
  assert.equal(panels.stores, [{ alias: "things", objects: 1, revision: 2 }]);
  page.leave();
  await world.close();
});

test("no content and no message is told: not of an object, not HAProxy's words", async () => {
  const world = await begun(4);
  const page = attach(world);
  world.setObject("b", `${SECRET} poison`);
  await world.advance(1_000);
  world.setObject("c", SECRET);
  await world.advance(1_000);
  await looked(800);
  const text = page.frames.join("");
  assert.match(text, "PLAN.REFUSED");
  assert.match(text, '"reason":"HAProxyValidationFailed"');
  assert.not.match(text, SECRET);
  assert.not.match(text, "[ALERT]");
  const refused = livesOf(world).find(({ state }) => state === "refused by HAProxy");
  assert.is(refused?.passed, false);
  page.leave();
  await world.close();
});

test("while no page is attached nothing is inspected, and the last page to leave ends it", async () => {
  const world = await begun(5);
  const { feed } = world.controller.observation;
  assert.is(feed.pages, 0);
  assert.equal(feed.actors(), [], "nothing is followed");
  const page = attach(world);
  const other = attach(world);
  assert.ok(feed.actors().length > 5);
  page.leave();
  assert.ok(feed.actors().length > 5);
  other.leave();
  assert.equal(feed.actors(), []);
  const told = other.frames.length;
  world.setObject("a", 9);
  await world.advance(300);
  await looked();
  assert.is(other.frames.length, told);
  await world.close();
});

test("a thousand events a second are told in few small frames, and none is lost in the sums", async () => {
  const world = await begun(6);
  const page = attach(world);
  await looked();
  page.frames.length = 0;
  const { bus, observation } = world.controller;
  const before = observation.history.count;
  const began = performance.now();
  for (let burst = 0; burst < 50; burst += 1) {
    for (let number = 0; number < 20; number += 1)
      bus.publish(
        { type: "RESOURCES.CHANGED", watch: "w", alias: "things", count: 1, revision: number },
        "watcher:things",
      );
    bus.publish({ type: "DRIFT.FIRED" }, "driftMonitor");
    await new Promise((done) => setTimeout(done, 20));
  }
  await looked();
  const seconds = (performance.now() - began) / 1_000;
  const ticks = page.of("tick") as {
    count: number;
    left: number;
    events: { type: string }[];
    flows: Record<string, number>;
  }[];
  assert.ok(ticks.length <= seconds * 10 + 2, `${ticks.length} frames in ${seconds.toFixed(1)} s`);
  const sum = ticks.reduce((all, { events, left }) => all + events.length + left, 0);
  assert.is(sum, observation.history.count - before);
  assert.is(
    ticks.reduce((all, { flows }) => all + (flows["watcher:things RESOURCES.CHANGED"] ?? 0), 0),
    1_000,
  );
  assert.ok(Math.max(...page.frames.map((frame) => frame.length)) < 64_000);
  assert.ok(
    ticks.some(({ events }) => events.some(({ type }) => type === "DRIFT.FIRED")),
    "a rare event is not drowned",
  );
  page.leave();
  await world.close();
});

test("a page that takes nothing is left out, and told everything anew when it does again", async () => {
  const world = await begun(7);
  const page = attach(world);
  page.stall(2 << 20);
  world.setObject("a", 11);
  await world.advance(300);
  await looked();
  const told = page.frames.length;
  world.setObject("a", 12);
  await world.advance(300);
  await looked();
  assert.is(page.frames.length, told);
  page.stall(0);
  world.setObject("a", 13);
  await world.advance(300);
  await looked();
  assert.is(page.of("full").length, 2);
  page.leave();
  await world.close();
});

test("what a component says is on the component map, where another one reads it", async () => {
  const world = await begun(8);
  world.setObject("b", "poison");
  await world.advance(2_000);
  world.setObject("b", undefined);
  await world.advance(2_000);
  const lit = new Set(edges.flatMap((edge) => edge.types.map((type) => `${edge.source ?? edge.from} ${type}`)));
  const read = new Set(edges.flatMap((edge) => edge.types));
  for (const { source, type } of world.controller.observation.events(1_000, undefined)) {
    if (!read.has(type)) continue;
    assert.ok(lit.has(`${source.replace(/:.*/, "")} ${type}`), `${source} says ${type}`);
  }
  await world.close();
});

test("a render's life is one line of the log, with the id that the events carry", async () => {
  const world = await begun(9);
  world.setObject("a", 2);
  await world.advance(300);
  const lines = world.lines.filter((line) => line.startsWith("Reconciliation "));
  const last = JSON.parse(lines.at(-1)?.slice("Reconciliation ".length) ?? "{}") as Record<string, unknown>;
  assert.is(last["outcome"], "in force");
  assert.is(last["correlation_id"], livesOf(world)[0]?.id);
  assert.equal(last["modes"], ["file_only"]);
  assert.is(last["pods"], 2);
  await world.close();
});

test("metrics count renders, deployments, applies and refusals", async () => {
  const world = await begun(10);
  world.setObject("b", "poison");
  await world.advance(2_000);
  const text = await world.controller.observation.metrics.registry.metrics();
  const value = (name: string): number =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .at(-1),
    );
  assert.is(value("haptic_leader_election_is_leader"), 1);
  assert.is(value("haptic_haproxy_fleet_size"), 2);
  assert.is(value("haptic_validation_errors_total"), 1);
  assert.ok(value("haptic_reconciliation_total") >= 2);
  assert.is(value('haptic_deploy_apply_total{pod="haptic/one",mode="reload"}'), 1);
  assert.is(value('haptic_resource_count{type="things"}'), 2);
  await world.close();
});

test("whoever inspects disturbs nothing: actors come while Stately's tool listens, or while a listener fails", async () => {
  const world = await begun(77);
  const { feed } = world.controller.observation;
  const messages: string[] = [];
  let count = 0;
  const leave = feed.inspect((event) => {
    messages.push(JSON.stringify(messageOf(event, (count += 1))) ?? "");
  });
  const leaveToo = feed.inspect(() => {
    throw new Error("a listener failed");
  });
  world.addPod("three");
  world.setObject("a", 2);
  await world.advance(3_000);
  assert.equal(world.controller.faults(), []);
  assert.is(world.agents.get("three")?.applied, world.wanted().id);
  assert.ok(messages.some((message) => message.includes('"@xstate.actor"')));
  assert.not.ok(messages.join("").includes(SECRET));
  leave();
  leaveToo();
  await world.close();
});

test.run();
