// runner: beside
/** Draining against a real HAProxy: who keeps it from being quiet, and what its readiness path says meanwhile. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { drain } from "../../../src/agent/index.ts";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { get, removeScratch, scratch, until } from "./harness.ts";

const binary = testHaproxy("3.4");
const test = needing(base, binary === undefined ? "HAProxy 3.4 is not here" : undefined);

const root = scratch("drain");
const ADDRESS = "127.77.40.1";
const workerSocket = join(root, "w.sock");
let haproxy: ChildProcess | undefined;

const status = async (port: number): Promise<number> => (await get(ADDRESS, "any", port)).status;

test.before(async () => {
  const config = join(root, "haproxy.cfg");
  writeFileSync(
    config,
    `global
    stats socket "${workerSocket}" mode 600 level admin
defaults
    mode http
    timeout client 5s
    timeout connect 1s
    timeout server 5s
frontend status
    bind ${ADDRESS}:8404
    http-request return status 503 if { var(proc.haptic.draining) -m bool }
    http-request return status 200
frontend http
    bind ${ADDRESS}:8080
    http-request return status 200
`,
  );
  haproxy = spawn(binary!, ["-db", "-f", config], { stdio: "ignore" });
  await until("HAProxy listens", async () =>
    status(8080).then(
      (code) => code === 200,
      () => false,
    ),
  );
});

test.after(() => {
  haproxy?.kill("SIGKILL");
  removeScratch(root);
});

test("It says ready until it drains, and is drained once no new connection came for the quiet period", async () => {
  assert.is(await status(8404), 200);
  let over = false;
  const drained = drain({ workerSocket, quietMs: 5_000, limitMs: 120_000, ignoredFrontends: ["status"] }).then(
    (outcome) => {
      over = true;
      return outcome;
    },
  );
  await until("it says that it is not ready", async () => (await status(8404)) === 503);
  // Probes do not count; three clients, each later than the one before by less than the quiet period, do.
  for (let sent = 0; sent < 3; sent += 1) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.is(await status(8080), 200);
    assert.is(await status(8404), 503);
    assert.is(over, false);
  }
  const { end, came } = await drained;
  assert.is(end, "quiet");
  assert.is(came, 3);
});

test("Clients that do not stop coming are left at the limit", async () => {
  let over = false;
  const drained = drain({ workerSocket, quietMs: 60_000, limitMs: 1_000, ignoredFrontends: ["status"] }).then(
    (outcome) => {
      over = true;
      return outcome;
    },
  );
  while (!over) await status(8080);
  const { end, came } = await drained;
  assert.is(end, "limit");
  assert.ok(came > 0);
});

test.run();
