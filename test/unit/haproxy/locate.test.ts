import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { HaproxyNotFoundError } from "../../../src/errors.ts";
import { locateHaproxy } from "../../../src/haproxy/locate.ts";
import { needing } from "../../support/skip.ts";
import { testHaproxy } from "../../support/parts.ts";

const real = testHaproxy("3.4");
const test = needing(base, real === undefined ? "needs HAProxy 3.4, which could not be installed here" : undefined);
const folder = mkdtempSync(join(tmpdir(), "haptic-locate-"));
base.after(() => rmSync(folder, { recursive: true }));

/** An executable named haproxy that says it is of a version. */
function pretending(version: string): string {
  const path = join(mkdtempSync(join(folder, "bin-")), "haproxy");
  writeFileSync(path, `#!/bin/sh\necho "HAProxy version ${version} 2020/01/01"\n`);
  chmodSync(path, 0o755);
  return path;
}

async function locate(
  wanted: string | undefined,
  environment: Record<string, string>,
): Promise<[string, string, string[]]> {
  const lines: string[] = [];
  const found = await locateHaproxy({
    wanted,
    environment: { HOME: folder, ...environment },
    say: (line) => lines.push(line),
  });
  return [found.path, found.source, lines];
}

test("the flag wins over the environment, the environment over PATH", async () => {
  const [newer, older] = [pretending("3.3.1"), pretending("3.1.0")];
  const environment = { HAPTIC_HAPROXY: newer, PATH: dirname(older) };
  assert.equal((await locate(real, environment)).slice(0, 2), [real, "flag"]);
  assert.equal((await locate(undefined, environment)).slice(0, 2), [newer, "environment"]);
  assert.equal((await locate(undefined, { PATH: dirname(older) })).slice(0, 2), [older, "path"]);
});

test("a HAProxy on PATH that is too old is passed over, and said so", async () => {
  const [old, good] = [pretending("2.6.12"), pretending("3.2.0")];
  const [path, , lines] = await locate(undefined, { PATH: `${dirname(old)}:${dirname(good)}` });
  assert.is(path, good);
  assert.match(lines.join("\n"), `${old} is HAProxy 2.6.12`);
});

test("a version is taken from the cache folder", async () => {
  const cache = dirname(dirname(dirname(dirname(real!))));
  assert.equal((await locate("3.4", { XDG_CACHE_HOME: cache })).slice(0, 2), [real, "cache"]);
});

test("what was named and is no HAProxy is an error that names it", async () => {
  for (const [wanted, environment] of [
    ["/nonexistent/haproxy", {}],
    [pretending("2.8.0"), {}],
    [undefined, { HAPTIC_HAPROXY: "/bin/true" }],
  ] as const) {
    try {
      await locate(wanted, environment);
      assert.unreachable("an error was expected");
    } catch (error) {
      assert.instance(error, HaproxyNotFoundError);
      assert.match((error as Error).message, wanted ?? "/bin/true");
    }
  }
});

test.run();
