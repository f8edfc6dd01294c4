// runner: beside
import { connect } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { TestController } from "./controller.ts";
import {
  fullShipment,
  hostFiles,
  makeIdentities,
  removeScratch,
  scratch,
  setOf,
  startPod,
  startServers,
  until,
  type Pod,
  type PodOptions,
} from "./harness.ts";

const root = scratch("metrics");
const identities = await makeIdentities(root);
const upstream = "127.120.0.1";
const servers = await startServers(upstream, [9001, 9002]);
const binary = testHaproxy("3.4");
const check = needing(test, binary === undefined ? "HAProxy 3.4 is not there" : undefined);
const pods: Pod[] = [];

test.after(async () => {
  for (const pod of pods) await pod.close();
  await servers.close();
  removeScratch(root);
});

type Backends = Record<string, Record<string, number>>;

const filesOf = (backends: Backends, extra?: string): Record<string, string> =>
  hostFiles({ backends, upstream, ...(extra !== undefined && { extra }) });

async function start(address: string, options: Partial<PodOptions> = {}) {
  const pod = await startPod({
    binary: binary!,
    address,
    identities,
    name: `pod-${address}`,
    metricsPort: 9101,
    ...options,
  });
  pods.push(pod);
  const figures = async (): Promise<ReadonlyMap<string, number>> => {
    const answer = await fetch(`http://${address}:9101/metrics`);
    assert.is(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", "text/plain");
    const lines = (await answer.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
  };
  return { pod, controller: new TestController(pod.client), figures };
}

check("what an agent does is counted: applies, refusals, reloads, roll backs, operations, removals", async () => {
  const { pod, controller, figures } = await start("127.120.1.1");
  const one = filesOf({ one: { s1: 9001, s2: 9002 } });
  const first = await controller.load(one);
  await controller.change(filesOf({ one: { s1: 9001 } }), [
    { kind: "server_disable", backend: "one", server: "s2" },
    { kind: "server_del", backend: "one", server: "s2" },
  ]);
  await until("the server has left", async () => {
    const gone = (await figures()).get('haptic_agent_deferred_deletes_total{kind="server",outcome="done"}');
    return gone === 1;
  });
  // Of a server that is not there HAProxy wants to know nothing: the set is loaded instead.
  const healed = await controller.change(filesOf({ one: { s1: 9002 } }), [
    { kind: "server_set_addr", backend: "one", server: "s9", address: upstream, port: 9002 },
  ]);
  assert.is(healed.mode, "reload");
  const refused = await controller.load(filesOf({ one: { s1: 9001 } }, "this is no directive"));
  assert.is(refused.mode, "rejected");
  const stale = fullShipment(setOf(one), {
    planId: "x",
    prev: first.plan_id,
    token: { leader_epoch: 0, render_seq: 1 },
    mode: "reload",
  });
  assert.is((await pod.client.apply(stale.manifest, stale.parts)).kind, "conflict");
  const lacking = fullShipment(setOf(one), {
    planId: "y",
    prev: healed.plan_id,
    token: { leader_epoch: 1, render_seq: 99 },
    mode: "reload",
  });
  assert.is((await pod.client.apply(lacking.manifest, new Map())).kind, "missing");
  const found = await figures();
  const expected: Readonly<Record<string, number>> = {
    'haptic_agent_apply_total{mode="reload"}': 2,
    'haptic_agent_apply_total{mode="runtime"}': 1,
    'haptic_agent_apply_total{mode="rejected"}': 1,
    'haptic_agent_apply_rejected_total{stage="reload"}': 1,
    'haptic_agent_apply_rejected_total{stage="fence"}': 1,
    'haptic_agent_apply_rejected_total{stage="content"}': 1,
    'haptic_agent_reloads_total{result="loaded"}': 2,
    'haptic_agent_reloads_total{result="refused"}': 1,
    haptic_agent_rollbacks_total: 1,
    'haptic_agent_op_errors_total{kind="server_set_addr"}': 1,
    'haptic_agent_deferred_deletes_total{kind="server",outcome="deferred"}': 1,
    'haptic_agent_pending_deletes{kind="server"}': 0,
    haptic_agent_ready: 1,
    haptic_agent_reload_pending: 0,
    haptic_agent_generation: (await pod.client.state()).generation,
  };
  for (const [name, value] of Object.entries(expected)) assert.is(found.get(name), value, name);
  const broken = [...found.keys()].filter((name) => name.startsWith("haptic_agent_invariant_violations_total"));
  assert.equal(broken, []);
  assert.ok(found.get("process_resident_memory_bytes")! > 0);
  assert.is((await fetch("http://127.120.1.1:9101/")).status, 404);
});

check("old workers that hold connections stretch the time between reloads; when they end it shrinks", async () => {
  const { pod, controller, figures } = await start("127.120.1.2", {
    reloadIntervalMs: 1_000,
    pacing: { mostMs: 60_000, memoryBytes: 1024 * 1024 },
  });
  const held: ReturnType<typeof connect>[] = [];
  const hold = async (): Promise<void> => {
    const socket = connect(8080, "127.120.1.2");
    socket.on("error", () => undefined);
    held.push(socket);
    await new Promise((resolve) => socket.once("connect", resolve));
    // Half a request: the worker waits for the rest of it.
    socket.write("GET / HTTP/1.1\r\nhost: a.example\r\n");
    await until("HAProxy has taken it", async () => {
      const [, count] = /^CurrConns: (\d+)$/m.exec(await pod.runtime("show info")) ?? [];
      return Number(count) >= 1;
    });
  };
  // However slow the machine is, the old worker must live until it is weighed.
  const patient = (backends: Backends): Record<string, string> => {
    const files = filesOf(backends);
    const config = files["haproxy.cfg"]!.replaceAll("hard-stop-after 5s", "hard-stop-after 10m");
    return { ...files, "haproxy.cfg": config.replaceAll("timeout client 10s", "timeout client 10m") };
  };
  await controller.load(patient({ a: { s1: 9001 } }));
  await hold();
  assert.ok((await controller.load(patient({ a: { s1: 9001 }, b: { s1: 9001 } }))).ok);
  await until(
    "the second reload is over",
    async () => (await pod.client.state()).running_plan_id === controller.planId,
  );
  assert.is((await figures()).get("haptic_agent_old_workers"), 1);
  assert.ok((await figures()).get("haptic_agent_old_workers_memory_bytes")! > 0);
  const interval = async (): Promise<number> => (await figures()).get("haptic_agent_reload_interval_seconds")!;
  await until("it is weighed", async () => (await interval()) === 60, 30_000);
  const third = await controller.load(patient({ a: { s1: 9002 } }));
  assert.is(third.mode, "scheduled");
  assert.ok(Date.parse(third.reload!.scheduled_at!) - Date.parse(third.at) > 30_000, "it waits for the old worker");
  for (const socket of held) socket.destroy();
  await until("the old worker has ended", async () => (await figures()).get("haptic_agent_old_workers") === 0, 30_000);
  await until("it is loaded", async () => (await pod.client.state()).running_plan_id === controller.planId, 30_000);
  assert.is(await interval(), 1);
});

test.run();
