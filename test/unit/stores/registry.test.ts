import { test } from "uvu";
import * as assert from "uvu/assert";
import { SharedRegistry, storeKey, streamKey } from "../../../src/stores/index.ts";

test("A shared thing is opened once and closed by the last holder, who may let go twice", () => {
  const registry = new SharedRegistry<{ n: number }>();
  const log: string[] = [];
  const acquire = (): ReturnType<typeof registry.acquire> =>
    registry.acquire(
      "k",
      () => (log.push("open"), { n: log.length }),
      () => log.push("close"),
    );
  const a = acquire();
  const b = acquire();
  assert.is(a.value, b.value);
  a.release();
  a.release();
  assert.equal(log, ["open"]);
  b.release();
  assert.equal(log, ["open", "close"]);
  assert.is(registry.size, 0);
  acquire();
  assert.equal(log, ["open", "close", "open"]);
});

test("What asks the API server for other objects reads another stream", () => {
  const base = { apiVersion: "v1", resource: "pods" };
  assert.is(streamKey(base), streamKey({ ...base, namespace: "", labelSelector: "" }));
  for (const other of [
    { ...base, apiVersion: "v2" },
    { ...base, resource: "services" },
    { ...base, namespace: "n" },
    { ...base, labelSelector: "a=b" },
  ]) {
    assert.is.not(streamKey(base), streamKey(other));
  }
});

test("Stores of one stream differ in index, trimming or field selector; the order of trimming does not matter", () => {
  const base = { indexBy: ["a", "b"], ignoreFields: ["x", "y"], fieldSelector: "" };
  assert.is(storeKey(base), storeKey({ ...base, ignoreFields: ["y", "x", "x"] }));
  for (const other of [
    { ...base, fieldSelector: "a=b" },
    { ...base, indexBy: ["b", "a"] },
    { ...base, ignoreFields: ["x"] },
  ]) {
    assert.is.not(storeKey(base), storeKey(other));
  }
});

test.run();
