// runner: beside
import { test } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { get } from "../agent/harness.ts";
import type { Pod } from "../agent/harness.ts";
import { type Counters, addHost, setEndpoints, startStage, startUpstreams, until } from "./harness.ts";

const PREFIX = "127.92.2";
const upstreams = [`${PREFIX}.51`, `${PREFIX}.52`];
const closeUpstreams = await startUpstreams(upstreams, 9080);
const stage = await startStage(PREFIX, 2);
const [one, two] = stage.pods as [Pod, Pod];
const answer = async (pod: Pod, host = "web.example"): Promise<string | undefined> =>
  (await get(pod.address, host).catch(() => undefined))?.body;
const serves = (pod: Pod, upstream: string | undefined) => async (): Promise<boolean> =>
  (await answer(pod)) === upstream;
const settled = (): boolean => {
  const views = stage.controller().variables["pods"]?.() as {
    applied: string;
    running: string;
    lastGood: string;
    blobStored: boolean;
  }[];
  return (
    views.length === 2 &&
    new Set(views.map(({ applied }) => applied)).size === 1 &&
    views.every(({ applied, lastGood, blobStored }) => applied !== "" && lastGood === applied && blobStored)
  );
};

/** What is in force is published, and that every pod runs it: nothing is left to write. */
const published = (): boolean => {
  const view = stage.controller().variables["published"]?.() as
    | { lagMs: number; conditions: { type: string; status: string }[] }
    | undefined;
  return view?.lagMs === 0 && view.conditions.some(({ type, status }) => type === "Ready" && status === "True");
};

test.after(async () => {
  await stage.close();
  await closeUpstreams();
});

test("both pods serve", async () => {
  addHost(stage.api, "web", "web.example", upstreams.slice(0, 1), 9080);
  await until("the first pod serves", serves(one, upstreams[0]), 20_000);
  await until("the second pod serves", serves(two, upstreams[0]), 20_000);
  await until("everything is settled", settled, 20_000);
});

test("idle with relists, touched objects and drift checks: no apply, no check, no reload, no write", async () => {
  const config = { apiVersion: "haproxy-haptic.org/v1alpha1", kind: "HAProxyTemplateConfig", name: "ingress" };
  stage.api.objects.patch(config, { spec: { dataplane: { driftPreventionInterval: "1s" } } });
  await until("the new interval is in force", () => {
    const view = stage.controller().variables["config"]?.() as { generation: number };
    return view.generation === 2;
  });
  await until("everything is settled", settled, 20_000);
  await until("what is in force is published", published, 30_000);
  const before = stage.counters();
  for (let round = 0; round < 4; round += 1) {
    stage.api.faults.expireHistory();
    stage.api.faults.dropWatches();
    stage.api.objects.patch(
      { apiVersion: "v1", kind: "Service", name: "web" },
      { metadata: { annotations: { touched: String(round) } } },
    );
    await sleep(1_500);
  }
  const work = ({ applies, checks, reloads, apiWrites }: Counters): object => {
    const { leases, ...otherWrites } = apiWrites;
    assert.ok(leases !== undefined, "the Lease is renewed");
    return { applies, checks, reloads, otherWrites };
  };
  assert.equal(work(stage.counters()), work(before));
});

test("an agent that ends keeps nothing from the other pod, and catches up when it is back", async () => {
  await one.agent().close();
  setEndpoints(stage.api, "web", upstreams.slice(1, 2), 9080);
  await until("the other pod has the change", serves(two, upstreams[1]));
  assert.is(await answer(one), upstreams[0], "HAProxy goes on with what it has");
  await until("the fault is named", () => stage.controller().faults().length > 0);
  await one.startAgent();
  await until("it catches up", serves(one, upstreams[1]), 30_000);
  await until("the fault is gone", () => stage.controller().faults().length === 0, 30_000);
});

test("a HAProxy that was killed starts with the set it had, and takes changes again", async () => {
  await two.killHaproxy();
  assert.is(await answer(one), upstreams[1], "the other pod goes on");
  await two.startHaproxy();
  await until("it serves what it had", serves(two, upstreams[1]), 20_000);
  setEndpoints(stage.api, "web", upstreams.slice(0, 1), 9080);
  await until("it takes the change", serves(two, upstreams[0]), 30_000);
  setEndpoints(stage.api, "web", upstreams.slice(1, 2), 9080);
  await until("and the next", serves(two, upstreams[1]), 30_000);
});

test("a lost API server disturbs nobody, and what was missed comes afterwards", async () => {
  const reloads = stage.counters().reloads;
  const outage = stage.api.outage(2_000);
  for (let turn = 0; turn < 10; turn += 1) {
    assert.is(await answer(two), upstreams[1]);
    await sleep(150);
  }
  await outage;
  setEndpoints(stage.api, "web", upstreams.slice(0, 1), 9080);
  await until("the change comes through", serves(two, upstreams[0]), 30_000);
  assert.is(stage.counters().reloads, reloads);
});

test.run();
