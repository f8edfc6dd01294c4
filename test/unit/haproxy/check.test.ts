import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createChecker, createSpawner, haproxyVersion, judge } from "../../../src/haproxy/index.ts";
import { cutBlocks, planFile, type PlanFile } from "../../../src/plan/index.ts";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";

const binary = testHaproxy("3.4") ?? "";
const spawner = createSpawner();
const never = new AbortController().signal;
const parent = await mkdtemp(join(tmpdir(), "check-test-"));
const checker = createChecker({ binary, spawner, parent });
const test = needing(suite("check"), binary === "" ? "needs HAProxy 3.4" : undefined);

test.after(async () => {
  await checker.close();
  await spawner.close();
  await rm(parent, { recursive: true, force: true });
});

const config = (more = ""): PlanFile =>
  planFile(
    "haproxy.cfg",
    "config",
    cutBlocks(`global
    default-path origin /etc/haproxy
defaults
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
frontend f
    bind 127.33.1.1:18080
    use_backend %[path,map_beg(maps/paths.map)]
    default_backend b
backend b
    server s 127.0.0.1:1
${more}`),
  );
const map = (text: string): PlanFile => planFile("maps/paths.map", "map", cutBlocks(text));

test("a configuration that HAProxy takes is accepted without a word", async () => {
  const verdict = await checker.check([config(), map("/a b\n")], never);
  assert.is(verdict.accepted, true, verdict.message);
  assert.is(verdict.message, "");
});

test("a refusal names production paths and lines, never the mirror", async () => {
  const { accepted, message } = await checker.check([config("    nonsense here\n"), map("/a b\n")], never);
  assert.is(accepted, false);
  assert.match(message, "/etc/haproxy/haproxy.cfg:14");
  assert.match(message, "nonsense");
  assert.not.match(message, parent);
});

test("a map that was removed from the set is missing in the next check", async () => {
  assert.is((await checker.check([config(), map("/a b\n")], never)).accepted, true);
  const { accepted, message } = await checker.check([config()], never);
  assert.is(accepted, false);
  assert.match(message, "paths.map");
  assert.is((await checker.check([config(), map("/b b\n")], never)).accepted, true);
});

test("an alert is a refusal even where HAProxy ends with status 0", async () => {
  const { accepted, message } = await checker.check(
    [config("backend a/b\n    server s 127.0.0.1:1\n"), map("")],
    never,
  );
  assert.is(accepted, false);
  assert.match(message, "a/b");
  assert.is(judge(0, "[ALERT]    (12) : config : odd\n", "haproxy").accepted, false);
});

test("a name that does not resolve is no refusal", async () => {
  const { accepted, message } = await checker.check([config("    server t nowhere.invalid:80\n"), map("")], never);
  assert.is(accepted, true, message);
});

test("a configuration without a listener is refused in plain words", async () => {
  const { accepted, message } = await checker.check(
    [planFile("haproxy.cfg", "config", cutBlocks("global\n    maxconn 10\n"))],
    never,
  );
  assert.is(accepted, false);
  assert.match(message, "no listener");
});

test("checks asked for at once run one after the other, each on its own files", async () => {
  const results = await Promise.all([
    checker.check([config(), map("/a b\n")], never),
    checker.check([config("    wrong\n"), map("/a b\n")], never),
    checker.check([config(), map("/c b\n")], never),
  ]);
  assert.equal(
    results.map((result) => result.accepted),
    [true, false, true],
  );
});

test("an aborted check rejects, and the next one is not disturbed", async () => {
  const controller = new AbortController();
  const running = checker.check([config(), map("/a b\n")], controller.signal);
  controller.abort(new Error("superseded"));
  await running.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, "superseded"),
  );
  assert.is((await checker.check([config(), map("/a b\n")], never)).accepted, true);
});

test("a check that hangs is given up, and the next one is not disturbed", async () => {
  const folder = join(parent, "hangs");
  mkdirSync(folder);
  const slow = join(folder, "haproxy");
  writeFileSync(
    slow,
    `#!/bin/sh\nif [ -e "${folder}/once" ]; then exit 0; fi\ntouch "${folder}/once"\nexec sleep 30\n`,
    {
      mode: 0o755,
    },
  );
  const hanging = createChecker({ binary: slow, spawner, parent, limitMs: 200 });
  await hanging.check([config()], never).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, `${slow} gave no verdict within 0.2 s`),
  );
  assert.is((await hanging.check([config()], never)).accepted, true);
  await hanging.close();
});

test("a running child is killed when its request is aborted", async () => {
  const controller = new AbortController();
  const running = spawner.run({ command: ["sleep", "30"], cwd: "/", signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 30);
  await running.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, "enough"),
  );
});

test("a child's status and output come back, and arguments stay what they are", async () => {
  const { code, output } = await spawner.run({
    command: ["sh", "-c", "printf '%s|' \"$@\"; exit 7", "sh", "a b", "$HOME", "*", "x;y"],
    cwd: "/",
    signal: never,
  });
  assert.is(code, 7);
  assert.is(output, "a b|$HOME|*|x;y|");
});

test("a binary that does not exist is said to be missing", async () => {
  const missing = createChecker({ binary: "/nonexistent/haproxy", spawner, parent });
  await missing.check([config()], never).then(
    () => assert.unreachable(),
    (error: { code: string }) => assert.is(error.code, "HAPTIC_E_HAPROXY_BINARY"),
  );
  await missing.close();
});

test("passwords in a quoted line are not shown, and messages are bounded", () => {
  const secret = judge(
    1,
    '[ALERT]    (1) : parsing [f:1]: bad\n  user joe insecure-password hunter2 "\n  ^\n',
    "haproxy",
  ).message;
  assert.not.match(secret, "hunter2");
  assert.ok(judge(1, `[ALERT] (1) : ${"x".repeat(100_000)}`, "haproxy").message.length < 5000);
});

test("a closed checker leaves no folder behind", async () => {
  const own = createChecker({ binary, spawner, parent });
  await own.check([config(), map("")], never);
  const before = readdirSync(parent).length;
  await own.close();
  assert.is(readdirSync(parent).length, before - 1);
});

test("the binary tells its version", async () => {
  const version = await haproxyVersion(binary, spawner, never);
  assert.ok(version.major >= 3, version.fullVersion);
});

test.run();
