/**
 * The goals that need the whole product: G1 to G4 (a change from its watch bytes to the first answer that shows it), each beside
 * its floor; start, memory and the controller's longest stall. docs/performance.md says how to read it.
 */
// runner: limit 4000 s
// runner: quick
import { appendFileSync, readFileSync } from "node:fs";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { testHaproxy } from "../../support/parts.ts";
import { recordRow } from "../../support/report.ts";
import { needing } from "../../support/skip.ts";
import { bulk, Changes, type Goal, PROBES, rest, TITLES } from "./changes.ts";
import { monotonic } from "./clock.ts";
import { hostOf } from "./objects.ts";
import { Rig } from "./rig.ts";

const quick = process.env["HAPTIC_BENCH_QUICK"] !== undefined;
const SIZES = quick ? [100] : (process.env["BENCH_SIZES"] ?? "100,1000,5000,10000").split(",").map(Number);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? (quick ? 12 : 120));
/** Events a second, and for how many seconds. */
const STORM = { perSecond: 1_000, seconds: quick ? 3 : 10 } as const;
/** Changes of each kind before anything counts. */
const WARM_UP = quick ? 3 : 60;
const GOALS = (process.env["BENCH_GOALS"] ?? "G1,G2,G3,G4").split(",") as readonly Goal[];
/** Changes at run time take turns; those by a reload follow, as each makes a new worker. */
const AT_RUN_TIME = GOALS.filter((goal) => goal !== "G4");
/** Reloads that count, and before any counts. */
const RELOADS = quick ? 3 : Number(process.env["BENCH_RELOADS"] ?? 30);
const RELOADS_BEFORE = quick ? 1 : 3;
/** Until the agent takes the next reload at once, ms: its interval and what the old worker lived on. */
const RELOAD_REST = 1_600;

/** File to which a line is added for each change: what its render and its apply took. */
const trace = process.env["BENCH_TRACE"];

/** File to which a line is added for each change that counts: its goal and what it took, ms. There is no floor then. */
const raw = process.env["BENCH_SAMPLES"];

/** Changes come at no fixed distance from what the one before left to do (fold, check, promotion). */
let seed = 1;
function between(low: number, high: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return low + (seed / 2_147_483_648) * (high - low);
}

function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))]!;
}

const distribution = (samples: readonly number[]) => ({
  p50: quantile(samples, 0.5),
  p95: quantile(samples, 0.95),
  p99: quantile(samples, 0.99),
  max: quantile(samples, 1),
});

const single = (name: string, objects: number, value: number): void =>
  recordRow({ name, objects, p50: value, p95: value, p99: value, max: value });

/** Of /proc/PID/status, MiB. */
function memory(pid: number, field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)![1]) / 1024;
}

/** Processor time that a process has used, ms (a clock tick is 10 ms). */
function processorMs(pid: number): number {
  const words = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(words[11]) + Number(words[12])) * 10;
}

interface Counters {
  readonly reloads: number;
}

const haproxy = testHaproxy("3.4");
const test = needing(base, haproxy === undefined ? "needs HAProxy 3.4" : undefined);

for (const objects of SIZES) {
  test(`Changes reach traffic with ${objects} Ingresses, and their floors are measured beside them`, async () => {
    const rig = new Rig(haproxy!);
    try {
      await rig.begin(bulk(objects));
      await rig.startPod();
      const started = monotonic();
      rig.startController();
      const first = await rig.served(hostOf("probe-0"), 60_000);
      single("G9 controller started to first host served", objects, first - started);
      await rig.settled();
      const cold = await rig.loop("rest");
      single("G13 longest stall of the controller's loop while it starts", objects, cold.max);
      await rig.loop("watch");
      const services = Array.from({ length: objects - PROBES }, (_, index) => `app-${index}`);
      const written = await rig.order({ do: "storm", services, ...STORM });
      const { p50, p95, p99, max } = await rig.loop("rest");
      recordRow({
        name: `G13 controller's loop stands still under ${Math.round(written / 100) * 100} events/s`,
        objects,
        p50,
        p95,
        p99,
        max,
      });
      await rig.settled();
      await rig.demoteChecks();
      const floor = await rig.startFloor();
      const changes = new Changes(rig, floor, objects);
      // The storm changes endpoints only: new hosts take ways that V8 has not compiled yet. A controller in production has run for weeks;
      // the floor gets the same grace.
      for (let turn = 0; turn < WARM_UP; turn++) {
        for (const goal of AT_RUN_TIME) for (let again = 0; again < 5; again++) await changes.floor(goal);
        for (const goal of AT_RUN_TIME) {
          await changes.product(goal);
          await rest(200);
        }
      }
      const { reloads } = await rig.variable<Counters>("counters");
      const samples = new Map(GOALS.map((goal) => [goal, { product: [] as number[], floor: [] as number[] }]));
      const pids = Object.entries(rig.pids);
      const before = pids.map(([, pid]) => processorMs(pid));
      for (let round = 0; round < ROUNDS; round++) {
        for (const goal of AT_RUN_TIME) {
          const { product, floor: bare } = samples.get(goal)!;
          await rest(between(150, 600));
          product.push(await changes.product(goal));
          if (trace !== undefined) await rig.trace(trace, { goal, round, ms: product.at(-1)! });
          if (raw !== undefined) {
            appendFileSync(raw, `${goal} ${product.at(-1)!}\n`);
            continue;
          }
          await rest(between(150, 600));
          bare.push(await changes.floor(goal));
        }
      }
      const after = pids.map(([, pid]) => processorMs(pid));
      assert.is((await rig.variable<Counters>("counters")).reloads, reloads, "no change needed a reload");
      await rig.settled();
      for (const [index, [name, pid]] of pids.entries()) {
        const spent = after[index]! - before[index]!;
        if (AT_RUN_TIME.length > 0)
          single(`processor time of the ${name} a change, ms`, objects, spent / (ROUNDS * AT_RUN_TIME.length));
        single(`G7 memory of the ${name} after the changes, MiB`, objects, memory(pid, "VmRSS"));
        single(`G7 peak memory of the ${name}, MiB`, objects, memory(pid, "VmHWM"));
      }
      for (let round = GOALS.includes("G4") ? -RELOADS_BEFORE : RELOADS; round < RELOADS; round++) {
        await rest(RELOAD_REST + between(150, 600));
        const own = await changes.product("G4");
        if (trace !== undefined) await rig.trace(trace, { goal: "G4", round, ms: own });
        await rest(RELOAD_REST + between(150, 600));
        const least = await changes.floor("G4");
        if (round < 0) continue;
        samples.get("G4")!.product.push(own);
        samples.get("G4")!.floor.push(least);
      }
      for (const goal of GOALS) {
        const { product, floor: bare } = samples.get(goal)!;
        if (bare.length === 0) continue;
        const [own, least] = [distribution(product), distribution(bare)];
        recordRow({
          name: `${goal} ${TITLES[goal]}`,
          objects,
          ...own,
          floor: least.p50,
          ratio: own.p50 / least.p50,
          floorP99: least.p99,
          ratioP99: own.p99 / least.p99,
        });
        recordRow({ name: `${goal} floor: ${TITLES[goal]}`, objects, ...least });
      }
    } catch (error) {
      process.stdout.write(`${rig.tail()}\n`);
      throw error;
    } finally {
      await rig.close();
    }
  });
}

test.before(() => Rig.bundle());
test.run();
