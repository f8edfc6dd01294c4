import { suite } from "uvu";
import * as assert from "uvu/assert";
import { validateCustomResource } from "../../../../../src/devcluster/api/schema/custom-resource.ts";
import { applyDefaults, prune } from "../../../../../src/devcluster/api/schema/structural.ts";
import type { StructuralSchema } from "../../../../../src/devcluster/api/schema/structural.ts";
import { schemaFaults } from "../../../../../src/devcluster/api/schema/structural-faults.ts";

const test = suite("custom resource schemas");

const object = (spec: unknown) => ({ apiVersion: "demo.io/v1", kind: "Widget", metadata: { name: "w" }, spec });

const within = (spec: StructuralSchema): StructuralSchema => ({ type: "object", properties: { spec } });

const texts = (schema: StructuralSchema, value: unknown, old?: unknown): readonly string[] =>
  validateCustomResource(object(value), old === undefined ? undefined : object(old), within(schema)).map(
    (error) => `${error.field}: ${error.message}`,
  );

test("unknown fields are pruned and told, declared and free ones stay", () => {
  const schema = within({
    type: "object",
    properties: { a: { type: "string" }, free: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  const unknown: string[] = [];
  const pruned = prune(object({ a: "1", b: 2, free: { any: 1 } }), schema, "", unknown, true);
  assert.equal(pruned, object({ a: "1", free: { any: 1 } }));
  assert.equal(unknown, ["spec.b"]);
});

test("defaults fill what is absent or null, not inside of what is absent", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {
      n: { type: "integer", default: 1 },
      inner: { type: "object", properties: { x: { type: "string", default: "y" } } },
      made: { type: "object", default: {}, properties: { x: { type: "string", default: "z" } } },
    },
  };
  const value = { n: null };
  applyDefaults(value, schema);
  assert.equal(value, { n: 1, made: { x: "z" } });
});

test("a wrong type, a limit and a missing field are told in the API server's words", () => {
  const schema: StructuralSchema = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", maxLength: 3 },
      n: { type: "integer", minimum: 0 },
      kind: { type: "string", enum: ["a", "b"] },
      list: { type: "array", maxItems: 1, items: { type: "string" } },
      set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      re: { type: "string", pattern: "^x" },
    },
  };
  assert.equal(texts(schema, { name: "abcd", n: "1", kind: "c", list: ["a", "b"], set: ["a", "a"], re: "y" }), [
    "spec.name: Too long: may not be more than 3 bytes",
    'spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"',
    'spec.kind: Unsupported value: "c": supported values: "a", "b"',
    "spec.list: Too many: 2: must have at most 1 item",
    'spec.set[1]: Duplicate value: "a"',
    `spec.re: Invalid value: "y": spec.re in body should match '^x'`,
  ]);
  assert.equal(texts(schema, { n: -1 }), [
    "spec.n: Invalid value: -1: spec.n in body should be greater than or equal to 0",
    "spec.name: Required value",
  ]);
});

test("a rule computes with integers and is skipped when the schema found worse", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: { min: { type: "integer" }, max: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "self.min + 1 <= self.max", message: "min must be below max" }],
  };
  assert.equal(texts(schema, { min: 1, max: 2 }), []);
  assert.equal(texts(schema, { min: 2, max: 2 }), ["spec: Invalid value: min must be below max"]);
  assert.is(texts(schema, { min: "x", max: 2 }).length, 2);
});

test("a rule on the old value holds on updates only", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: {
      fixed: {
        type: "string",
        "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }],
      },
    },
  };
  assert.equal(texts(schema, { fixed: "a" }), []);
  assert.equal(texts(schema, { fixed: "b" }, { fixed: "a" }), ['spec.fixed: Invalid value: "b": fixed is immutable']);
});

test("an old value that a tightened schema refuses stays allowed while it is unchanged", () => {
  const schema: StructuralSchema = {
    type: "object",
    properties: { a: { type: "string", maxLength: 1 }, b: { type: "string" } },
  };
  assert.equal(texts(schema, { a: "long", b: "new" }, { a: "long", b: "old" }), []);
  assert.is(texts(schema, { a: "longer" }, { a: "long" }).length, 1);
});

test("a schema that is not structural is refused with the place", () => {
  const faults = (schema: object): readonly string[] =>
    schemaFaults({ type: "object", properties: { x: schema } }, "s").map((e) => `${e.field}: ${e.message}`);
  assert.equal(faults({}), ["s.properties[x].type: Required value: must not be empty for specified object fields"]);
  assert.equal(faults({ type: "array" }), ["s.properties[x].items: Required value: must be specified"]);
  assert.match(faults({ type: "string", pattern: "(?=a)" })[0] ?? "", /must be a valid regular expression/);
  assert.match(faults({ type: "object", properties: {}, default: { a: 1 } })[0] ?? "", /must not have unknown fields/);
  assert.match(
    faults({ type: "string", "x-kubernetes-validations": [{ rule: "self +" }] })[0] ?? "",
    /compilation failed/,
  );
});

test("rules judge maps whose keys are names of JavaScript's own", () => {
  const schema: StructuralSchema = {
    type: "object",
    "x-kubernetes-validations": [
      { rule: "size(self.m) <= 3 && self.m.all(k, self.m[k].n > 0)", message: "n must be positive" },
    ],
    properties: {
      m: {
        type: "object",
        additionalProperties: { type: "object", properties: { n: { type: "integer" } } },
      },
    },
  };
  const spec = (n: number): unknown =>
    JSON.parse(`{"m":{"__proto__":{"n":1},"constructor":{"n":${n}},"toString":{"n":3}}}`);
  assert.equal(texts(schema, spec(2)), []);
  assert.match(texts(schema, spec(0))[0] ?? "", "n must be positive");
});

test.run();
