import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ChunkedTree, sha256, treeDifferences } from "../../../src/plan/index.ts";

const digestOf = (value: number): string => sha256(String(value));
const key = fc.integer({ min: 0, max: 400 }).map((i) => `ns/name-${i}`);
const step = fc.array(fc.tuple(key, fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined })), {
  minLength: 1,
  maxLength: 60,
});

test("a tree's chunks and digest depend on its content, not on the order of changes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let tree = ChunkedTree.empty(digestOf);
      const model = new Map<string, number>();
      for (const changes of steps) {
        tree = tree.update(new Map(changes));
        for (const [name, value] of new Map(changes)) {
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        const fresh = ChunkedTree.from(model, digestOf);
        assert.is(tree.digest, fresh.digest);
        assert.equal(
          tree.chunks.map((chunk) => chunk.digest),
          fresh.chunks.map((chunk) => chunk.digest),
        );
        assert.is(tree.size, model.size);
      }
      const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
      assert.equal([...tree.entries()], sorted);
      for (const [name, value] of model) assert.is(tree.get(name), value);
      assert.is(tree.get("absent"), undefined);
    }),
  );
});

test("without a key that began a chunk, a tree is the one that never had it", () => {
  const names = Array.from({ length: 2_000 }, (_, i) => `ns/name-${i}`);
  const tree = ChunkedTree.from(
    names.map((name, i) => [name, i] as const),
    digestOf,
  );
  const borders = tree.chunks.map((chunk) => chunk.keys[0]!);
  assert.ok(borders.length > 20, `${borders.length} chunks`);
  const gone: string[] = [];
  for (const border of borders) {
    gone.push(border);
    for (const removed of [[border], [...gone], [border, names[7]!]]) {
      const changes = new Map(removed.map((name) => [name, undefined]));
      const fresh = ChunkedTree.from(
        names.map((name, i) => [name, i] as const).filter(([name]) => !changes.has(name)),
        digestOf,
      );
      const less = tree.update(changes);
      assert.is(less.digest, fresh.digest, removed.join(" "));
      assert.is(less.size, fresh.size);
      assert.equal([...less.entries()], [...fresh.entries()]);
      assert.is(less.update(new Map(removed.map((name) => [name, names.indexOf(name)]))).digest, tree.digest);
    }
  }
});

test("an update that changes nothing gives the same tree, one key gives all other chunks back", () => {
  const tree = ChunkedTree.from(
    Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i] as const),
    digestOf,
  );
  assert.is(
    tree.update(
      new Map([
        ["k5", 5],
        ["absent", undefined],
      ]),
    ),
    tree,
  );
  const next = tree.update(new Map([["k5", 6]]));
  assert.is.not(next.digest, tree.digest);
  assert.is(next.chunks.filter((chunk) => !tree.chunks.includes(chunk)).length, 1);
  assert.ok(tree.chunks.length > 150 && tree.chunks.length < 400, `${tree.chunks.length} chunks`);
});

test("equal entries under other borders of key text have other digests", () => {
  const a = ChunkedTree.from(
    [
      ["ab", 1],
      ["c", 1],
    ],
    digestOf,
  );
  const b = ChunkedTree.from(
    [
      ["a", 1],
      ["bc", 1],
    ],
    digestOf,
  );
  assert.is.not(a.digest, b.digest);
});

test("differences name exactly the keys that differ", () => {
  const content = fc.dictionary(key, fc.integer({ min: 0, max: 3 }), { maxKeys: 200 });
  fc.assert(
    fc.property(content, step, (entries, changes) => {
      const before = ChunkedTree.from(Object.entries(entries), digestOf);
      const after = before.update(new Map(changes));
      const found = new Map(
        [...treeDifferences(before, after, digestOf)].map((difference) => [difference.key, difference]),
      );
      for (const name of new Set([...Object.keys(entries), ...changes.map(([changed]) => changed)])) {
        const differs = before.get(name) !== after.get(name);
        assert.is(found.has(name), differs);
        if (differs) assert.equal(found.get(name), { key: name, before: before.get(name), after: after.get(name) });
      }
    }),
  );
});

test.run();
