import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

const script = new URL("../../../bin/entrypoint.sh", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "haptic-entrypoint-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

// Stands for the program: it says "up", and does what its first argument says.
const stand = join(folder, "haptic");
writeFileSync(
  stand,
  `#!/bin/sh
case $1 in
  serve) trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done ;;
  starting) echo up; exec sleep 60 ;;
  read) echo up; cat ;;
  *) exit "$1" ;;
esac
`,
);
chmodSync(stand, 0o755);

const start = (what: string): ChildProcess =>
  spawn("/bin/sh", [script, what], {
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    stdio: ["pipe", "pipe", "inherit"],
  });

for (const code of [0, 3]) {
  test(`The image's process 1 ends as its program does: ${code}`, async () => {
    assert.equal(await once(start(String(code)), "exit"), [code, null]);
  });
}

for (const signal of ["SIGTERM", "SIGUSR1"] as const) {
  test(`${signal} reaches a program that serves, which ends in order`, async () => {
    const child = start("serve");
    await once(child.stdout!, "data");
    child.kill(signal);
    assert.equal(await once(child, "exit"), [7, null]);
  });

  test(`${signal} ends a program that has no handler yet`, async () => {
    const child = start("starting");
    await once(child.stdout!, "data");
    child.kill(signal);
    assert.equal(await once(child, "exit"), [143, null]);
  });
}

test("The program reads the standard input", async () => {
  const child = start("read");
  let said = "";
  child.stdout!.on("data", (part: Buffer) => (said += part.toString()));
  child.stdin!.end("hello\n");
  await once(child, "close");
  assert.is(said, "up\nhello\n");
});

test.run();
