import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Holding } from "../../../src/agent/holding.ts";
import type { EntryRecord } from "../../../src/agent/journal.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-holding-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

test("what was remembered of an entry for the next worker is forgotten once it is in the files", async () => {
  const holding = new Holding({
    baseDir: dir,
    config: "haproxy.cfg",
    masterSocket: join(dir, "master.sock"),
    workerSocket: join(dir, "worker.sock"),
    now: () => 1,
  });
  await holding.recover();
  const worker = { pid: 1, startMicros: 1 };
  const entry: EntryRecord = {
    type: "entry",
    seq: holding.number(),
    plan_id: "p1",
    prev_plan_id: "",
    token: { leader_epoch: 1, render_seq: 1 },
    worker,
    worker_ops_plan_id: "p1",
    ops: [],
    scheduled: false,
    staged: false,
    files: [],
    removed: [],
  };
  holding.begin(entry, new Map(), []);
  holding.append({ type: "done", seq: holding.number(), entry: entry.seq, worker });
  holding.take(entry, new Map());
  assert.equal(holding.doneBy(entry.seq), worker);
  assert.is(holding.unfolded.length, 1);
  await holding.fold();
  assert.is(holding.doneBy(entry.seq), undefined);
  assert.is(holding.unfolded.length, 0);
  holding.close();
});

test.run();
