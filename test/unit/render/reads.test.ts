import { test } from "uvu";
import * as assert from "uvu/assert";
import { ReadIndex, type Unit } from "../../../src/render/reads.ts";
import type { StoreChange } from "../../../src/stores/types.ts";

const unit = (): Unit => ({ reads: [] });

function affected(index: ReadIndex, change: Partial<StoreChange>): Unit[] {
  const found: Unit[] = [];
  index.affected({ alias: "services", id: "a/b", before: undefined, after: undefined, ...change }, (each) =>
    found.push(each),
  );
  return found;
}

function run(index: ReadIndex, target: Unit, work: () => void): Unit {
  index.begin();
  work();
  index.commit(target);
  return target;
}

test("a reader is found by the exact key, by each prefix and by the list, before and after a change", () => {
  const index = new ReadIndex();
  const exact = run(index, unit(), () => index.keys("services", ["a", "b"]));
  const prefix = run(index, unit(), () => index.keys("services", ["a"]));
  const list = run(index, unit(), () => index.list("services"));
  run(index, unit(), () => index.keys("secrets", ["a", "b"]));
  assert.equal(new Set(affected(index, { after: ["a", "b"] })), new Set([list, prefix, exact]));
  assert.equal(new Set(affected(index, { before: ["a", "c"] })), new Set([list, prefix]));
  assert.equal(affected(index, { before: ["x"] }), [list]);
});

test("a read that found nothing is a read too", () => {
  const index = new ReadIndex();
  const reader = run(index, unit(), () => index.keys("services", ["a", "absent"]));
  assert.equal(affected(index, { after: ["a", "absent"] }), [reader]);
});

test("a new run replaces what the one before read", () => {
  const index = new ReadIndex();
  const reader = run(index, unit(), () => index.keys("services", ["a", "b"]));
  run(index, reader, () => index.keys("services", ["a", "c"]));
  assert.equal(affected(index, { after: ["a", "b"] }), []);
  assert.equal(affected(index, { after: ["a", "c"] }), [reader]);
  index.release(reader);
  assert.equal(affected(index, { after: ["a", "c"] }), []);
});

test("many readers of one key are all found, and each alone can leave", () => {
  const index = new ReadIndex();
  const readers = Array.from({ length: 5 }, () => run(index, unit(), () => index.keys("services", ["a", "b"])));
  index.release(readers[1] as Unit);
  index.release(readers[3] as Unit);
  assert.equal(new Set(affected(index, { after: ["a", "b"] })), new Set([readers[0], readers[2], readers[4]]));
});

test("a run that is given up changes nothing", () => {
  const index = new ReadIndex();
  const reader = run(index, unit(), () => index.keys("services", ["a", "b"]));
  index.begin();
  index.keys("services", ["x", "y"]);
  index.abandon();
  assert.equal(affected(index, { after: ["x", "y"] }), []);
  assert.equal(affected(index, { after: ["a", "b"] }), [reader]);
});

test.run();
