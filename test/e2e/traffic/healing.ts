/** The proof that a wounded cluster heals, for any API server, while the traffic of what is not wounded goes on. */
import { watch } from "node:fs";
import { join } from "node:path";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, until } from "../harness/cluster.ts";
import { served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { HOST, NAME, OTHER, OTHER_HOST, Site } from "../harness/site.ts";
import { needing } from "../../support/skip.ts";
import { missingHaproxy } from "../../support/parts.ts";

/** Kills of the agent, each at another moment of an apply. */
const KILLS = 6;
const HEALED_MS = 30_000;

export function healingProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  let cluster: Cluster;
  let site: Site;
  test.before(async () => {
    cluster = new Cluster({ api, version: "3.4", pods: 2, prefix: network.prefix });
    await cluster.start();
    site = new Site(cluster);
    await site.create();
  });
  test.after(() => cluster.close());

  /** Everything is as if nothing had been: each host through each pod, ready pods, no fault, nothing left to do. */
  const healed = async (...moreHosts: readonly string[]): Promise<void> => {
    for (const host of [HOST, ...moreHosts]) await served(cluster, host, { tls: true, limitMs: HEALED_MS });
    await served(cluster, OTHER_HOST, { by: cluster.endpointsOf(OTHER)[0]!.pod, limitMs: HEALED_MS });
    await until("every container is ready", () => cluster.pods.every((pod) => pod.ready()), HEALED_MS);
    await cluster.settled();
    await until("no fault is left", async () => (await cluster.faults()).length === 0, HEALED_MS);
  };

  test(`${api.name}: an agent killed in the middle of applies disturbs no traffic, and its pod gets what the others have`, async () => {
    const [wounded] = cluster.pods;
    const before = wounded!.restarts("agent");
    const report = await underLoad(cluster, { host: HOST }, async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const pid = wounded!.pod.pid("agent")!;
        // The journal is written when the apply is accepted and nothing of it is done yet. It is now and then another file.
        const journal = watch(join(wounded!.pod.baseDir, ".haptic"));
        const struck = new Promise<void>((done) => {
          journal.on("change", (what, name) => {
            if (what !== "change" || name !== "journal") return;
            journal.close();
            setTimeout(() => {
              process.kill(pid, "SIGKILL");
              done();
            }, kill);
          });
        });
        const host = site.newHost();
        // More servers, so that there is an apply after the new host's, too.
        const more = await cluster.newEndpoints(NAME, 1);
        await cluster.setEndpoints(NAME, [...cluster.endpointsOf(NAME), ...more]);
        await struck;
        await served(cluster, await host, { limitMs: 5_000, pods: [1] });
        await site.moveOther();
        await healed(await host);
      }
    });
    site.unharmed(report);
    assert.is(wounded!.restarts("agent"), before + KILLS);
  });

  test(`${api.name}: a HAProxy killed leaves the other pod's traffic alone, which gets what is new; its own comes back`, async () => {
    const [wounded] = cluster.pods;
    const before = wounded!.restarts("haproxy");
    let host = "";
    const report = await underLoad(cluster, { host: HOST, pods: [1] }, async () => {
      process.kill(wounded!.pod.pid("haproxy")!, "SIGKILL");
      host = await site.newHost();
      await site.moveOther();
      await served(cluster, host, { limitMs: 5_000, pods: [1] });
      await served(cluster, HOST, { limitMs: HEALED_MS, pods: [0] });
      await healed(host);
    });
    site.unharmed(report);
    assert.is(wounded!.restarts("haproxy"), before + 1);
    // And the worker alone: its master starts no other, the container ends and is started again.
    const worker = await cluster.workerPid(0);
    site.unharmed(
      await underLoad(cluster, { host: HOST, pods: [1] }, async () => {
        process.kill(worker, "SIGKILL");
        await site.moveOther();
        await sleep(200);
        await healed(host);
      }),
    );
  });

  test(`${api.name}: a restart of the API server disturbs no traffic, and what changes afterwards is served`, async () => {
    // A reload that the kills before made necessary may still wait for its interval of 5 s.
    let pids = await cluster.workerPids();
    for (let quiet = 0; quiet < 6; quiet++) {
      await sleep(1_000);
      const now = await cluster.workerPids();
      if (String(now) !== String(pids)) [pids, quiet] = [now, -1];
    }
    const { reloads } = await cluster.counters();
    let host = "";
    const report = await underLoad(cluster, { host: HOST }, async () => {
      await cluster.api.restart();
      host = await site.newHost();
      await site.moveOther();
      await served(cluster, host, { limitMs: 15_000 });
      await healed(host);
    });
    site.unharmed(report);
    assert.equal(await cluster.workerPids(), pids);
    assert.is((await cluster.counters()).reloads, reloads);
  });
}
