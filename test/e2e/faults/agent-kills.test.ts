// runner: beside
// runner: limit 3000 s
/**
 * The agents of a whole cluster are killed again and again while everything changes: traffic notices nothing, a tree is never anything but a set
 * that the controller has made, and both pods end with the newest. HAPTIC_KILLS says how often (20; 500 with HAPTIC_FAULTS=full).
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { askAgent } from "../../../src/agent/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { generator } from "../../support/random.ts";
import { needing } from "../../support/skip.ts";
import { ingress, tlsSecret } from "../../unit/examples/objects.ts";
import { Judge } from "../../unit/agent/cuts/judge.ts";
import { workerDiffersFromFiles } from "../agent/judge.ts";
import { Cluster, CONFIG, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import { isolated } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import { apiServers } from "../harness/planes.ts";
import { HOST, NAME, OTHER, OTHER_HOST, Site } from "../harness/site.ts";
import { FULL } from "./extent.ts";

const network = await isolated(import.meta.filename);
const test = needing(base, network.missing ?? missingHaproxy("3.4"));
const KILLS = Number(process.env["HAPTIC_KILLS"] ?? (FULL ? 500 : 20));
const SEED = Number(process.env["HAPTIC_SEED"] ?? 20_261_130);
const HEALED_MS = 60_000;
/** A change is through after about so long: most kills come within it. */
const SPAN_MS = 160;
const SHIFTED = ["shift-a", "shift-b"] as const;

type Files = Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), "haptic-agent-kills-"));
const random = generator(SEED);
const judge = new Judge();
let cluster: Cluster;
let site: Site;

test.before(async () => {
  cluster = new Cluster({ api: apiServers.embedded, version: "3.4", pods: 2, prefix: network.prefix });
  await cluster.start();
  site = new Site(cluster);
  await site.create();
  for (const name of SHIFTED) {
    const objects = await hostObjects(cluster, name, "");
    await cluster.apply(...objects.filter((object) => (object as KubeObject).kind !== "Ingress"));
  }
  await shift(0);
  await served(cluster, "shift-0.example");
  await cluster.settled();
});
test.after(async () => {
  judge.close();
  await cluster?.close();
  rmSync(folder, { recursive: true, force: true });
});

const baseDir = (pod: number): string => cluster.pods[pod]!.pod.baseDir;
const filesBelow = (root: string): Files =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== ".haptic-agent.json")
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]),
  );

/** One object's change that reaches haproxy.cfg and a map together: another host, another Service. */
async function shift(turn: number): Promise<void> {
  const object = ingress("shift", `shift-${turn}.example`, [{ service: SHIFTED[turn % 2]! }], {
    ingressClassName: "haptic",
  }) as KubeObject;
  await write("networking.k8s.io/v1", "ingresses", object);
}
async function write(apiVersion: string, resource: string, object: KubeObject): Promise<void> {
  const { uid: _, ...metadata } = object.metadata;
  const target = { apiVersion, resource, namespace: "default" };
  await cluster.client.apply(target, { ...object, metadata }, { fieldManager: "e2e", force: true });
}

/** What a change makes of a set, step after step; the last one is found in the trees when it is through. */
type Steps = (before: Files) => readonly Files[];
const oneStep: Steps = () => [];

/** Up to four moves of one endpoint, each before the former is through. */
async function move(): Promise<Steps> {
  const moves: { readonly from: { address: string; pod: string }; readonly to: { address: string; pod: string } }[] =
    [];
  for (let left = 1 + Math.floor(random() * 4); left > 0; left--) {
    const [from] = cluster.endpointsOf(OTHER);
    const [to] = await cluster.newEndpoints(OTHER, 1);
    await cluster.setEndpoints(OTHER, [to!]);
    moves.push({ from: from!, to: to! });
    if (left > 1) await sleep(random() * 60);
  }
  return (before) => {
    let cfg = before["haproxy.cfg"]!;
    return moves.map(({ from, to }) => {
      cfg = cfg.replace(`server ${from.pod} ${from.address}:`, `server ${to.pod} ${to.address}:`);
      return { ...before, "haproxy.cfg": cfg };
    });
  };
}

async function renewCertificate(): Promise<Steps> {
  const { certificate, key } = await cluster.authority.issue([HOST], "server");
  await write("v1", "secrets", tlsSecret(`${NAME}-tls`, certificate, key) as KubeObject);
  return oneStep;
}

/** Needs a reload. */
async function changeTimeout(turn: number): Promise<Steps> {
  const { spec } = (await cluster.client.get(CONFIG.target, CONFIG.name)) as unknown as {
    spec: { haproxyConfig: { template: string } };
  };
  const plain = spec.haproxyConfig.template.replace(/^ *timeout tarpit .*\n/m, "");
  const template = plain.replace(/^defaults.*$/m, `$&\n    timeout tarpit ${turn}s`);
  await cluster.client.mergePatch(CONFIG.target, CONFIG.name, { spec: { haproxyConfig: { template } } });
  return oneStep;
}

const changes = { moves: 0, shifts: 0, certificates: 0, timeouts: 0 };
function change(turn: number): Promise<Steps> {
  const drawn = random();
  if (drawn < 0.5) {
    changes.moves += 1;
    return move();
  }
  if (drawn < 0.8) {
    changes.shifts += 1;
    return shift(turn).then(() => oneStep);
  }
  if (drawn < 0.96) {
    changes.certificates += 1;
    return renewCertificate();
  }
  changes.timeouts += 1;
  return changeTimeout(turn);
}

/** A copy of what the tree has in force, whoever writes there at the same time. */
function copyTree(pod: number, name: string): string {
  const copy = join(folder, name);
  for (let left = 5; ; left--) {
    try {
      rmSync(copy, { recursive: true, force: true });
      cpSync(realpathSync(join(baseDir(pod), "current")), join(copy, "current"), { recursive: true });
      return copy;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

/** Kills the agent and copies its tree before another one is there; undefined = it is down already. */
async function kill(pod: number, name: string): Promise<string | undefined> {
  const keeper = cluster.pods[pod]!;
  const pid = keeper.pod.pid("agent");
  if (pid === undefined) return undefined;
  const restarts = keeper.restarts("agent");
  process.kill(pid, "SIGKILL");
  await until("it has ended", () => keeper.restarts("agent") > restarts || keeper.pod.pid("agent") === undefined);
  return copyTree(pod, name);
}

interface AgentView {
  readonly applied_plan_id: string;
  readonly running_plan_id: string;
  readonly reload_pending_at?: string;
  readonly invariant_violation?: string;
}
/** What an agent says after hashing its files. */
const stateOf = async (pod: number): Promise<AgentView> =>
  (await askAgent(join(baseDir(pod), ".haptic/agent.sock"), "GET", "/state?verify=1")) as AgentView;

async function runtime(pod: number, line: string): Promise<string> {
  const socket = connect(join(baseDir(pod), "haproxy-worker.sock"));
  socket.end(`${line}\n`);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

interface Settled {
  readonly planId: string;
  readonly files: Files;
}
/** Both pods have the same set, another one than before, in their trees and in their workers, and the controller knows it. */
async function settled(before: Settled, holds: (files: Files) => boolean): Promise<Settled> {
  let seen = "";
  return until(
    "both pods have the newest set",
    async () => {
      const states = [await stateOf(0), await stateOf(1)];
      seen = JSON.stringify(states.map((state) => ({ ...state, files: undefined })));
      const [{ applied_plan_id: planId }] = states as [AgentView];
      const there = states.every(
        (state) =>
          state.applied_plan_id === planId &&
          state.running_plan_id === planId &&
          state.reload_pending_at === undefined &&
          state.invariant_violation === undefined,
      );
      if (!there || planId === before.planId) return false;
      const [files, others] = [0, 1].map((pod) => filesBelow(realpathSync(join(baseDir(pod), "current"))));
      if (JSON.stringify(Object.entries(files!).sort()) !== JSON.stringify(Object.entries(others!).sort()))
        return false;
      if (!holds(files!)) return false;
      for (const pod of [0, 1]) {
        const differences = await workerDiffersFromFiles((line) => runtime(pod, line), files!);
        seen = `pod ${pod}: ${differences.join("; ")}`;
        if (differences.length > 0) return false;
      }
      return { planId, files: files! };
    },
    HEALED_MS,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${seen}\n${cluster.tail()}`, { cause: error });
  });
}

test(`agents killed ${KILLS} times in a whole cluster at work harm nothing; both pods end with the newest set`, async () => {
  const tally = { old: 0, between: 0, new: 0, kills: 0, both: 0, again: 0 };
  const reloads = async (): Promise<number> => (await cluster.reloadsOf(0)) + (await cluster.reloadsOf(1));
  const reloadsBefore = await reloads();
  let now = await settled({ planId: "", files: {} }, () => true);
  const load = await underLoad(cluster, { host: HOST, pauseMs: 25 }, async () => {
    for (let turn = 1; tally.kills < KILLS; turn++) {
      const before = now;
      const what = `turn ${turn}, seed ${SEED}`;
      const drawn = random();
      const wait = drawn < 0.8 ? random() ** 1.5 * SPAN_MS : random() * 1_000;
      const victims = random() < 0.1 ? [0, 1] : [Math.floor(random() * 2)];
      const again = random() < 0.15 ? random() * 700 : undefined;
      const copies: string[] = [];
      const strike = async (): Promise<void> => {
        await sleep(wait);
        if (victims.length > 1) tally.both += 1;
        for (let round = 0; round < (again === undefined ? 1 : 2); round++) {
          if (round > 0) {
            await sleep(again);
            tally.again += 1;
          }
          for (const copy of await Promise.all(victims.map((pod) => kill(pod, `${pod}-${round}`)))) {
            if (copy === undefined) continue;
            tally.kills += 1;
            copies.push(copy);
          }
        }
      };
      const [steps] = await Promise.all([change(turn), strike()]);
      const planned = steps(before.files);
      const last = planned.at(-1)?.["haproxy.cfg"];
      now = await settled(before, (files) => last === undefined || files["haproxy.cfg"] === last);
      const sets = [before.files, ...planned.slice(0, -1), now.files];
      for (const [index, files] of sets.entries()) judge.know(String(index), files);
      for (const copy of copies) {
        const { current } = await judge.judge(copy);
        assert.is.not(current, "", `${what}: the tree is a mixture, see ${cluster.tail()}`);
        tally[current === "0" ? "old" : Number(current) === sets.length - 1 ? "new" : "between"] += 1;
      }
      for (const index of sets.keys()) judge.forget(String(index));
      if (turn % 50 === 0 && KILLS > 100) process.stderr.write(`${tally.kills} kills\n`);
    }
    const last = await site.newHost();
    await served(cluster, last, { tls: true, limitMs: HEALED_MS });
    await served(cluster, OTHER_HOST, { by: cluster.endpointsOf(OTHER)[0]!.pod, limitMs: HEALED_MS });
    await cluster.settled(HEALED_MS);
    await until("no fault is left", async () => (await cluster.faults()).length === 0, HEALED_MS);
    await until("every container is ready", () => cluster.pods.every((pod) => pod.ready()), HEALED_MS);
  });
  const { requests, failed, repeated } = load;
  // A note is shown by the runner.
  process.stdout.write(
    `\n  ${KILLS > 20 ? "note: " : ""}${JSON.stringify({ ...tally, ...changes, reloads: (await reloads()) - reloadsBefore, requests, failed, repeated })}\n`,
  );
  site.unharmed(load);
  assert.ok(tally.new > 0 && tally.old > 0, "kills came before and after the turning point");
});

test.run();
