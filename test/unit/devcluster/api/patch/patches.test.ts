import { suite } from "uvu";
import * as assert from "uvu/assert";
import { jsonPatch } from "../../../../../src/devcluster/api/patch/json-patch.ts";
import { mergePatch } from "../../../../../src/devcluster/api/patch/merge-patch.ts";
import { strategicMerge } from "../../../../../src/devcluster/api/patch/strategic-merge.ts";
import { builtinType } from "../../../../../src/devcluster/api/schema/compact-types.ts";

const test = suite("patches");

test("a merge patch sets, replaces and deletes, and leaves the target alone", () => {
  const target = { a: { b: 1, c: 2 }, list: [1, 2] };
  assert.equal(mergePatch(target, { a: { b: null, d: 3 }, list: [3] }), { a: { c: 2, d: 3 }, list: [3] });
  assert.equal(target, { a: { b: 1, c: 2 }, list: [1, 2] });
});

test("a JSON patch works on lists and maps and keeps the target", () => {
  const target = { list: ["a", "b"], map: { "x/y": 1 } };
  const patched = jsonPatch(target, [
    { op: "add", path: "/list/1", value: "n" },
    { op: "add", path: "/list/-", value: "z" },
    { op: "remove", path: "/list/0" },
    { op: "replace", path: "/map/x~1y", value: 2 },
    { op: "copy", from: "/map", path: "/copied" },
    { op: "move", from: "/map/x~1y", path: "/moved" },
    { op: "test", path: "/moved", value: 2 },
  ]);
  assert.equal(patched, { list: ["n", "b", "z"], map: {}, copied: { "x/y": 2 }, moved: 2 });
  assert.equal(target, { list: ["a", "b"], map: { "x/y": 1 } });
});

test("a JSON patch whose test or path fails is refused as a whole", () => {
  for (const operation of [
    { op: "test", path: "/a", value: 2 },
    { op: "remove", path: "/none" },
    { op: "replace", path: "/list/5", value: 1 },
    { op: "frob", path: "/a" },
  ]) {
    assert.throws(() => jsonPatch({ a: 1, list: [] }, [operation]), /rejected our request/);
  }
});

const service = builtinType("Service");

test("a strategic merge patch merges service ports by number and puts patched ones first", () => {
  const target = {
    spec: {
      ports: [
        { port: 80, name: "http" },
        { port: 81, name: "b" },
      ],
    },
  };
  const patched = strategicMerge(
    target,
    {
      spec: {
        ports: [
          { port: 443, name: "https" },
          { port: 81, name: "c" },
        ],
      },
    },
    service,
  );
  const ports = (patched as { spec: { ports: { port: number; name: string }[] } }).spec.ports;
  // the new item first; the live one keeps its place before the item that followed it
  assert.equal(
    ports.map(({ port, name }) => `${port} ${name}`),
    ["443 https", "80 http", "81 c"],
  );
});

test("a strategic merge patch deletes, replaces and orders on demand", () => {
  const target = { spec: { ports: [{ port: 1 }, { port: 2 }, { port: 3 }], selector: { a: "b" } } };
  const run = (patch: unknown): unknown => strategicMerge(target, { spec: patch }, service);
  assert.equal(run({ ports: [{ port: 2, $patch: "delete" }] }), {
    spec: { ports: [{ port: 1 }, { port: 3 }], selector: { a: "b" } },
  });
  assert.equal(run({ selector: { c: "d", $patch: "replace" } }), {
    spec: { ports: target.spec.ports, selector: { c: "d" } },
  });
  assert.equal(run({ "$setElementOrder/ports": [{ port: 3 }, { port: 1 }, { port: 2 }] }), {
    spec: { ports: [{ port: 3 }, { port: 1 }, { port: 2 }], selector: { a: "b" } },
  });
  assert.throws(() => run({ ports: [{ name: "x" }] }), /map: map\[name:x\] does not contain declared merge key: port/);
});

test("a strategic merge patch removes from a list of texts", () => {
  const target = { metadata: { finalizers: ["a/b", "c/d"] } };
  const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/b"] } };
  assert.equal(strategicMerge(target, patch, service), { metadata: { finalizers: ["c/d"] } });
});

test.run();
