/**
 * Requests that break the contract against a real agent beside a real HAProxy. After each: the answer says what is wrong, and the pod
 * holds what it held. Now and then: nothing around the tree has changed, and the next good apply works.
 */
import { fork, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { AgentState } from "../../../../src/agent/api.ts";
import { agentPaths, askAgent } from "../../../../src/agent/index.ts";
import { generator } from "../../../support/random.ts";
import { TestController } from "../controller.ts";
import {
  configText,
  fullShipment,
  makeIdentities,
  removeScratch,
  scratch,
  SERVER_NAME,
  setOf,
  startPod,
  startServers,
  until,
} from "../harness.ts";
import { makeCase, type Case, type World } from "./cases.ts";
import { rawClient, type Reply } from "./raw-client.ts";

export interface FuzzOptions {
  readonly binary: string;
  readonly seed: number;
  /** Requests in all. */
  readonly count: number;
  /** Of pod and servers: `127.x.y`. */
  readonly network: string;
  readonly say?: (line: string) => void;
}

export interface FuzzReport {
  readonly requests: number;
  /** Requests by the status of their answer. */
  readonly answers: Readonly<Record<string, number>>;
  readonly goodApplies: number;
  readonly violations: readonly string[];
}

/** So many are sent at once, now and then. */
const CROWD = 16;
/** Requests between two looks around. */
const ROUND = 25;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const random = generator(options.seed);
  const root = scratch("fuzz");
  const outside = join(root, "outside");
  mkdirSync(join(outside, "folder"), { recursive: true });
  for (const name of ["target", "folder/target", "staged", "planned"])
    writeFileSync(join(outside, name), `${name} is not the agent's`);
  const identities = await makeIdentities(root);
  const address = `${options.network}.1`;
  const upstream = `${options.network}.2`;
  const servers = await startServers(upstream, [9001, 9002]);
  const pod = await startPod({ binary: options.binary, address, identities, name: "pod", withoutAgent: true });
  let agent: ChildProcess | undefined;
  const violations: string[] = [];
  const answers: Record<string, number> = {};
  let requests = 0;
  let goodApplies = 0;
  try {
    agent = fork(
      join(import.meta.dirname, "../agent-process.ts"),
      [pod.baseDir, `${address}:5555`, identities.agentDir, join(root, "agent.log")],
      {
        execArgv: ["--disallow-code-generation-from-strings", "--disable-proto=throw"],
        stdio: "inherit",
      },
    );
    const { localSocket } = agentPaths({ baseDir: pod.baseDir });
    // What is accepted is in the files then.
    const state = async (): Promise<AgentState> =>
      (await askAgent(localSocket, "GET", "/state?verify=1")) as AgentState;
    await until(
      "the agent is ready",
      async () =>
        ((await askAgent(localSocket, "GET", "/health").catch(() => undefined)) as { ready?: boolean } | undefined)
          ?.ready === true,
      30_000,
    );
    const controller = new TestController(pod.client);
    const client = rawClient({
      host: address,
      port: 5555,
      identity: identities.controllerDir,
      serverName: SERVER_NAME,
    });
    let port = 9001;
    const filesOf = (mark: string): Record<string, string> => ({
      "haproxy.cfg": `# ${mark}\n${configText({ backends: { one: { s1: port } }, upstream })}`,
      "maps/host.map": `one.example one\n${mark}.example one\n`,
      "general/note.txt": mark,
    });
    await controller.load(filesOf("first"));
    plant(pod.baseDir, outside);
    const surroundings = (): string => digestOf(root, (path) => path === "pod" || path.endsWith(".log"));
    const untouched = surroundings();

    for (let round = 0; requests < options.count; round++) {
      const before = await state();
      const held = holdingOf(pod.baseDir);
      const mark = `m${round}`;
      const shipment = fullShipment(setOf(filesOf(mark)), {
        planId: `fuzz-${round}`,
        prev: controller.planId,
        token: { ...controller.token, render_seq: controller.seq + 1 },
        mode: "reload",
      });
      const world: World = {
        random,
        outside,
        good: {
          manifest: shipment.manifest,
          parts: new Map([...shipment.parts].map(([path, blocks]) => [path, Buffer.concat(blocks)])),
        },
        held: new Map(Object.entries(before.files).map(([path, { digest }]) => [path, digest])),
      };
      const cases = Array.from({ length: Math.min(ROUND, options.count - requests) }, () => makeCase(world));
      const judge = (one: Case, reply: Reply): void => {
        requests += 1;
        answers[reply.status] = (answers[reply.status] ?? 0) + 1;
        const wrong = faultOf(one, reply);
        if (wrong !== undefined) violations.push(`request ${requests} (${one.what}): ${wrong}`);
      };
      const crowd = random() < 0.3 ? cases.splice(0, CROWD) : [];
      await Promise.all(crowd.map(async (one) => judge(one, await client.send(one.request))));
      for (const one of cases) judge(one, await client.send(one.request));
      // A body that was cut is noticed some turns later.
      await until("no upload is left", () =>
        readdirSync(join(pod.baseDir, ".haptic/staging")).every((name) => name === PLANTED),
      ).catch(() => violations.push(`round ${round}: uploads are left in staging`));
      const after = await state().catch(() => undefined);
      if (after === undefined) {
        violations.push(`round ${round}: the agent is gone`);
        break;
      }
      if (after.generation !== before.generation || after.applied_plan_id !== before.applied_plan_id)
        violations.push(`round ${round}: the plan was ${before.applied_plan_id} and is ${after.applied_plan_id}`);
      if (after.haproxy?.worker_pid !== before.haproxy?.worker_pid)
        violations.push(`round ${round}: HAProxy was reloaded`);
      if (holdingOf(pod.baseDir) !== held) violations.push(`round ${round}: files of the set have changed`);
      if (surroundings() !== untouched) {
        violations.push(`round ${round}: something outside the tree has changed`);
        break;
      }
      port = port === 9001 ? 9002 : 9001;
      const result = await controller.change(filesOf(`good${round}`), [
        { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port },
        { kind: "map_del", path: "maps/host.map", key: `${round === 0 ? "first" : `good${round - 1}`}.example` },
        { kind: "map_add", path: "maps/host.map", key: `good${round}.example`, value: "one" },
      ]);
      if (!result.ok || result.mode !== "runtime")
        violations.push(
          `round ${round}: a good apply ended as ${result.mode}, ${JSON.stringify(result.error ?? result.op_results)}`,
        );
      goodApplies += 1;
      if (violations.length > 20) break;
      if (round % 20 === 19) options.say?.(`${requests} requests, ${violations.length} violations`);
    }
    if (agent.exitCode !== null || agent.signalCode !== null)
      violations.push(`the agent ended: ${agent.exitCode ?? agent.signalCode}`);
  } finally {
    if (agent !== undefined && agent.exitCode === null && agent.signalCode === null) {
      const gone = once(agent, "exit");
      agent.kill("SIGKILL");
      await gone;
    }
    await pod.close();
    await servers.close();
    removeScratch(root);
  }
  return { requests, answers, goodApplies, violations };
}

function faultOf({ status, says = [] }: Case, reply: Reply): string | undefined {
  if (!status.includes(reply.status)) return `answered ${reply.status} ${reply.text.slice(0, 200)}`;
  if (reply.status === 0 || reply.status >= 500) return undefined;
  const lacking = says.find(
    (word) => !reply.text.includes(JSON.stringify(word).slice(1, -1)) && !reply.text.includes(word),
  );
  return lacking === undefined ? undefined : `does not name ${lacking}: ${reply.text.slice(0, 200)}`;
}

/** The name that the next upload to the disk would get. */
const PLANTED = "1";

/** Links that lead out of the tree, where the agent might write. */
function plant(baseDir: string, outside: string): void {
  const places: readonly (readonly [string, string])[] = [
    ["escape", "folder"],
    ["current/escape", "folder"],
    ["current/maps/escape", "folder"],
    [`.haptic/staging/${PLANTED}`, "staged"],
    [".haptic/plan.new", "planned"],
    [".haptic/plan.1.new", "planned"],
    [".haptic/journal.new", "target"],
    [".haptic/lkg.new", "folder"],
    ["current.new", "folder"],
  ];
  for (const [place, target] of places) symlinkSync(join(outside, target), join(baseDir, place));
}

/** What the set in force holds, and where the link leads. */
function holdingOf(baseDir: string): string {
  return `${readlinkSync(join(baseDir, "current"))} ${digestOf(join(baseDir, "current"), () => false)}`;
}

/** Over names, kinds, contents and times of everything below a folder; links are not followed. */
function digestOf(root: string, isLeftOut: (path: string) => boolean): string {
  const hash = createHash("sha256");
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder).toSorted()) {
      const place = join(folder, name);
      const path = relative(root, place);
      if (isLeftOut(path)) continue;
      const stat = lstatSync(place);
      hash.update(`${path} ${stat.mode} ${stat.size} ${stat.isDirectory() ? "" : stat.mtimeMs}\n`);
      if (stat.isDirectory()) visit(place);
      else if (stat.isSymbolicLink()) hash.update(readlinkSync(place));
      else if (stat.isFile()) hash.update(readFileSync(place));
    }
  };
  visit(`${root}/`);
  return hash.digest("hex");
}
