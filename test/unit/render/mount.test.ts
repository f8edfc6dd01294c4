import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emptyMount, type MountBlocks, mountBlocks } from "../../../src/render/mount.ts";
import { Slices } from "../../../src/render/slices.ts";

const text = (blocks: MountBlocks): string =>
  blocks.blocks.map((block) => Buffer.from(block.bytes).toString("utf8")).join("");

const key = fc.nat(300).map((i) => `ns/name-${i}`);
/** Some lines, nothing, or a line without its end. */
const value = fc.oneof(
  fc.nat(5).map((n) => "host backend\n".repeat(n)),
  fc.constant("open"),
  fc.constant(undefined),
);
const step = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 80 });

test("blocks that were made from those of a former tree are those that the tree has by itself", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const slices = new Slices(
        { sliceMs: 1, now: () => 0, pause: () => Promise.resolve() },
        new AbortController().signal,
      );
      let tree = emptyMount();
      let blocks: MountBlocks | undefined;
      for (const changes of steps) {
        tree = tree.update(new Map(changes));
        blocks = await mountBlocks(tree, blocks, slices);
        const fresh = await mountBlocks(tree, undefined, slices);
        assert.is(text(blocks), [...tree.values()].join(""));
        assert.equal(blocks.starts, fresh.starts);
        assert.is(blocks.whole, fresh.whole);
        assert.equal(
          blocks.blocks.map((block) => block.digest),
          fresh.blocks.map((block) => block.digest),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test.run();
