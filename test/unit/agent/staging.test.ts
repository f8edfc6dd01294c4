import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Manifest, ManifestFile } from "../../../src/agent/api.ts";
import { emptyModel, replay, takeEntry, type HeldFile, type Model } from "../../../src/agent/model.ts";
import { decodeRecords, encodeRecord, type EntryRecord } from "../../../src/agent/journal.ts";
import { stage, type Part } from "../../../src/agent/staging.ts";
import { AgentRequestError } from "../../../src/errors.ts";
import { blockOf, rootDigest, splices, totalSize } from "../../../src/plan/index.ts";
import type { Block } from "../../../src/plan/types.ts";

const blocksOf = (texts: readonly string[]): Block[] => texts.map((text) => blockOf(Buffer.from(`${text}\n`)));

function held(texts: readonly string[]): HeldFile {
  const blocks = blocksOf(texts);
  return {
    path: "haproxy.cfg",
    kind: "config",
    reload_on_change: false,
    digest: rootDigest(blocks),
    size: totalSize(blocks),
    blocks,
  };
}

function patchTo(from: readonly string[], to: readonly string[]): { file: ManifestFile; part: Part } {
  const [before, after] = [blocksOf(from), blocksOf(to)];
  const found = splices(before, after);
  const bytes = Buffer.concat(found.flatMap((splice) => splice.insert.map((block) => block.bytes)));
  const file: ManifestFile = {
    path: "haproxy.cfg",
    kind: "config",
    reload_on_change: false,
    digest: rootDigest(after),
    size: totalSize(after),
    patch: {
      base_digest: rootDigest(before),
      splices: found.map(({ index, remove, insert }) => ({
        index,
        remove,
        insert: insert.map(({ digest, size }) => ({ digest, size })),
      })),
    },
  };
  return { file, part: { size: bytes.length, bytes } };
}

const manifestOf = (changed: ManifestFile[], removed: string[] = []): Manifest =>
  ({ changed, removed, ops: [], in_place_ops: [] }) as unknown as Manifest;

const textOf = (file: HeldFile | null | undefined): string =>
  Buffer.concat((file?.blocks ?? []).map((block) => block.bytes!)).toString();

const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 12 });

test("a patch gives the wanted file, and so does its journal entry after a restart", async () => {
  await fc.assert(
    fc.asyncProperty(lines, lines, async (from, to) => {
      const before = held(from);
      const { file, part } = patchTo(from, to);
      if (file.digest === before.digest) return;
      const outcome = await stage(
        new Map([["haproxy.cfg", before]]),
        manifestOf([file]),
        new Map([["haproxy.cfg", part]]),
      );
      assert.ok(outcome.ok);
      if (!outcome.ok) return;
      const wanted = to.map((text) => `${text}\n`).join("");
      assert.is(textOf(outcome.set.changes.get("haproxy.cfg")), wanted);
      const entry: EntryRecord = {
        type: "entry",
        seq: 1,
        plan_id: "p2",
        prev_plan_id: "p1",
        token: { leader_epoch: 2, render_seq: 5 },
        worker: null,
        worker_ops_plan_id: "p2",
        ops: [],
        scheduled: false,
        staged: false,
        files: outcome.set.journal,
        removed: outcome.set.removed,
      };
      const live: Model = { ...emptyModel(), files: new Map([["haproxy.cfg", before]]) };
      takeEntry(live, entry, outcome.set.changes, null);
      const restarted: Model = { ...emptyModel(), files: new Map([["haproxy.cfg", before]]) };
      const { records } = decodeRecords(encodeRecord(entry, outcome.set.blocks));
      assert.ok(replay(restarted, records[0]!, null));
      assert.is(textOf(restarted.files.get("haproxy.cfg")), wanted);
      assert.equal({ ...restarted, files: 0 }, { ...live, files: 0 });
    }),
  );
});

test("a patch onto another base asks for the content instead of guessing", async () => {
  const { file, part } = patchTo(["a", "b"], ["a", "c"]);
  const outcome = await stage(
    new Map([["haproxy.cfg", held(["x"])]]),
    manifestOf([file]),
    new Map([["haproxy.cfg", part]]),
  );
  assert.equal(outcome, { ok: false, missing: ["haproxy.cfg"] });
});

test("a wrong block, a wrong root, a short and a long part are refused", async () => {
  const files = new Map([["haproxy.cfg", held(["a", "b"])]]);
  const { file, part } = patchTo(["a", "b"], ["a", "c"]);
  assert.ok("bytes" in part);
  const bytes = "bytes" in part ? part.bytes : Buffer.alloc(0);
  const cases: [ManifestFile, Buffer][] = [
    [file, Buffer.from("x\n")],
    [file, bytes.subarray(0, 1)],
    [file, Buffer.concat([bytes, bytes])],
    [{ ...file, digest: "0".repeat(64) }, bytes],
    [{ ...file, size: file.size + 1 }, bytes],
  ];
  for (const [wanted, content] of cases) {
    const parts = new Map<string, Part>([["haproxy.cfg", { size: content.length, bytes: content }]]);
    await stage(files, manifestOf([wanted]), parts).then(
      () => assert.unreachable("it was taken"),
      (error: unknown) => assert.instance(error, AgentRequestError),
    );
  }
});

test("a full list removes what it does not name; a difference removes only what it says", async () => {
  const files = new Map([
    ["haproxy.cfg", held(["a"])],
    ["maps/x.map", { ...held(["m"]), path: "maps/x.map" }],
  ]);
  const { digest, size } = held(["a"]);
  const same: ManifestFile = { path: "haproxy.cfg", kind: "config", reload_on_change: false, digest, size };
  const full = await stage(files, { files: [same], ops: [], in_place_ops: [] } as unknown as Manifest, new Map());
  assert.equal(full.ok && full.set.removed, ["maps/x.map"]);
  const delta = await stage(files, manifestOf([], ["gone already"]), new Map());
  assert.equal(delta.ok && [...delta.set.changes.keys()], []);
});

test("a journal entry that does not fit the files makes them untrusted", () => {
  const entry = {
    type: "entry",
    seq: 1,
    plan_id: "p",
    prev_plan_id: "",
    token: { leader_epoch: 1, render_seq: 1 },
    worker: null,
    worker_ops_plan_id: "p",
    ops: [],
    scheduled: false,
    staged: false,
    removed: [],
    files: [
      { path: "haproxy.cfg", kind: "config", reload_on_change: false, digest: "d", prev: "another", splices: [] },
    ],
  } as EntryRecord;
  assert.is(
    replay({ ...emptyModel(), files: new Map([["haproxy.cfg", held(["a"])]]) }, { record: entry, blocks: [] }, null),
    false,
  );
});

test("a difference that makes a held file a folder, or the reverse, is refused, for no set could be written", async () => {
  const text = Buffer.from("x\n");
  const block = blockOf(text);
  const plain = (path: string): ManifestFile => ({
    path,
    kind: "general",
    reload_on_change: false,
    digest: rootDigest([block]),
    size: block.size,
  });
  const parts = (path: string) => new Map<string, Part>([[path, { size: text.length, bytes: text }]]);
  for (const [before, added] of [
    ["haproxy.cfg", "haproxy.cfg/x"],
    ["general/a", "general"],
  ] as const) {
    const files = new Map([[before, { ...held(["one"]), path: before }]]);
    await stage(files, { changed: [plain(added)] } as unknown as Manifest, parts(added)).then(
      () => assert.unreachable(`${added} beside ${before}`),
      (error: Error) => {
        assert.instance(error, AgentRequestError);
        assert.match(error.message, "is a file and a folder at once");
      },
    );
    const moved = { changed: [plain(added)], removed: [before] } as unknown as Manifest;
    assert.ok((await stage(files, moved, parts(added))).ok, "the held one goes");
  }
});

test.run();
