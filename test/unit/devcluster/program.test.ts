import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { hapticCommand } from "../../../src/devcluster/program.ts";

const launcher = resolve(import.meta.dirname, "../../../bin/haptic.mjs");
const folder = mkdtempSync(join(tmpdir(), "haptic-program-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** What bin/haptic.mjs gives Node: a Node that says its version and its arguments. */
function launched(args: readonly string[]): string[] {
  const node = join(folder, "node");
  writeFileSync(node, `#!/bin/sh\nif [ "$1" = -p ]; then echo 24.0.0; else printf '%s\\n' "$@"; fi\n`, { mode: 0o755 });
  const env = { ...process.env, HAPTIC_NODE: node };
  return execFileSync(process.execPath, [launcher, ...args], { encoding: "utf8", env })
    .trimEnd()
    .split("\n");
}

for (const args of [["agent", "health"], ["run"], ["dev", "--once"]]) {
  test(`what starts \`haptic ${args.join(" ")}\` itself gives Node the flags that bin/haptic.mjs gives`, () => {
    assert.equal(hapticCommand(args).slice(1), launched(args));
  });
}

test("an agent is kept small, a controller is not", () => {
  assert.ok(hapticCommand(["agent"]).includes("--no-turbofan"));
  assert.not.ok(hapticCommand(["run"]).includes("--no-turbofan"));
});

test.run();
