import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { emptySet, fromFieldsV1, toFieldsV1 } from "../../../../../src/devcluster/api/apply/field-set.ts";
import type { ManagerId, Managers } from "../../../../../src/devcluster/api/apply/managers.ts";
import { ApplyConflict, applyConfiguration, updateManagers } from "../../../../../src/devcluster/api/apply/updater.ts";
import { customResourceType } from "../../../../../src/devcluster/api/schema/structural.ts";
import type { StructuralSchema } from "../../../../../src/devcluster/api/schema/structural.ts";

const test = suite("server-side apply");

const schema: StructuralSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        color: { type: "string" },
        plain: { type: "array", items: { type: "string" } },
        tags: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
              name: { type: "string" },
            },
          },
        },
      },
    },
  },
};
const type = customResourceType(schema, "Widget");
const none: Managers = new Map();

const manager = (name: string, operation: "Apply" | "Update" = "Apply"): ManagerId => ({
  manager: name,
  operation,
  apiVersion: "demo.io/v1",
  subresource: "",
});

const write = (name: string, managers: Managers, operation: "Apply" | "Update" = "Apply") => ({
  type,
  managers,
  writer: manager(name, operation),
  time: "2026-01-01T00:00:00Z",
  reset: emptySet,
});

const apply = (live: unknown, spec: object, name: string, managers: Managers, force = false) =>
  applyConfiguration(live, { spec }, write(name, managers), force);

const setOf = (managers: Managers, name: string): unknown => {
  const found = [...managers.values()].find((m) => m.manager === name);
  return found === undefined ? undefined : toFieldsV1(found.set);
};

test("an apply owns what it names, keyed lists item by item with defaulted keys", () => {
  const { managers } = apply({}, { color: "red", plain: ["x"], tags: ["a"], ports: [{ port: 80 }] }, "one", none);
  assert.equal(setOf(managers, "one"), {
    "f:spec": {
      "f:color": {},
      "f:plain": {},
      "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
      "f:tags": { 'v:"a"': {} },
    },
  });
});

test("equal values are shared, different ones are a conflict that force decides", () => {
  const one = apply({}, { color: "red" }, "one", none);
  const two = apply(one.object, { color: "red" }, "two", one.managers);
  assert.is(two.managers.size, 2);
  assert.throws(
    () => apply(two.object, { color: "green" }, "three", two.managers),
    (error: unknown) =>
      error instanceof ApplyConflict && error.conflicts.length === 2 && error.conflicts[0]?.field === ".spec.color",
  );
  const forced = apply(two.object, { color: "green" }, "three", two.managers, true);
  assert.equal(forced.object, { spec: { color: "green" } });
  assert.equal(
    [...forced.managers.values()].map((m) => m.manager),
    ["three"],
  );
});

test("what a manager gives up goes unless somebody else owns it", () => {
  const one = apply({}, { color: "red", tags: ["a", "b"], ports: [{ port: 80 }, { port: 81 }] }, "one", none);
  const two = apply(one.object, { tags: ["b"], ports: [{ port: 81, name: "x" }] }, "two", one.managers);
  const less = apply(two.object, { tags: [], ports: [{ port: 80 }] }, "one", two.managers);
  assert.equal(less.object, { spec: { tags: ["b"], ports: [{ port: 80 }, { port: 81, name: "x" }] } });
});

test("an update takes the fields that it changes from their owner", () => {
  const one = apply({}, { color: "red", tags: ["a"] }, "one", none);
  const changed = { spec: { color: "blue", tags: ["a"] } };
  const managers = updateManagers(one.object, changed, write("editor", one.managers, "Update"));
  assert.equal(setOf(managers, "one"), { "f:spec": { "f:tags": { 'v:"a"': {} } } });
  assert.equal(setOf(managers, "editor"), { "f:spec": { "f:color": {} } });
});

test("applying the same again changes nothing, whatever it is", () => {
  const port = fc.record(
    {
      port: fc.integer({ min: 1, max: 4 }),
      protocol: fc.constantFrom("TCP", "UDP"),
      name: fc.string(),
    },
    { noNullPrototype: true },
  );
  const spec = fc.record(
    {
      color: fc.string(),
      plain: fc.array(fc.string(), { maxLength: 3 }),
      tags: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")),
      ports: fc.uniqueArray(port, { selector: (p) => `${p.port}/${p.protocol}`, maxLength: 4 }),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const one = apply({}, first, "one", none);
      const two = apply(one.object, second, "two", one.managers, true);
      const again = apply(two.object, second, "two", two.managers);
      assert.equal(again.object, two.object);
      assert.equal(setOf(again.managers, "one"), setOf(two.managers, "one"));
      assert.equal(setOf(again.managers, "two"), setOf(two.managers, "two"));
    }),
  );
});

test("fieldsV1 is read as it was written", () => {
  const text = { "f:spec": { ".": {}, "f:a": {}, 'k:{"port":80}': { ".": {}, "f:port": {} } } };
  assert.equal(toFieldsV1(fromFieldsV1(text)), text);
});

test.run();
