/** A file system without room: writes that are cut short, and what they leave. */
import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bootstrapModel, ensureSet } from "../../../src/agent/bootstrap.ts";
import { Holding } from "../../../src/agent/holding.ts";
import { Journal, type JournalRecord } from "../../../src/agent/journal.ts";
import { foldForStart } from "../../../src/agent/start-files.ts";
import { Tree } from "../../../src/agent/tree.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-full-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

const noSpace = (): Error => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
const token = (seq: number): JournalRecord => ({ type: "token", seq, token: { leader_epoch: 1, render_seq: seq } });

/** Lets `written` bytes of the next synchronous write through, then fails as a full disk does. */
function cutNextWrite(written: number): void {
  const { writeSync } = fs;
  let calls = 0;
  fs.writeSync = ((fd: number, bytes: Buffer, at: number) => {
    calls += 1;
    if (calls === 1) return writeSync(fd, bytes, at, written);
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
    throw noSpace();
  }) as typeof fs.writeSync;
  syncBuiltinESMExports();
}

async function withFileHandleWrite<T>(
  replacement: (original: (bytes: Uint8Array, at?: number, length?: number) => Promise<unknown>) => unknown,
  body: () => Promise<T>,
): Promise<T> {
  const probe = await open(join(dir, "probe"), "w");
  const prototype = Object.getPrototypeOf(probe) as { write: unknown };
  await probe.close();
  const original = prototype.write as (bytes: Uint8Array, at?: number, length?: number) => Promise<unknown>;
  prototype.write = replacement(original);
  try {
    return await body();
  } finally {
    prototype.write = original;
  }
}

const bootstrap = (base: string) => ({
  config: "haproxy.cfg",
  workerSocket: join(base, "worker.sock"),
  listenSocket: join(base, "listen.sock"),
});

test("A record that the disk had no room for does not hide the records after it", () => {
  const path = join(dir, "journal");
  const { journal } = Journal.open(path);
  journal.append(token(1));
  cutNextWrite(7);
  assert.throws(() => journal.append(token(2)), /ENOSPC/);
  journal.append(token(3));
  journal.close();
  assert.equal(
    Journal.open(path).records.map(({ record }) => record.seq),
    [1, 3],
  );
});

test("A journal opens where there is no room to write it anew", () => {
  const path = join(dir, "opened");
  const first = Journal.open(path).journal;
  first.append(token(1));
  first.close();
  const { writeSync } = fs;
  fs.writeSync = () => {
    throw noSpace();
  };
  syncBuiltinESMExports();
  const { records } = Journal.open(path);
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
  assert.equal(
    records.map(({ record }) => record.seq),
    [1],
  );
});

test("A write that the file system cuts short is carried on, so that no file of a set is truncated", async () => {
  const base = join(dir, "short");
  const tree = new Tree({ baseDir: base, now: () => 0 });
  await withFileHandleWrite(
    (original) =>
      function (this: unknown, bytes: Uint8Array, at = 0, length = bytes.length - at) {
        return original.call(this, bytes, at, Math.max(1, length >> 1));
      },
    () => ensureSet(tree, bootstrap(base)),
  );
  assert.ok(await tree.verify(), "the folded set is what its digests say");
});

test("A fold that finds no room leaves nothing of its set behind, and the set in force as it was", async () => {
  const base = join(dir, "left");
  const tree = new Tree({ baseDir: base, now: () => 0 });
  const model = await ensureSet(tree, bootstrap(base));
  const changed = bootstrapModel({ ...bootstrap(base), listenSocket: join(base, "other.sock") });
  for (let attempt = 0; attempt < 3; attempt++) {
    await withFileHandleWrite(
      () => () => Promise.reject(noSpace()),
      async () => {
        await tree.fold({ ...changed, seq: 1 }).then(
          () => assert.unreachable("the fold cannot succeed"),
          (error: Error) => assert.match(error.message, /ENOSPC/),
        );
      },
    );
  }
  assert.is(readdirSync(join(base, ".haptic", "sets")).length, 1);
  assert.match(readFileSync(join(base, "current", "haproxy.cfg"), "utf8"), /listen\.sock/);
  assert.is(model.files.size, tree.folded?.files.size);
});

test("HAProxy starts from the set in force where there is no room to fold the journal", async () => {
  const base = join(dir, "start");
  const options = {
    baseDir: base,
    config: "haproxy.cfg",
    masterSocket: join(base, "master.sock"),
    workerSocket: join(base, "worker.sock"),
    now: () => 0,
  };
  mkdirSync(base);
  const holding = new Holding(options);
  holding.fold = () => Promise.reject(noSpace());
  await foldForStart(holding).then(
    () => assert.unreachable("without any set there is nothing to start from"),
    (error: Error) => assert.match(error.message, /ENOSPC/),
  );
  await holding.recover();
  await foldForStart(holding);
  holding.close();
});

test.run();
