/** Several controllers elect a leader, on simulated time. Lease: 30 s, deadline 20 s, renewal each 5 s. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startReplicas } from "./replicas.ts";
import type { Accepted, Replica, Replicas } from "./replicas.ts";
import { makeWorld } from "./world.ts";
import type { World } from "./world.ts";

const LEASE = "haptic-leader";
const lease = (world: World): { holder: string; epoch: number } => {
  const object = world.api.at("leases", LEASE) as unknown as {
    spec: { holderIdentity: string };
    metadata: { annotations: Record<string, string> };
  };
  return {
    holder: object.spec.holderIdentity,
    epoch: Number(object.metadata.annotations["haproxy-haptic.org/leader-epoch"]),
  };
};
const names = (replicas: readonly Replica[]): string[] => replicas.map(({ name }) => name);

async function begin(seed: number, count = 2): Promise<Replicas> {
  const world = makeWorld(seed);
  world.addPod("one");
  world.setObject("a", 1);
  const replicas = await startReplicas(world, count);
  await replicas.advance(3_000);
  return replicas;
}

/** The one that leads; fails where there are more or none. */
function theLeader(replicas: Replicas): Replica {
  const [leader, ...others] = replicas.leaders();
  if (leader === undefined || others.length > 0) throw new Error(`leaders: ${names(replicas.leaders()).join(" ")}`);
  return leader;
}
const other = ({ all }: Replicas, not: Replica): Replica => all.find((replica) => replica !== not) as Replica;

/** Each epoch is one replica's, and no agent went back to an older one. */
function isFenced(accepted: readonly Accepted[]): void {
  const owners = new Map<number, string>();
  const newest = new Map<string, number>();
  for (const { replica, address, epoch } of accepted) {
    assert.is(owners.get(epoch) ?? replica, replica, `epoch ${epoch}`);
    owners.set(epoch, replica);
    assert.ok(epoch >= (newest.get(address) ?? 0), `${address} took epoch ${epoch} after ${newest.get(address)}`);
    newest.set(address, epoch);
  }
}

test("of three controllers one leads, all are ready, and only the leader writes", async () => {
  const replicas = await begin(1, 3);
  const leader = theLeader(replicas);
  assert.is(lease(replicas.world).holder, leader.name);
  await replicas.advance(60_000);
  assert.is(theLeader(replicas), leader);
  for (const replica of replicas.all) {
    assert.ok(replica.core.ready(), replica.name);
    if (replica !== leader) assert.equal(replica.writes(), {}, `${replica.name} follows`);
  }
  await replicas.close();
});

test("idle: the leader writes the Lease alone, and a follower nothing, whatever it is told by the watches", async () => {
  const replicas = await begin(2);
  const leader = theLeader(replicas);
  const follower = other(replicas, leader);
  await replicas.advance(10_000);
  const { leases: before = 0, ...rest } = leader.writes();
  replicas.world.api.relist();
  await replicas.advance(60_000);
  const { leases: after = 0, ...restAfter } = leader.writes();
  assert.equal(restAfter, rest);
  assert.ok(after - before >= 9 && after - before <= 13, `${after - before} renewals within a minute`);
  assert.equal(follower.writes(), {});
  await replicas.close();
});

test("on shutdown another leads at once, and reloads nothing", async () => {
  const replicas = await begin(3);
  const leader = theLeader(replicas);
  const follower = other(replicas, leader);
  const { reloads } = replicas.agent();
  await leader.stop();
  await replicas.advance(500);
  assert.is(theLeader(replicas), follower);
  replicas.world.setObject("a", 2);
  await replicas.advance(1_000);
  assert.is(replicas.agent().applied, replicas.world.wanted().id);
  assert.is(replicas.agent().reloads, reloads);
  isFenced(replicas.accepted);
  await replicas.close();
});

test("a killed leader is followed when its Lease has run out, not before; what changed meanwhile comes into force", async () => {
  const replicas = await begin(4);
  const leader = theLeader(replicas);
  const follower = other(replicas, leader);
  leader.kill();
  replicas.world.setObject("a", 2);
  await replicas.advance(23_000);
  assert.equal(names(replicas.leaders()), []);
  await replicas.advance(14_000);
  assert.is(theLeader(replicas), follower);
  assert.is(replicas.agent().applied, replicas.world.wanted().id);
  await replicas.close();
});

test("a leader that is killed before a pod was told what it runs: its successor knows, and reloads nothing", async () => {
  const replicas = await begin(14);
  const leader = theLeader(replicas);
  const { reloads } = replicas.agent();
  replicas.world.setObject("a", 2);
  await replicas.advance(200);
  assert.is(replicas.agent().applied, replicas.world.wanted().id);
  assert.is.not(replicas.agent().blobOf, replicas.agent().applied, "the pod cannot say");
  leader.kill();
  replicas.world.setObject("a", 3);
  await replicas.advance(40_000);
  assert.is.not(theLeader(replicas), leader);
  assert.is(replicas.agent().applied, replicas.world.wanted().id);
  assert.is(replicas.agent().reloads, reloads);
  await replicas.close();
});

test("a container that was started again takes the Lease of its former life back once it is warm", async () => {
  const replicas = await begin(5);
  const leader = theLeader(replicas);
  const { epoch } = lease(replicas.world);
  leader.kill();
  leader.start();
  await replicas.advance(2_000);
  assert.is(theLeader(replicas), leader);
  assert.is(lease(replicas.world).epoch, epoch + 1);
  await replicas.close();
});

test("a second process of the same name does not take turns with the first", async () => {
  const world = makeWorld(6);
  world.addPod("one");
  const replicas = await startReplicas(world, 1);
  await replicas.advance(3_000);
  const [first] = replicas.all as [Replica];
  const second = new (first.constructor as new (name: string, world: World, accepted: Accepted[]) => Replica)(
    first.name,
    world,
    replicas.accepted,
  );
  second.start();
  const changes: number[] = [];
  await replicas.advance(60_000, () => {
    second.pass(50);
    const { epoch } = lease(world);
    if (epoch !== changes.at(-1)) changes.push(epoch);
  });
  assert.equal(changes, [2], "taken once, and kept");
  await second.stop();
  await replicas.close();
});

test("a leader that is cut off stands down before another can lead; the pods keep what they have", async () => {
  const replicas = await begin(7);
  const leader = theLeader(replicas);
  const { applied } = replicas.agent();
  leader.kube.cut = true;
  let downAt = 0;
  let upAt = 0;
  let now = 0;
  await replicas.advance(50_000, () => {
    now += 50;
    assert.ok(replicas.leaders().length <= 1, "never two");
    if (downAt === 0 && !leader.leads) downAt = now;
    if (upAt === 0 && other(replicas, leader).leads) upAt = now;
  });
  assert.ok(downAt > 10_000 && downAt <= 20_500, `stood down after ${downAt} ms`);
  assert.ok(upAt > downAt + 5_000 && upAt <= 36_500, `the other led after ${upAt} ms`);
  assert.is(replicas.agent().applied, applied);
  leader.kube.cut = false;
  await replicas.advance(20_000);
  assert.is.not(theLeader(replicas), leader);
  await replicas.close();
});

test("a frozen leader that wakes after another took over changes nothing, and follows", async () => {
  const replicas = await begin(8);
  const leader = theLeader(replicas);
  const follower = other(replicas, leader);
  replicas.world.setObject("a", 2);
  leader.freeze();
  await replicas.advance(40_000);
  assert.ok(follower.leads);
  const taken = replicas.accepted.length;
  replicas.world.setObject("a", 3);
  leader.thaw();
  await replicas.advance(5_000);
  assert.is(theLeader(replicas), follower);
  assert.is(replicas.agent().applied, replicas.world.wanted().id);
  assert.equal([...new Set(replicas.accepted.slice(taken).map(({ replica }) => replica))], [follower.name]);
  isFenced(replicas.accepted);
  await replicas.close();
});

test("a Lease that was deleted is its holder's again at once, and the term goes on", async () => {
  const replicas = await begin(9, 3);
  const leader = theLeader(replicas);
  const { epoch } = lease(replicas.world);
  replicas.world.api.remove("leases", LEASE);
  await replicas.advance(1_000);
  assert.equal(lease(replicas.world), { holder: leader.name, epoch });
  assert.is(theLeader(replicas), leader);
  await replicas.close();
});

test("a Lease that somebody took by force ends the term at once; it is waited out, and its epoch passed", async () => {
  const replicas = await begin(10);
  const { world } = replicas;
  const { epoch } = lease(world);
  const object = world.api.at("leases", LEASE) as unknown as { spec: object; metadata: { annotations: object } };
  world.api.put("leases", {
    ...object,
    spec: { ...object.spec, holderIdentity: "an administrator" },
    metadata: {
      ...object.metadata,
      annotations: {
        "haproxy-haptic.org/leader-epoch": String(epoch + 7),
        "haproxy-haptic.org/leader-instance": "by hand",
      },
    },
  } as never);
  await replicas.advance(1_000);
  assert.equal(names(replicas.leaders()), []);
  await replicas.advance(25_000);
  assert.equal(names(replicas.leaders()), []);
  await replicas.advance(12_000);
  theLeader(replicas);
  assert.is(lease(world).epoch, epoch + 8);
  await replicas.close();
});

test("an etcd that was restored to an older epoch costs one change of the leader, no more", async () => {
  const replicas = await begin(11);
  const { world } = replicas;
  const agent = replicas.agent();
  agent.maxEpoch = 40;
  world.setObject("a", 2);
  await replicas.advance(10_000);
  assert.is(agent.applied, world.wanted().id);
  assert.is(lease(world).epoch, 41);
  const leader = theLeader(replicas);
  await replicas.advance(60_000);
  assert.is(theLeader(replicas), leader);
  await replicas.close();
});

test("two controllers without election stand back for longer each time, and say who is in the way", async () => {
  const world = makeWorld(12);
  const config = world.api.at("haproxytemplateconfigs", "main") as unknown as { spec: object };
  world.api.put("haproxytemplateconfigs", {
    ...config,
    spec: { ...config.spec, controller: { leaderElection: { enabled: false } } },
  } as never);
  world.addPod("one");
  const replicas = await startReplicas(world, 2);
  const epochs = new Map<number, number>();
  let now = 0;
  let value = 0;
  await replicas.advance(300_000, () => {
    now += 50;
    if (now % 1_000 === 0) world.setObject("a", (value += 1));
    const { epoch } = lease(world);
    if (!epochs.has(epoch)) epochs.set(epoch, now);
  });
  const firstMinute = [...epochs.values()].filter((at) => at <= 60_000).length;
  const lastMinute = [...epochs.values()].filter((at) => at > 240_000).length;
  assert.ok(firstMinute >= 3 && lastMinute <= firstMinute / 2, `${firstMinute} terms, then ${lastMinute} a minute`);
  const faults = replicas.all.flatMap(({ core }) => core.faults()).filter(({ reason }) => /Contested/.test(reason));
  assert.ok(faults.length > 0);
  assert.match(faults[0]?.message ?? "", "another controller works on the same HAProxy pods");
  assert.ok(world.lines.some((line) => line.startsWith("Another controller works on the same HAProxy pods")));
  const { items } = await world.api.list({ apiVersion: "events.k8s.io/v1", resource: "events" });
  const warned = (items as unknown as { reason: string; type: string }[]).filter(({ type }) => type === "Warning");
  assert.ok(warned.some(({ reason }) => reason === "LeadershipContested"));
  isFenced(replicas.accepted);
  await replicas.close();
});

test("settings that change count at once: all elect anew on the other Lease, and nothing reloads", async () => {
  const replicas = await begin(13);
  const { world } = replicas;
  const { reloads } = replicas.agent();
  const config = world.api.at("haproxytemplateconfigs", "main") as unknown as { spec: object };
  world.api.put("haproxytemplateconfigs", {
    ...config,
    spec: { ...config.spec, controller: { leaderElection: { leaseName: "another" } } },
  } as never);
  await replicas.advance(5_000);
  const leader = theLeader(replicas);
  assert.is(lease(world).holder, "", "the former Lease was given back");
  assert.is(
    (world.api.at("leases", "another") as unknown as { spec: { holderIdentity: string } }).spec.holderIdentity,
    leader.name,
  );
  world.setObject("a", 9);
  await replicas.advance(2_000);
  assert.is(replicas.agent().applied, world.wanted().id);
  assert.is(replicas.agent().reloads, reloads);
  isFenced(replicas.accepted);
  await replicas.close();
});

for (const seed of [201, 202, 203, 204]) {
  test(`whatever happens, no agent takes two leaders' work, and one leads in the end (seed ${seed})`, async () => {
    const replicas = await begin(seed, 3);
    const { world, all } = replicas;
    world.addPod("two");
    const pick = <T>(list: readonly T[]): T => list[Math.floor(world.random() * list.length)] as T;
    let deleted = false;
    for (let step = 0; step < 60; step += 1) {
      const roll = world.random();
      const replica = pick(all);
      if (roll < 0.3) world.setObject(pick(["a", "b", "c"]), step);
      else if (roll < 0.4 && replica.runs) replica.kube.cut = !replica.kube.cut;
      else if (roll < 0.52 && replica.runs && !replica.frozen) replica.freeze();
      else if (roll < 0.64 && replica.frozen && replica.runs) replica.thaw();
      else if (roll < 0.72 && replica.runs) replica.kill();
      else if (roll < 0.78 && replica.runs && !replica.frozen) await replica.stop();
      else if (roll < 0.9 && !replica.runs) replica.start();
      else if (roll < 0.94) replica.kube.losesAnswers += 1;
      else if (roll < 0.97) {
        deleted = true;
        world.api.remove("leases", LEASE);
      } else for (const agent of world.agents.values()) agent.silent += 1;
      await replicas.advance(Math.floor(world.random() * 12_000), () => {
        const awake = replicas.leaders().filter(({ frozen }) => !frozen);
        // Where nobody knows any more that there was a leader, the epoch alone keeps them apart.
        if (!deleted) assert.ok(awake.length <= 1, `${names(awake).join(" and ")} lead`);
      });
    }
    for (const replica of all) {
      replica.kube.cut = false;
      if (replica.frozen && replica.runs) replica.thaw();
      if (!replica.runs) replica.start();
    }
    await replicas.advance(60_000);
    world.setObject("a", "the end");
    await replicas.advance(60_000);
    theLeader(replicas);
    const wanted = world.wanted().id;
    assert.equal(
      [...world.agents.values()].map((agent) => agent.applied),
      [...world.agents.values()].map(() => wanted),
    );
    isFenced(replicas.accepted);
    await replicas.close();
  });
}

test.run();
