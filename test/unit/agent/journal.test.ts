import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  decodeRecords,
  encodeRecord,
  Journal,
  type EntryRecord,
  type JournalRecord,
} from "../../../src/agent/journal.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-journal-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

function entry(seq: number, sizes: readonly number[] = []): EntryRecord {
  return {
    type: "entry",
    seq,
    plan_id: `p${seq}`,
    prev_plan_id: `p${seq - 1}`,
    token: { leader_epoch: 1, render_seq: seq },
    worker: null,
    worker_ops_plan_id: `p${seq}`,
    ops: [],
    scheduled: false,
    staged: false,
    removed: [],
    files:
      sizes.length === 0
        ? []
        : [
            {
              path: "haproxy.cfg",
              kind: "config",
              reload_on_change: false,
              digest: "d",
              prev: "",
              splices: [{ index: 0, remove: 0, insert: sizes.map((size) => ["x", size] as const) }],
            },
          ],
  };
}

const bytesOf = (sizes: readonly number[]): Buffer[] => sizes.map((size, i) => Buffer.alloc(size, i + 1));

test("records come back as they were written, with the bytes of their blocks", () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5 }), { maxLength: 6 }), (entries) => {
      const written = entries.map((sizes, i) => ({ record: entry(i + 1, sizes), blocks: bytesOf(sizes) }));
      const bytes = Buffer.concat(written.map(({ record, blocks }) => encodeRecord(record, blocks)));
      const { records, end } = decodeRecords(bytes);
      assert.is(end, bytes.length);
      assert.equal(
        records.map(({ record }) => record),
        written.map(({ record }) => record),
      );
      assert.equal(
        records.map(({ blocks }) => blocks.map((block) => Buffer.from(block).toString("hex"))),
        written.map(({ blocks }) => blocks.map((block) => block.toString("hex"))),
      );
    }),
  );
});

test("cut anywhere, the whole records before the cut are read and the torn one is not", () => {
  const parts = [entry(1, [10]), entry(2, [3, 4]), entry(3)].map((record, i) =>
    encodeRecord(record, bytesOf([[10], [3, 4], []][i]!)),
  );
  const all = Buffer.concat(parts);
  let whole = 0;
  for (let cut = 0; cut <= all.length; cut++) {
    if (cut === parts.slice(0, whole + 1).reduce((sum, part) => sum + part.length, 0)) whole += 1;
    assert.is(decodeRecords(all.subarray(0, cut)).records.length, Math.min(whole, 3), `cut at ${cut}`);
  }
});

test("a flipped bit ends the reading before the record that holds it", () => {
  const bytes = Buffer.concat([encodeRecord(entry(1)), encodeRecord(entry(2, [20]), bytesOf([20]))]);
  const first = encodeRecord(entry(1)).length;
  for (let at = first + 4; at < bytes.length; at += 7) {
    const bad = Buffer.from(bytes);
    bad[at] = bad[at]! ^ 0x10;
    assert.is(decodeRecords(bad).records.length, 1, `byte ${at}`);
  }
});

test("opening drops a torn tail from the file, and a cut drops what a fold holds", () => {
  const path = join(dir, "journal");
  const { journal } = Journal.open(path);
  const done: JournalRecord = { type: "done", seq: 3, entry: 2, worker: { pid: 7, startMicros: 8 } };
  journal.append(entry(1));
  journal.append(entry(2, [5]), bytesOf([5]));
  journal.append(done);
  journal.close();
  truncateSync(path, readFileSync(path).length - 3);
  const second = Journal.open(path);
  assert.equal(
    second.records.map(({ record }) => record.seq),
    [1, 2],
  );
  assert.is(decodeRecords(readFileSync(path)).end, readFileSync(path).length, "the torn bytes are gone");
  second.journal.append(done);
  second.journal.cut(1);
  second.journal.append(entry(4));
  second.journal.close();
  assert.equal(
    Journal.open(path).records.map(({ record }) => record.seq),
    [2, 3, 4],
  );
});

test("a journal of garbage is an empty journal", () => {
  const path = join(dir, "garbage");
  writeFileSync(path, "this is no journal at all, but some text");
  assert.equal(Journal.open(path).records, []);
});

test.run();
