/** Certificates are read again when they turn, whether a Secret is mounted or somebody wrote three files. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { CredentialDirectory } from "../../../src/agent/credentials.ts";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";

const FILES = ["tls.crt", "tls.key", "ca.crt"];
const folder = (): string => mkdtempSync(join(tmpdir(), "haptic-credentials-"));
const write = (dir: string, text: string): void => {
  for (const name of FILES) writeFileSync(join(dir, name), `${name} ${text}`);
};
const told = ({ current }: CredentialDirectory): string[] =>
  [current.cert, current.key, current.ca].map((bytes) => String(bytes));

test("three files: each of them counts, and one that cannot be read leaves the former ones in use", () => {
  const dir = folder();
  write(dir, "1");
  const directory = new CredentialDirectory(dir);
  assert.not(directory.refresh());
  for (const [turn, name] of FILES.entries()) {
    writeFileSync(join(dir, name), `other ${turn}`);
    assert.ok(directory.refresh(), name);
    assert.not(directory.refresh());
  }
  assert.equal(told(directory), ["other 0", "other 1", "other 2"]);
  rmSync(join(dir, "tls.key"));
  assert.not(directory.refresh());
  assert.is(told(directory)[1], "other 1");
  writeFileSync(join(dir, "tls.key"), "back");
  assert.ok(directory.refresh());
  assert.is(told(directory)[1], "back");
  rmSync(dir, { recursive: true });
});

for (const [what, path] of [
  ["a mounted Secret", ""],
  ["a mounted Secret that is given by its link", "..data"],
] as const)
  test(`${what}: all three turn with the kubelet's link, also within one tick of the clock`, async () => {
    const dir = folder();
    const authority = await createAuthority("dev", new Date());
    writeIdentity(dir, await authority.issue(["a"], "client"), authority);
    const directory = new CredentialDirectory(join(dir, path));
    let before = told(directory);
    for (let turn = 0; turn < 20; turn++) {
      assert.not(directory.refresh());
      writeIdentity(dir, await authority.issue(["a"], "client"), authority);
      assert.ok(directory.refresh());
      const after = told(directory);
      assert.is.not(after[0], before[0]);
      assert.is.not(after[1], before[1]);
      assert.is(after[2], before[2]);
      before = after;
    }
    rmSync(dir, { recursive: true });
  });

test("a folder of plain files may be named ..data, too", () => {
  const dir = join(folder(), "..data");
  mkdirSync(dir);
  write(dir, "1");
  const directory = new CredentialDirectory(dir);
  write(dir, "2, longer");
  assert.ok(directory.refresh());
  assert.is(told(directory)[1], "tls.key 2, longer");
  rmSync(join(dir, ".."), { recursive: true });
});

test("a mounted Secret whose link is gone for a moment, or that becomes three files, is followed", async () => {
  const dir = folder();
  const authority = await createAuthority("dev", new Date());
  writeIdentity(dir, await authority.issue(["a"], "client"), authority);
  const directory = new CredentialDirectory(dir);
  const before = told(directory);
  renameSync(join(dir, "..data"), join(dir, "..away"));
  assert.not(directory.refresh());
  assert.equal(told(directory), before);
  for (const name of FILES) rmSync(join(dir, name));
  write(dir, "plain");
  assert.ok(directory.refresh());
  assert.is(told(directory)[0], "tls.crt plain");
  rmSync(dir, { recursive: true });
});

test("links that the kubelet has not made are looked at one by one, through whatever they lead", () => {
  const [dir, elsewhere] = [folder(), folder()];
  write(elsewhere, "1");
  symlinkSync(elsewhere, join(dir, "..data"));
  for (const name of FILES) symlinkSync(join(elsewhere, name), join(dir, name));
  const directories = ["", "..data"].map((path) => new CredentialDirectory(join(dir, path)));
  write(elsewhere, "2, longer");
  utimesSync(join(elsewhere, "tls.crt"), 1, 1);
  for (const directory of directories) {
    assert.ok(directory.refresh());
    assert.is(told(directory)[0], "tls.crt 2, longer");
  }
  for (const each of [dir, elsewhere]) rmSync(each, { recursive: true });
});

test("a directory without them is refused by its name", () => {
  const dir = folder();
  assert.throws(() => new CredentialDirectory(dir), new RegExp(`certificates in ${dir} cannot be read`));
  rmSync(dir, { recursive: true });
});

test.run();
