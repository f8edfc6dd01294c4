/** The proof for HAProxy versions that cannot add a backend at run time: a new host is one reload, and nothing is lost. */
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import { apiServers } from "../harness/planes.ts";
import { needing } from "../../support/skip.ts";
import { type HaproxyVersion, testHaproxy } from "../../support/parts.ts";

const HOST = "app.example";
const NAME = "app";
const REQUESTS = 20_000;
const HOSTS = 3;
/** Between two reloads of a pod at least so much time passes. */
const PACE_MS = 5_500;

export function reloadProof(base: Test, network: Network, version: HaproxyVersion): void {
  const missing =
    network.missing ??
    (testHaproxy(version) === undefined ? `needs HAProxy ${version}, which could not be installed here` : undefined);
  const test = needing(base, missing);
  let cluster: Cluster;
  test.before(async () => {
    cluster = new Cluster({ api: apiServers.embedded, version, pods: 2, prefix: network.prefix });
    await cluster.start();
    await cluster.apply(...(await hostObjects(cluster, NAME, HOST, { tls: true })));
    await served(cluster, HOST, { limitMs: 40_000 });
    await served(cluster, HOST, { tls: true });
    await cluster.settled();
  });
  test.after(() => cluster.close());

  test(`${version}: under load each new host is one reload of each pod, no HTTP/1.1 request is lost, h2 refusals are repeated and answered`, async () => {
    const { reloads } = await cluster.counters();
    const seen = (): Promise<number[]> => Promise.all(cluster.pods.map((_, pod) => cluster.reloadsOf(pod)));
    const first = await seen();
    const pids = [await cluster.workerPids()];
    const report = await underLoad(cluster, { host: HOST, pauseMs: 8 }, async (load) => {
      await sleep(1_000);
      for (let number = 1; number <= HOSTS; number++) {
        const host = `host-${number}.example`;
        await cluster.apply(...(await hostObjects(cluster, `host-${number}`, host, { tls: true })));
        await served(cluster, host, { limitMs: 15_000 });
        await served(cluster, host, { tls: true });
        await cluster.settled();
        // One that did not have to come would be due by now.
        await sleep(PACE_MS);
        assert.equal(
          await seen(),
          first.map((count) => count + number),
          `host ${number}: not one reload of each pod\n${cluster.tail()}`,
        );
        pids.push(await cluster.workerPids());
      }
      await until("enough requests", () => load.requests() >= REQUESTS, 60_000);
    });
    const story = [...report.failures, ...report.parts, cluster.tail()].join("\n");
    assert.is(report.failed, 0, story);
    assert.ok(report.requests >= REQUESTS, story);
    assert.is((await cluster.counters()).reloads, reloads + HOSTS * cluster.pods.length);
    for (const pod of cluster.pods.keys()) {
      assert.is(new Set(pids.map((workers) => workers[pod])).size, HOSTS + 1, "each reload is another worker");
    }
    assert.equal(await cluster.faults(), []);
    process.stdout.write(`${report.requests} requests, ${HOSTS} new hosts, ${report.repeated} h2 streams repeated\n`);
  });

  test(`${version}: under load a backend scales from 1 to 5 to 2 and moves, in the same worker, and no request fails`, async () => {
    const { reloads } = await cluster.counters();
    const pids = await cluster.workerPids();
    const report = await underLoad(cluster, { host: HOST, pauseMs: 8 }, async () => {
      await sleep(500);
      const [one] = cluster.endpointsOf(NAME);
      await cluster.setEndpoints(NAME, [one!, ...(await cluster.newEndpoints(NAME, 4))]);
      await sleep(1_500);
      await cluster.setEndpoints(NAME, cluster.endpointsOf(NAME).slice(3));
      await sleep(1_500);
      await cluster.setEndpoints(NAME, await cluster.newEndpoints(NAME, 2));
      await sleep(1_500);
    });
    await sleep(500);
    assert.is(report.failed, 0, [...report.failures, ...report.parts, cluster.tail()].join("\n"));
    assert.equal((await cluster.backends.report()).late, []);
    assert.equal(await cluster.workerPids(), pids);
    assert.is((await cluster.counters()).reloads, reloads);
  });

  test(`${version}: while a reload waits for its interval, endpoints of what is served move at once`, async () => {
    const seen = (): Promise<number[]> => Promise.all(cluster.pods.map((_, pod) => cluster.reloadsOf(pod)));
    const scheduled = async (): Promise<number> => (await cluster.counters()).appliesByMode["scheduled"] ?? 0;
    const report = await underLoad(cluster, { host: HOST, pauseMs: 8 }, async () => {
      await cluster.apply(...(await hostObjects(cluster, "loads", "loads.example")));
      await served(cluster, "loads.example", { limitMs: 15_000 });
      const before = await scheduled();
      await cluster.apply(...(await hostObjects(cluster, "waits", "waits.example")));
      await until("its reload waits", async () => (await scheduled()) >= before + cluster.pods.length);
      const reloads = await seen();
      const [moved] = await cluster.newEndpoints(NAME, 1);
      await cluster.setEndpoints(NAME, [moved!]);
      await served(cluster, HOST, { by: moved!.pod, limitMs: 4_000 });
      assert.equal(await seen(), reloads, "nothing was reloaded for it");
      await served(cluster, "waits.example", { limitMs: 15_000 });
      await cluster.settled();
      await served(cluster, HOST, { by: moved!.pod });
    });
    assert.is(report.failed, 0, [...report.failures, ...report.parts, cluster.tail()].join("\n"));
    assert.equal(await cluster.faults(), []);
  });
}
