/** Long connections keep old workers alive, and each reload leaves one more: what the pod needs then stays within its limit. */
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { BACKEND_PORT } from "../harness/backends-process.ts";
import { until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import { underLoad } from "../harness/load.ts";
import { type PodMemory, podMemory } from "../harness/memory.ts";
import { HOST } from "../harness/site.ts";
import { crowdHost, makeCrowd } from "./crowd.ts";
import { echoServer, Sockets } from "./sockets.ts";
import type { Stage } from "./stage.ts";

export interface MemoryPlan {
  readonly backends: number;
  readonly sockets: number;
  readonly seconds: number;
  /** From one edit to the next. */
  readonly editMs: number;
  /** Sockets that are opened anew after each reload, so that each old worker keeps some. */
  readonly renewed: number;
  /** Bytes that the pod may use. */
  readonly limit: number;
  /** Workers at once, the serving one included; without stretching there would be one more with each edit. */
  readonly mostWorkers: number;
}

const WS_HOST = "ws.example";
const HTTP_PORT = 8080;
const SAMPLE_MS = 250;
const MIB = 1 << 20;
/** Ingresses, their render and the set's first reload. */
const FIRST_MS = 240_000;
/** Without old workers the next reload waits for the least interval only. */
const FREED_MS = 30_000;

const mib = (bytes: number): string => (bytes / MIB).toFixed(0);

export async function memoryOfOldWorkers(stage: Stage, plan: MemoryPlan): Promise<string[]> {
  const { cluster, site } = stage;
  const [pod] = cluster.pods;
  const echoAddress = `${cluster.options.prefix}.1.200`;
  const echo = await echoServer(echoAddress, BACKEND_PORT);
  await cluster.apply(...(await hostObjects(cluster, "ws", WS_HOST, { at: [{ address: echoAddress, pod: "ws-1" }] })));
  await makeCrowd(cluster, plan.backends);
  await served(cluster, crowdHost(plan.backends), { limitMs: FIRST_MS });
  await cluster.settled(FIRST_MS);
  const quiet = podMemory(pod!);

  const sockets = new Sockets(cluster.address(0), HTTP_PORT, WS_HOST);
  await sockets.open(plan.sockets);
  const before = await cluster.reloadsOf(0);
  let [edits, reloads, workers] = [0, 0, 0];
  let [most, mark]: [PodMemory, string] = [quiet, ""];
  let peakRss = 0;
  try {
    const report = await underLoad(cluster, { host: HOST, pauseMs: 50 }, async () => {
      let running = true;
      const sampling = (async () => {
        while (running) {
          const memory = podMemory(pod!);
          if (memory.pss > most.pss) most = memory;
          peakRss = Math.max(peakRss, memory.rss);
          workers = Math.max(workers, memory.haproxyRss.length - 1);
          const now = (await cluster.reloadsOf(0).catch(() => undefined)) ?? before + reloads;
          if (now - before > reloads) {
            reloads = now - before;
            await sockets.open(plan.renewed);
            sockets.close(plan.renewed);
          }
          await sleep(SAMPLE_MS);
        }
      })();
      const end = performance.now() + plan.seconds * 1_000;
      while (performance.now() < end) {
        mark = await stage.edit();
        edits += 1;
        await sleep(Math.min(plan.editMs, Math.max(0, end - performance.now())));
      }
      running = false;
      await sampling;
    });
    site.unharmed(report);
    assert.is(sockets.count, plan.sockets);
    assert.equal(sockets.report().lost, [], "a WebSocket was cut");
    const told = `${mib(most.pss)} MiB (PSS), ${mib(peakRss)} MiB (RSS); ${most.haproxyRss.map(mib).join(", ")}, agent ${mib(most.agentRss)}`;
    assert.ok(Math.max(most.pss, peakRss) < plan.limit, `more than ${mib(plan.limit)} MiB: ${told}`);
    assert.ok(workers <= plan.mostWorkers, `${workers} workers at once`);
    assert.ok(reloads >= 2, `only ${reloads} reloads`);
    assert.ok(reloads < edits, `${reloads} reloads for ${edits} edits: nothing was put off`);

    // What waits for old workers comes as soon as they have gone.
    const { echoes } = sockets.report();
    sockets.close(sockets.count);
    const freed = performance.now();
    await until("the old workers end", () => podMemory(pod!).haproxyRss.length <= 2, FREED_MS);
    await stage.loaded(mark);
    const afterMs = performance.now() - freed;
    assert.ok(afterMs < FREED_MS, `the last edit is in force only ${Math.round(afterMs)} ms after the last connection`);
    await cluster.settled();
    assert.equal(await cluster.faults(), []);
    return [
      `${plan.backends} backends, ${plan.sockets} WebSockets, ${edits} edits that reload in ${plan.seconds} s: ${reloads} reloads, at most ${workers} workers at once, ${echoes} echoes, no WebSocket cut, ${report.requests} requests, ${report.failed} failed`,
      `  the pod at most: ${told}; before: ${mib(quiet.pss)} MiB (PSS); limit ${mib(plan.limit)} MiB`,
      `  after the last WebSocket had gone the last edit was in force within ${(afterMs / 1_000).toFixed(1)} s`,
    ];
  } finally {
    sockets.close(sockets.count);
    echo.close();
  }
}
