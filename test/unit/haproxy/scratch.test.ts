import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { claimScratch } from "../../../src/haproxy/scratch.ts";

const parent = mkdtempSync(join(tmpdir(), "haptic-scratch-test-"));
test.after(() => rmSync(parent, { recursive: true, force: true }));

test("the folder of a killed owner is removed by the next one; a living owner's, others' and one without owner stay", async () => {
  mkdirSync(join(parent, "other-1"));
  mkdirSync(join(parent, "part-without-owner"));
  const living = await claimScratch(parent, "part-");
  const child = fork(join(import.meta.dirname, "scratch-process.ts"), [parent], { execArgv: [] });
  const [left] = (await once(child, "message")) as [string];
  assert.ok(existsSync(join(left, "key.pem")));
  assert.ok(existsSync(living.directory), "the child has left it alone");
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  assert.ok(existsSync(left), "nobody could remove it");
  const next = await claimScratch(parent, "part-");
  assert.not(existsSync(left));
  assert.ok(existsSync(living.directory));
  assert.is(statSync(next.directory).mode & 0o777, 0o700);
  await next.close();
  await living.close();
  assert.equal(readdirSync(parent).toSorted(), ["other-1", "part-without-owner"]);
});

test("where the path is too long for a socket the folder is made all the same", async () => {
  const deep = join(parent, "x".repeat(100));
  mkdirSync(deep);
  const scratch = await claimScratch(deep, "part-");
  assert.ok(existsSync(scratch.directory));
  await scratch.close();
  assert.equal(readdirSync(deep), []);
});

test.run();
