/** The published objects in a simulated world where the API server, the lease and the pods fail as a seed says. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { HAProxyCfg, HAProxyGeneralFile } from "../../src/config/index.ts";
import { startWorld, type World } from "./world.ts";

const cfg = (world: World): HAProxyCfg | undefined =>
  world.api.at("haproxycfgs", "main-haproxycfg") as HAProxyCfg | undefined;
const said = (world: World): Record<string, string> =>
  Object.fromEntries(
    (cfg(world)?.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
const files = (world: World): string[] =>
  world.api.all("haproxygeneralfiles").map((object) => (object as HAProxyGeneralFile).spec.content);
const wanted = (world: World): string[] => {
  const found: string[] = [];
  for (const [, { kind, blocks }] of world.wanted().files.entries())
    if (kind === "general") found.push(Buffer.concat(blocks.map(({ bytes }) => bytes)).toString());
  return found;
};
const pods = (world: World): (string | undefined)[][] =>
  (cfg(world)?.status?.deployedToPods ?? []).map(({ podName, mode, lastError }) => [podName, mode, lastError]);
const WELL = {
  ConfigValidated: "True HAProxyAccepted",
  ConfigPinned: "False NotPinned",
  Synced: "True Published",
  Ready: "True OnEveryPod",
};

test("what is in force is published, with the pods that run it, and nothing more is written", async () => {
  const world = await startWorld(1, (empty) => {
    empty.addPod("one");
    empty.addPod("two");
    empty.setObject("a", 1);
  });
  await world.advance(5_000);
  assert.equal(said(world), WELL);
  assert.equal(files(world), wanted(world));
  assert.equal(pods(world), [
    ["one", "reload", undefined],
    ["two", "reload", undefined],
  ]);
  const { writes } = { writes: world.writes() };
  await world.advance(120_000);
  assert.is(world.writes(), writes);
  await world.close();
});

test("nothing is published in the first second after a change, and many changes are one publication", async () => {
  const world = await startWorld(2, (empty) => {
    empty.addPod("one");
    empty.setObject("a", 1);
  });
  await world.advance(20_000);
  const before = { ...world.api.counters.writes };
  for (let value = 2; value < 30; value += 1) {
    world.setObject("a", value);
    await world.advance(100);
  }
  assert.equal(world.api.counters.writes["haproxycfgs"], before["haproxycfgs"], "while it changes");
  await world.advance(2_000);
  assert.is(world.api.counters.writes["haproxycfgs"], (before["haproxycfgs"] ?? 0) + 1);
  assert.equal(files(world), wanted(world));
  await world.close();
});

test("the interval of the configuration is kept between two publications", async () => {
  const world = await startWorld(3);
  world.addPod("one");
  const stored = world.api.at("haproxytemplateconfigs", "main") as unknown as { spec: { dataplane: object } };
  world.api.put("haproxytemplateconfigs", {
    ...stored,
    spec: { ...stored.spec, dataplane: { ...stored.spec.dataplane, configPublishInterval: "30s" } },
  } as never);
  world.setObject("a", 1);
  await world.advance(5_000);
  const before = world.api.counters.writes["haproxycfgs"] ?? 0;
  world.setObject("a", 2);
  await world.advance(20_000);
  assert.is(world.api.counters.writes["haproxycfgs"], before);
  await world.advance(15_000);
  assert.is(world.api.counters.writes["haproxycfgs"], before + 1);
  await world.close();
});

test("a refused render leaves what is published, says so, and the next good one heals it", async () => {
  const world = await startWorld(4);
  world.addPod("one");
  world.setObject("a", 1);
  await world.advance(5_000);
  const good = files(world);
  world.setObject("b", "poison");
  await world.advance(15_000);
  assert.equal(files(world), good);
  assert.is(said(world)["ConfigValidated"], "False HAProxyRefused");
  world.setObject("c", "poison");
  await world.advance(15_000);
  assert.is(said(world)["ConfigPinned"], "True RefusedRepeatedly");
  world.setObject("b", 1);
  world.setObject("c", 1);
  await world.advance(15_000);
  assert.equal(said(world), WELL);
  assert.equal(files(world), wanted(world));
  await world.close();
});

test("a failing pod is told with its failure, and without it when it is well again", async () => {
  const world = await startWorld(5);
  const agent = world.addPod("one");
  world.addPod("two");
  world.setObject("a", 1);
  await world.advance(5_000);
  agent.silent = 100_000;
  world.setObject("a", 2);
  await world.advance(20_000);
  const entry = cfg(world)?.status?.deployedToPods?.find(({ podName }) => podName === "one");
  assert.match(entry?.lastError ?? "", "connection refused");
  assert.ok((entry?.consecutiveErrors ?? 0) >= 2);
  assert.is(said(world)["Ready"], "False NotOnEveryPod");
  agent.silent = 0;
  await world.advance(40_000);
  assert.equal(said(world), WELL);
  assert.equal(
    pods(world).map(([, , error]) => error),
    [undefined, undefined],
  );
  await world.close();
});

const events = (world: World): string[] =>
  (world.api.all("events") as unknown as { type: string; reason: string; message: string }[])
    .filter(({ reason }) => reason.startsWith("Publish") || reason === "Unpublishable")
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
test("a right that lacks is named, in an Event too, and answered when it is given; what passes by itself is no Event", async () => {
  const world = await startWorld(7);
  world.addPod("one");
  world.setObject("a", 1);
  await world.advance(5_000);
  for (const [status, told] of [
    [503, 0],
    [403, 1],
  ] as const) {
    world.api.refuses = (verb, resource) =>
      verb === "create" && resource === "haproxygeneralfiles" ? status : undefined;
    world.setObject("a", status);
    await world.advance(60_000);
    assert.equal(
      world.controller.faults().map(({ object, reason, message }) => [object, reason, message]),
      [["publisher", "PublishFailed", `create haproxygeneralfiles: ${status}`]],
    );
    assert.is(said(world)["Synced"], status === 403 ? "False Forbidden" : "False Unavailable");
    assert.is(events(world).length, told, events(world).join("\n"));
    world.api.refuses = () => undefined;
    await world.advance(70_000);
    assert.equal(world.controller.faults(), []);
    assert.equal(said(world), WELL);
  }
  assert.equal(events(world), [
    "Warning PublishFailed create haproxygeneralfiles: 403",
    "Normal Published PublishFailed is mended: create haproxygeneralfiles: 403",
  ]);
  await world.close();
});

test("another leader that finds the same writes nothing, and goes on where the former one was", async () => {
  const world = await startWorld(6);
  world.addPod("one");
  world.setObject("a", 1);
  await world.advance(5_000);
  const version = cfg(world)?.metadata.resourceVersion;
  await world.restart();
  await world.advance(60_000);
  assert.is(cfg(world)?.metadata.resourceVersion, version);
  world.setObject("a", 2);
  await world.advance(15_000);
  assert.equal(files(world), wanted(world));
  await world.close();
});

for (let seed = 201; seed <= 208; seed += 1) {
  test(`whatever fails on the way, in the end what is in force is published, and no more (seed ${seed})`, async () => {
    const world = await startWorld(seed, (empty) => {
      empty.addPod("one");
    });
    const pick = <T>(list: readonly T[]): T => list[Math.floor(world.random() * list.length)] as T;
    let faulty = 0;
    world.api.refuses = (verb, resource) => {
      if (!/^(haproxy(cfg|general)|secrets)/.test(resource) || world.random() >= faulty) return undefined;
      return pick([403, 409, 413, 422, 429, 500, 503]);
    };
    const names = ["a", "b", "c", "d"];
    for (let step = 0; step < 40; step += 1) {
      const act = Math.floor(world.random() * 10);
      if (act < 5) world.setObject(pick(names), Math.floor(world.random() * 1_000));
      else if (act === 5) faulty = pick([0, 0.3, 0.9]);
      else if (act === 6) world.api.down = !world.api.down;
      else if (act === 7) {
        const agent = pick([...world.agents.values()]);
        if (world.random() < 0.5) agent.maxEpoch += 3;
        else agent.silent = 3;
      } else if (act === 8 && !world.api.down) await world.restart();
      else if (world.agents.size === 1) world.addPod(`pod-${step}`);
      else world.removePod([...world.agents.keys()].at(-1) as string);
      // What others do to published objects is put right, too.
      if (world.random() < 0.1) {
        const object = world.api.all("haproxygeneralfiles")[0];
        if (object !== undefined) world.api.remove("haproxygeneralfiles", object.metadata.name);
      }
      await world.advance(pick([50, 300, 2_000, 8_000]));
    }
    world.api.down = false;
    faulty = 0;
    world.setObject("a", "last");
    // The longest pause between two attempts, and a look at what others have done.
    await world.advance(400_000);
    assert.equal(said(world), WELL, JSON.stringify(cfg(world)?.status, null, 1));
    assert.equal(files(world), wanted(world));
    assert.equal(
      pods(world).map(([name]) => name),
      [...world.agents.keys()].sort(),
    );
    assert.equal(world.controller.faults(), []);
    const writes = world.writes();
    await world.advance(60_000);
    assert.is(world.writes(), writes);
    await world.close();
  });
}

test.run();
