import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ApiObject } from "../../../../../src/devcluster/api/objects.ts";
import { ResourceStore } from "../../../../../src/devcluster/api/storage/resource-store.ts";

const test = suite("resource store");

function newStore(history: number): ResourceStore {
  let revision = 0;
  return new ResourceStore({ next: () => ++revision, current: () => revision }, history);
}

const object = (name: string, value: number): ApiObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "a" },
  data: { value: String(value) },
});

const shown = (store: ResourceStore): readonly string[] =>
  store.records().map((record) => `${record.key}@${record.revision}`);

test("lists stay in the order of keys and any remembered revision can be read again", () => {
  const operation = fc.record({ name: fc.constantFrom("a", "b", "b.c", "b-c", "d"), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
      const store = newStore(1000);
      const seen = new Map<number, readonly string[]>([[0, []]]);
      for (const [i, { name, remove }] of operations.entries()) {
        if (remove) store.remove(`a/${name}`);
        else store.put(`a/${name}`, object(name, i));
        seen.set(store.revision, shown(store));
      }
      const keys = store.records().map((record) => record.key);
      assert.equal(keys, keys.toSorted());
      for (const [revision, expected] of seen) {
        const back = store.history.rollBack(store.records(), revision) ?? [];
        assert.equal(
          back.map((record) => `${record.key}@${record.revision}`),
          expected,
        );
      }
    }),
  );
});

test("a list that was handed out does not change with later writes", () => {
  const store = newStore(10);
  store.put("a/x", object("x", 1));
  const before = store.records();
  store.put("a/x", object("x", 2));
  store.put("a/y", object("y", 1));
  assert.equal(
    before.map((record) => record.revision),
    [1],
  );
  assert.is(store.records().length, 2);
});

test("a revision that is forgotten is refused and those behind it are complete", () => {
  const store = newStore(3);
  for (let i = 0; i < 10; i++) store.put("a/x", object("x", i));
  assert.is(store.history.since(6), undefined);
  assert.equal(
    store.history.since(7)?.map((change) => change.revision),
    [8, 9, 10],
  );
});

test("a deletion is told with its own revision and the last state", () => {
  const store = newStore(10);
  const told: string[] = [];
  store.put("a/x", object("x", 1));
  store.listen((change) => told.push(`${change.deleted} ${change.after.object.metadata.resourceVersion}`));
  store.remove("a/x");
  assert.equal(told, ["true 2"]);
  assert.is(store.remove("a/x"), undefined);
});

test.run();
