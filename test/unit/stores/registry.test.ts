import { test } from "uvu";
import * as assert from "uvu/assert";
import { SharedRegistry, watchKey } from "../../../src/stores/index.ts";

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

test("Watches that differ in resource, selectors, trimming or index have different keys; the order of trimming does not matter", () => {
  const base = { apiVersion: "v1", resource: "pods", indexBy: ["a", "b"], ignoreFields: ["x", "y"], fieldSelector: "" };
  assert.is(watchKey(base), watchKey({ ...base, ignoreFields: ["y", "x", "x"] }));
  for (const other of [
    { ...base, apiVersion: "v2" },
    { ...base, resource: "services" },
    { ...base, namespace: "n" },
    { ...base, labelSelector: "a=b" },
    { ...base, fieldSelector: "a=b" },
    { ...base, indexBy: ["b", "a"] },
    { ...base, ignoreFields: ["x"] },
  ]) {
    assert.is.not(watchKey(base), watchKey(other));
  }
});

test.run();
