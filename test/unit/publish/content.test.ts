import { createHash, randomBytes } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { PublishError } from "../../../src/errors.ts";
import { blockOf, cutBlocks, planFile } from "../../../src/plan/index.ts";
import type { PlanFile } from "../../../src/plan/index.ts";
import {
  checksumOf,
  MAX_FILE_BYTES,
  MAX_SECRET_BYTES,
  MAX_STORED_BYTES,
  storedBytes,
  storedContent,
} from "../../../src/publish/content.ts";

const text = (content: string): PlanFile => planFile("haproxy.cfg", "config", cutBlocks(content));
const bytes = (content: Buffer): PlanFile => planFile("general/b", "general", [blockOf(content)]);
const lines = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `  server s${index} 10.0.${index % 250}.${index % 199}:80 weight 1\n`,
  ).join("");
const readBack = ({ content, compressed }: { content: string; compressed: boolean }): string =>
  compressed ? zstdDecompressSync(Buffer.from(content, "base64")).toString() : content;
const refused = async (work: Promise<unknown>): Promise<PublishError> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof PublishError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

test("the checksum is that of the bytes, whatever blocks they come in, with pauses on the way", async () => {
  const content = lines(40_000);
  let pauses = 0;
  const sum = await checksumOf(text(content), async () => void (pauses += 1));
  assert.is(sum, `sha256:${createHash("sha256").update(content).digest("hex")}`);
  assert.ok(pauses >= 2, `${pauses} pauses over ${content.length} bytes`);
});

test("a plan that was read back without contents has no checksum", async () => {
  const file = text("global\n");
  const hollow = { ...file, blocks: file.blocks.map((block) => ({ ...block, bytes: new Uint8Array(0) })) };
  assert.is((await refused(checksumOf(hollow, () => Promise.resolve()))).reason, "Outdated");
});

test("content up to the threshold stays text; above it is compressed and reads back the same", async () => {
  const content = lines(1_000);
  assert.equal(await storedContent(text(content), content.length), { content, compressed: false });
  const packed = await storedContent(text(content), content.length - 1);
  assert.is(packed.compressed, true);
  assert.ok(packed.content.length < content.length / 4);
  assert.is(readBack(packed), content);
});

test("what does not become smaller stays text, and what is no text is compressed all the same", async () => {
  assert.equal(await storedContent(text("a"), 0), { content: "a", compressed: false });
  const broken = Buffer.from([0x61, 0xff, 0xfe]);
  const stored = await storedContent(bytes(broken), 1_000);
  assert.is(stored.compressed, true);
  assert.equal(zstdDecompressSync(Buffer.from(stored.content, "base64")), broken);
});

test("a large configuration is compressed where the threshold would have it as text that no object holds", async () => {
  const content = lines(40_000);
  assert.ok(content.length > MAX_STORED_BYTES);
  const stored = await storedContent(text(content), 100 * MAX_STORED_BYTES);
  assert.is(stored.compressed, true);
  assert.is(readBack(stored), content);
});

test("text whose escapes would not fit is compressed", async () => {
  const content = '"\n'.repeat(MAX_STORED_BYTES / 2 - 10);
  const stored = await storedContent(text(content), 100 * MAX_STORED_BYTES);
  assert.is(stored.compressed, true);
});

test("a file that no object can hold is refused with its name, its sizes and what to do", async () => {
  const error = await refused(storedContent(bytes(randomBytes(MAX_STORED_BYTES + 10)), 1_000));
  assert.is(error.reason, "TooLarge");
  assert.match(error.message, /^general\/b has 1\.3 MB, compressed 1\.7 MB; one object holds 1\.3 MB$/);
  assert.match(error.hint ?? "", /split it/);
});

test("a file beyond 64 MiB is refused before any work is put into it", async () => {
  const file = { ...text("a"), size: MAX_FILE_BYTES + 1, blocks: [] };
  assert.match((await refused(storedContent(file, 1))).message, /at most 64 MiB/);
  assert.match((await refused(storedBytes(file, 1))).message, /at most 64 MiB/);
});

test("a Secret's bytes are kept as they are up to the threshold, and compressed above it without base64 of their own", async () => {
  const pem = Buffer.from(lines(100));
  assert.equal(await storedBytes(bytes(pem), pem.length), { bytes: pem, compressed: false });
  const packed = await storedBytes(bytes(pem), 10);
  assert.is(packed.compressed, true);
  assert.equal(zstdDecompressSync(packed.bytes), pem);
  assert.is((await refused(storedBytes(bytes(randomBytes(MAX_SECRET_BYTES + 1)), 10))).reason, "TooLarge");
  const noise = randomBytes(100);
  assert.equal(await storedBytes(bytes(noise), 10), { bytes: noise, compressed: false });
});

test.run();
