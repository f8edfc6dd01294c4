import { test } from "uvu";
import * as assert from "uvu/assert";
import { storeKey, streamKey } from "../../../src/stores/index.ts";

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
