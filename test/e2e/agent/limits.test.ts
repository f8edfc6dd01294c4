// runner: beside
/** What an agent does where something goes on for too long, or is too much: reloads that fail to come, removals, bodies. */
import fs from "node:fs";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Op } from "../../../src/plan/ops.ts";
import { missingHaproxy, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { TestController } from "./controller.ts";
import {
  hostFiles,
  makeIdentities,
  removeScratch,
  scratch,
  startPod,
  until,
  type Pod,
  type PodOptions,
} from "./harness.ts";

const root = scratch("limits");
const identities = await makeIdentities(root);
const upstream = "127.124.0.1";
const pods: Pod[] = [];
let address = 0;

/** Requests that an upstream holds until it is told to answer. */
const held: ServerResponse[] = [];
const holding = createServer((_, response) => held.push(response));
holding.listen(9301, upstream);
await once(holding, "listening");

test.after(async () => {
  for (const pod of pods) await pod.close();
  holding.closeAllConnections();
  holding.close();
  removeScratch(root);
});

const check34 = needing(test, missingHaproxy("3.4"));

async function start(options: Partial<PodOptions> = {}): Promise<{ pod: Pod; controller: TestController }> {
  address += 1;
  const pod = await startPod({
    binary: testHaproxy("3.4")!,
    address: `127.124.1.${address}`,
    identities,
    name: `limits-${address}`,
    ...options,
  });
  pods.push(pod);
  return { pod, controller: new TestController(pod.client) };
}

const filesOf = (backends: Record<string, Record<string, number>>): Record<string, string> =>
  hostFiles({ backends, upstream });
const one = filesOf({ one: { s1: 9001 } });

const isInForce = async (pod: Pod): Promise<boolean> => {
  const { applied_plan_id: applied, worker_ops_plan_id: ops, running_plan_id: running } = await pod.client.state();
  return applied !== "" && ops === applied && running === applied;
};

check34("a reload that is owed comes, also where the files could not be made ready for it at once", async () => {
  const { pod, controller } = await start();
  const before = await controller.load(one);
  const { mkdirSync } = fs;
  const sets = join(pod.baseDir, ".haptic/sets/");
  let failures = 0;
  fs.mkdirSync = ((path: string, ...more: []) => {
    if (!path.startsWith(sets)) return mkdirSync(path, ...more);
    failures += 1;
    throw Object.assign(new Error("ENOSPC: no space left on device, mkdir"), { code: "ENOSPC" });
  }) as typeof fs.mkdirSync;
  syncBuiltinESMExports();
  const refused: Op = { kind: "server_enable", backend: "one", server: "nobody" };
  try {
    await controller.change(filesOf({ one: { s1: 9002 } }), [refused]).then(
      (result) => assert.unreachable(`it was taken: ${result.mode}`),
      (error: unknown) => assert.match(String(error), "ENOSPC"),
    );
  } finally {
    fs.mkdirSync = mkdirSync;
    syncBuiltinESMExports();
  }
  assert.ok(failures > 0);
  await until("the reload came", () => isInForce(pod), 20_000);
  const { haproxy, applied_plan_id: applied } = await pod.client.state();
  assert.is.not(haproxy!.worker_pid, before.haproxy!.worker_pid);
  assert.is.not(applied, before.plan_id);
});

/** A request on a connection of its own; the promise is its status. */
function ask(pod: Pod, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: pod.address, port: 8080, headers: { host }, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

const names = (count: number, letter: string): string[] => Array.from({ length: count }, (_, n) => `${letter}${n}`);

/** Operations of an apply in batches. */
function inBatches(ops: readonly Op[]): { readonly ops: Op[]; readonly extra: { readonly op_batches?: Op[][] } } {
  const batches: Op[][] = [];
  for (let at = 0; at < ops.length; at += 1_000) batches.push(ops.slice(at, at + 1_000));
  const [first = [], ...rest] = batches;
  return { ops: first, extra: rest.length > 0 ? { op_batches: rest } : {} };
}

const goes = (backend: string): Op[] => [
  { kind: "map_del", path: "maps/host.map", key: `${backend}.example` },
  { kind: "server_disable", backend, server: "s1" },
  { kind: "server_del", backend, server: "s1" },
  { kind: "backend_unpublish", backend },
  { kind: "backend_del", backend },
];

const backendsOf = (list: readonly string[]): Record<string, Record<string, number>> =>
  Object.fromEntries([["one", { s1: 9001 }] as const, ...list.map((name) => [name, { s1: 9301 }] as const)]);

check34("of more backends than may wait for their last requests those that none holds go at once", async () => {
  const { pod, controller } = await start();
  const list = names(150, "b");
  await controller.load(filesOf(backendsOf(list)));
  const worker = (await pod.client.state()).haproxy!.worker_pid;
  const { ops, extra } = inBatches(list.flatMap(goes));
  const result = await controller.change(one, ops, extra);
  assert.equal([result.mode, result.limit, result.haproxy?.worker_pid], ["runtime", undefined, worker]);
  await until("all have left the worker", async () => {
    const { servers, backends } = (await pod.client.state()).pending_deletes;
    return servers.length + backends.length === 0;
  });
  assert.not.match(await pod.runtime("show backend"), /^b\d/m);
  assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
});

for (const { count, mode } of [
  { count: 100, mode: "runtime" },
  { count: 101, mode: "reload" },
]) {
  check34(`${count} backends that requests hold: their removal is a ${mode}, and no request is lost`, async () => {
    const { pod, controller } = await start();
    const list = names(count, "b");
    await controller.load(filesOf(backendsOf(list)));
    held.length = 0;
    const answers = list.map((name) => ask(pod, `${name}.example`));
    await until("every backend holds a request", () => held.length === count);
    const { ops, extra } = inBatches(list.flatMap(goes));
    const result = await controller.change(one, ops, extra);
    assert.is(result.mode, mode, JSON.stringify(result.error ?? result.failure));
    assert.is(result.op_results.filter(({ ok }) => !ok).length, 0);
    assert.is(
      result.limit,
      mode === "runtime" ? undefined : "101 backends would wait for their last requests, and no more than 100 may",
    );
    const { pending_deletes: pending } = await pod.client.state();
    assert.is(pending.backends.length, mode === "runtime" ? count : 0);
    for (const response of held) response.end("late");
    assert.equal([...new Set(await Promise.all(answers))], [200]);
    await until("all have left", async () => (await pod.client.state()).pending_deletes.backends.length === 0, 30_000);
    assert.not.match(await pod.runtime("show backend"), /^b\d/m);
    assert.ok(await isInForce(pod));
  });
}

check34("of 1,100 servers that go at once no more than 1,000 wait, held or not", async () => {
  const { pod, controller } = await start();
  const list = names(1_100, "s");
  const servers = Object.fromEntries(list.map((name) => [name, 9301]));
  await controller.load(filesOf({ one: { stays: 9301, ...servers } }));
  const worker = (await pod.client.state()).haproxy!.worker_pid;
  held.length = 0;
  const answers = Array.from({ length: 300 }, () => ask(pod, "one.example"));
  await until("requests are held", () => held.length === 300);
  const gone = list.flatMap((server): Op[] => [
    { kind: "server_disable", backend: "one", server },
    { kind: "server_del", backend: "one", server },
  ]);
  const { ops, extra } = inBatches(gone);
  const result = await controller.change(filesOf({ one: { stays: 9301 } }), ops, extra);
  assert.equal([result.mode, result.limit], ["runtime", undefined]);
  const { pending_deletes: pending } = await pod.client.state();
  assert.ok(pending.servers.length <= 1_000, `${pending.servers.length} wait`);
  for (const response of held) response.end("late");
  assert.equal([...new Set(await Promise.all(answers))], [200]);
  await until("all have left", async () => (await pod.client.state()).pending_deletes.servers.length === 0, 30_000);
  assert.is((await pod.runtime("show servers state one")).match(/ s\d+ /g), null);
  assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
});

test.run();
