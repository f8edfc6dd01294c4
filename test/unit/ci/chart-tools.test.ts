import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";

const root = resolve(import.meta.dirname, "../../..");

/** A copy of the tools with one small chart and its model. */
interface Copy {
  readonly folder: string;
  readonly run: (script: string, ...flags: string[]) => { readonly code: number | null; readonly text: string };
  readonly edit: (file: string, from: string, to: string) => void;
}

const test = suite<{ copy: Copy }>("chart tools");

test.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), "haptic-charts-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const path of ["package.json", ".ci", "machines/podProbe.ts", "test/model/harness.ts"]) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  cpSync(join(root, "test/model/podProbe.test.ts"), join(folder, "test/model/podProbe.test.ts"));
  writeFileSync(join(folder, ".ci/mutations-allowed.ts"), "export const allowed = new Map<string, string>();\n");
  context.copy = {
    folder,
    run: (script, ...flags) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [`.ci/${script}.ts`, ...flags], {
        cwd: folder,
        encoding: "utf8",
      });
      return { code: status, text: `${stdout}${stderr}` };
    },
    edit: (file, from, to) => {
      const text = readFileSync(join(folder, file), "utf8");
      assert.ok(text.includes(from), `${file} has ${from}`);
      writeFileSync(join(folder, file), text.replaceAll(from, to));
    },
  };
});
test.after.each(({ copy }) => rmSync(copy.folder, { recursive: true, force: true }));

test("a chart edited without drawing it again fails the check, and so does a diagram of no chart", ({ copy }) => {
  const missing = copy.run("charts", "--check");
  assert.is(missing.code, 1);
  assert.match(missing.text, "machines/diagrams/podProbe.md is missing");
  assert.is(copy.run("charts").code, 0);
  assert.is(copy.run("charts", "--check").code, 0);

  writeFileSync(join(copy.folder, "machines/diagrams/old.md"), "");
  assert.match(copy.run("charts", "--check").text, "machines/diagrams/old.md belongs to no chart");
  copy.edit("machines/podProbe.ts", "backoff: ", "pause: ");
  const drifted = copy.run("charts", "--check");
  assert.is(drifted.code, 1);
  for (const kind of ["md", "svg"]) assert.match(drifted.text, `machines/diagrams/podProbe.${kind} is out of date`);
  assert.is(copy.run("charts").code, 0);
  assert.is(copy.run("charts", "--check").code, 0);
});

test("the lint fails on a fault, and on a transition or an initial state that does not exist", ({ copy }) => {
  assert.is(copy.run("machine-lint").code, 0);
  copy.edit("machines/podProbe.ts", 'backoff: "probing"', 'bakcoff: "probing"');
  const unknown = copy.run("machine-lint");
  assert.is(unknown.code, 1);
  assert.match(unknown.text, "machines/podProbe.ts: podProbe.waiting: unknown-delay: bakcoff");
  copy.edit("machines/podProbe.ts", 'bakcoff: "probing"', 'backoff: "porbing"');
  assert.match(copy.run("machine-lint").text, /porbing.* does not exist|Child state 'porbing'/);
  copy.edit("machines/podProbe.ts", 'backoff: "porbing"', 'backoff: "probing"');
  copy.edit("machines/podProbe.ts", 'initial: "probing"', 'initial: "porbing"');
  const lost = copy.run("machine-lint");
  assert.is.not(lost.code, 0);
  assert.match(lost.text, /porbing/);
});

test("changes of a chart that its model shows are noticed, whichever are drawn", ({ copy }) => {
  const whole = copy.run("mutate-charts");
  assert.is(whole.code, 0, whole.text);
  assert.match(whole.text, /podProbe +17 +17 /);
  const some = copy.run("mutate-charts", "--bounded", "5", "--seed", "7");
  assert.is(some.code, 0, some.text);
  assert.match(some.text, "seed 7: 5 of 17 changes");
  assert.is(copy.run("mutate-charts", "--list").text.trim().split("\n").length, 17);
});

test("a change that no test notices fails until it is explained; an explanation of none fails", ({ copy }) => {
  // Nobody tells the model that the backoff ends.
  copy.edit("test/model/podProbe.test.ts", '    { type: "xstate.after.backoff.podProbe.waiting" },\n', "");
  const unnoticed = copy.run("mutate-charts");
  assert.is(unnoticed.code, 1);
  assert.match(unnoticed.text, "podProbe.waiting xstate.after.backoff.podProbe.waiting #0 is taken by no replay");
  assert.match(unnoticed.text, "not noticed: podProbe.waiting after backoff #0: leads to podProbe.admitted");
  const path = spawnSync(process.execPath, ["test/model/podProbe.test.ts"], {
    cwd: copy.folder,
    encoding: "utf8",
    env: { ...process.env, UPDATE_GOLDEN: "1" },
  });
  assert.is(path.status, 1);
  assert.match(path.stdout, "transitions that no replayed path takes");

  copy.edit("test/model/podProbe.test.ts", "  ],\n", '    { type: "xstate.after.backoff.podProbe.waiting" },\n  ],\n');
  const stale = 'new Map([["podProbe.waiting after backoff #0: dropped", "no reason"]])';
  copy.edit(".ci/mutations-allowed.ts", "new Map<string, string>()", stale);
  const explained = copy.run("mutate-charts");
  assert.is(explained.code, 1);
  assert.match(explained.text, "explains what is noticed, or is no change any more: podProbe.waiting after backoff #0");
});

test.run();
