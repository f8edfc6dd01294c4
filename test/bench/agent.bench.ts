/**
 * What the agent adds to HAProxy's own speed: operations in batches of 1,000, each an apply with its part of the map's file, beside
 * the same commands on a bare runtime connection; and how long a set of 10 MB takes.
 */
// runner: limit 300 s
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { agentPaths } from "../../src/agent/index.ts";
import type { ApplyResult, Manifest } from "../../src/agent/api.ts";
import { RuntimeSession } from "../../src/haproxy/runtime.ts";
import type { Op } from "../../src/plan/ops.ts";
import {
  CLIENT_NAME,
  configText,
  deltaShipment,
  fullShipment,
  makeIdentities,
  removeScratch,
  scratch,
  setOf,
  type Shipment,
  startPod,
  type TestSet,
  until,
} from "../e2e/agent/harness.ts";
import { testHaproxy } from "../support/parts.ts";
import { recordRow } from "../support/report.ts";
import { needing } from "../support/skip.ts";
import { Rig } from "./goals/rig.ts";

const ADDRESS = "127.85.1.1";
const PORT = 5555;
const ENTRIES = 10_000;
const BATCH = 1_000;
/** Entries of a map of 10 MB. */
const WIDE = 229_000;
const ROUNDS = 60;
const MAP = "maps/host.map";
const CONFIG = configText({ backends: { one: { s1: 9001 } }, upstream: "127.85.2.1" });

const launcher = resolve(import.meta.dirname, "../../bin/haptic.mjs");
const haproxy = testHaproxy("3.4");
const test = needing(base, haproxy === undefined ? "needs HAProxy 3.4" : undefined);
const keyOf = (index: number): string => `host-${String(index).padStart(5, "0")}.example.com`;

function row(name: string, objects: number, samples: readonly number[], floor?: readonly number[]): void {
  const at = (list: readonly number[], q: number): number =>
    list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))]!;
  const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((q) => at(samples, q)) as [number, number, number, number];
  const least = floor === undefined ? undefined : at(floor, 0.5);
  recordRow({ name, objects, p50, p95, p99, max, ...(least !== undefined && { floor: least, ratio: p50 / least }) });
}

test("Operations in batches of 1,000 are counted through the agent and beside it, and a set of 10 MB is applied", async () => {
  const root = scratch("bench-agent");
  const identities = await makeIdentities(root);
  const pod = await startPod({
    binary: haproxy!,
    address: ADDRESS,
    identities,
    name: "pod",
    port: PORT,
    withoutAgent: true,
  });
  const agent = spawn(
    process.execPath,
    [
      launcher,
      "agent",
      `--base-dir=${pod.baseDir}`,
      `--listen=${ADDRESS}:${PORT}`,
      `--tls-dir=${identities.agentDir}`,
      `--tls-client-name=${CLIENT_NAME}`,
      `--metrics-listen=${ADDRESS}:9101`,
      "--reload-interval-min=0s",
    ],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, HAPTIC_EXEC: "1", HAPTIC_BUNDLE: "1" } },
  );
  const rss = (): number =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(join("/proc", String(agent.pid), "status"), "utf8"))![1]) / 1024;
  try {
    await until(
      "the agent answers",
      () =>
        pod.client.state({ plan: false }).then(
          () => true,
          () => false,
        ),
      30_000,
    );
    let plan = 0;
    const about = (more: { mode?: Manifest["mode"]; ops?: Op[] }) => {
      plan += 1;
      const token = { leader_epoch: 1, render_seq: plan };
      return { planId: `p${plan}`, prev: plan === 1 ? "" : `p${plan - 1}`, token, ...more };
    };
    const apply = async ({ manifest, parts }: Shipment): Promise<ApplyResult> => {
      const answer = await pod.client.apply(manifest, parts);
      assert.is(answer.kind, "result", JSON.stringify(answer).slice(0, 300));
      const { result } = answer as { result: ApplyResult };
      assert.ok(result.ok, result.error?.message ?? "refused");
      return result;
    };
    const values = Array.from({ length: ENTRIES }, () => "one");
    const written = (): TestSet =>
      setOf({ "haproxy.cfg": CONFIG, [MAP]: values.map((value, index) => `${keyOf(index)} ${value}\n`).join("") });
    let set = written();
    await apply(fullShipment(set, about({ mode: "reload" })));

    const raw = await RuntimeSession.connect(agentPaths({ baseDir: pod.baseDir }).workerSocket);
    const bare: number[] = [];
    const through: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const from = (round * BATCH) % ENTRIES;
      const keys = Array.from({ length: BATCH }, (_, index) => from + index);
      const commands = keys.map((index) => `set map ${MAP} ${keyOf(index)} raw-${round}`);
      const began = performance.now();
      const replies = await raw.batch(commands);
      bare.push(performance.now() - began);
      assert.is(replies.length, BATCH);
      assert.ok(
        replies.every((reply) => reply.severity === undefined),
        replies[0]!.text,
      );

      for (const index of keys) values[index] = `agent-${round}`;
      const next = written();
      const ops = keys.map((index): Op => ({ kind: "map_set", path: MAP, key: keyOf(index), value: values[index]! }));
      const shipment = deltaShipment(set, next, about({ ops }));
      const start = performance.now();
      const result = await apply(shipment);
      through.push(performance.now() - start);
      assert.is(result.mode, "runtime", JSON.stringify(result.op_results.find((op) => !op.ok)));
      set = next;
    }
    raw.close();
    row(`agent: ${BATCH} operations in one apply, ms, beside a bare connection`, ENTRIES, through, bare);
    row(`agent: memory after ${ROUNDS} batches of ${BATCH} operations, MiB`, ENTRIES, [rss()]);

    const large = Array.from({ length: WIDE }, (_, index) => `wide-${index}.of-a-long-name.example.com one\n`).join("");
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const wide = setOf({ "haproxy.cfg": CONFIG, [MAP]: `${large}round-${round}.example.com one\n` });
      const shipment = fullShipment(wide, about({ mode: "reload" }));
      const start = performance.now();
      await apply(shipment);
      times.push(performance.now() - start);
    }
    row(`agent: a whole set of ${(large.length / 1e6).toFixed(0)} MB with its reload, ms`, WIDE, times);
    row("agent: memory after it, MiB", WIDE, [rss()]);
  } finally {
    agent.kill("SIGTERM");
    if (agent.exitCode === null && agent.signalCode === null) await once(agent, "exit");
    await pod.close();
    removeScratch(root);
  }
});

test.before(() => Rig.bundle());
test.run();
