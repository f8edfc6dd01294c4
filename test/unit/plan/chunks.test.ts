import { createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Block, blockOf, cutBlocks, joinBlocks, rootDigest, splices, totalSize } from "../../../src/plan/index.ts";

const lines = (count: number, seed = 0): string =>
  Array.from({ length: count }, (_, i) => `host${(i * 7919 + seed) % 100_003}.example.com backend_${i}\n`).join("");

test("blocks concatenated give the text, byte for byte", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 400 }), (parts) => {
      const text = parts.join("\n");
      assert.is(joinBlocks(cutBlocks(text)).toString("utf8"), Buffer.from(text).toString("utf8"));
    }),
    { numRuns: 60 },
  );
});

test("every block but the last ends at a line end and is not small", () => {
  const blocks = cutBlocks(lines(20_000));
  assert.ok(blocks.length > 20);
  for (const block of blocks.slice(0, -1)) {
    assert.is(block.bytes[block.size - 1], 10);
    assert.ok(block.size >= 8192 && block.size <= 65_536 + 100);
  }
});

test("a block does not keep the whole text alive", () => {
  for (const block of cutBlocks(lines(20_000)).slice(1, 3)) assert.ok(block.bytes.buffer.byteLength < 100_000);
});

test("a line inserted in a long text changes at most a few blocks", () => {
  const text = lines(20_000);
  const at = text.indexOf("\n", text.length / 2) + 1;
  const before = cutBlocks(text);
  const after = cutBlocks(`${text.slice(0, at)}new.example.com backend_x\n${text.slice(at)}`);
  const known = new Set(before.map((block) => block.digest));
  assert.ok(after.filter((block) => !known.has(block.digest)).length <= 4);
});

test("a file's digest is the SHA-256 over raw block digests and big-endian sizes", () => {
  const blocks = [blockOf(Buffer.from("a\n")), blockOf(Buffer.from("bc\n"))];
  const expected = createHash("sha256");
  for (const block of blocks) {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(block.size);
    expected.update(createHash("sha256").update(block.bytes).digest()).update(size);
  }
  assert.is(rootDigest(blocks), expected.digest("hex"));
});

test("applying splices to the old blocks gives the new blocks", () => {
  const pool = Array.from({ length: 12 }, (_, i) => blockOf(Buffer.from(`block ${i}\n`)));
  const list = fc
    .array(fc.integer({ min: 0, max: 11 }), { maxLength: 14 })
    .map((indexes) => indexes.map((i) => pool[i] as Block));
  fc.assert(
    fc.property(list, list, (before, after) => {
      const result: Block[] = [];
      let at = 0;
      for (const splice of splices(before, after)) {
        assert.ok(splice.index >= at && splice.index + splice.remove <= before.length);
        result.push(...before.slice(at, splice.index), ...splice.insert);
        at = splice.index + splice.remove;
      }
      result.push(...before.slice(at));
      assert.equal(
        result.map((block) => block.digest),
        after.map((block) => block.digest),
      );
    }),
  );
});

test("a list that was made from another one has the digest and the size that it has by itself", () => {
  const pool = Array.from({ length: 60 }, (_, i) => blockOf(Buffer.from(`block ${i}\n`.repeat(i + 1))));
  const list = fc
    .array(fc.integer({ min: 0, max: 59 }), { minLength: 15, maxLength: 40 })
    .map((indexes) => indexes.map((i) => pool[i] as Block));
  const edit = fc.record({ at: fc.nat(40), remove: fc.nat(6), insert: fc.array(fc.nat(59), { maxLength: 6 }) });
  fc.assert(
    fc.property(list, fc.array(edit, { maxLength: 5 }), (first, edits) => {
      let before = first;
      rootDigest(before);
      for (const { at, remove, insert } of edits) {
        const after = before.toSpliced(at, remove, ...insert.map((i) => pool[i] as Block));
        assert.is(rootDigest(after, before), rootDigest([...after]));
        assert.is(totalSize(after), totalSize([...after]));
        before = after;
      }
    }),
  );
});

test("splices of equal lists are none", () => {
  const blocks = cutBlocks(lines(5000));
  assert.equal(splices(blocks, cutBlocks(lines(5000))), []);
});

test.run();
