/** The proof on HAProxy 3.4, for any API server: under load nothing that happens to a backend is noticed, nor a new host. */
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { needing } from "../../support/skip.ts";
import { missingHaproxy } from "../../support/parts.ts";

const HOST = "app.example";
const NAME = "app";
const BULK = { rate: 2_200, seconds: 48 } as const;

export function scalingProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  let cluster: Cluster;
  test.before(async () => {
    cluster = new Cluster({ api, version: "3.4", pods: 2, prefix: network.prefix });
    await cluster.start();
  });
  test.after(() => cluster.close());

  test(`${api.name}: an Ingress, a Secret, a Service and an EndpointSlice made with kubectl are served over HTTP and HTTPS`, async () => {
    await cluster.apply(...(await hostObjects(cluster, NAME, HOST, { tls: true })));
    await served(cluster, HOST, { limitMs: 40_000 });
    await served(cluster, HOST, { tls: true });
    await cluster.settled();
    // An API server that has just got our definitions may refuse to list their objects for a moment.
    await until("no fault is left", async () => (await cluster.faults()).length === 0);
  });

  test(`${api.name}: a backend scales from 1 to 5 to 2 and moves every address under load; hosts come: nothing fails, nobody reloads`, async () => {
    const steps: string[] = [];
    const before = { pids: await cluster.workerPids(), reloads: (await cluster.counters()).reloads };
    steps.push(`${Date.now()} load begins`);
    let hosts = 0;
    let rounds = 0;
    const noted = (what: string): void => void steps.push(`${Date.now()} ${what}`);
    const report = await underLoad(cluster, { host: HOST, pauseMs: 20, bulk: BULK }, async (load) => {
      let running = true;
      void load.bulkDone.then(() => (running = false));
      while (running) {
        rounds += 1;
        const [one] = cluster.endpointsOf(NAME);
        await cluster.setEndpoints(NAME, [one!]);
        noted("scaled to 1");
        await sleep(1_000);
        await cluster.setEndpoints(NAME, [one!, ...(await cluster.newEndpoints(NAME, 4))]);
        noted("scaled to 5");
        await sleep(1_500);
        await cluster.setEndpoints(NAME, cluster.endpointsOf(NAME).slice(3));
        noted("scaled to 2");
        await sleep(1_500);
        await cluster.setEndpoints(NAME, await cluster.newEndpoints(NAME, 2));
        noted("moved to other pods");
        await sleep(1_500);
        const names = cluster.endpointsOf(NAME).map(({ pod }) => pod);
        await cluster.setEndpoints(NAME, await cluster.newEndpoints(NAME, 2, names));
        noted("moved, the pods' names stay");
        await sleep(1_000);
        hosts += 1;
        const host = `host-${hosts}.example`;
        await cluster.apply(...(await hostObjects(cluster, `host-${hosts}`, host, { tls: true })));
        await served(cluster, host, { limitMs: 5_000 });
        await served(cluster, host, { tls: true, limitMs: 5_000 });
        noted(`${host} is served`);
      }
    });
    // A request to an address that went last would come late.
    await sleep(1_000);
    const { late } = await cluster.backends.report();
    const story = [...report.failures, ...late, ...report.parts, ...steps, ...cluster.lines].join("\n");
    assert.is(report.failed, 0, story);
    assert.ok(report.requests >= 100_000, `only ${report.requests} requests\n${story}`);
    assert.ok(rounds >= 2, story);
    assert.equal(late, [], "requests reached addresses more than 500 ms after their removal");
    assert.equal(await cluster.workerPids(), before.pids);
    assert.is((await cluster.counters()).reloads, before.reloads);
    assert.equal(await cluster.faults(), []);
    process.stdout.write(`${report.requests} requests, ${rounds} rounds, ${hosts} new hosts\n`);
  });
}
