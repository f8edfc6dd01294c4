import { test } from "uvu";
import * as assert from "uvu/assert";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";

const condition = (world: World): { status: string; reason: string } | undefined =>
  (
    world.api.at("haproxytemplateconfigs", "main") as unknown as {
      status?: { conditions?: { status: string; reason: string }[] };
    }
  ).status?.conditions?.[0];
const faultReasons = (world: World): string[] => world.controller.faults().map((fault) => fault.reason);

test("a configuration comes into force on every pod, proven before its first dispatch", async () => {
  const world = await startWorld(1, (empty) => {
    empty.addPod("one");
    empty.addPod("two");
    empty.setObject("a", 1);
  });
  await world.advance(1_000);
  for (const agent of world.agents.values()) assert.is(agent.applied, world.wanted().id);
  assert.is(world.checked.length, 1, "the plan of the trial is not checked again");
  assert.is(condition(world)?.status, "True");
  assert.equal(faultReasons(world), []);
  await world.close();
});

test("an ordinary change is one POST to each pod, and no reload", async () => {
  const world = await startWorld(2);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  const { posts, reloads } = agent;
  world.setObject("a", 2);
  await world.advance(150);
  assert.is(agent.applied, world.wanted().id);
  assert.is(agent.posts - posts, 1);
  assert.is(agent.reloads, reloads);
  await world.close();
});

test("a reload that the agent chose, as an operation could not be done, says which and why", async () => {
  const world = await startWorld(12);
  const agent = world.addPod("one");
  await world.advance(2_000);
  agent.refusedOp = { kind: "map_add", ok: false, output: 'key "a;b" cannot be written' };
  world.lines.length = 0;
  world.setObject("a", 1);
  await world.advance(1_000);
  const line = world.lines.find((each) => each.startsWith("Applied")) ?? "";
  assert.match(line, /"mode":"reload"/);
  assert.match(
    line,
    /"reasons":\["the operation map_add could not be done at run time: key .*cannot be written.*; to avoid it: /,
  );
  await world.close();
});

test("of many changes while one is deployed the newest wins", async () => {
  const world = await startWorld(3);
  const agent = world.addPod("one");
  world.setObject("a", 0);
  await world.advance(2_000);
  const before = agent.changes;
  for (let value = 1; value <= 50; value += 1) {
    world.setObject("a", value);
    await world.advance(2);
  }
  await world.advance(1_000);
  assert.is(agent.applied, world.wanted().id);
  assert.ok(agent.changes - before <= 5, `50 changes within 100 ms were ${agent.changes - before} applies`);
  await world.close();
});

test("idle for an hour with relists, touched objects and drift checks: no apply, no check, no write", async () => {
  const world = await startWorld(4);
  const agent = world.addPod("one");
  world.setConfig("one", "5s");
  world.setObject("a", 1);
  await world.advance(5_000);
  const { applies, checks, reloads } = world.counters();
  const writes = world.writes();
  const { posts } = agent;
  for (let minute = 0; minute < 20; minute += 1) {
    world.api.relist();
    const thing = world.api.at("things", "a");
    if (thing !== undefined) {
      world.api.put("things", {
        ...thing,
        metadata: { ...thing.metadata, managedFields: [{ manager: `m${minute}` }] },
      });
    }
    await world.advance(6_000);
  }
  const after = world.counters();
  assert.equal({ applies: after.applies, checks: after.checks, reloads: after.reloads }, { applies, checks, reloads });
  assert.is(world.writes(), writes);
  assert.is(agent.posts, posts);
  await world.close();
});

test("a restarted controller applies and reloads nothing", async () => {
  const world = await startWorld(5);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(3_000);
  const { posts, reloads, maxEpoch } = agent;
  await world.restart();
  await world.advance(3_000);
  assert.is(agent.posts, posts);
  assert.is(agent.reloads, reloads);
  world.setObject("a", 2);
  await world.advance(1_000);
  assert.is(agent.applied, world.wanted().id);
  assert.is(agent.reloads, reloads, "the baseline came from the pod's stored plan");
  assert.ok(agent.maxEpoch > maxEpoch);
  await world.close();
});

test("a render that HAProxy refuses is reverted, held, and left behind by the next good one", async () => {
  const world = await startWorld(6);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  const good = agent.applied;
  world.setObject("b", "poison");
  await world.advance(2_000);
  assert.is(agent.applied, good, "the refused plan was taken back");
  assert.is(condition(world)?.reason, "HAProxyValidationFailed");
  assert.ok(faultReasons(world).includes("HAProxyValidationFailed"));
  world.setObject("b", "well");
  await world.advance(2_000);
  assert.is(agent.applied, world.wanted().id);
  assert.is(condition(world)?.status, "True");
  assert.equal(faultReasons(world), []);
  await world.close();
});

for (const [kind, template, reason] of [
  ["does not compile", "two typo", "ConfigInvalid"],
  ["does not render", "two fails", "ConfigInvalid"],
  ["is refused by HAProxy", "two poison", "HAProxyValidationFailed"],
] as const) {
  test(`a configuration that ${kind} changes nothing, and other changes are served`, async () => {
    const world = await startWorld(7);
    const agent = world.addPod("one");
    world.setObject("a", 1);
    await world.advance(2_000);
    const good = agent.applied;
    world.setConfig(template);
    await world.advance(1_000);
    assert.is(agent.applied, good);
    assert.is(condition(world)?.reason, reason);
    world.setObject("a", 2);
    await world.advance(1_000);
    assert.is.not(agent.applied, good, "the serving configuration goes on");
    world.setConfig("three");
    await world.advance(2_000);
    assert.is(agent.applied, world.wanted().id);
    assert.is(condition(world)?.status, "True");
    assert.equal(faultReasons(world), []);
    await world.close();
  });
}

test("a configuration refused for an object is tried again when the object changes", async () => {
  const world = await startWorld(8, (empty) => {
    empty.addPod("one");
    empty.setObject("a", "poison");
  });
  await world.advance(2_000);
  assert.is(world.controller.ready(), false);
  world.setObject("a", "well");
  await world.advance(4_000);
  assert.is(world.controller.ready(), true);
  assert.is([...world.agents.values()][0]?.applied, world.wanted().id);
  await world.close();
});

for (const [status, what] of [
  [404, "serves no gadgets of example.com/v1"],
  [403, "may not list and watch"],
  [400, "refuses the request"],
] as const) {
  test(`a watched resource that the API server answers ${status} for is named, harms nothing else, and is forgotten when it is served or not watched any more`, async () => {
    const world = await startWorld(11);
    const agent = world.addPod("one");
    await world.advance(2_000);
    world.api.unserved.set("gadgets", status);
    world.setConfig("two", "60s", "gadgets");
    await world.advance(12_000);
    const fault = world.controller.faults().find(({ reason }) => reason === "ConfigInvalid");
    assert.match(fault?.message ?? "", /^HAProxyTemplateConfig haptic\/main: spec\.watchedResources\.gadgets: /);
    assert.match(fault?.message ?? "", what);
    assert.is(condition(world)?.reason, "ConfigInvalid");
    assert.equal(world.controller.health(), {}, "no component failed: a restart would not help");
    assert.is(
      world.lines.filter((line) => line.includes("gadgets")).length,
      2,
      "it is said once, not with every trial",
    );
    const good = agent.applied;
    world.setObject("a", 2);
    await world.advance(1_000);
    assert.is.not(agent.applied, good, "the serving configuration goes on");
    if (status === 403) world.setConfig("three");
    else world.api.unserved.clear();
    await world.advance(12_000);
    assert.is(agent.applied, world.wanted().id);
    assert.equal(faultReasons(world), []);
    await world.close();
  });
}

test("an agent that has seen a newer epoch deposes the term; the next one has a higher epoch", async () => {
  const world = await startWorld(9);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  agent.maxEpoch = 40;
  world.setObject("a", 2);
  await world.advance(500);
  assert.is.not(agent.applied, world.wanted().id);
  await world.advance(5_000);
  assert.is(agent.applied, world.wanted().id);
  assert.ok(agent.maxEpoch > 40);
  await world.close();
});

test("a watch that is forbidden after its first list keeps its objects; an Event says so, another one when it is granted", async () => {
  const world = await startWorld(15);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  const good = agent.applied;
  world.api.refuse("things", 403);
  await world.advance(2_000);
  assert.equal(faultReasons(world), ["WatchFailed"]);
  const told = async (): Promise<string[]> => {
    const { items } = await world.api.list({ apiVersion: "v1", resource: "events", namespace: "haptic" });
    return items
      .map((event) => `${String(event["type"])} ${String(event["reason"])}`)
      .filter((text) => !/Valid|HAProxyReloaded/.test(text));
  };
  assert.equal(await told(), ["Warning WatchFailed"]);
  assert.is(agent.applied, good);
  assert.is(world.wanted().id, good);
  world.api.relist();
  await world.advance(2_000);
  assert.equal(faultReasons(world), []);
  assert.equal(await told(), ["Warning WatchFailed", "Normal Resolved"]);
  await world.close();
});

test("a configuration that cannot be read, as its definition is not there yet, is named until it can", async () => {
  const world = await startWorld(14, ({ api }) => {
    api.unserved.set("haproxytemplateconfigs", 404);
  });
  await world.advance(1_000);
  assert.equal(
    world.controller.faults().map(({ object, reason, message }) => ({ object, reason, message })),
    [{ object: "haproxytemplateconfigs", reason: "WatchFailed", message: "list haproxytemplateconfigs: 404" }],
  );
  world.api.unserved.clear();
  world.api.relist();
  await world.advance(1_000);
  assert.equal(faultReasons(world), []);
  assert.is(condition(world)?.status, "True");
  await world.close();
});

test("an epoch that a restored Lease gave a second time is given up for a higher one", async () => {
  const world = await startWorld(13);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  const given = agent.maxEpoch;
  agent.token = { leader_epoch: given, render_seq: 1_000_000 };
  world.setObject("a", 2);
  await world.advance(10_000);
  assert.is(agent.applied, world.wanted().id);
  assert.ok(agent.maxEpoch > given);
  assert.equal(faultReasons(world), []);
  await world.close();
});

test("a pod that does not answer keeps nothing from the others, and catches up", async () => {
  const world = await startWorld(10);
  const good = world.addPod("good");
  const deaf = world.addPod("deaf");
  world.setObject("a", 1);
  await world.advance(2_000);
  deaf.silent = 8;
  world.setObject("a", 2);
  await world.advance(200);
  assert.is(good.applied, world.wanted().id);
  assert.is.not(deaf.applied, world.wanted().id);
  assert.ok(faultReasons(world).includes("ApplyFailed"));
  await world.advance(120_000);
  assert.is(deaf.applied, world.wanted().id);
  assert.equal(faultReasons(world), []);
  await world.close();
});

test("a pod whose files were changed behind the controller's back is brought back by the drift check", async () => {
  const world = await startWorld(11);
  const agent = world.addPod("one");
  world.setConfig("one", "5s");
  world.setObject("a", 1);
  await world.advance(3_000);
  agent.files = { "general/all.txt": { digest: "0".repeat(64), size: 1 } };
  await world.advance(8_000);
  assert.is(agent.files["general/all.txt"]?.digest, world.wanted().files.get("general/all.txt")?.digest);
  await world.close();
});

test("a lost API server changes nothing on the pods, and nothing is missed afterwards", async () => {
  const world = await startWorld(12);
  const agent = world.addPod("one");
  world.setObject("a", 1);
  await world.advance(2_000);
  const { applied, reloads } = agent;
  world.api.down = true;
  await world.advance(10_000);
  assert.is(agent.applied, applied);
  world.setConfig("two");
  await world.advance(2_000);
  assert.is(agent.applied, world.wanted().id, "what the watch brings is applied although nothing can be written");
  await world.advance(60_000);
  assert.is(world.controller.states()["deployer"], undefined, "the Lease could not be renewed: another might hold it");
  assert.is(agent.applied, world.wanted().id);
  world.api.down = false;
  await world.advance(20_000);
  assert.is.not(world.controller.states()["deployer"], undefined);
  assert.is(agent.reloads, reloads);
  await world.advance(120_000);
  assert.is(condition(world)?.status, "True");
  assert.equal(faultReasons(world), []);
  await world.close();
});

for (const seed of [101, 102, 103, 104, 105, 106]) {
  test(`whatever happens, the pods end with what was asked for last (seed ${seed})`, async () => {
    const world = await startWorld(seed);
    world.addPod("p0");
    const pick = <T>(list: readonly T[]): T => list[Math.floor(world.random() * list.length)] as T;
    let pods = 1;
    for (let step = 0; step < 120; step += 1) {
      const agents = [...world.agents.values()];
      const roll = world.random();
      if (roll < 0.5) world.setObject(pick(["a", "b", "c", "d"]), pick([1, 2, 3, "well", "poison", undefined]));
      else if (roll < 0.58) world.setConfig(pick(["one", "two", "two fails", "two typo", "two poison"]));
      else if (roll < 0.66) pick(agents).silent += 1 + Math.floor(world.random() * 3);
      else if (roll < 0.72) pick(agents).loseAnswer = true;
      else if (roll < 0.76) Object.assign(pick(agents), { applied: "", running: "", files: {}, lastGood: "" });
      else if (roll < 0.8) pick(agents).maxEpoch += 3;
      else if (roll < 0.84 && agents.length < 4) world.addPod(`p${pods++}`);
      else if (roll < 0.87 && agents.length > 1) world.removePod(pick([...world.agents.keys()]));
      else if (roll < 0.9) world.api.relist();
      else if (roll < 0.93) world.api.down = !world.api.down;
      else if (roll < 0.96) await world.restart();
      await world.advance(Math.floor(world.random() * 400));
    }
    world.api.down = false;
    for (const agent of world.agents.values()) agent.silent = 0;
    for (const name of ["a", "b", "c", "d"]) world.setObject(name, `end of ${name}`);
    world.setConfig("the end");
    await world.advance(300_000);
    const wanted = world.wanted().id;
    assert.equal(
      [...world.agents.values()].map((agent) => agent.applied),
      [...world.agents.values()].map(() => wanted),
    );
    assert.equal(faultReasons(world), []);
    assert.is(condition(world)?.status, "True");
    const { applies, checks } = world.counters();
    await world.advance(120_000);
    assert.is(world.counters().applies, applies, "nothing is applied any more");
    assert.is(world.counters().checks, checks, "nothing is checked any more");
    assert.equal(world.controller.bus.metrics().failures, {});
    await world.close();
  });
}

test.run();
