// runner: beside
import { test } from "uvu";
import * as assert from "uvu/assert";
import { testHaproxy } from "../../support/parts.ts";
import {
  configText,
  deltaShipment,
  fullShipment,
  get,
  makeIdentities,
  removeScratch,
  scratch,
  setOf,
  startPod,
  startServers,
  type Pod,
} from "./harness.ts";

const root = scratch("apply");
const identities = await makeIdentities(root);
const upstream = "127.91.0.1";
const servers = await startServers(upstream, [9001, 9002, 9003]);
const pods: Pod[] = [];

test.after(async () => {
  for (const pod of pods) await pod.close();
  await servers.close();
  removeScratch(root);
});

function filesOf(
  backends: Record<string, Record<string, number>>,
  hosts: Record<string, string>,
): Record<string, string> {
  return {
    "haproxy.cfg": configText({ backends, upstream }),
    "maps/host.map": Object.entries(hosts)
      .map(([host, backend]) => `${host} ${backend}\n`)
      .join(""),
  };
}

for (const [i, version] of (["3.4", "3.2", "3.0"] as const).entries()) {
  test(`HAProxy ${version} starts from nothing, takes the full set by a reload, then a server without one`, async () => {
    const pod = await startPod({
      binary: testHaproxy(version)!,
      address: `127.91.1.${i + 1}`,
      identities,
      name: `first-${version}`,
    });
    pods.push(pod);
    const before = await pod.client.state();
    assert.is(before.applied_plan_id, "");
    assert.is(before.haproxy?.version, version);

    const first = setOf(filesOf({ one: { s1: 9001 } }, { "one.example": "one" }));
    const token = { leader_epoch: 1, render_seq: 1 };
    const full = await pod.client.apply(
      ...args(fullShipment(first, { planId: "p1", prev: "", token, mode: "reload" })),
    );
    assert.is(full.kind, "result");
    if (full.kind !== "result") return;
    assert.ok(full.result.ok, full.result.error?.message ?? "");
    assert.is(full.result.mode, "reload");
    assert.is(full.result.lkg_plan_id, "p1");
    assert.equal(await get(pod.address, "one.example"), { status: 200, body: "9001" });

    const second = setOf(filesOf({ one: { s1: 9001, s2: 9002 } }, { "one.example": "one" }));
    const ops = [
      { kind: "server_add" as const, backend: "one", server: "s2", address: upstream, port: 9002 },
      { kind: "server_enable" as const, backend: "one", server: "s2" },
    ];
    const next = await pod.client.apply(
      ...args(
        deltaShipment(first, second, { planId: "p2", prev: "p1", token: { leader_epoch: 1, render_seq: 2 }, ops }),
      ),
    );
    assert.is(next.kind, "result");
    if (next.kind !== "result") return;
    assert.is(next.result.mode, "runtime", JSON.stringify(next.result));
    assert.equal(
      next.result.op_results.map((op) => op.ok),
      [true, true],
    );
    assert.is(next.result.haproxy?.worker_pid, full.result.haproxy?.worker_pid);
    const bodies = new Set<string>();
    for (let turn = 0; turn < 4; turn++) bodies.add((await get(pod.address, "one.example")).body);
    assert.equal([...bodies].toSorted(), ["9001", "9002"]);
    const state = await pod.client.state({ verify: true });
    assert.is(state.applied_plan_id, "p2");
    assert.is(state.invariant_violation, undefined);
  });
}

function args(shipment: ReturnType<typeof fullShipment>): [typeof shipment.manifest, typeof shipment.parts] {
  return [shipment.manifest, shipment.parts];
}

test.run();
