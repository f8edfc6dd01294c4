// runner: beside
/** What an agent does where something goes on for too long, or is too much: reloads that fail to come, removals, bodies. */
import fs from "node:fs";
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

test.after(async () => {
  for (const pod of pods) await pod.close();
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

test.run();
