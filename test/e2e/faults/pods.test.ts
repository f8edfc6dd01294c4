// runner: beside
// runner: limit 600 s
/** What happens to a pod: its HAProxy dies, its disk fills up or fails, its tree is harmed, clocks are stepped. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { Cluster, until } from "../harness/cluster.ts";
import { served } from "../harness/hosts.ts";
import { isolated } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import { apiServers } from "../harness/planes.ts";
import { HOST, OTHER_HOST, Site } from "../harness/site.ts";
import { makeClocks } from "./clocks.ts";
import { extent } from "./extent.ts";

const network = await isolated(import.meta.filename);
const missing = network.missing ?? missingHaproxy("3.4");
const test = needing(base, missing);
const folder = mkdtempSync(join(tmpdir(), "haptic-faults-"));
const clocks = missing === undefined ? makeClocks(join(folder, "clocks")) : undefined;
const clockTest = needing(base, missing ?? (clocks === undefined ? "needs a C compiler (cc)" : undefined));

const part = extent(test);
const clockPart = extent(clockTest);

const OTHERS_MS = 5_000;
const HEALED_MS = 60_000;
const DISK = "size=32m";
const HOUR = 3_600;

let cluster: Cluster;
let site: Site;

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

test.before(async () => {
  cluster = new Cluster({
    api: apiServers.embedded,
    version: "3.4",
    pods: 2,
    prefix: network.prefix,
    dataplane: { driftPreventionInterval: "5s" },
    makeTree: (baseDir) => {
      mkdirSync(baseDir, { recursive: true });
      run("mount", "-t", "tmpfs", "-o", DISK, "tmpfs", baseDir);
    },
    ...(clocks !== undefined && { environment: clocks.environment }),
  });
  await cluster.start();
  site = new Site(cluster);
  await site.create();
});
test.after(async () => {
  const trees = cluster.pods.map(({ pod }) => pod.baseDir);
  await cluster.stopController();
  await Promise.all(cluster.pods.map((pod) => pod.close()));
  for (const tree of trees) spawnSync("umount", ["-l", tree]);
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

const tree = (): string => cluster.pods[0]!.pod.baseDir;
const heard = (source: string, text: RegExp, from = 0): boolean =>
  cluster.lines.slice(from).some((line) => line.includes(` ${source} `) && text.test(line));
/** The controller names the pod: at the debug endpoint and in the log. */
const podNamed = async (text: RegExp): Promise<void> => {
  let seen: unknown;
  await until("the debug endpoint names the pod", async () => {
    const faults = await cluster.faults();
    seen = faults;
    return faults.some(({ object, message }) => object === "Pod default/haproxy-1" && text.test(message));
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${JSON.stringify(seen)}\n${cluster.tail()}`, { cause: error });
  });
  await until("the log names the pod", () => heard("controller", /"object":"Pod default\/haproxy-1".*"msg":"Fault"/));
};
/** Both pods serve everything, nothing is named any more, both hold the same proven set. */
const healed = async (by: string, ...more: readonly string[]): Promise<void> => {
  for (const host of [HOST, ...more]) await served(cluster, host, { tls: true, limitMs: HEALED_MS });
  await served(cluster, OTHER_HOST, { by, limitMs: HEALED_MS });
  await until("every container is ready", () => cluster.pods.every((pod) => pod.ready()), HEALED_MS);
  await cluster.settled(HEALED_MS);
  await until("no fault is left", async () => (await cluster.faults()).length === 0, HEALED_MS);
};

for (const victim of ["worker", "master"] as const) {
  part(false)(
    `a HAProxy ${victim} that crashes harms its own pod alone; it is started again, with what changed meanwhile`,
    async () => {
      const [wounded] = cluster.pods;
      const restarts = wounded!.restarts("haproxy");
      const from = cluster.lines.length;
      site.unharmed(
        await underLoad(cluster, { host: HOST, pods: [1] }, async () => {
          const pid = victim === "worker" ? await cluster.workerPid(0) : wounded!.pod.pid("haproxy")!;
          process.kill(pid, "SIGSEGV");
          const host = await site.newHost();
          await served(cluster, host, { tls: true, limitMs: OTHERS_MS, pods: [1] });
          await healed(await site.moveOther(), host);
        }),
      );
      assert.is(wounded!.restarts("haproxy"), restarts + 1);
      assert.ok(heard("haproxy-1/agent", /HAProxy closed the runtime connection/, from), "its agent says so");
    },
  );
}

part(true)(
  "a full disk keeps what serves; what cannot be taken is named, the other pod goes on, and all is caught up with",
  async () => {
    const pids = await cluster.workerPids();
    const filler = join(tree(), "filler");
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        fill(filler);
        const by = await site.moveOther();
        await served(cluster, OTHER_HOST, { by, limitMs: OTHERS_MS, pods: [1] });
        const host = await site.newHost();
        await served(cluster, host, { tls: true, limitMs: OTHERS_MS, pods: [1] });
        await podNamed(/ENOSPC/);
        rmSync(filler);
        await healed(by, host);
      }),
    );
    assert.equal(await cluster.workerPids(), pids, "without a reload");
  },
);

/** Writes until there is no byte left. */
function fill(path: string): void {
  spawnSync("sh", [
    "-c",
    'dd if=/dev/zero of="$1" bs=64k 2>/dev/null; dd if=/dev/zero bs=1 >>"$1" 2>/dev/null',
    "fill",
    path,
  ]);
}

part(false)(
  "a tree that becomes read-only keeps what serves, also over an agent's restart, and all is caught up with",
  async () => {
    const pids = await cluster.workerPids();
    const from = cluster.lines.length;
    const [wounded] = cluster.pods;
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        // The agent's open journal would hold the file system writable: it ends, and finds it so when it starts again.
        process.kill(wounded!.pod.pid("agent")!, "SIGKILL");
        await until("it is read-only", () => {
          run("mount", "-o", "remount,ro", tree());
          return true;
        });
        const by = await site.moveOther();
        await served(cluster, OTHER_HOST, { by, limitMs: OTHERS_MS, pods: [1] });
        const host = await site.newHost();
        await served(cluster, host, { tls: true, limitMs: OTHERS_MS, pods: [1] });
        await until("its agent says so", () => heard("haproxy-1/agent", /EROFS|read-only/i, from));
        run("mount", "-o", "remount,rw", tree());
        await healed(by, host);
      }),
    );
    assert.equal(await cluster.workerPids(), pids, "without a reload");
  },
);

for (const [what, harm] of [
  ["lost", (path: string) => rmSync(path)],
  ["spoilt", (path: string) => writeFileSync(path, "spoilt\n")],
] as const) {
  part(what === "lost")(`a file of the tree that is ${what} is noticed, named, and brought anew`, async () => {
    const from = cluster.lines.length;
    const reloads = await cluster.reloadsOf(0);
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        const maps = spawnSync("sh", ["-c", 'find "$1"/current/ -name "*.map" | head -n 1', "find", tree()], {
          encoding: "utf8",
        }).stdout.trim();
        assert.ok(maps !== "", "there is a map");
        harm(maps);
        await until(
          "the agent names it",
          () => heard("haproxy-1/agent", /files were changed or lost beside the agent/, from),
          HEALED_MS,
        );
        const host = await site.newHost();
        await healed(await site.moveOther(), host);
        await until("it was loaded anew", async () => (await cluster.reloadsOf(0)) > reloads, HEALED_MS);
        await healed(await site.moveOther());
      }),
    );
    const state = await stateOf();
    assert.is(state.invariant_violation, undefined);
    assert.is.not(state.applied_plan_id, "");
  });
}

/** What the agent says of itself after hashing its files. */
async function stateOf(): Promise<{ applied_plan_id: string; invariant_violation?: string }> {
  const { request } = await import("node:http");
  return new Promise((done, failed) => {
    const ask = request({ socketPath: join(tree(), ".haptic/agent.sock"), path: "/state?verify=1" }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => done(JSON.parse(text) as { applied_plan_id: string }));
    });
    ask.on("error", failed);
    ask.end();
  });
}

part(false)(
  "an old copy of the tree is not believed: the worker gets everything, and traffic notices nothing",
  async () => {
    const copy = join(tree(), "old");
    cpSync(join(tree(), ".haptic"), copy, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".sock"),
    });
    const current = spawnSync("readlink", [join(tree(), "current")], { encoding: "utf8" }).stdout.trim();
    site.unharmed(
      await underLoad(cluster, { host: HOST }, async () => {
        const first = await site.newHost();
        await healed(await site.moveOther(), first);
        process.kill(cluster.pods[0]!.pod.pid("agent")!, "SIGKILL");
        renameSync(join(tree(), ".haptic"), join(tree(), "lost"));
        renameSync(copy, join(tree(), ".haptic"));
        rmSync(join(tree(), "current"));
        run("ln", "-s", current, join(tree(), "current"));
        const second = await site.newHost();
        await healed(await site.moveOther(), first, second);
      }),
    );
    rmSync(join(tree(), "lost"), { recursive: true });
  },
);

/** Seconds by which the controller's last log line is off. */
function controllerClock(): number {
  const line = cluster.lines.findLast((one) => /^\d+ controller \{/.test(one)) ?? "";
  return (Number(/"time":(\d+)/.exec(line)?.[1]) - Number(line.split(" ", 1)[0])) / 1_000;
}

for (const seconds of [HOUR, -HOUR]) {
  clockPart(false)(
    `a clock that is stepped by ${seconds / HOUR} h, for one process at a time, changes nothing`,
    async () => {
      const pids = await cluster.workerPids();
      const processes: readonly (readonly [string, number])[] = [
        ["controller", cluster.controllerPid],
        ["agent", cluster.pods[0]!.pod.pid("agent")!],
        ["HAProxy", pids[0]!],
      ];
      site.unharmed(
        await underLoad(cluster, { host: HOST }, async () => {
          for (const [name, pid] of processes) {
            clocks!.step(pid, seconds);
            const host = await site.newHost();
            await served(cluster, host, { tls: true, limitMs: OTHERS_MS });
            await served(cluster, OTHER_HOST, { by: await site.moveOther(), limitMs: OTHERS_MS });
            if (name === "controller")
              await until("the controller's clock is stepped", () => Math.abs(controllerClock() - seconds) < 60);
          }
          await healed(await site.moveOther());
          for (const [, pid] of processes) clocks!.step(pid, 0);
          await healed(await site.moveOther(), await site.newHost());
        }),
      );
      assert.equal(await cluster.workerPids(), pids, "without a reload");
    },
  );
}

base.run();
