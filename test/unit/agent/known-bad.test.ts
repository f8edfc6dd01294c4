import { test } from "uvu";
import * as assert from "uvu/assert";
import { KnownBad, tellRefusal } from "../../../src/agent/known-bad.ts";

test("a refusal is kept for a minute, by the bytes of its set", () => {
  const known = new KnownBad();
  known.remember("a", "[ALERT] no", 1_000);
  assert.is(known.find("a", 60_999)?.output, "[ALERT] no");
  assert.is(known.find("b", 1_000), undefined);
  assert.is(known.find("a", 61_000), undefined);
  assert.is(known.find("a", 1_000), undefined, "what is over is forgotten");
});

test("a set that is refused again is known from then on", () => {
  const known = new KnownBad();
  known.remember("a", "first", 0);
  known.remember("a", "second", 50_000);
  assert.equal(known.find("a", 100_000), { output: "second", at: 50_000, until: 110_000 });
});

test("the oldest refusal goes when there are too many", () => {
  const known = new KnownBad();
  for (let n = 0; n < 17; n++) known.remember(String(n), "no", n);
  assert.is(known.find("0", 20), undefined);
  for (let n = 1; n < 17; n++) assert.ok(known.find(String(n), 20), String(n));
});

test("a refusal says when it was, until when it counts, and HAProxy's words", () => {
  const told = tellRefusal({ output: "[ALERT] no", at: 0, until: 60_000 });
  assert.match(told, "refused this set at 1970-01-01T00:00:00.000Z");
  assert.match(told, "not asked again before 1970-01-01T00:01:00.000Z, unless something differs: [ALERT] no");
});

test.run();
