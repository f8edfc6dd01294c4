/** Certificates are read again when they turn, whoever turns them in whatever way; what cannot be used leaves the former ones. */
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { CredentialDirectory } from "../../../src/agent/credentials.ts";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";

const FILES = ["tls.crt", "tls.key", "ca.crt"];
const base = mkdtempSync(join(tmpdir(), "haptic-credentials-"));
const authority = await createAuthority("dev", new Date());
let folders = 0;

/** A folder as the kubelet mounts it, with an identity of its own. */
async function identity(): Promise<string> {
  folders += 1;
  const dir = join(base, `${folders}`);
  writeIdentity(dir, await authority.issue(["a"], "client"), authority);
  return dir;
}

const told = ({ current }: CredentialDirectory): string[] =>
  [current.cert, current.key, current.ca].map((bytes) => String(bytes));

/** Ways in which all three files become those of another folder. */
const WAYS: Readonly<Record<string, (from: string, to: string) => void>> = {
  "copied over": (from, to) => FILES.forEach((name) => copyFileSync(join(from, name), join(to, name))),
  "moved over": (from, to) =>
    FILES.forEach((name) => {
      copyFileSync(join(from, name), join(to, "beside"));
      renameSync(join(to, "beside"), join(to, name));
    }),
  "linked over": (from, to) =>
    FILES.forEach((name) => {
      symlinkSync(join(from, name), join(to, "beside"));
      renameSync(join(to, "beside"), join(to, name));
    }),
  "turned by another link": (from, to) => {
    symlinkSync(from, join(to, "beside"));
    renameSync(join(to, "beside"), join(to, "..data"));
  },
};

for (const [way, turn] of Object.entries(WAYS))
  for (const given of ["", "..data"]) {
    if (given !== "" && way !== "turned by another link") continue;
    test(`files that are ${way} are noticed, the directory given as ${given === "" ? "itself" : given}`, async () => {
      const [dir, next] = [await identity(), await identity()];
      const directory = new CredentialDirectory(join(dir, given));
      assert.not(directory.refresh());
      turn(next, dir);
      assert.ok(directory.refresh());
      assert.not(directory.refresh());
      assert.equal(told(directory), told(new CredentialDirectory(next)));
    });
  }

test("all three turn with the kubelet's link, also within one tick of the clock", async () => {
  const dir = await identity();
  const directory = new CredentialDirectory(join(dir, "..data"));
  let before = told(directory);
  for (let turn = 0; turn < 20; turn++) {
    assert.not(directory.refresh());
    writeIdentity(dir, await authority.issue(["a"], "client"), authority);
    assert.ok(directory.refresh());
    const after = told(directory);
    assert.is.not(after[0], before[0]);
    assert.is.not(after[1], before[1]);
    before = after;
  }
});

test("what is half there, cut short or does not belong together leaves the former ones in use, and is told once", async () => {
  const [dir, next] = [await identity(), await identity()];
  const heard: string[] = [];
  const directory = new CredentialDirectory(dir, (error) => heard.push(String(error.cause)));
  const before = told(directory);
  const breaks: (() => void)[] = [
    () => copyFileSync(join(next, "tls.crt"), join(dir, "tls.crt")),
    () => writeFileSync(join(dir, "tls.crt"), before[0]!.slice(0, 200)),
    () => rmSync(join(dir, "tls.crt")),
  ];
  for (const [index, breakIt] of breaks.entries()) {
    breakIt();
    for (let look = 0; look < 3; look++) assert.not(directory.refresh());
    assert.equal(told(directory), before);
    assert.is(heard.length, index + 1, heard.join("\n"));
  }
  for (const line of heard) assert.not.match(line, "BEGIN");
  WAYS["moved over"]!(next, dir);
  assert.ok(directory.refresh());
  assert.equal(told(directory), told(new CredentialDirectory(next)));
});

test("a directory that cannot be used from the beginning is refused by its name", async () => {
  const empty = join(base, "empty");
  mkdirSync(empty);
  assert.throws(() => new CredentialDirectory(empty), /certificates in .*empty cannot be used/);
  const [dir, other] = [await identity(), await identity()];
  copyFileSync(join(other, "tls.key"), join(dir, "tls.key"));
  assert.throws(() => new CredentialDirectory(dir), /cannot be used/);
});

test.after(() => rmSync(base, { recursive: true }));
test.run();
