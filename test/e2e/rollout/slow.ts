/** What changes while a pod's reload takes long is in force when it is over; the other pod does not wait for it. */
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { served } from "../harness/hosts.ts";
import { underLoad } from "../harness/load.ts";
import { HOST, NAME, OTHER_HOST } from "../harness/site.ts";
import { QUICK, SLOW, type Stage } from "./stage.ts";

/** The other pod has what changed within this time, the slow one after its reload. */
const SERVED_MS = 5_000;
/** The controller has sent what changed within this time. */
const SENT_MS = 500;

export async function slowReload(stage: Stage, holdMs: number): Promise<string[]> {
  const { cluster, site } = stage;
  await stage.fewEndpoints();
  const before = await stage.reloads();
  let afterMs = 0;
  const report = await underLoad(cluster, { host: HOST, pauseMs: 20 }, async () => {
    const reload = stage.hold();
    try {
      const mark = await stage.edit();
      await reload.started();
      const held = performance.now();
      const [added] = await cluster.newEndpoints(NAME, 1);
      await cluster.setEndpoints(NAME, [...cluster.endpointsOf(NAME), added!]);
      const by = await site.moveOther();
      const host = await site.newHost();
      await stage.loaded(mark, [QUICK]);
      await served(cluster, host, { tls: true, limitMs: SERVED_MS, pods: [QUICK] });
      await served(cluster, OTHER_HOST, { by, limitMs: SERVED_MS, pods: [QUICK] });
      await served(cluster, HOST, { by: added!.pod, limitMs: SERVED_MS, pods: [QUICK] });
      await sleep(Math.max(0, holdMs - (performance.now() - held)));
      assert.equal(await cluster.reloadsOf(QUICK), before[QUICK]! + 1, "one reload where it is quick");
      reload.release();
      const released = performance.now();
      await stage.loaded(mark, [SLOW]);
      await served(cluster, OTHER_HOST, { by, limitMs: SERVED_MS, pods: [SLOW] });
      await served(cluster, host, { tls: true, limitMs: SERVED_MS, pods: [SLOW] });
      await served(cluster, HOST, { by: added!.pod, limitMs: SERVED_MS, pods: [SLOW] });
      afterMs = performance.now() - released;
      await cluster.settled();
      assert.equal(
        await stage.reloads(),
        before.map((count) => count + 1),
        "one reload; the rest without",
      );

      // What only a reload brings, too.
      const again = stage.hold();
      await stage.edit();
      await again.started();
      const last = await stage.edit();
      await stage.loaded(last, [QUICK]);
      again.release();
      await stage.loaded(last);

      // A reload that had to wait for its interval was answered for before: what comes during it needs no further one.
      await stage.loaded(await stage.edit());
      const waiting = stage.hold();
      await stage.edit();
      await waiting.started();
      const late = await site.moveOther();
      await served(cluster, OTHER_HOST, { by: late, limitMs: SERVED_MS, pods: [QUICK] });
      await sleep(SENT_MS);
      waiting.release();
      await served(cluster, OTHER_HOST, { by: late, limitMs: SERVED_MS, pods: [SLOW] });
    } finally {
      reload.release();
    }
  });
  site.unharmed(report);
  await cluster.settled();
  assert.equal(
    await stage.reloads(),
    before.map((count) => count + 5),
  );
  assert.equal(await cluster.faults(), []);
  return [
    `a reload of ${(holdMs / 1_000).toFixed(1)} s: an endpoint that came, one that moved and a new host in force ${afterMs.toFixed(0)} ms after it, a second edit by one more reload; ${report.requests} requests, ${report.failed} failed`,
  ];
}
