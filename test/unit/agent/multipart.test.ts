import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Manifest } from "../../../src/agent/api.ts";
import { encodeApply } from "../../../src/agent/client.ts";
import { AgentRequestError } from "../../../src/errors.ts";
import { readApplyBody, type ApplyBody } from "../../../src/agent/multipart.ts";
import type { Part } from "../../../src/agent/staging.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-multipart-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

const manifest = { plan_id: "p" } as Manifest;
const naming = (paths: Iterable<string>): Manifest =>
  ({ ...manifest, changed: [...paths].map((path) => ({ path })) }) as Manifest;
let staged = 0;

/** A request whose body comes in chunks cut at the given places; a small one whose length is declared is read whole. */
function read(
  body: Buffer,
  contentType: string,
  cuts: readonly number[] = [],
  onManifest: (given: Manifest) => void = () => {},
  declared = true,
): Promise<ApplyBody> {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.map((cut) => cut % (body.length + 1)).toSorted((a, b) => a - b), body.length]) {
    if (cut > from) chunks.push(body.subarray(from, cut));
    from = cut;
  }
  const stream = Readable.from(chunks, { objectMode: false });
  const length = declared ? { "content-length": String(body.length) } : {};
  const headers = { "content-type": contentType, ...length };
  const request = Object.assign(stream, { headers }) as unknown as IncomingMessage;
  return readApplyBody(request, { onManifest, stagingPath: () => join(dir, String((staged += 1))) });
}

const bytesOf = (part: Part | undefined): Buffer | undefined =>
  part === undefined ? undefined : "bytes" in part ? part.bytes : readFileSync(part.path);

test("what the client writes the agent reads, however the network cuts it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 3 }), { maxLength: 4 }),
      fc.option(fc.uint8Array({ maxLength: 30 })),
      fc.array(fc.nat(3000), { maxLength: 12 }),
      fc.boolean(),
      async (contents, plan, cuts, declared) => {
        const parts = new Map(contents.map((blocks, i) => [`maps/${i}.map`, blocks]));
        const { body, contentType } = encodeApply(naming(parts.keys()), parts, plan ?? undefined);
        const got = await read(body, contentType, cuts, undefined, declared);
        assert.equal(got.manifest, naming(parts.keys()));
        assert.equal([...got.parts.keys()], [...parts.keys()]);
        for (const [path, blocks] of parts)
          assert.ok(bytesOf(got.parts.get(path))!.equals(Buffer.concat(blocks)), path);
        assert.is(bytesOf(got.plan)?.toString("hex"), plan === null ? undefined : Buffer.from(plan).toString("hex"));
      },
    ),
  );
});

test("line breaks and dashes inside a part are content", async () => {
  const tricky = Buffer.from("\r\n--\r\n\r\n----\r\n--x--\r\n");
  const { body, contentType } = encodeApply(naming(["a"]), new Map([["a", [tricky]]]));
  for (let cut = 0; cut < body.length; cut++)
    for (const declared of [true, false])
      assert.ok(bytesOf((await read(body, contentType, [cut], undefined, declared)).parts.get("a"))!.equals(tricky));
});

test("a large part goes to a staged file, a small one stays in memory", async () => {
  const large = Buffer.alloc(3 * 1024 * 1024, 0x61);
  const { body, contentType } = encodeApply(
    naming(["large", "small"]),
    new Map([
      ["large", [large]],
      ["small", [Buffer.from("x")]],
    ]),
  );
  const got = await read(
    body,
    contentType,
    Array.from({ length: 40 }, (_, i) => i * 80_000),
  );
  const part = got.parts.get("large")!;
  assert.ok("path" in part && readFileSync(part.path).equals(large));
  assert.ok("bytes" in got.parts.get("small")!);
});

test("content of a file that the manifest does not name is refused by its name, and so is a header without end", async () => {
  const { body, contentType } = encodeApply(naming(["a"]), new Map([["b", [Buffer.alloc(3 * 1024 * 1024)]]]));
  const long = encodeApply(naming(["a"]), new Map([["x".repeat(5_000), [Buffer.from("x")]]]));
  const before = readdirSync(dir).length;
  for (const [sent, type, words] of [
    [body, contentType, 'part "b" is of no file'],
    [long.body, long.contentType, "header is too long"],
  ] as const)
    await read(sent, type).then(
      () => assert.unreachable("taken"),
      (error: Error) => assert.match(error.message, words),
    );
  assert.is(readdirSync(dir).length, before);
});

test("an upload goes to a new file: a link that lies where it would go is passed over", async () => {
  const target = join(dir, "not-the-agents");
  writeFileSync(target, "as it was");
  symlinkSync(target, join(dir, String(staged + 1)));
  const { body, contentType } = encodeApply(naming(["a"]), new Map([["a", [Buffer.alloc(3 * 1024 * 1024)]]]));
  const part = (await read(body, contentType)).parts.get("a")!;
  assert.ok("path" in part && part.path === join(dir, String(staged)));
  assert.is(readFileSync(target, "utf8"), "as it was");
});

test("the manifest is looked at before any file's bytes are kept", async () => {
  const { body, contentType } = encodeApply(manifest, new Map([["a", [Buffer.alloc(100)]]]));
  await read(body, contentType, [], () => {
    throw new Error("refused at once");
  }).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, "refused at once"),
  );
});

test("a body that ends early, lacks the manifest or is of another type is refused", async () => {
  const { body, contentType } = encodeApply(manifest, new Map([["a", [Buffer.from("xyz")]]]));
  for (const [bad, type] of [
    [body.subarray(0, -6), contentType],
    [body.subarray(0, 50), contentType],
    [Buffer.from("{}"), "application/json"],
    [Buffer.alloc(0), contentType],
  ] as const) {
    await read(bad, type).then(
      () => assert.unreachable("taken"),
      (error: Error) => assert.match(error.name, "AgentRequestError"),
    );
  }
  const boundary = contentType.split("=")[1]!;
  const withoutManifest = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--${boundary}--\r\n`,
  );
  await read(withoutManifest, contentType).then(
    () => assert.unreachable("taken"),
    (error: Error) => assert.match(error.message, "not the manifest"),
  );
});

test("a body that is refused, or ends early, leaves none of its large parts on disk", async () => {
  const before = readdirSync(dir).length;
  const head = (name: string, filename = ""): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n\r\n`;
  const large = Buffer.alloc(2 * 1024 * 1024, 0x61);
  const begin = Buffer.from(`${head("manifest")}${JSON.stringify(manifest)}\r\n${head("file", '; filename="a"')}`);
  const second = Buffer.from(`\r\n${head("file", '; filename="b"')}`);
  const early = Buffer.concat([begin, large, second, large]);
  const twice = Buffer.concat([begin, large, Buffer.from(`\r\n${head("file", '; filename="a"')}x\r\n--b--\r\n`)]);
  const oversize = Buffer.concat([begin, large, second, Buffer.alloc(65 * 1024 * 1024)]);
  for (const body of [early, twice, oversize]) {
    const cuts = [70_000, 1_000_000, 3_000_000];
    await read(body, "multipart/form-data; boundary=b", cuts, () => {}, false).then(
      () => assert.unreachable("the body is bad"),
      (error: Error) => assert.instance(error, AgentRequestError),
    );
    assert.is(readdirSync(dir).length, before);
  }
});

test.run();
