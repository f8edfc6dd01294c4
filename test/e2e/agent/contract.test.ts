// runner: beside
/** What controller and agent agree on beside the operations: batches, proofs, sets that HAProxy refused, what is read back. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { sha256 } from "../../../src/agent/blocks.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { missingHaproxy, testHaproxy, type HaproxyVersion } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { conflictOf, TestController } from "./controller.ts";
import {
  configText,
  deltaShipment,
  fullShipment,
  makeIdentities,
  removeScratch,
  scratch,
  setOf,
  startPod,
  until,
  type Pod,
} from "./harness.ts";

const root = scratch("contract");
const identities = await makeIdentities(root);
const upstream = "127.107.20.1";
const pods: Pod[] = [];

test.after(async () => {
  for (const pod of pods) await pod.close();
  removeScratch(root);
});

interface Site {
  readonly pod: Pod;
  readonly controller: TestController;
  readonly hosts: Record<string, string>;
  readonly files: (extra?: string) => Record<string, string>;
}

async function start(version: HaproxyVersion, address: string, reloadIntervalMs = 0): Promise<Site> {
  const binary = testHaproxy(version)!;
  const pod = await startPod({ binary, address, identities, name: `contract-${address}`, reloadIntervalMs });
  pods.push(pod);
  const hosts: Record<string, string> = { "one.example": "one" };
  const files = (extra = ""): Record<string, string> => ({
    "haproxy.cfg": configText({ backends: { one: { s1: 9001 } }, upstream }) + extra,
    "maps/host.map": Object.entries(hosts)
      .map(([host, backend]) => `${host} ${backend}\n`)
      .join(""),
  });
  const controller = new TestController(pod.client);
  const result = await controller.load(files());
  assert.ok(result.ok, result.error?.message ?? "");
  return { pod, controller, hosts, files };
}

const entry = (key: string): Op => ({ kind: "map_add", path: "maps/host.map", key, value: "one" });

for (const [i, version] of (["3.4", "3.2", "3.0"] as const).entries()) {
  const check = needing(test, missingHaproxy(version));

  check(
    `eight thousand operations of one apply reach HAProxy ${version} in eight batches, in their order`,
    async () => {
      const { pod, controller, hosts, files } = await start(version, `127.107.11.${i + 1}`);
      const batches: Op[][] = Array.from({ length: 8 }, (_, batch) =>
        Array.from({ length: 1_000 }, (_unused, n) => entry(`h${batch}-${n}.example`)),
      );
      for (const op of batches.flat()) hosts[op.key!] = "one";
      // The last batch takes away what the first one added.
      batches[7]![999] = { kind: "map_del", path: "maps/host.map", key: "h0-0.example" };
      delete hosts["h0-0.example"];
      delete hosts["h7-999.example"];
      const [ops, ...rest] = batches;
      const result = await controller.change(files(), ops!, { op_batches: rest });
      assert.is(result.mode, "runtime", JSON.stringify(result.error));
      assert.is(result.op_results.length, 8_000);
      assert.is(result.op_results.filter(({ ok }) => !ok).length, 0);
      const shown = (await pod.runtime("show map maps/host.map")).split("\n").map((line) => line.split(" ")[1]);
      assert.equal(shown.filter((key) => key !== undefined).toSorted(), Object.keys(hosts).toSorted());
    },
  );

  check(`a set that HAProxy ${version} refused is not tried again until something differs`, async () => {
    const { pod, controller, files } = await start(version, `127.107.12.${i + 1}`);
    const worker = (await pod.client.state()).haproxy!.worker_pid;
    const bad = "backend broken\n    balance nonsense\n";
    const first = await controller.load(files(bad));
    assert.equal([first.ok, first.mode, first.reload?.performed], [false, "rejected", true]);
    const again = await controller.load(files(bad));
    assert.equal([again.ok, again.mode, again.reload?.performed], [false, "rejected", false]);
    assert.is(again.error?.stage, "known_bad");
    assert.match(again.error!.message, /refused this set at 20.* not asked again before 20.*unless something differs/);
    assert.match(again.error!.message, "[ALERT]");
    // In whatever form the same bytes come.
    const delta = await controller.change(files(bad), []);
    assert.is(delta.error?.stage, "known_bad");
    const other = await controller.load(files(`${bad}# something differs\n`));
    assert.equal([other.ok, other.reload?.performed], [false, true]);
    const good = await controller.load(files("# mended\n"));
    assert.ok(good.ok, good.error?.message);
    assert.is.not((await pod.client.state()).haproxy!.worker_pid, worker);
  });
}

const check34 = needing(test, missingHaproxy("3.4"));

check34("after a refused operation no further batch is tried, and the set comes by a reload", async () => {
  const { pod, controller, hosts, files } = await start("3.4", "127.107.13.1");
  hosts["two.example"] = "one";
  const refused: Op = { kind: "server_enable", backend: "one", server: "nobody" };
  const batch = [refused, ...Array.from({ length: 999 }, () => ({ ...refused, server: "s1" }))];
  const result = await controller.change(files(), batch, { op_batches: [[entry("two.example")]] });
  assert.is(result.mode, "reload");
  assert.equal(
    [result.op_results[0]!.ok, result.op_results[999]!.ok, result.op_results[1_000]!.ok],
    [false, true, false],
  );
  assert.match(result.op_results[1_000]!.output, "of a batch before was refused");
  assert.match(await pod.runtime("get map maps/host.map two.example"), 'value="one"');
});

check34("batches beyond the limits are refused before anything is done", async () => {
  const { controller, files } = await start("3.4", "127.107.13.2");
  const many = Array.from({ length: 1_001 }, (_, n) => entry(`h${n}.example`));
  for (const [batches, why] of [
    [[many], /more than 1000 operations/],
    [[[]], /a batch is empty/],
    [Array.from({ length: 8 }, () => [entry("a.example")]), /more than 8 batches/],
  ] as const) {
    const reason = await controller.change(files(), [], { op_batches: batches as Op[][] }).then(
      () => "nothing",
      (error: unknown) => String(error),
    );
    assert.match(reason, why);
  }
});

check34("the agent proves each plan by what its files amount to, and a controller may hold it to that", async () => {
  const { pod, controller, hosts, files } = await start("3.4", "127.107.14.1");
  const before = await pod.client.state();
  const proof = before.applied_plan_proof!;
  assert.match(proof, /^[0-9a-f]{64}$/);
  assert.equal([before.running_plan_proof, before.worker_ops_plan_proof, before.lkg_plan_proof], [proof, proof, proof]);
  const send = (set: ReturnType<typeof setOf>, extra: object) => {
    const { manifest, parts } = deltaShipment(controller.set, set, {
      planId: "next",
      prev: controller.planId,
      token: { leader_epoch: 1, render_seq: 50 },
      extra,
    });
    return pod.client.apply(manifest, parts);
  };
  hosts["two.example"] = "one";
  const next = setOf(files());
  const other = sha256(Buffer.from("another set"));
  assert.is(conflictOf(await send(next, { expected_prev_plan_proof: other })).reason, "prev_mismatch");
  assert.is(
    conflictOf(await send(next, { ops: [entry("two.example")], expected_worker_ops_plan_proof: other })).reason,
    "worker_ops_mismatch",
  );
  const conflict = conflictOf(await send(next, { plan_proof: other }));
  assert.equal([conflict.reason, conflict.applied_plan_proof], ["unknown_baseline", proof]);
  const full = fullShipment(next, {
    planId: "next",
    prev: controller.planId,
    token: { leader_epoch: 1, render_seq: 51 },
    mode: "reload",
    extra: { plan_proof: other },
  });
  const reason = await pod.client.apply(full.manifest, full.parts).then(() => "nothing", String);
  assert.match(reason, "not what its files amount to");
  assert.equal((await pod.client.state()).applied_plan_proof, proof, "nothing has changed so far");
  const result = await controller.change(files(), [entry("two.example")], { expected_prev_plan_proof: proof });
  assert.is(result.mode, "runtime");
  const { applied_plan_proof: grown, lkg_plan_proof: good, running_plan_proof: running } = result;
  assert.is.not(grown, proof);
  assert.equal([running, good], [grown, proof]);
  // The blob is stored for the plan that is meant, and promotion likewise.
  const blob = Buffer.from("blob");
  assert.is((await pod.client.putPlan(controller.planId, blob, undefined, other)).kind, "moved");
  assert.is((await pod.client.putPlan(controller.planId, blob, undefined, grown)).kind, "stored");
  const promote = { validated_plan_id: controller.planId, ops: [] };
  await controller.change(files(), [], { ...promote, plan_id: controller.planId, validated_plan_proof: other });
  assert.is((await pod.client.state()).lkg_plan_proof, proof);
  // After a restart the same.
  await pod.agent().close();
  await pod.startAgent();
  const after = await pod.client.state();
  assert.equal([after.applied_plan_proof, after.worker_ops_plan_proof, after.lkg_plan_proof], [grown, grown, proof]);
});

check34(
  "while a reload waits, the worker's proof stays that of what it runs, and operations in place need it",
  async () => {
    const { pod, controller, files } = await start("3.4", "127.107.15.1", 60_000);
    const running = (await pod.client.state()).running_plan_proof!;
    const weight = (value: number): Op => ({ kind: "server_set_weight", backend: "one", server: "s1", weight: value });
    const seen = async (): Promise<string | undefined> =>
      (await pod.runtime("show servers state one"))
        .split("\n")
        .map((line) => line.split(" "))
        .find((words) => words[3] === "s1")?.[7];
    const { planId } = controller;
    const first = await controller.change(files("backend two\n    balance roundrobin\n"), [], {
      mode: "reload",
      in_place_ops: [weight(7)],
      expected_worker_ops_plan_id: planId,
      worker_ops_plan_id: "in place 1",
      worker_ops_plan_proof: sha256(Buffer.from("in place 1")),
    });
    assert.equal([first.mode, first.running_plan_proof], ["scheduled", running]);
    assert.equal(
      [first.worker_ops_plan_id, first.worker_ops_plan_proof],
      ["in place 1", sha256(Buffer.from("in place 1"))],
    );
    assert.is(await seen(), "7");
    const second = await controller.change(files("backend three\n    balance roundrobin\n"), [], {
      mode: "reload",
      in_place_ops: [weight(9)],
      expected_worker_ops_plan_id: planId,
      worker_ops_plan_id: "in place 2",
    });
    assert.equal([second.mode, second.worker_ops_plan_id], ["scheduled", "in place 1"]);
    assert.is(await seen(), "7", "they were made for another worker than this");
  },
);

check34("what HAProxy does not hold although it took the operations is found, and a reload heals it", async () => {
  const { pod, controller, hosts, files } = await start("3.4", "127.107.16.1");
  // Of two entries of one key HAProxy answers with the first: adding the right one succeeds and changes nothing.
  await pod.runtime("add map maps/host.map two.example nobody");
  hosts["two.example"] = "one";
  const worker = (await pod.client.state()).haproxy!.worker_pid;
  const result = await controller.change(files(), [entry("two.example")]);
  assert.is(result.mode, "runtime");
  await until("the worker is another one", async () => {
    const { haproxy } = await pod.client.state();
    return haproxy !== null && haproxy.worker_pid !== worker;
  });
  await until("the reload is through", async () => {
    const { worker_ops_plan_id: ops, applied_plan_id: applied } = await pod.client.state();
    return ops === applied;
  });
  assert.match(await pod.runtime("get map maps/host.map two.example"), 'value="one"');
  // Log, state and the next answer name the entry; its values are nobody's affair.
  const reason = "the worker was read back: map maps/host.map: two.example has another value";
  const { own_reload: own } = await pod.client.state();
  assert.equal([own?.reason, own?.ok, own?.plan_id], [reason, true, controller.planId]);
  hosts["three.example"] = "one";
  const next = await controller.change(files(), [entry("three.example")]);
  assert.equal([next.mode, next.own_reload], ["runtime", own]);
  hosts["four.example"] = "one";
  assert.is((await controller.change(files(), [entry("four.example")])).own_reload, undefined, "once is enough");
  const log = readFileSync(join(root, "contract-127.107.16.1.log"), "utf8");
  assert.match(log, '"difference":"map maps/host.map: two.example has another value"');
  assert.not.match(log, "nobody");
});

check34("while a reload that nobody asked for is owed, the state and a set that waits for it say why", async () => {
  const { pod, controller, hosts, files } = await start("3.4", "127.107.18.1", 60_000);
  await pod.runtime("add map maps/host.map two.example nobody");
  hosts["two.example"] = "one";
  assert.is((await controller.change(files(), [entry("two.example")])).mode, "runtime");
  await until("it was read back", async () => (await pod.client.state()).reload_owed !== undefined);
  const reason = "the worker was read back: map maps/host.map: two.example has another value";
  assert.is((await pod.client.state()).reload_owed, reason);
  const next = await controller.change(files("# another text\n"), []);
  assert.equal([next.mode, next.reload_owed], ["scheduled", reason]);
});

check34("what a worker took is not asked of the one that was loaded after it", async () => {
  const { pod, controller, hosts, files } = await start("3.4", "127.107.17.1");
  hosts["two.example"] = "one";
  assert.is((await controller.change(files(), [entry("two.example")])).mode, "runtime");
  delete hosts["two.example"];
  const { reload } = await controller.load(files());
  hosts["three.example"] = "one";
  const result = await controller.change(files(), [entry("three.example")]);
  assert.is(result.mode, "runtime");
  // By then it was read back.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { haproxy, worker_ops_plan_id: ops, applied_plan_id: applied } = await pod.client.state();
  assert.is(haproxy?.worker_pid, reload?.worker_pid, "no further reload");
  assert.is(ops, applied);
});

test.run();
