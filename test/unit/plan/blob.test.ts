import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  assemblePlan,
  cutBlocks,
  decodePlan,
  diffPlans,
  emptyTrees,
  encodePlan,
  planBackend,
  planFile,
  planProfile,
  type RenderPlan,
} from "../../../src/plan/index.ts";

const pause = async (): Promise<void> => {};

function plan(count: number, address = "10.0.0.1"): RenderPlan {
  const trees = emptyTrees();
  const backends = Array.from({ length: count }, (_, i) => {
    const record = {
      name: `b${i}`,
      profile: "p",
      shape: "dynamic" as const,
      servers: [{ name: "s", address: i === 3 ? address : "10.0.0.1", port: 80 }],
    };
    return [
      record.name,
      planBackend(record, `backend b${i} from p\n    server s ${record.servers[0]?.address}:80\n`),
    ] as const;
  });
  const files = [
    planFile("haproxy.cfg", "config", cutBlocks(`SECRETLY ${address}\n`)),
    planFile("ssl/a.pem", "cert", cutBlocks("PRIVATE KEY\n")),
    planFile("maps/m", "map", cutBlocks(Array.from({ length: count }, (_, i) => `h${i} b${i}\n`).join(""))),
  ];
  return assemblePlan({
    structure: trees.structure.update(new Map([["global\t0", "d"]])),
    backends: trees.backends.update(new Map(backends)),
    profiles: trees.profiles.update(new Map([["p", planProfile("p", "defaults p\n")]])),
    files: trees.files.update(new Map(files.map((file) => [file.path, file]))),
    maps: trees.maps.update(new Map([["maps/m", { ordered: false, fileDigest: "x" }]])),
  });
}

test("a plan read back has the same id and the same differences", async () => {
  const before = plan(2000);
  const blob = (await encodePlan(before, pause)) as Buffer;
  const back = await decodePlan(blob, pause);
  assert.is(back.id, before.id);
  const options = { haproxyVersion: "3.4.7", agentOps: new Set(["server_set_addr" as const]) };
  assert.equal(diffPlans(plan(2000, "10.0.0.9"), back, options), diffPlans(plan(2000, "10.0.0.9"), before, options));
  assert.is(diffPlans(plan(2000, "10.0.0.9"), back, options).ops.length, 1);
});

test("a blob holds no content of certificates", async () => {
  const back = await decodePlan((await encodePlan(plan(3), pause)) as Buffer, pause);
  assert.is(back.files.get("ssl/a.pem")?.blocks[0]?.bytes.length, 0);
  assert.is(back.files.get("maps/m")?.blocks[0]?.bytes.length, back.files.get("maps/m")?.size);
});

test("bytes that are cut, changed or something else are refused", async () => {
  const blob = (await encodePlan(plan(50), pause)) as Buffer;
  const refused = async (bytes: Uint8Array): Promise<void> => {
    try {
      await decodePlan(bytes, pause);
    } catch (error) {
      assert.is((error as { code: string }).code, "HAPTIC_E_PLAN_BLOB");
      return;
    }
    assert.unreachable("it was accepted");
  };
  await refused(Buffer.from("nothing of the kind"));
  await refused(blob.subarray(0, blob.length - 3));
  const other = Buffer.from(blob);
  other[10] = (other[10] as number) ^ 1;
  await refused(other);
});

test("who made a backend, and that a crt-list has no default certificate, are read back; the former is no part of the identity", async () => {
  const trees = emptyTrees();
  const backend = planBackend({ name: "a", servers: [], shape: "dynamic" }, "backend a\n");
  const of = (origin: string): RenderPlan =>
    assemblePlan({
      ...trees,
      backends: trees.backends.update(new Map([["a", { ...backend, origin }]])),
      files: trees.files.update(
        new Map([["l", { ...planFile("l", "crtlist", cutBlocks("a.pem a\n")), defaultFirst: false }]]),
      ),
    });
  const made = of("Route ns/a");
  assert.is(of("Route ns/b").id, made.id);
  const read = await decodePlan((await encodePlan(made, pause)) as Buffer, pause);
  assert.is(read.backends.get("a")?.origin, "Route ns/a");
  assert.is(read.files.get("l")?.defaultFirst, false);
});

test.run();
