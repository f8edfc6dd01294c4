// runner: beside
// runner: limit 400 s
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AgentState } from "../../../src/agent/api.ts";
import { agentPaths, askAgent } from "../../../src/agent/index.ts";
import type { ApplyOutcome } from "../../../src/agent/client.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { testHaproxy } from "../../support/parts.ts";
import { generator } from "../../support/random.ts";
import { needing } from "../../support/skip.ts";
import {
  configText,
  deltaShipment,
  fullShipment,
  makeIdentities,
  removeScratch,
  scratch,
  setOf,
  startPod,
  until,
  type Pod,
} from "./harness.ts";
import { Judge } from "../../unit/agent/cuts/judge.ts";
import { workerDiffers, type KnownSet } from "./judge.ts";

const KILLS = Number(process.env["HAPTIC_KILLS"] ?? 60);
const SEED = Number(process.env["HAPTIC_SEED"] ?? 20_261_130);
const root = scratch("kills");
const identities = await makeIdentities(root);
const binary = testHaproxy("3.4");
const check = needing(test, binary === undefined ? "HAProxy 3.4 is not there" : undefined);
const upstream = "127.95.0.1";

const victims: { pod?: Pod; agent?: ChildProcess } = {};
const judge = new Judge();
/** Sets that the judge may find: as many as may wait for a fold. */
const JUDGED = 30;

test.after(async () => {
  judge.close();
  victims.agent?.kill("SIGKILL");
  await victims.pod?.close();
  removeScratch(root);
});

interface World {
  readonly servers: Record<string, Record<string, number>>;
  readonly entries: Record<string, string>;
}

function know(planId: string, world: World): KnownSet {
  const files = {
    "haproxy.cfg": configText({ backends: world.servers, upstream }),
    "maps/host.map": Object.entries(world.entries)
      .map(([key, value]) => `${key} ${value}\n`)
      .join(""),
  };
  return { planId, files, servers: structuredClone(world.servers), entries: { ...world.entries } };
}

/** A random change and the operations that bring it about. */
function mutate(world: World, random: () => number, turn: number): Op[] {
  const backends = Object.keys(world.servers);
  const backend = backends[Math.floor(random() * backends.length)]!;
  const servers = world.servers[backend]!;
  const ops: Op[] = [];
  const port = 10_000 + turn;
  if (random() < 0.5) {
    const server = Object.keys(servers)[0]!;
    servers[server] = port;
    ops.push({ kind: "server_set_addr", backend, server, address: upstream, port });
  } else {
    const server = `n${turn}`;
    servers[server] = port;
    ops.push(
      { kind: "server_add", backend, server, address: upstream, port },
      { kind: "server_enable", backend, server },
    );
    const old = Object.keys(servers).find((name) => name.startsWith("n") && name !== server);
    if (old !== undefined) {
      delete servers[old];
      ops.push({ kind: "server_disable", backend, server: old }, { kind: "server_del", backend, server: old });
    }
  }
  const key = `k${turn}.example`;
  world.entries[key] = backend;
  ops.push({ kind: "map_add", path: "maps/host.map", key, value: backend });
  const gone = Object.keys(world.entries).find((name) => name.startsWith("k") && name !== key);
  if (gone !== undefined && random() < 0.6) {
    delete world.entries[gone];
    ops.push({ kind: "map_del", path: "maps/host.map", key: gone });
  }
  return ops;
}

check(
  `killed at ${KILLS} random moments the agent comes back with the old set or the new one, and says which`,
  async () => {
    const random = generator(SEED);
    const address = "127.95.1.1";
    const pod: Pod = await startPod({ binary: binary!, address, identities, name: "victim", withoutAgent: true });
    victims.pod = pod;
    const { localSocket } = agentPaths({ baseDir: pod.baseDir });
    const startAgent = async (): Promise<AgentState> => {
      victims.agent = fork(
        join(import.meta.dirname, "agent-process.ts"),
        [pod.baseDir, `${address}:5555`, identities.agentDir, join(root, "agent.log")],
        {
          execArgv: ["--disallow-code-generation-from-strings", "--disable-proto=throw"],
          stdio: "ignore",
          env: { ...process.env, NODE_COMPILE_CACHE: join(root, "compile-cache") },
        },
      );
      let state: AgentState | undefined;
      await until(
        "the agent is back and has brought the worker to the claimed set",
        async () => {
          // Who looks at the files in the midst of a start changes nothing.
          await askAgent(localSocket, "GET", "/state?verify=1").catch(() => undefined);
          // It answers while it still brings the worker what it may lack; ready it is afterwards.
          const health = (await askAgent(localSocket, "GET", "/health").catch(() => undefined)) as
            | { ready?: boolean }
            | undefined;
          if (health?.ready !== true) return false;
          state = await pod.client.state().catch(() => undefined);
          const identity = state?.haproxy ?? undefined;
          return (
            state !== undefined &&
            identity !== undefined &&
            state.reload_pending_at === undefined &&
            (state.applied_plan_id === "" || state.running_plan_id === state.applied_plan_id)
          );
        },
        20_000,
      ).catch((error: unknown) => {
        const log = readFileSync(join(root, "agent.log"), "utf8").split("\n").slice(-15).join("\n");
        const pods = readFileSync(join(root, "victim.log"), "utf8").split("\n").slice(-15).join("\n");
        const seen = JSON.stringify({ ...state, files: undefined });
        throw new Error(`${String(error)}\nstate: ${seen}\nagent:\n${log}\nHAProxy:\n${pods}`, { cause: error });
      });
      return state!;
    };
    const killAgent = async (): Promise<void> => {
      const gone = once(victims.agent!, "exit");
      victims.agent!.kill("SIGKILL");
      await gone;
    };

    const world: World = { servers: {}, entries: {} };
    for (let i = 0; i < 60; i++) {
      world.servers[`b${i}`] = { s1: 9000 + i };
      world.entries[`h${i}.example`] = `b${i}`;
    }
    let seq = 1;
    let known = know("p1", world);
    await startAgent();
    const first = fullShipment(setOf(known.files), {
      planId: "p1",
      prev: "",
      token: { leader_epoch: 1, render_seq: seq },
      mode: "reload",
    });
    const outcome = await pod.client.apply(first.manifest, first.parts);
    assert.is(outcome.kind === "result" && outcome.result.ok, true, JSON.stringify(outcome));
    const history: string[] = [];
    const remember = (set: KnownSet): void => {
      judge.know(set.planId, set.files);
      history.push(set.planId);
      if (history.length > JUDGED) judge.forget(history.shift()!);
    };
    const tree = async (): Promise<string> => (await judge.judge(pod.baseDir)).current;
    remember(known);
    // How long an apply takes on this machine now: the kills are to fall into it.
    const began = performance.now();
    for (let turn = 0; turn < 5; turn++) {
      const ops = mutate(world, random, 1_000 + turn);
      seq += 1;
      const next = know(`p${seq}`, world);
      const warm = deltaShipment(setOf(known.files), setOf(next.files), {
        planId: next.planId,
        prev: known.planId,
        token: { leader_epoch: 1, render_seq: seq },
        ops,
      });
      const taken = await pod.client.apply(warm.manifest, warm.parts);
      assert.is(taken.kind === "result" && taken.result.mode, "runtime", JSON.stringify(taken));
      known = next;
      remember(next);
    }
    const span = ((performance.now() - began) / 5) * 4;
    const tally = { old: 0, new: 0, acknowledged: 0, haproxyToo: 0 };

    for (let turn = 1; turn <= KILLS; turn++) {
      if (turn % 100 === 0 && process.env["HAPTIC_KILLS"] !== undefined) process.stderr.write(`${turn} kills\n`);
      const before = known;
      const ops = mutate(world, random, turn);
      seq += 1;
      const planId = `p${seq}`;
      const next = know(planId, world);
      const reload = random() < 0.15;
      const options = {
        planId,
        prev: before.planId,
        token: { leader_epoch: 1, render_seq: seq },
        ops: reload ? [] : ops,
        ...(reload ? { mode: "reload" as const } : {}),
      };
      const shipment = reload
        ? fullShipment(setOf(next.files), options)
        : deltaShipment(setOf(before.files), setOf(next.files), options);
      let answer: ApplyOutcome | undefined;
      const sent = pod.client.apply(shipment.manifest, shipment.parts).then(
        (given) => {
          answer = given;
        },
        () => undefined,
      );
      const late = random();
      await sleep(late < 0.7 ? random() ** 2 * span : late < 0.85 ? random() * 8 * span : 150 + random() * 150);
      const haproxyToo = random() < 0.2;
      await killAgent();
      if (haproxyToo) {
        await pod.killHaproxy();
        tally.haproxyToo += 1;
      }
      await sent;
      const acknowledged = answer?.kind === "result" && answer.result.ok;
      if (answer !== undefined) assert.ok(acknowledged, JSON.stringify(answer));
      remember(next);
      assert.is.not(await tree(), "", `turn ${turn}: the tree is a mixture`);
      if (haproxyToo) await pod.startHaproxy();
      const state = await startAgent();
      assert.ok(
        [before.planId, planId].includes(state.applied_plan_id),
        `turn ${turn}: claims ${state.applied_plan_id}, neither ${before.planId} nor ${planId}`,
      );
      if (acknowledged) assert.is(state.applied_plan_id, planId, `turn ${turn}: an acknowledged change is lost`);
      known = state.applied_plan_id === planId ? next : before;
      if (known === before) {
        judge.forget(history.pop()!);
        for (const name of Object.keys(world.servers)) world.servers[name] = { ...before.servers[name] };
        for (const key of Object.keys(world.entries)) delete world.entries[key];
        Object.assign(world.entries, before.entries);
      }
      tally[known === next ? "new" : "old"] += 1;
      if (acknowledged) tally.acknowledged += 1;
      // A reload may be owed to the worker still.
      let differences: string[] = [];
      const isClaim = async (): Promise<boolean> => {
        differences = await workerDiffers((line) => pod.runtime(line), known).catch((error: unknown) => [
          String(error),
        ]);
        return differences.length === 0;
      };
      await until("worker and claim agree", isClaim, 20_000).catch(() => undefined);
      const what = `turn ${turn} (${reload ? "reload" : "operations"}, HAProxy killed: ${haproxyToo})`;
      assert.equal(differences, [], `${what}: worker and claim differ`);
      await pod.client.state({ verify: true, plan: false });
      assert.is(await tree(), known.planId, `turn ${turn}: files and claim differ`);
    }
    process.stdout.write(`  ${JSON.stringify(tally)} `);
    assert.ok(tally.new > 0, "no kill came after the turning point");
  },
);

test.run();
