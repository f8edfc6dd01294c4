import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseFieldSelector, metadataFields } from "../../../../../src/devcluster/api/selectors/fields.ts";
import { parseLabelSelector } from "../../../../../src/devcluster/api/selectors/labels.ts";

const test = suite("selectors");

const matches = (selector: string, labels?: Record<string, string>): boolean =>
  parseLabelSelector(selector)?.(labels) ?? true;

test("every operator of a label selector selects what it says", () => {
  const labels = { app: "shop", tier: "web", size: "5" };
  for (const selector of [
    "app=shop",
    "app==shop",
    "app in (a, shop)",
    "app notin (a)",
    "app",
    "!none",
    "none!=x",
    "size>4",
  ]) {
    assert.ok(matches(selector, labels), selector);
  }
  for (const selector of [
    "app=x",
    "app in (a)",
    "app notin (shop)",
    "none",
    "!app",
    "app!=shop",
    "size<4",
    "app=shop,tier=x",
  ]) {
    assert.not.ok(matches(selector, labels), selector);
  }
});

test("an object without labels fits only what asks for absence", () => {
  assert.not.ok(matches("a=b"));
  assert.ok(matches("!a"));
  assert.ok(matches("a notin (b)"));
});

test("an empty label selector selects everything", () => {
  assert.is(parseLabelSelector(" "), undefined);
});

test("a malformed label selector is refused with its position", () => {
  assert.throws(() => parseLabelSelector("a=b=c"), /found '=', expected: ',' or 'end of string'/);
  assert.throws(() => parseLabelSelector("a in"), /expected: '\('/);
  assert.throws(() => parseLabelSelector("=b"), /expected: !, identifier/);
});

test("a field selector tells the name it demands and refuses unknown fields", () => {
  const refuse = (field: string): string => `no ${field}`;
  const selector = parseFieldSelector("metadata.name=a,metadata.namespace!=x", metadataFields, refuse);
  assert.is(selector?.name, "a");
  const object = { apiVersion: "v1", kind: "X", metadata: { name: "a", namespace: "y" } };
  assert.ok(selector?.matches(object));
  assert.throws(() => parseFieldSelector("spec.x=1", metadataFields, refuse), /no spec.x/);
});

test.run();
