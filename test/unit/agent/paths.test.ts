import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkPath, checkPathSet } from "../../../src/agent/paths.ts";
import { AgentRequestError } from "../../../src/errors.ts";

const refused = (path: string, reserved?: ReadonlySet<string>): void => {
  assert.throws(
    () => checkPath(path, reserved),
    (error: unknown) => error instanceof AgentRequestError,
    path,
  );
};

test("plain relative paths are taken, up to 254 bytes", () => {
  for (const path of ["haproxy.cfg", "maps/host.map", "ssl/example_com.pem", "a/b/c/d", "ä/ö.map", "x".repeat(254)])
    checkPath(path);
});

test("what could leave the tree, hide in it or confuse a header is refused", () => {
  for (const path of [
    "",
    "/etc/passwd",
    "../x",
    "a/../b",
    "a/./b",
    ".",
    "..",
    "a//b",
    "a/",
    ".hidden",
    "maps/.x",
    "a\\b",
    "a\nb",
    "a\u0000b",
    'a"b',
    "x".repeat(255),
    "ä".repeat(128),
  ])
    refused(path);
});

test("the agent's own names are refused as first component only", () => {
  refused("current");
  refused("current/haproxy.cfg");
  refused("haproxy-worker.sock", new Set(["haproxy-worker.sock"]));
  checkPath("maps/current");
});

test("a path cannot be a file and a folder at once", () => {
  checkPathSet(["a/b", "a/c", "ab"]);
  assert.throws(() => checkPathSet(["a/b/c", "a/b"]), /file and a folder/);
});

test.run();
