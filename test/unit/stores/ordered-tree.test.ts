import { test } from "uvu";
import * as assert from "uvu/assert";
import { OrderedTree } from "../../../src/stores/ordered-tree.ts";

const COUNT = 12_000;
const key = (i: number): string => String(i).padStart(6, "0");

test("A tree of three levels stays whole while its nodes split, empty and merge in every direction", () => {
  // Forwards, backwards and from the middle outwards: each empties other nodes first.
  const orders: ((i: number) => number)[] = [
    (i) => i,
    (i) => COUNT - 1 - i,
    (i) => (i % 2 === 0 ? COUNT / 2 + i / 2 : COUNT / 2 - (i + 1) / 2),
    (i) => (i * 7919) % COUNT,
  ];
  for (const order of orders) {
    const tree = new OrderedTree<number>();
    const held = new Set<number>();
    for (let i = 0; i < COUNT; i++) {
      tree.set(key(order(i)), order(i));
      held.add(order(i));
    }
    const full = tree.version();
    for (let i = 0; i < COUNT; i++) {
      // Every 50th stays until the end, and some come back.
      if (i % 50 !== 0) {
        assert.ok(tree.delete(key(order(i))));
        held.delete(order(i));
      }
      if (i % 500 === 499) {
        for (let k = i - 60; k < i; k++) {
          tree.set(key(order(k)), order(k));
          held.add(order(k));
        }
        const version = tree.version();
        assert.equal(
          version.values(),
          [...held].toSorted((a, b) => a - b),
        );
        for (const n of held) assert.is(version.get(key(n)), n);
        assert.is(version.size, held.size);
      }
    }
    assert.not(tree.delete("absent"));
    for (const n of held) assert.ok(tree.delete(key(n)));
    assert.equal(tree.version().values(), []);
    assert.is(full.size, COUNT);
    assert.is(full.get(key(77)), 77);
    assert.equal(
      full.withPrefix("0001"),
      Array.from({ length: 100 }, (_, i) => 100 + i),
    );
    assert.is(full.values().length, COUNT);
  }
});

test.run();
