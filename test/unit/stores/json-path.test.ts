import { test } from "uvu";
import * as assert from "uvu/assert";
import { JsonPathError } from "../../../src/errors.ts";
import {
  allValues,
  firstValue,
  parseFieldSelector,
  parseJsonPath,
  trims,
  withoutPath,
} from "../../../src/stores/index.ts";

const object = {
  metadata: { namespace: "n", labels: { "kubernetes.io/service-name": "s", "a'b": "q" } },
  spec: { rules: [{ host: "one" }, { host: "two", tls: null }], replicas: 3, on: true, empty: [] },
};
const read = (path: string): unknown => firstValue(parseJsonPath(path), object);

test("Every documented form of an expression reads its value", () => {
  assert.is(read("metadata.namespace"), "n");
  assert.is(read("$.metadata.namespace"), "n");
  assert.is(read(".metadata.namespace"), "n");
  assert.is(read("metadata.labels.kubernetes\\.io/service-name"), "s");
  assert.is(read("metadata.labels['kubernetes.io/service-name']"), "s");
  assert.is(read('metadata["labels"]["kubernetes.io/service-name"]'), "s");
  assert.is(read("metadata.labels['a\\'b']"), "q");
  assert.is(read("spec.rules[1].host"), "two");
  assert.is(read("spec.rules[-1].host"), "two");
  assert.is(read("spec.rules[*].host"), "one");
  assert.is(read("metadata.labels.*"), "q");
});

test("What is not there reads as undefined, and prototypes are out of reach", () => {
  for (const path of [
    "a.b",
    "spec.rules[7].host",
    "spec.rules.host",
    "metadata[0]",
    "spec.replicas.x",
    "spec.rules[1].tls.x",
    "constructor",
  ]) {
    assert.is(read(path), undefined, path);
  }
  assert.is(firstValue(parseJsonPath("__proto__"), {}), undefined);
  assert.is(firstValue(parseJsonPath("a.b"), null), undefined);
});

test("A wrong expression is refused with its column", () => {
  const wrong: [string, number][] = [
    ["", 1],
    ["a..b", 3],
    ["a.", 3],
    ["a[", 3],
    ["a[x]", 3],
    ["a['b", 2],
    ["a[0", 4],
    ["{.a}", 1],
    ["a b", 2],
    ["a]", 2],
    ["a[0]b", 5],
    ["a\\", 3],
    ["a=b", 2],
    ["a[?(@.b)]", 3],
  ];
  for (const [text, column] of wrong) {
    try {
      parseJsonPath(text);
      assert.unreachable(text);
    } catch (error) {
      assert.instance(error, JsonPathError);
      assert.match((error as Error).message, `"${text}", column ${column}:`);
    }
  }
});

test("Trimming copies only the way to what goes, and gives the same object when nothing does", () => {
  const trimmed = withoutPath(object, parseJsonPath("metadata.labels"));
  assert.equal(trimmed, { metadata: { namespace: "n" }, spec: object.spec });
  assert.is(trimmed.spec, object.spec);
  assert.is(withoutPath(object, parseJsonPath("spec.rules[*].port")), object);
  assert.is(withoutPath(object, parseJsonPath("spec.empty[*]")), object);
  assert.equal(withoutPath(object, parseJsonPath("spec.rules[*].host")).spec.rules, [{}, { tls: null }]);
  assert.equal(withoutPath(object, parseJsonPath("spec.rules[0]")).spec.rules, [{ host: "two", tls: null }]);
  assert.equal(withoutPath(object, parseJsonPath("spec.rules[-1].tls")).spec.rules, [{ host: "one" }, { host: "two" }]);
  assert.equal(withoutPath(object, parseJsonPath("spec.rules[*]")).spec.rules, []);
  assert.equal(withoutPath(object, parseJsonPath("metadata.*")).metadata, {});
  assert.equal(Object.keys(withoutPath(object, parseJsonPath("spec.replicas")).spec), ["rules", "on", "empty"]);
});

test("A field selector compares any selected value as text", () => {
  const matches = (text: string): boolean => parseFieldSelector(text).matches(object);
  assert.ok(matches(""));
  assert.ok(matches("metadata.namespace=n"));
  assert.ok(matches("metadata.namespace==n"));
  assert.ok(matches("spec.replicas=3"));
  assert.ok(matches("spec.on=true"));
  assert.ok(matches("spec.rules[*].host=two"));
  assert.ok(matches("metadata.labels['kubernetes.io/service-name']=s"));
  assert.ok(matches("spec.absent="));
  assert.not(matches("spec.absent=x"));
  assert.not(matches("metadata.namespace=m"));
  assert.not(matches("metadata.namespace="));
  assert.throws(
    () => parseFieldSelector("metadata.namespace"),
    (error: Error) => error instanceof JsonPathError,
  );
});

test("All values come in document order", () => {
  assert.equal(allValues(parseJsonPath("spec.rules[*].host"), object), ["one", "two"]);
  assert.equal(allValues(parseJsonPath("spec.rules[5]"), object), []);
});

test("An ignored field that an index needs is recognised", () => {
  const pair = (a: string, b: string): boolean => trims(parseJsonPath(a), parseJsonPath(b));
  assert.ok(pair("metadata.labels", "metadata.labels.app"));
  assert.ok(pair("metadata.labels.app", "metadata.labels.app"));
  assert.ok(pair("spec.rules[*].host", "spec.rules[0].host"));
  assert.ok(pair("spec.rules[-1]", "spec.rules[0].host"));
  assert.not(pair("metadata.labels.app", "metadata.labels"));
  assert.not(pair("metadata.annotations", "metadata.labels.app"));
  assert.not(pair("spec.rules[1]", "spec.rules[0].host"));
});

test.run();
