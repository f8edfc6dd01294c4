/** Reloads that an operator forces, one after another, under load of every protocol. */
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { aioquicPython } from "../../parts/aioquic.ts";
import { underLoad } from "../harness/load.ts";
import { HOST } from "../harness/site.ts";
import { type H3Report, startH3 } from "./h3.ts";
import type { Stage } from "./stage.ts";

export interface ForcedPlan {
  readonly reloads: number;
  readonly rate: number;
  readonly seconds: number;
  readonly leastRequests: number;
}

const H3 = { port: 8443, path: "/lane", methods: ["GET", "POST"], workers: 2, pauseMs: 20 } as const;

export async function forcedReloads(stage: Stage, plan: ForcedPlan): Promise<string[]> {
  const { cluster, site } = stage;
  const python = aioquicPython();
  const h3: H3Report[] = [];
  const before = await stage.reloads();
  const pids = await cluster.workerPids();
  const began = performance.now();
  let took = 0;
  const report = await underLoad(
    cluster,
    {
      host: HOST,
      pauseMs: 20,
      bulk: { rate: plan.rate, seconds: plan.seconds, repeats: true },
      ...(python !== undefined && {
        more: (pod: string, address: string) =>
          startH3({ ...H3, name: `${pod} h3`, python, address, host: HOST, ca: cluster.authority.certificate }, (one) =>
            h3.push(one),
          ),
      }),
    },
    async (load) => {
      for (let reload = 1; reload <= plan.reloads; reload++) {
        // Spread over the bulk's time.
        const due = began + (reload * plan.seconds * 1_000) / (plan.reloads + 1);
        await sleep(Math.max(0, due - performance.now()));
        await stage.loaded(await stage.edit());
      }
      took = performance.now() - began;
      await load.bulkDone;
    },
  );
  site.unharmed(report, plan.leastRequests);
  const after = await stage.reloads();
  assert.equal(
    after,
    before.map((count) => count + plan.reloads),
    "each edit is one reload of each pod",
  );
  for (const [pod, pid] of (await cluster.workerPids()).entries()) assert.is.not(pid, pids[pod]);
  assert.equal(await cluster.faults(), []);
  const of = (protocol: RegExp): string => {
    const parts = report.parts
      .filter((part) => protocol.test(part))
      .map((part) => /: (\d+), failed (\d+), repeated (\d+)/.exec(part)!);
    const sum = (column: number): number => parts.reduce((total, part) => total + Number(part[column]), 0);
    return `${sum(1)} requests, ${sum(2)} failed, ${sum(3)} refused and repeated`;
  };
  const lines = [
    `${plan.reloads} forced reloads of each of ${cluster.pods.length} pods in ${(took / 1_000).toFixed(0)} s: ${report.requests} requests, ${report.failed} failed`,
    `  HTTP/1.1: ${of(/^(?!.*(?:\bh2|h3)\b)/)}`,
    `  HTTP/2: ${of(/\bh2\b/)}`,
  ];
  if (python === undefined) return [...lines, "  HTTP/3: not tried, aioquic is not here"];
  const goaways = h3.reduce((sum, one) => sum + one.goaways, 0);
  const connections = h3.reduce((sum, one) => sum + one.connections, 0);
  assert.ok(goaways > 0, "HTTP/3 was told to go elsewhere");
  return [...lines, `  HTTP/3: ${of(/\bh3\b/)}, ${goaways} GOAWAYs, ${connections} connections`];
}
