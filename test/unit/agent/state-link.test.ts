import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Holding } from "../../../src/agent/holding.ts";
import { agentPaths } from "../../../src/agent/options.ts";
import { UsageError } from "../../../src/errors.ts";
import { linkState } from "../../../src/agent/state-link.ts";

const root = mkdtempSync(join(tmpdir(), "haptic-state-link-"));
test.after(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const folder = (): string => {
  folders += 1;
  const made = join(root, String(folders));
  mkdirSync(made);
  return made;
};
const open = (baseDir: string): Holding => {
  const { config, masterSocket, workerSocket } = agentPaths({ baseDir });
  return new Holding({ baseDir, config, masterSocket, workerSocket, now: () => 1_700_000_000_000 });
};

test("the default is .haptic-agent.json inside the base directory", () => {
  assert.is(agentPaths({ baseDir: "/etc/haproxy" }).stateFile, "/etc/haproxy/.haptic-agent.json");
  assert.is(agentPaths({ baseDir: "/etc/haproxy", stateFile: "state/s.json" }).stateFile, "/etc/haproxy/state/s.json");
  assert.is(agentPaths({ baseDir: "/etc/haproxy", stateFile: "/run/s.json" }).stateFile, "/run/s.json");
  assert.is(agentPaths({ baseDir: "/etc/haproxy", stateFile: "" }).stateFile, undefined);
});

test("no place that the agent or HAProxy needs becomes the link", () => {
  const baseDir = "/etc/haproxy";
  for (const stateFile of [
    ".",
    "current",
    "current/state.json",
    ".haptic/journal",
    "./.haptic/../.haptic/state.json",
    "haproxy.cfg",
    "haproxy-worker.sock",
    "haproxy-master.sock",
    "haptic-drain.sock",
    "/etc/haproxy/haproxy.cfg/state.json",
  ])
    assert.throws(
      () => agentPaths({ baseDir, stateFile }),
      (error: unknown) =>
        error instanceof UsageError &&
        error.message.startsWith("--state-file: /etc/haproxy") &&
        error.hint !== undefined,
      stateFile,
    );
  assert.throws(() => agentPaths({ baseDir, config: "conf/haproxy.cfg", stateFile: "conf/state.json" }), "conf");
  assert.throws(() => agentPaths({ baseDir, drainSocket: "/run/d.sock", stateFile: "/run/d.sock" }), "/run/d.sock");
  for (const stateFile of ["haproxy.cfg.json", "../state.json", "currents/s.json"]) agentPaths({ baseDir, stateFile });
});

test("it leads to the state of the set in force, fold after fold, and what was there before it is read as ever", async () => {
  const baseDir = folder();
  const first = open(baseDir);
  await first.recover();
  // An agent without the link has kept its state in the set.
  first.append({ type: "token", seq: first.number(), token: { leader_epoch: 7, render_seq: 1 } });
  await first.fold();
  first.close();
  const stateFile = join(baseDir, ".haptic-agent.json");
  assert.not.ok(existsSync(stateFile));
  assert.is(linkState(baseDir, stateFile), undefined);
  const epoch = (): number => (JSON.parse(readFileSync(stateFile, "utf8")) as { max_epoch: number }).max_epoch;
  assert.is(epoch(), 7);
  const second = open(baseDir);
  assert.equal(await second.recover(), { intact: true });
  assert.is(second.model.maxEpoch, 7);
  second.append({ type: "token", seq: second.number(), token: { leader_epoch: 8, render_seq: 1 } });
  await second.fold();
  assert.is(epoch(), 8, "the link is as it was, the set is another one");
  second.close();
});

test("it may lie elsewhere, and an agent that is told another place turns only links of its kind", () => {
  const baseDir = folder();
  mkdirSync(join(baseDir, "current"));
  writeFileSync(join(baseDir, "current/.haptic-agent.json"), "{}");
  const elsewhere = join(folder(), "deep/state.json");
  assert.is(linkState(baseDir, elsewhere), undefined);
  assert.is(readFileSync(elsewhere, "utf8"), "{}");
  const inside = join(baseDir, "own/state.json");
  assert.is(linkState(baseDir, inside), undefined);
  assert.is(readlinkSync(inside), "../current/.haptic-agent.json", "a copied tree leads into itself");
  rmSync(inside);
  symlinkSync("/gone/current/.haptic-agent.json", inside);
  assert.is(linkState(baseDir, inside), undefined);
  assert.is(readlinkSync(inside), "../current/.haptic-agent.json");
});

test("what somebody else laid there stays, and is told", () => {
  const baseDir = folder();
  const file = join(baseDir, ".haptic-agent.json");
  writeFileSync(file, "of another program");
  assert.match(linkState(baseDir, file) ?? "", "something else is there");
  assert.is(readFileSync(file, "utf8"), "of another program");
  const link = join(baseDir, "state.json");
  symlinkSync("/etc/passwd", link);
  assert.match(linkState(baseDir, link) ?? "", "something else is there");
  assert.is(readlinkSync(link), "/etc/passwd");
  mkdirSync(join(baseDir, "folder"));
  assert.ok(linkState(baseDir, join(baseDir, "folder")) !== undefined);
  assert.ok(lstatSync(join(baseDir, "folder")).isDirectory());
  assert.ok(linkState(baseDir, join(file, "below")) !== undefined, "below a file there can be none");
});

test.run();
