/** `haptic dev`: the whole product on this machine. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type DevCluster,
  demoRoute,
  firstAnswer,
  introduction,
  type Outlet,
  type Proof,
  proveOnce,
  startDevCluster,
} from "../devcluster/index.ts";
import { HapticError, UsageError } from "../errors.ts";
import { readFlags, wholeNumber } from "./flags.ts";
import { stopSignal } from "./signals.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic dev [flags]

Starts a Kubernetes API, HAProxy pods (each an agent and a real HAProxy on a loopback address of its own), sample
backends and the controller, and serves a folder of manifests until Ctrl-C. Nothing is left behind.

  --manifests DIR          YAML and JSON to serve, followed as it changes (the ingress example)
  --crd-name NAME          which HAProxyTemplateConfig, where the folder holds several
  --haproxy PATH|VERSION   the HAProxy to run: a binary, or 3.4, 3.2, 3.0; default: HAPTIC_HAPROXY, PATH,
                           the cache folder, else 3.4 is installed there (nothing else on the system changes)
  --pods N                 HAProxy pods, 1 to 8 (2)
  --controllers N          controllers, 1 to 3 (1); one of them leads, kill -9 of it lets another lead within 8 s
  --port PORT              of the Kubernetes API (6443)
  --http-port PORT         of the frontend in the manifests that tells a pod ready (8080)
  --once                   prove itself in under 50 s and end: traffic, a scaling, a new host. The last line is JSON:
                           {ok, haproxy, requests, failed, reloads, inForceMs: {endpoint, host}, startMs}
  --json                   tell everything as JSON, one object a line
  --keep                   keep the folder with configuration, certificates and kubeconfig
  --verbose                every line that any part prints
`;

const flagTypes = {
  manifests: { type: "string" },
  "crd-name": { type: "string" },
  haproxy: { type: "string" },
  pods: { type: "string" },
  controllers: { type: "string" },
  port: { type: "string" },
  "http-port": { type: "string" },
  once: { type: "boolean" },
  json: { type: "boolean" },
  keep: { type: "boolean" },
  verbose: { type: "boolean" },
} as const;

/** The proof gives up, with what it has, before the promised 50 s are over. */
const ONCE_LIMIT_MS = 46_000;

/** examples/ lies beside src/ in the repository and beside dist/ in the package. */
function exampleFolder(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const example = join(folder, "examples", "ingress");
    if (existsSync(example)) return example;
  }
  throw new UsageError("the examples are not beside the program", "give a folder with --manifests");
}

function manifestFolder(wanted: string | undefined): string {
  if (wanted === undefined) return exampleFolder();
  const folder = resolve(wanted);
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`--manifests: ${folder} is no folder`);
  return folder;
}

/** Milliseconds since this process began. */
function age(): number {
  return performance.now();
}

function outletOf(json: boolean): Outlet {
  return {
    line(text, fields) {
      const time = new Date();
      const shown = json
        ? JSON.stringify({ time: time.toISOString(), text, ...fields })
        : `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, "0")}  ${text}`;
      process.stdout.write(`${shown}\n`);
    },
  };
}

/** Says of real requests that they were answered; of manifests whose hosts are not known, that HAProxy is ready. */
async function traffic(cluster: DevCluster): Promise<string> {
  const host = demoRoute(cluster.session)?.host;
  if (host === undefined) return "HAProxy serves";
  const answers = cluster.session.pods.map(async ({ spec }) => `${await firstAnswer(spec, host)} through ${spec.name}`);
  try {
    return `live traffic: ${host} is answered by ${(await Promise.all(answers)).join(", ")}`;
  } catch (error) {
    return `HAProxy serves, but ${error instanceof Error ? error.message : String(error)};`;
  }
}

/** What the parts said last, when there is no live traffic. */
function explain({ narrator, session }: DevCluster): void {
  for (const source of narrator.sources) {
    process.stderr.write(`--- last lines of ${source}\n${narrator.tail(source).join("\n")}\n`);
  }
  if (session.options.keep) process.stderr.write(`files are kept in ${session.folder}\n`);
}

async function prove(cluster: DevCluster, outlet: Outlet, stopped: Promise<unknown>): Promise<number> {
  const startMs = age();
  outlet.line(`live after ${Math.round(startMs)} ms; proving`, { type: "live", startMs });
  const late = new Promise<string>((done) => {
    setTimeout(() => done("the time is over"), Math.max(0, ONCE_LIMIT_MS - age())).unref();
  });
  const interrupted = Promise.race([late, stopped.then(() => "stopped")]);
  const outcome = await Promise.race([proveOnce(cluster, startMs), interrupted]);
  const { version } = cluster.session.haproxy;
  const empty = {
    haproxy: version,
    requests: 0,
    failed: 0,
    reloads: -1,
    inForceMs: { endpoint: -1, host: -1 },
    startMs,
  };
  const proof: Proof = typeof outcome === "string" ? { ok: false, ...empty, problems: [outcome] } : outcome;
  for (const problem of proof.problems ?? []) outlet.line(`problem: ${problem}`, { type: "problem", problem });
  await cluster.stop();
  process.stdout.write(`${JSON.stringify(proof)}\n`);
  return proof.ok ? 0 : 1;
}

export const command: Command = {
  summary: "the whole product on this machine, with no cluster",
  usage,
  async run(argv) {
    const flags = readFlags("dev", argv, flagTypes);
    const outlet = outletOf(flags.json === true);
    const stopped = stopSignal();
    const cluster = startDevCluster(
      {
        manifests: manifestFolder(flags.manifests),
        pods: wholeNumber("--pods", flags.pods ?? "2", { min: 1, max: 8 }),
        controllers: wholeNumber("--controllers", flags.controllers ?? "1", { min: 1, max: 3 }),
        haproxy: flags.haproxy,
        apiPort: wholeNumber("--port", flags.port ?? "6443", { min: 1, max: 65_535 }),
        httpPort: wholeNumber("--http-port", flags["http-port"] ?? "8080", { min: 1, max: 65_535 }),
        keep: flags.keep === true,
        configName: flags["crd-name"],
        environment: process.env,
      },
      outlet,
      flags.verbose === true,
    );
    let wanted = false;
    void stopped.then(() => {
      wanted = true;
      return cluster.stop();
    });
    try {
      await cluster.live;
    } catch (error) {
      if (!wanted) explain(cluster);
      await cluster.ended;
      if (wanted) return 0;
      if (flags.once === true) {
        const message = error instanceof Error ? error.message : String(error);
        process.stdout.write(`${JSON.stringify({ ok: false, problems: [message], startMs: Math.round(age()) })}\n`);
      }
      throw error instanceof HapticError ? error : new Error(String(error), { cause: error });
    }
    if (flags.once === true) return prove(cluster, outlet, stopped);
    const lines = introduction(cluster.session);
    if (flags.json === true) outlet.line(lines.join("\n"), { type: "live", startMs: Math.round(age()) });
    else process.stdout.write(`\n${lines.join("\n")}\n`);
    // Requests that are not answered yet are no reason to wait once somebody wants the end.
    const said = await Promise.race([traffic(cluster), stopped.then(() => undefined)]);
    if (said !== undefined)
      outlet.line(`${said} after ${(age() / 1_000).toFixed(1)} s; Ctrl-C ends it`, { type: "note" });
    await cluster.ended;
    outlet.line("stopped, nothing is left behind", { type: "stopped" });
    return 0;
  },
};
