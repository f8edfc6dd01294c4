/** A rolling update of a backend of many pods under load: each new pod is served, each old one is gone 100 ms after it left. */
import { setTimeout as sleep } from "node:timers/promises";
import * as assert from "uvu/assert";
import { underLoad } from "../harness/load.ts";
import { HOST, NAME } from "../harness/site.ts";
import type { Stage } from "./stage.ts";

export interface RollingPlan {
  readonly pods: number;
  /** From one pod's replacement to the next one's. */
  readonly paceMs: number;
  /** Requests a second and seconds of the bulk; updates follow each other while it lasts. */
  readonly rate: number;
  readonly seconds: number;
  readonly leastRequests: number;
}

/** A request that HAProxy sent to a removed pod comes within this time. */
const LATE_MS = 1_000;

export async function rollingUpdate(stage: Stage, plan: RollingPlan): Promise<string[]> {
  const { cluster, site } = stage;
  const missing = plan.pods - cluster.endpointsOf(NAME).length;
  await cluster.setEndpoints(NAME, [...cluster.endpointsOf(NAME), ...(await cluster.newEndpoints(NAME, missing))]);
  await cluster.settled();
  const before = { pids: await cluster.workerPids(), reloads: await stage.reloads() };
  let replaced = 0;
  const report = await underLoad(
    cluster,
    { host: HOST, pauseMs: 20, bulk: { rate: plan.rate, seconds: plan.seconds } },
    async (load) => {
      let running = true;
      void load.bulkDone.then(() => (running = false));
      while (running || replaced < plan.pods) {
        const began = performance.now();
        const [, ...kept] = cluster.endpointsOf(NAME);
        await cluster.setEndpoints(NAME, [...kept, ...(await cluster.newEndpoints(NAME, 1))]);
        replaced += 1;
        await sleep(Math.max(0, plan.paceMs - (performance.now() - began)));
      }
    },
  );
  await sleep(LATE_MS);
  site.unharmed(report, plan.leastRequests);
  assert.ok(replaced >= plan.pods, `only ${replaced} pods were replaced`);
  assert.equal(
    (await cluster.backends.report()).late,
    [],
    "requests reached pods more than 500 ms after their removal",
  );
  assert.equal(await cluster.workerPids(), before.pids);
  assert.equal(await stage.reloads(), before.reloads);
  assert.equal(await cluster.faults(), []);
  return [
    `rolling update of ${plan.pods} pods: ${replaced} replaced, ${report.requests} requests, ${report.failed} failed, 0 reloads`,
  ];
}
