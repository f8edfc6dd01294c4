import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rootDigest } from "../../../src/agent/blocks.ts";
import { bootstrapModel } from "../../../src/agent/bootstrap.ts";
import { Holding } from "../../../src/agent/holding.ts";
import type { EntryRecord } from "../../../src/agent/journal.ts";
import type { HeldFile } from "../../../src/agent/model.ts";
import { blockOf } from "../../../src/plan/chunks.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-holding-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

let bases = 0;
function holdingAt(base: string): Holding {
  return new Holding({
    baseDir: base,
    config: "haproxy.cfg",
    masterSocket: join(base, "master.sock"),
    workerSocket: join(base, "worker.sock"),
    now: () => 1,
  });
}
const textFile = (path: string, text: string): HeldFile => {
  const block = blockOf(Buffer.from(text));
  return { path, kind: "map", reload_on_change: false, digest: rootDigest([block]), size: block.size, blocks: [block] };
};

/** A tree with a good set `p1` (a.map, b.map), promoted, and then `p2` with another b.map. */
async function twoSets(): Promise<string> {
  bases += 1;
  const base = join(dir, `base-${bases}`);
  mkdirSync(base);
  const holding = holdingAt(base);
  await holding.recover();
  const model = bootstrapModel({ config: "haproxy.cfg", workerSocket: "w", listenSocket: "l" });
  for (const [planId, text] of [
    ["p1", "first\n"],
    ["p2", "second\n"],
  ] as const) {
    model.files.set("maps/a.map", textFile("maps/a.map", "a\n"));
    model.files.set("maps/b.map", textFile("maps/b.map", text));
    await holding.replace({ ...model, files: new Map(model.files), planId });
    if (planId === "p1") holding.tree.promote();
  }
  holding.close();
  return base;
}

/** Writes over a file's own bytes: the inode stays, as a broken disk or a careless hand leaves it. */
const spoil = (base: string): void => writeFileSync(join(base, "current", "maps", "b.map"), "spoilt\n");

test("a file that was changed or lost beside the agent makes the plan unknown, and its content is asked for anew", async () => {
  for (const harm of [spoil, (base: string) => rmSync(join(base, "current", "maps", "b.map"))]) {
    const base = await twoSets();
    harm(base);
    const holding = holdingAt(base);
    assert.equal(await holding.recover(), { intact: false });
    assert.is(holding.model.planId, "");
    assert.equal([...holding.model.files.keys()].toSorted(), ["haproxy.cfg", "maps/a.map"]);
    // The controller sends it again: what lies there now is not taken for it, although the digest is the same.
    holding.model.files.set("maps/b.map", textFile("maps/b.map", "second\n"));
    holding.model.planId = "p2";
    holding.model.seq += 1;
    await holding.fold();
    assert.is(readFileSync(join(base, "current", "maps", "b.map"), "utf8"), "second\n");
    assert.ok(await holding.tree.verify());
    holding.close();
  }
});

test("who asks for a fold before the files were read, or while they are, changes none of them", async () => {
  const base = await twoSets();
  const before = readlinkSync(join(base, "current"));
  const holding = holdingAt(base);
  const asked = holding.fold();
  const recovering = holding.recover();
  await Promise.all([asked, holding.fold()]);
  assert.equal(await holding.checkFiles(), []);
  assert.equal(await recovering, { intact: true });
  assert.is(holding.model.planId, "p2");
  assert.is(readlinkSync(join(base, "current")), before);
  assert.is(readFileSync(join(base, "current", "maps", "b.map"), "utf8"), "second\n");
  holding.close();
});

test("what HAProxy reads stays while it reads, though a fold comes meanwhile", async () => {
  const base = await twoSets();
  const holding = holdingAt(base);
  await holding.recover();
  const read = realpathSync(join(base, "current"));
  const foldMore = async (): Promise<void> => {
    holding.model.seq += 1;
    await holding.fold();
    // Folders that are not needed any more go beside.
    await sleep(50);
  };
  holding.model.former = null;
  await holding.tree.whileRead(async () => {
    await foldMore();
    await foldMore();
    assert.is(readFileSync(join(read, "maps", "b.map"), "utf8"), "second\n");
  });
  assert.is.not(realpathSync(join(base, "current")), read);
  holding.close();
});

test("the same is noticed by a running agent, which settles it before the next apply", async () => {
  const base = await twoSets();
  const holding = holdingAt(base);
  await holding.recover();
  assert.equal(await holding.checkFiles(), []);
  rmSync(join(base, "current", "maps", "b.map"));
  // A fold finds the file gone.
  holding.model.seq += 1;
  await holding.fold().then(
    () => assert.unreachable("there is nothing to link"),
    (error: Error) => assert.match(error.message, /ENOENT/),
  );
  assert.is(holding.suspect, true);
  await holding.settleSuspicion();
  assert.is(holding.suspect, false);
  assert.is(holding.model.planId, "");
  assert.not(holding.model.files.has("maps/b.map"));
  holding.close();
});

test("where the set in force is gone the last good one takes its place, of an unknown plan", async () => {
  const base = await twoSets();
  const inForce = readlinkSync(join(base, "current"));
  rmSync(join(base, inForce), { recursive: true });
  const holding = holdingAt(base);
  assert.equal(await holding.recover(), { intact: false });
  assert.is(holding.model.planId, "");
  assert.is(readFileSync(join(base, "current", "maps", "b.map"), "utf8"), "first\n");
  holding.close();
});

test("an old copy of the tree is known by its folders: what the worker runs by now is not what it says", async () => {
  const base = await twoSets();
  const copy = `${base}-copy`;
  cpSync(base, copy, { recursive: true, verbatimSymlinks: true });
  rmSync(base, { recursive: true });
  renameSync(copy, base);
  const holding = holdingAt(base);
  assert.equal(await holding.recover(), { intact: false });
  assert.is(holding.model.planId, "");
  assert.equal([...holding.model.files.keys()].toSorted(), ["haproxy.cfg", "maps/a.map", "maps/b.map"]);
  holding.close();
});

test("what was remembered of an entry for the next worker is forgotten once it is in the files", async () => {
  const holding = holdingAt(dir);
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
  assert.is(holding.journalLingers, false, "what is under way has to be in the journal");
  holding.append({ type: "done", seq: holding.number(), entry: entry.seq, worker });
  holding.take(entry, new Map());
  assert.equal(holding.doneBy(entry.seq), worker);
  assert.is(holding.unfolded.length, 1);
  const journal = readFileSync(holding.tree.journalPath);
  await holding.fold();
  assert.is(holding.doneBy(entry.seq), undefined);
  assert.is(holding.unfolded.length, 0);
  assert.is(holding.journalLingers, false);
  holding.close();
  // A kill between the fold and the cut of the journal.
  writeFileSync(holding.tree.journalPath, journal);
  const next = holdingAt(dir);
  assert.equal(await next.recover(), { intact: true });
  assert.is(next.model.planId, "p1");
  assert.is(next.journalLingers, false);
  assert.is(next.number(), entry.seq + 2, "numbers are not given twice");
  next.close();
});

test("a file's content can be read at any moment of a fold", async () => {
  for (let round = 0; round < 20; round++) {
    bases += 1;
    const base = join(dir, `base-${bases}`);
    mkdirSync(base);
    const holding = holdingAt(base);
    await holding.recover();
    const path = "maps/a.map";
    const ofBlocks = (blocks: HeldFile["blocks"]): HeldFile => ({
      ...textFile(path, ""),
      digest: rootDigest(blocks),
      size: blocks.reduce((sum, block) => sum + block.size, 0),
      blocks,
    });
    const [one, two, three] = ["one\n", "two\n", "three\n"].map((text) => blockOf(Buffer.from(text)));
    const model = bootstrapModel({ config: "haproxy.cfg", workerSocket: "w", listenSocket: "l" });
    model.files.set(path, ofBlocks([one!]));
    await holding.replace({ ...model, planId: "p1" });
    holding.model.files.set(path, ofBlocks([one!, two!]));
    holding.model.seq += 1;
    // The next set, whose operations are under way while the former one is folded.
    const next = ofBlocks([one!, two!, three!]);
    let isFolded = false;
    const folding = holding.fold().then(() => {
      isFolded = true;
    });
    const reads: Promise<Buffer>[] = [];
    while (!isFolded) {
      reads.push(holding.tree.content(next));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await folding;
    assert.ok(reads.length > 1);
    for (const content of await Promise.all(reads)) assert.is(content.toString(), "one\ntwo\nthree\n");
    holding.close();
  }
});

test.run();
