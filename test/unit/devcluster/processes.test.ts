import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ProcessKeeper } from "../../../src/devcluster/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "haptic-processes-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie answers too; it runs no more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function until(what: string, condition: () => boolean, limitMs = 5_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

test("output comes by lines, and the end of a process says how", async () => {
  const own = mkdtempSync(join(folder, "a-"));
  const keeper = new ProcessKeeper(own);
  const said: string[] = [];
  const onLine = (line: string): void => void said.push(line);
  const done = keeper.start({
    command: "/bin/sh",
    args: ["-c", "echo one; echo two >&2; printf three; exit 3"],
    onLine,
  });
  assert.is(await done.ended, "exit code 3");
  const missing = keeper.start({ command: "/nonexistent", args: [], onLine });
  assert.match(await missing.ended, "ENOENT");
  await keeper.clear(100);
  assert.equal(said.sort(), ["one", "three", "two"]);
  assert.not(existsSync(own));
});

test("a process that will not end by itself is ended, with what it started", async () => {
  const keeper = new ProcessKeeper(mkdtempSync(join(folder, "b-")));
  const said: string[] = [];
  const script = "trap '' TERM; sleep 60 & echo $!; wait; wait";
  const stubborn = keeper.start({ command: "/bin/sh", args: ["-c", script], onLine: (line) => void said.push(line) });
  await until("the child's pid", () => said.length > 0);
  await stubborn.end(50);
  assert.is(await stubborn.ended, "signal SIGKILL");
  await until("its child's end", () => !isAlive(Number(said[0])));
  await keeper.clear(100);
});

test("killed in the middle, the keeper leaves neither processes nor the folder", async () => {
  const own = join(folder, "c");
  mkdirSync(own);
  const script = join(folder, "keeper.ts");
  writeFileSync(
    script,
    `import { ProcessKeeper } from ${JSON.stringify(join(import.meta.dirname, "../../../src/devcluster/processes.ts"))};
     const keeper = new ProcessKeeper(${JSON.stringify(own)});
     const ended = keeper.start({ command: "/bin/true", args: [], onLine: () => undefined });
     await ended.ended;
     for (const _ of [1, 2]) console.log(keeper.start({ command: "/bin/sleep", args: ["60"], onLine: () => undefined }).pid);
     setInterval(() => undefined, 1000);`,
  );
  const keeper = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  keeper.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await until("two processes", () => said.split("\n").length > 2);
  const pids = said.trim().split("\n").map(Number);
  assert.ok(pids.every(isAlive) && existsSync(own));
  keeper.kill("SIGKILL");
  await until("the processes' end", () => !pids.some(isAlive));
  await until("the folder's end", () => !existsSync(own));
});

test.run();
