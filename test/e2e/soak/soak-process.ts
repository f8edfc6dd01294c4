/**
 * `npm run soak -- [--minutes 10] [--services 150] [--seed N] [--json FILE] [--snapshots DIR]`: the whole product in processes of its own
 * under churn and traffic, and what it costs in the long run: memory after garbage collection, the longest turns of the event
 * loops, reloads, failed requests, complaints in the logs. Ends with 1 when a goal of docs/performance.md is missed.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testHaproxy } from "../../support/parts.ts";
import { generator } from "../../support/random.ts";
import { Cluster, until } from "../harness/cluster.ts";
import { served } from "../harness/hosts.ts";
import { isolated } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import { apiServers } from "../harness/planes.ts";
import { Churn, hostOf } from "./churn.ts";
import type { ProbeReport, Turn } from "./probe.ts";
import { blame, complaints, longestOf, type Pause, type Sample, trends } from "./samples.ts";

interface Settings {
  readonly minutes: number;
  readonly services: number;
  readonly seed: number;
  readonly json: string;
  /** Folder for two snapshots of each heap, at a third and at the end; "" = none. */
  readonly snapshots: string;
}

/** The arguments cross the border of the namespace in the environment. */
function settings(): Settings {
  const handed = process.env["HAPTIC_SOAK"];
  if (handed !== undefined) return JSON.parse(handed) as Settings;
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      services: { type: "string", default: "150" },
      seed: { type: "string", default: "1" },
      json: { type: "string", default: "" },
      snapshots: { type: "string", default: "" },
    },
  });
  const given = {
    minutes: Number(values.minutes),
    services: Number(values.services),
    seed: Number(values.seed),
    json: values.json,
    snapshots: values.snapshots,
  };
  for (const [name, value] of Object.entries(given))
    if (typeof value === "number" && !(value > 0)) throw new Error(`--${name}: not a number above 0`);
  process.env["HAPTIC_SOAK"] = JSON.stringify(given);
  return given;
}

const PODS = 2;
const GOALS = { growth: 0.05, stallMs: 50 } as const;
/** Code, maps and buffers take their size in the first minutes. Of a short run it is the first half. */
const WARM_UP_SECONDS = 300;
const SAMPLE_SECONDS = 15;
const MIB = 1 << 20;
const LOADED = 3;
const LOOK_MS = 20;
/** A removed backend answers for 100 ms more. */
const PAUSE_MS = 80;

const wanted = settings();
const network = await isolated(import.meta.filename);
if (testHaproxy("3.4") === undefined) throw new Error("needs HAProxy 3.4: run the tests once, they bring it");

const probes = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "haptic-soak-"));
const environment = {
  HAPTIC_SOAK_PROBES: probes,
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "probe.ts")}`,
};
const cluster = new Cluster({
  api: apiServers.embedded,
  version: "3.4",
  pods: PODS,
  prefix: network.prefix,
  environment,
});

/** `snapshot` = file that the heap is written to. */
function ask(pid: number, snapshot = ""): Promise<ProbeReport> {
  return new Promise((done, failed) => {
    const socket = connect(join(probes, `${pid}.sock`));
    socket.write(`${snapshot}\n`);
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("error", failed);
    socket.on("end", () => done(JSON.parse(text) as ProbeReport));
  });
}

const processes = (): [name: string, pid: number][] => [
  ["controller", cluster.controllerPid],
  ...cluster.pods.map(({ pod }): [string, number] => [`${pod.spec.name}/agent`, pod.pid("agent")!]),
];

const samples: Sample[] = [];
const turns = new Map<string, Turn[]>();
let began = 0;

async function sample(snapshot = false): Promise<void> {
  const memory: Record<string, { rss: number; heapUsed: number; external: number }> = {};
  for (const [name, pid] of processes()) {
    const file = `${name.replace("/", "-")}-${samples.length}.heapsnapshot`;
    const { rss, heapUsed, external, longest } = await ask(pid, snapshot ? join(wanted.snapshots, file) : "");
    memory[name] = { rss, heapUsed, external };
    turns.set(name, longestOf([...(turns.get(name) ?? []), ...longest]));
  }
  for (const [index, { pod }] of cluster.pods.entries()) {
    const rss = rssOf(await cluster.workerPid(index));
    memory[`${pod.spec.name}/haproxy`] = { rss, heapUsed: rss, external: 0 };
  }
  const at = Math.round((performance.now() - began) / 1_000);
  samples.push({ at, memory });
  const shown = Object.entries(memory).map(
    ([name, { rss, heapUsed }]) => `${name} ${mib(rss)} (heap ${mib(heapUsed)})`,
  );
  process.stdout.write(`${String(at).padStart(4)} s  ${shown.join(", ")} MiB\n`);
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(1);
const rssOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;

const rest = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms));

/** Notes when this process, which has as much of the processors as the product, is not let run. */
function watchMachine(): { readonly pauses: Pause[]; stop(): void } {
  const pauses: Pause[] = [];
  const started = performance.now();
  const cpu = (): number => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000;
  let wallAt = started;
  let cpuAt = cpu();
  const timer = setInterval(() => {
    const wall = performance.now();
    const ms = wall - wallAt - (cpu() - cpuAt) - LOOK_MS;
    if (ms > PAUSE_MS) pauses.push({ at: wallAt - started, ms });
    wallAt = wall;
    cpuAt = cpu();
  }, LOOK_MS);
  return { pauses, stop: () => clearInterval(timer) };
}

async function soak(): Promise<boolean> {
  mkdirSync(probes, { recursive: true });
  const names = Array.from({ length: wanted.services }, (_, index) => `app-${index}`);
  await cluster.start();
  const churn = new Churn(cluster, names, generator(wanted.seed));
  await churn.populate();
  await served(cluster, hostOf(names[0]!), { tls: true, limitMs: 60_000 });
  await served(cluster, hostOf(names.at(-1)!), { limitMs: 60_000 });
  await cluster.settled();
  const reloadsBefore = await Promise.all(cluster.pods.map((_, pod) => cluster.reloadsOf(pod)));
  const startUp = new Map<string, Turn[]>();
  for (const [name, pid] of processes()) startUp.set(name, [...(await ask(pid)).longest]);
  const linesBefore = cluster.lines.length;
  const before = await cluster.counters();

  began = performance.now();
  const machine = watchMachine();
  const load = await underLoad(cluster, { host: hostOf(names[0]!), pauseMs: 40 }, async () => {
    churn.start(names.slice(0, LOADED));
    const end = began + wanted.minutes * 60_000;
    const step = Math.min(SAMPLE_SECONDS * 1_000, (wanted.minutes * 60_000) / 12);
    const snapshotsAt = wanted.snapshots === "" ? [] : [began + wanted.minutes * 20_000, end];
    while (performance.now() < end) {
      await rest(Math.min(step, Math.max(0, end - performance.now())));
      const due = snapshotsAt[0] !== undefined && performance.now() >= snapshotsAt[0];
      if (due) snapshotsAt.shift();
      await sample(due);
    }
    await churn.stop();
  });
  machine.stop();
  await cluster.settled();
  for (const host of churn.hosts()) await served(cluster, host, { limitMs: 20_000 });
  await until("no fault is left", async () => (await cluster.faults()).length === 0);
  const reloads = (await Promise.all(cluster.pods.map((_, pod) => cluster.reloadsOf(pod)))).map(
    (count, pod) => count - reloadsBefore[pod]!,
  );
  const { late } = await cluster.backends.report();
  const after = await cluster.counters();

  const warmUp = Math.min(WARM_UP_SECONDS, (wanted.minutes * 60) / 2);
  const rss = trends(samples, warmUp, (memory) => memory.rss);
  const heap = trends(samples, warmUp, (memory) => memory.heapUsed);
  const told = [...complaints(cluster.lines.slice(linesBefore))].toSorted((a, b) => b[1] - a[1]);
  const stalls = [...turns].map(([process, longest]) => ({ process, longest }));
  const failures = blame(load.failures, machine.pauses);
  const total = reloads.reduce((sum, one) => sum + one, 0);

  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  say(`\n${JSON.stringify(churn.tally)}`);
  say(
    `renders ${after.renders - before.renders}, applies ${after.applies - before.applies}, checks ${after.checks - before.checks}`,
  );
  say(
    `requests ${load.requests}, failed ${load.failed}, h2 refusals repeated ${load.repeated}, late connections ${late.length}`,
  );
  for (const failure of failures.product) say(`  ${failure}`);
  for (const failure of failures.machine) say(`  ${failure}, while or just after the machine stood still`);
  const longest = Math.max(0, ...machine.pauses.map(({ ms }) => ms));
  say(
    `the machine let nobody of ours run for more than ${PAUSE_MS} ms ${machine.pauses.length} times, at most ${longest.toFixed(0)} ms`,
  );
  for (const one of late.slice(0, 10)) say(`  late: ${one}`);
  say(`reloads ${total}`);
  for (const trend of rss)
    say(
      `RSS after GC, ${trend.process}: ${mib(trend.first)} to ${mib(trend.last)} MiB (${percent(trend.growth)}), ${mib(trend.least)} to ${mib(trend.most)}`,
    );
  for (const trend of heap.filter(({ process }) => !process.endsWith("haproxy")))
    say(`heap after GC, ${trend.process}: ${mib(trend.first)} to ${mib(trend.last)} MiB (${percent(trend.growth)})`);
  for (const [process, longest] of startUp)
    say(`longest turn before the churn, ${process}: ${(longest[0]?.cpuMs ?? 0).toFixed(1)} ms of CPU`);
  for (const { process, longest } of stalls)
    say(
      `longest turns, ${process}: ${longest
        .slice(0, 5)
        .map(({ cpuMs }) => cpuMs.toFixed(1))
        .join(", ")} ms of CPU`,
    );
  for (const [complaint, count] of told) say(`log: ${count} × ${complaint}`);

  const missed = [
    ...rss
      .filter(({ growth }) => growth > GOALS.growth)
      .map(({ process, growth }) => `${process} grew by ${percent(growth)}`),
    ...(total > 0 ? [`${total} reloads`] : []),
    ...(load.failed > failures.machine.length ? [`${load.failed - failures.machine.length} failed requests`] : []),
    ...stalls
      .filter(({ longest }) => (longest[0]?.cpuMs ?? 0) > GOALS.stallMs)
      .map(({ process, longest }) => `${process} stood still for ${longest[0]!.cpuMs.toFixed(1)} ms`),
    ...told.filter(([text]) => / error /.test(text)).map(([text, count]) => `${count} × ${text}`),
  ];
  for (const one of missed) say(`missed: ${one}`);
  if (wanted.json !== "") {
    const { requests, failed, repeated } = load;
    const rows = {
      settings: wanted,
      tally: churn.tally,
      requests,
      failed,
      failedByMachine: failures.machine.length,
      pauses: machine.pauses,
      repeated,
      late: late.length,
      reloads,
      rss,
      heap,
      stalls,
      complaints: Object.fromEntries(told),
      samples,
      missed,
    };
    writeFileSync(wanted.json, `${JSON.stringify(rows, undefined, 2)}\n`);
  }
  return missed.length === 0;
}

const percent = (ratio: number): string => `${ratio >= 0 ? "+" : ""}${(100 * ratio).toFixed(1)} %`;

let ok = false;
try {
  ok = await soak();
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.stack : String(error)}\n${cluster.tail()}\n`);
} finally {
  if (process.env["SOAK_LOG"] !== undefined) writeFileSync(process.env["SOAK_LOG"], cluster.lines.join("\n"));
  await cluster.close();
  rmSync(probes, { recursive: true, force: true });
}
process.exit(ok ? 0 : 1);
