// runner: beside
import { existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ClientTls, createAgentClient } from "../../../src/agent/client.ts";
import { agentPaths, askAgent, prepareStart } from "../../../src/agent/index.ts";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";
import { AgentClientError } from "../../../src/errors.ts";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { conflictOf, resultOf, TestController } from "./controller.ts";
import {
  CLIENT_NAME,
  deltaShipment,
  fullShipment,
  get,
  hostFiles,
  makeIdentities,
  removeScratch,
  scratch,
  SERVER_NAME,
  setOf,
  startPod,
  startServers,
  until,
  type Pod,
  type PodOptions,
} from "./harness.ts";

const root = scratch("safety");
const identities = await makeIdentities(root);
const upstream = "127.94.0.1";
const servers = await startServers(upstream, [9001, 9002]);
const binary = testHaproxy("3.4");
const check = needing(test, binary === undefined ? "HAProxy 3.4 is not there" : undefined);
const pods: Pod[] = [];
let address = 0;

test.after(async () => {
  for (const pod of pods) await pod.close();
  await servers.close();
  removeScratch(root);
});

type Files = Record<string, string>;

function filesOf(backends: Record<string, Record<string, number>>, extra?: string): Files {
  return hostFiles({ backends, upstream, ...(extra !== undefined && { extra }) });
}

const one = filesOf({ one: { s1: 9001 } });
const two = filesOf({ one: { s1: 9002 } });
const broken = filesOf({ one: { s1: 9001 } }, "this is no directive");

async function start(options: Partial<PodOptions> = {}): Promise<{ pod: Pod; controller: TestController }> {
  address += 1;
  const pod = await startPod({
    binary: binary!,
    address: `127.94.1.${address}`,
    identities,
    name: `pod-${address}`,
    ...options,
  });
  pods.push(pod);
  return { pod, controller: new TestController(pod.client) };
}

const current = (pod: Pod, path = "haproxy.cfg"): string => readFileSync(join(pod.baseDir, "current", path), "utf8");

check("a set that HAProxy refuses is rolled back, with HAProxy's words, and the worker goes on", async () => {
  const { pod, controller } = await start();
  const first = await controller.load(one);
  const refused = await controller.load(broken);
  assert.is(refused.ok, false);
  assert.is(refused.mode, "rejected");
  assert.is(refused.error?.stage, "reload");
  assert.match(refused.error?.message ?? "", "unknown keyword 'this'");
  assert.equal(refused.rollback, { performed: true, reloaded: false });
  assert.is(refused.applied_plan_id, first.plan_id);
  assert.is(current(pod), one["haproxy.cfg"]);
  assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9001" });
  const mended = await controller.load(two, { expected_prev_plan_id: first.plan_id });
  assert.ok(mended.ok);
  assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9002" });
});

check("an [ALERT] with exit code 0 is a refusal too", async () => {
  const { controller } = await start();
  await controller.load(one);
  const alerted: Files = {
    ...one,
    "haproxy.cfg": `${one["haproxy.cfg"]}backend a/b\n    mode http\n    balance roundrobin\n    timeout server 5s\n    timeout connect 5s\n`,
  };
  const result = await controller.load(alerted);
  assert.is(result.ok, false);
  assert.match(result.error?.message ?? "", "ALERT");
});

check("a second controller with an older epoch hears that it is stale and changes nothing", async () => {
  const { pod, controller } = await start();
  controller.epoch = 5;
  await controller.load(one);
  const stale = fullShipment(setOf(two), {
    planId: "other",
    prev: controller.planId,
    token: { leader_epoch: 4, render_seq: 99 },
    mode: "reload",
  });
  const conflict = conflictOf(await pod.client.apply(stale.manifest, stale.parts));
  assert.is(conflict.reason, "stale_epoch");
  assert.is(conflict.applied_token.leader_epoch, 5);
  assert.is((await pod.client.state()).applied_plan_id, controller.planId);
  const newer = fullShipment(setOf(two), {
    planId: "newer",
    prev: controller.planId,
    token: { leader_epoch: 6, render_seq: 1 },
    mode: "reload",
  });
  assert.ok(resultOf(await pod.client.apply(newer.manifest, newer.parts)).ok);
  const late = deltaShipment(setOf(one), setOf(two), {
    planId: "late",
    prev: "newer",
    token: { leader_epoch: 5, render_seq: 100 },
  });
  assert.is(conflictOf(await pod.client.apply(late.manifest, late.parts)).reason, "stale_epoch");
});

check("the refusal of a large apply reaches the sender, and nothing of it is left on disk", async () => {
  const { pod, controller } = await start();
  controller.epoch = 5;
  await controller.load(one);
  const large = setOf({ ...two, "general/large.bin": "x".repeat(20_000_000) });
  const stale = fullShipment(large, {
    planId: "other",
    prev: controller.planId,
    token: { leader_epoch: 4, render_seq: 1 },
    mode: "reload",
  });
  assert.is(conflictOf(await pod.client.apply(stale.manifest, stale.parts)).reason, "stale_epoch");
  const moved = fullShipment(large, {
    planId: "other",
    prev: controller.planId,
    token: { leader_epoch: 5, render_seq: 9 },
    mode: "reload",
  });
  assert.is(resultOf(await pod.client.apply(moved.manifest, moved.parts)).mode, "reload");
  assert.is(current(pod, "general/large.bin").length, 20_000_000);
  assert.equal(readdirSync(join(pod.baseDir, ".haptic", "staging")), []);
});

check(
  "a reload that somebody else asked for is noticed, and the new worker gets every acknowledged change",
  async () => {
    const { pod, controller } = await start();
    await controller.load(one);
    const changed = await controller.change(two, [
      { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 },
    ]);
    pod.haproxy().kill("SIGUSR2");
    await until("another worker serves", async () => {
      const { haproxy } = await pod.client.state({ verify: true });
      return haproxy !== null && haproxy.worker_pid !== changed.haproxy!.worker_pid;
    });
    await until("it has the change", async () => (await get(pod.address, "one.example")).body === "9002");
    assert.is((await pod.client.state()).running_plan_id, changed.plan_id);
  },
);

check("two controllers of one epoch cannot both win: the loser's previous plan is not there any more", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const make = (planId: string, seq: number) =>
    deltaShipment(setOf(one), setOf(two), {
      planId,
      prev: controller.planId,
      token: { leader_epoch: 1, render_seq: seq },
      ops: [{ kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 }],
    });
  const outcomes = await Promise.all(
    ["a", "b"].map((name, i) => {
      const shipment = make(name, 10 + i);
      return pod.client.apply(shipment.manifest, shipment.parts);
    }),
  );
  assert.equal(outcomes.map((outcome) => outcome.kind).toSorted(), ["conflict", "result"]);
  const lost = outcomes.find((outcome) => outcome.kind === "conflict");
  assert.is(conflictOf(lost!).reason, "prev_mismatch");
});

check("a delta onto an unknown plan is refused, the full set with a reload is taken", async () => {
  const { pod } = await start();
  const delta = deltaShipment(new Map(), setOf(one), {
    planId: "x",
    prev: "",
    token: { leader_epoch: 1, render_seq: 1 },
  });
  assert.is(conflictOf(await pod.client.apply(delta.manifest, delta.parts)).reason, "unknown_baseline");
});

check("content that the agent lacks is asked for by path; content it has is not", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const shipment = fullShipment(setOf(two), {
    planId: "y",
    prev: controller.planId,
    token: { leader_epoch: 1, render_seq: 9 },
    mode: "reload",
  });
  const missing = await pod.client.apply(shipment.manifest, new Map());
  assert.equal(missing, { kind: "missing", missing: ["haproxy.cfg"] });
  shipment.parts.delete("maps/host.map");
  assert.ok(resultOf(await pod.client.apply(shipment.manifest, shipment.parts)).ok);
});

check("a part whose bytes are not its digest is refused and nothing changes", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const shipment = deltaShipment(setOf(one), setOf(two), {
    planId: "z",
    prev: controller.planId,
    token: { leader_epoch: 1, render_seq: 9 },
  });
  const bad = Buffer.concat(shipment.parts.get("haproxy.cfg")!);
  bad[10] = bad[10]! ^ 1;
  shipment.parts.set("haproxy.cfg", [bad]);
  await pod.client.apply(shipment.manifest, shipment.parts).then(
    () => assert.unreachable("it was taken"),
    (error: unknown) => {
      assert.instance(error, AgentClientError);
      assert.is((error as AgentClientError).status, 400);
    },
  );
  assert.is((await pod.client.state()).applied_plan_id, controller.planId);
});

check(
  "the same apply twice is a noop; with validated_plan_id it promotes; revert returns to what was promoted",
  async () => {
    const { pod, controller } = await start();
    const first = await controller.load(one);
    const worker = first.haproxy!.worker_pid;
    const ops = [{ kind: "server_set_addr" as const, backend: "one", server: "s1", address: upstream, port: 9002 }];
    const second = await controller.change(two, ops);
    assert.is(second.mode, "runtime");
    assert.is(second.lkg_plan_id, first.plan_id);
    const again = {
      ...deltaShipment(setOf(one), setOf(two), {
        planId: second.plan_id,
        prev: first.plan_id,
        token: controller.token,
        ops,
      }),
    };
    assert.is(resultOf(await pod.client.apply(again.manifest, again.parts)).mode, "noop");
    const promote = deltaShipment(setOf(two), setOf(two), {
      planId: second.plan_id,
      prev: second.plan_id,
      token: controller.token,
      extra: { validated_plan_id: second.plan_id },
    });
    const promoted = resultOf(await pod.client.apply(promote.manifest, promote.parts));
    assert.is(promoted.mode, "noop");
    assert.is(promoted.lkg_plan_id, second.plan_id);
    const third = await controller.change(one, [
      { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9001 },
    ]);
    assert.is(third.haproxy!.worker_pid, worker);
    const revert = deltaShipment(setOf(one), setOf(one), {
      planId: "unused",
      prev: third.plan_id,
      token: controller.token,
      mode: "revert_lkg",
    });
    const reverted = resultOf(await pod.client.apply(revert.manifest, revert.parts));
    assert.ok(reverted.ok, JSON.stringify(reverted.error));
    assert.is(reverted.mode, "reload");
    assert.is(reverted.applied_plan_id, second.plan_id);
    assert.is(current(pod), two["haproxy.cfg"]);
    assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9002" });
  },
);

check(
  "reloads are paced: the first is immediate, later sets wait and the newest wins; in-place operations run meanwhile",
  async () => {
    const { pod, controller } = await start({ reloadIntervalMs: 1500 });
    const first = await controller.load(one);
    assert.is(first.mode, "reload");
    const worker = first.haproxy!.worker_pid;
    const second = await controller.load(filesOf({ one: { s1: 9001 }, two: { s1: 9001 } }));
    assert.is(second.mode, "scheduled");
    assert.ok(second.reload?.scheduled_at !== undefined);
    assert.is(second.running_plan_id, first.plan_id);
    const newest = filesOf({ one: { s1: 9002 }, two: { s1: 9002 } });
    const third = await controller.change(newest, [], {
      in_place_ops: [{ kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 }],
      expected_worker_ops_plan_id: first.plan_id,
      worker_ops_plan_id: "partial",
    });
    assert.is(third.mode, "scheduled");
    assert.is(third.worker_ops_plan_id, "partial");
    assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9002" });
    assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
    await until(
      "the pending reload runs",
      async () => (await pod.client.state()).running_plan_id === controller.planId,
      4000,
    );
    const state = await pod.client.state();
    assert.is.not(state.haproxy!.worker_pid, worker);
    assert.is(state.reload_pending_at, undefined);
    assert.equal(await get(pod.address, "two.example"), { status: 200, body: "9002" });
  },
);

check("a scheduled set that HAProxy refuses is rolled back to what runs", async () => {
  const { pod, controller } = await start({ reloadIntervalMs: 4_000 });
  const first = await controller.load(one);
  assert.is((await controller.load(broken)).mode, "scheduled");
  const isBack = async (): Promise<boolean> => (await pod.client.state()).applied_plan_id === first.plan_id;
  await until("the reload is refused", isBack, 30_000);
  assert.is(current(pod), one["haproxy.cfg"]);
  assert.is((await pod.client.state()).haproxy!.worker_pid, first.haproxy!.worker_pid);
});

check("without the controller's identity nobody is served", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const { port } = new URL(pod.agent().url);
  const url = `https://${pod.address}:${port}`;
  const other = await createAuthority("another authority", new Date());
  const dirs = {
    wrongName: join(root, "wrong-name"),
    wrongAuthority: join(root, "wrong-authority"),
  };
  writeIdentity(
    dirs.wrongName,
    await identities.authority.issue(["somebody.else.svc"], "client"),
    identities.authority,
  );
  writeIdentity(dirs.wrongAuthority, await other.issue([CLIENT_NAME], "client"), identities.authority);
  const status = async (tls: ClientTls): Promise<number> => {
    const client = createAgentClient({ url, tls });
    try {
      await client.state();
      return 200;
    } catch (error) {
      return (error as AgentClientError).status;
    } finally {
      await client.close();
    }
  };
  assert.is(await status({ dir: identities.controllerDir, serverName: SERVER_NAME }), 200);
  assert.is(await status({ dir: dirs.wrongName, serverName: SERVER_NAME }), 403);
  assert.is(await status({ dir: dirs.wrongAuthority, serverName: SERVER_NAME }), 401);
  assert.is(
    await status({ dir: identities.controllerDir, serverName: "another.name.svc" }),
    0,
    "the agent's name is checked too",
  );
  const bare = await import("node:https");
  const anonymous = await new Promise<number>((resolve, reject) => {
    bare
      .get(`${url}/v1/state`, { rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
      .on("error", reject);
  });
  assert.is(anonymous, 401);
  const plain = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      bare
        .get(url, { path, rejectUnauthorized: false, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
        .on("error", reject);
    });
  assert.is(await plain("//["), 400, "an address that cannot be read");
  assert.is(await plain("/healthz"), 200);
});

check("new certificates are taken up by new connections, without a restart", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const fresh = await createAuthority("the next authority", new Date());
  const nextDir = join(root, "next-controller");
  writeIdentity(nextDir, await fresh.issue([CLIENT_NAME], "client"), fresh);
  writeIdentity(identities.agentDir, await fresh.issue([SERVER_NAME], "server"), fresh);
  const client = createAgentClient({ url: pod.agent().url, tls: { dir: nextDir, serverName: SERVER_NAME } });
  assert.is((await client.state()).applied_plan_id, controller.planId);
  await client.close();
  writeIdentity(identities.agentDir, await identities.authority.issue([SERVER_NAME], "server"), identities.authority);
});

check("certificates that do not belong together end nothing: the former ones serve on", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const { authority, agentDir } = identities;
  const key = readFileSync(join(agentDir, "tls.key"));
  const other = await authority.issue([SERVER_NAME], "server");
  for (const text of [other.key, other.key.slice(0, 80), ""]) {
    writeFileSync(join(agentDir, "tls.key"), text);
    // Each client has a connection of its own.
    const client = createAgentClient({
      url: pod.agent().url,
      tls: { dir: identities.controllerDir, serverName: SERVER_NAME },
    });
    assert.is((await client.state()).applied_plan_id, controller.planId);
    await client.close();
  }
  writeFileSync(join(agentDir, "tls.key"), key);
});

check("HAProxy killed: the agent notices, and a new HAProxy has every acknowledged change", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const changed = await controller.change(two, [
    { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 },
  ]);
  assert.is(changed.mode, "runtime");
  const gone = new Promise((resolve) => pod.haproxy().once("exit", resolve));
  process.kill(changed.haproxy!.worker_pid, "SIGKILL");
  await gone;
  await pod.client.state().then((state) => assert.is(state.applied_plan_id, changed.plan_id));
  await pod.startHaproxy();
  await until("the agent found the new worker", async () => {
    const { haproxy } = await pod.client.state();
    return haproxy !== null && haproxy.worker_pid !== changed.haproxy!.worker_pid;
  });
  assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9002" });
  const state = await pod.client.state();
  assert.is(state.running_plan_id, changed.plan_id);
  assert.is(state.worker_ops_plan_id, changed.plan_id);
  const next = await controller.change(one, [
    { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9001 },
  ]);
  assert.is(next.mode, "runtime");
});

check("the start wrapper passes over a set that HAProxy refuses and starts the last known good one", async () => {
  const { pod, controller } = await start();
  const good = await controller.load(one);
  // A change without HAProxy's verdict: files only, and the gate has not spoken.
  const bad = await controller.change(broken, []);
  assert.is(bad.mode, "file_only");
  await pod.killHaproxy();
  const paths = agentPaths({ baseDir: pod.baseDir });
  const prepared = await prepareStart({ ...paths, haproxy: binary!, now: Date.now });
  assert.is(prepared.set, "last-good");
  assert.match(prepared.refusals[0] ?? "", "unknown keyword 'this'");
  assert.is(readFileSync(prepared.configPath, "utf8"), one["haproxy.cfg"]);
  await pod.startHaproxy();
  await until(
    "the pod serves",
    async () => (await get(pod.address, "one.example").catch(() => undefined))?.body === "9001",
  );
  await until(
    "the agent says which set it holds",
    async () => (await pod.client.state()).applied_plan_id === good.plan_id,
  );
});

check(
  "with no agent alive the wrapper folds the journal itself, and a tree with nothing good gets the bootstrap",
  async () => {
    const { pod, controller } = await start();
    await controller.load(one);
    await pod.agent().close();
    const target = join(pod.baseDir, "current", "haproxy.cfg");
    writeFileSync(target, "global\n  nonsense\n");
    await pod.killHaproxy();
    const paths = agentPaths({ baseDir: pod.baseDir });
    const prepared = await prepareStart({ ...paths, haproxy: binary!, now: Date.now });
    // The file is one inode with the last known good set's: both are spoilt.
    assert.is(prepared.set, "bootstrap");
    await pod.startHaproxy();
    await pod.startAgent();
    assert.is((await pod.client.state()).applied_plan_id, "", "unknown: the controller sends everything");
    controller.planId = "";
    assert.ok((await controller.load(one)).ok);
  },
);

check("state and health answer on the local socket, and a second agent cannot take the tree", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  const { localSocket } = agentPaths({ baseDir: pod.baseDir });
  assert.equal(await askAgent(localSocket, "GET", "/health"), { ok: true, ready: true });
  const state = (await askAgent(localSocket, "GET", "/state?verify=1")) as { applied_plan_id: string };
  assert.is(state.applied_plan_id, controller.planId);
  await pod.startAgent().then(
    () => assert.unreachable("two agents on one tree"),
    (error: Error) => assert.match(error.message, "another agent owns"),
  );
});

check("a path that leaves the tree or meets the agent's own files is refused", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  for (const path of [
    "../evil",
    "/etc/passwd",
    "maps/../../x",
    ".haptic/journal",
    "current/haproxy.cfg",
    "haproxy-worker.sock",
    "a//b",
    "maps/.hidden",
  ]) {
    const shipment = fullShipment(setOf({ ...one, [path]: "x" }), {
      planId: "p",
      prev: controller.planId,
      token: { leader_epoch: 1, render_seq: 50 },
      mode: "reload",
    });
    await pod.client.apply(shipment.manifest, shipment.parts).then(
      () => assert.unreachable(`${path} was taken`),
      (error: unknown) => assert.is((error as AgentClientError).status, 400, path),
    );
  }
  // A link planted inside a set's folder is not followed: sets are written into new folders only.
  symlinkSync("/dev/shm", join(pod.baseDir, "current", "escape"));
  const result = await controller.load({ ...one, "escape/owned": "x" });
  assert.ok(result.ok);
  assert.not(existsSync("/dev/shm/owned"));
  assert.is(current(pod, "escape/owned"), "x");
});

check("the plan blob is kept for the plan that the pod holds", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  assert.is((await pod.client.state()).applied_plan_stored, false);
  assert.equal(await pod.client.putPlan("something else", Buffer.from("x")), {
    kind: "moved",
    appliedPlanId: controller.planId,
  });
  assert.equal(await pod.client.putPlan(controller.planId, Buffer.from("the plan")), {
    kind: "stored",
    planId: controller.planId,
  });
  assert.is(Buffer.from((await pod.client.state()).applied_plan ?? "", "base64").toString(), "the plan");
  assert.is((await pod.client.state({ plan: false })).applied_plan, undefined);
});

check("a large plan that comes with its set is kept, and its upload is not left behind", async () => {
  const { pod, controller } = await start();
  const plan = Buffer.alloc(3 * 1024 * 1024, 0x70);
  assert.ok((await controller.load(one, {}, plan)).ok);
  assert.is(Buffer.from((await pod.client.state()).applied_plan ?? "", "base64").length, plan.length);
  assert.equal(readdirSync(join(pod.baseDir, ".haptic", "staging")), []);
});

check("files that somebody changed make the plan unknown at the next start", async () => {
  const { pod, controller } = await start();
  await controller.load(one);
  await pod.agent().close();
  const target = join(pod.baseDir, "current", "maps", "host.map");
  writeFileSync(`${target}.x`, "one.example two\n");
  renameSync(`${target}.x`, target);
  await pod.startAgent();
  assert.is((await pod.client.state()).applied_plan_id, "");
});

test.run();
