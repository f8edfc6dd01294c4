/**
 * One pod as in production: a HAProxy of the version under test, the agent as a process of its own, and before it the
 * controller's way to a pod: render, plan, difference, `podApply`. Beside it, on demand, a HAProxy that was started from a
 * copy of the files that the agent holds.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { createServer, type Server } from "node:net";
import { join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { createActor, sendTo, setup } from "xstate";
import type { PodApplyCommand, PodApplyReport } from "../../../machines/podApply.ts";
import type { AgentState } from "../../../src/agent/api.ts";
import { type AgentClient, createAgentClient } from "../../../src/agent/client.ts";
import { connectAgents } from "../../../src/controller/agent-connect.ts";
import { wirePodApply } from "../../../src/controller/pod-apply.ts";
import { type ApplyRecord, PodSessions } from "../../../src/controller/pod-sessions.ts";
import { PlanShelf } from "../../../src/controller/plan-shelf.ts";
import { joinBlocks, type RenderPlan } from "../../../src/plan/index.ts";
import { CLIENT_NAME, type Identities, type Pod, SERVER_NAME, startPod, until } from "../agent/harness.ts";
import { type Model, objectsOf } from "./model.ts";
import { createService, createStores, isOrdered, type Alias } from "./templates.ts";
import { compareWorkers, readWorker, type WorkerState, ask } from "./worker-state.ts";

const MAIN = resolve(import.meta.dirname, "../../../src/main.ts");
const NODE_FLAGS = ["--disallow-code-generation-from-strings", "--disable-proto=throw", "--max-semi-space-size=4"];
const POD = "pod";

export interface RigOptions {
  readonly binary: string;
  readonly identities: Identities;
  readonly name: string;
  /** Of the pod, and of the HAProxy that is started fresh. */
  readonly address: string;
  readonly freshAddress: string;
  /** `--reload-interval-min` of the agent, in ms. */
  readonly reloadIntervalMs: number;
}

/** What a change came to. */
export interface Change {
  /** What the agent answered: runtime, file_only, reload, scheduled, noop, rejected. */
  readonly mode: string;
  readonly reasons: readonly string[];
  readonly message: string;
}

type Order = { readonly type: "ORDER"; readonly command: PodApplyCommand };

export class Rig {
  readonly #options: RigOptions;
  readonly #pod: Pod;
  readonly #client: AgentClient;
  readonly #service = createService();
  readonly #stores = createStores();
  readonly #shelf = new PlanShelf();
  readonly #sessions: PodSessions;
  readonly #actor;
  readonly #log;
  #agent: ChildProcess | undefined;
  #held: ReturnType<typeof objectsOf> | undefined;
  #seq = 0;
  #plan: RenderPlan | undefined;
  #records: ApplyRecord[] = [];
  #settled: ((report: PodApplyReport) => void) | undefined;

  private constructor(options: RigOptions, pod: Pod) {
    this.#options = options;
    this.#pod = pod;
    this.#log = createWriteStream(join(options.identities.root, `${options.name}-agent.log`), { flags: "a" });
    const tls = { dir: options.identities.controllerDir, serverName: SERVER_NAME };
    this.#client = createAgentClient({ url: `https://${options.address}:5555`, tls });
    this.#sessions = new PodSessions({
      connect: connectAgents({ tls }),
      shelf: this.#shelf,
      epoch: () => 1,
      seq: () => this.#seq,
      now: () => performance.now(),
      onApply: (record) => this.#records.push(record),
      pause: () => new Promise((wake) => setImmediate(wake)),
    });
    this.#sessions.follow([
      { id: POD, namespace: "default", name: POD, address: `${options.address}:5555`, version: "" },
    ]);
    const registry = { add: () => undefined, remove: () => undefined };
    this.#actor = createActor(
      setup({
        types: { events: {} as Order | PodApplyReport },
        actors: { podApply: wirePodApply(this.#sessions, registry) },
        actions: {
          order: sendTo("podApply", ({ event }) => (event as Order).command),
          settle: ({ event }) => this.#settled?.(event as PodApplyReport),
        },
      }).createMachine({
        id: "rig",
        invoke: { id: "podApply", src: "podApply", input: { pod: POD, backoffMs: () => 50 } },
        on: { ORDER: { actions: "order" }, "POD.SETTLED": { actions: "settle" }, "POD.DEPOSED": { actions: "settle" } },
      }),
    );
  }

  static async start(options: RigOptions): Promise<Rig> {
    const { binary, identities, name, address } = options;
    const rig = new Rig(options, await startPod({ binary, identities, name, address, withoutAgent: true }));
    await rig.#startAgent();
    rig.#actor.start();
    return rig;
  }

  get socket(): string {
    return join(this.#pod.baseDir, "haproxy-worker.sock");
  }

  get plan(): RenderPlan {
    return this.#plan!;
  }

  async #startAgent(): Promise<void> {
    const { identities, address, reloadIntervalMs } = this.#options;
    this.#agent = fork(
      MAIN,
      `agent --base-dir ${this.#pod.baseDir} --listen ${address}:5555 --tls-dir ${identities.agentDir} --tls-client-name ${CLIENT_NAME} --reload-interval-min ${reloadIntervalMs}ms --metrics-listen ${address}:9101`.split(
        " ",
      ),
      {
        execArgv: NODE_FLAGS,
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        env: { ...process.env, NODE_COMPILE_CACHE: join(identities.root, "compile-cache"), LOG_LEVEL: "debug" },
      },
    );
    this.#agent.stdout!.pipe(this.#log, { end: false });
    this.#agent.stderr!.pipe(this.#log, { end: false });
    await until(
      "the agent accepts applies",
      () =>
        this.state().then(
          (state) => state.haproxy !== null,
          () => false,
        ),
      30_000,
    );
  }

  state(verify = false): Promise<AgentState> {
    return this.#client.state({ verify, plan: false });
  }

  /** Renders the model and brings the pod there. */
  async apply(model: Model): Promise<Change> {
    this.#plan = await this.#render(model);
    this.#shelf.put(this.#plan);
    this.#seq += 1;
    this.#records = [];
    const planId = this.#plan.id;
    const report = await new Promise<PodApplyReport>((settle) => {
      this.#settled = (said) => {
        if (said.type === "POD.DEPOSED" || said.planId === planId) settle(said);
      };
      this.#order({ type: "POD.APPLY", planId, seq: this.#seq, verify: false });
    });
    this.#settled = undefined;
    if (report.type === "POD.DEPOSED") throw new Error("the rig was deposed");
    const record = this.#records.findLast((each) => each.planId === planId);
    const reasons = record?.reasons ?? [];
    if (report.outcome === "failed") return { mode: "rejected", reasons, message: report.message };
    return { mode: report.mode, reasons, message: record?.message ?? "" };
  }

  /** The gate has passed the plan in force. */
  promote(): void {
    this.#order({ type: "POD.PROMOTE", planId: this.plan.id });
  }

  #order(command: PodApplyCommand): void {
    this.#actor.send({ type: "ORDER", command });
  }

  async #render(model: Model): Promise<RenderPlan> {
    const objects = objectsOf(model);
    for (const alias of Object.keys(objects) as Alias[]) {
      const store = this.#stores.stores[alias];
      for (const [name, object] of this.#held?.[alias] ?? []) if (!objects[alias].has(name)) store.remove(object);
      for (const [name, object] of objects[alias])
        if (JSON.stringify(this.#held?.[alias].get(name)) !== JSON.stringify(object)) store.upsert(object);
    }
    this.#held = objects;
    const { result, problems, isolated } = await this.#service.render(
      {
        snapshot: this.#stores.set.snapshot(),
        haproxyPods: undefined,
        capabilities: { supports_crt_list: true },
        renderMode: "reconcile",
      },
      new AbortController().signal,
    );
    const faults = [...problems, ...isolated.map(({ problem }) => problem)];
    if (result === undefined || faults.length > 0) throw new Error(faults.map((problem) => problem.text).join("\n"));
    return result.plan;
  }

  /** Waits until the worker runs what was applied, and nothing waits to be removed from it. */
  async settle(): Promise<AgentState> {
    let state: AgentState | undefined;
    const still = (): string => {
      if (state === undefined) return "no state";
      const { files: _, runtime_inventory: __, ...rest } = state;
      return JSON.stringify(rest);
    };
    await until(
      "the worker runs what was applied",
      async () => {
        state = await this.state();
        const { servers, backends } = state.pending_deletes;
        return (
          state.worker_ops_plan_id === state.applied_plan_id &&
          state.reload_pending_at === undefined &&
          servers.length + backends.length === 0
        );
      },
      30_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${still()}`);
    });
    return state!;
  }

  /** One command to the worker, past the agent. */
  ask(line: string): Promise<string> {
    return ask(this.socket, line);
  }

  /** Worker of the pod. */
  async worker(): Promise<WorkerState> {
    return readWorker({ socket: this.socket, ordered: isOrdered });
  }

  /**
   * How the pod's files differ from the plan, and its worker from a HAProxy that was started from these files. Health checks
   * need some time to come to the same result: what differs must differ for `patienceMs`.
   */
  async differences(names: readonly string[], patienceMs = 5_000): Promise<string[]> {
    await this.settle();
    const state = await this.state(true);
    const wrong = this.#wrongFiles();
    if (state.invariant_violation !== undefined) wrong.push(`invariant violated: ${state.invariant_violation}`);
    if (wrong.length > 0) return wrong;
    const fresh = await Fresh.start(this.#options, join(this.#pod.baseDir, "current"));
    try {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const [worker, started] = [await this.worker(), await fresh.worker()];
        const found = compareWorkers(worker, started, { left: "the worker", right: "a fresh one" }).filter(
          (difference) => !this.#isHeldReady(difference, worker),
        );
        if (found.length === 0 || performance.now() > deadline) {
          return [...found, ...(await this.#servedDifferently(fresh, names))];
        }
        await sleep(100);
      }
    } finally {
      await fresh.close();
    }
  }

  /**
   * A certificate or CA file of the set that nothing names yet: the worker has it, so that an entry or a server may name it,
   * where a fresh HAProxy reads only what is named.
   */
  #isHeldReady(difference: string, worker: WorkerState): boolean {
    const [key, noun, path] = /^(cert|ca-file) (\S+)(?= is in the worker only$)/.exec(difference) ?? [];
    if (key === undefined || path === undefined) return false;
    const file = this.plan.files.get(path);
    const fields = worker.get(key)!;
    if (file === undefined || fields["Status"] !== "Unused") return false;
    const content = joinBlocks(file.blocks).toString();
    const wanted = pemCertificates(content).map((certificate) => certificate.fingerprint.replaceAll(":", ""));
    const held = noun === "cert" ? fields["SHA1 FingerPrint"] : fields["certificates"];
    return noun === "cert" ? held === wanted[0] : wanted.every((fingerprint) => held?.includes(fingerprint) === true);
  }

  /** Which certificate answers for each name, and without one. */
  async #servedDifferently(fresh: Fresh, names: readonly string[]): Promise<string[]> {
    const differences: string[] = [];
    for (const name of ["", ...names]) {
      const [held, wanted] = [await served(this.#options.address, name), await served(fresh.address, name)];
      if (held !== wanted)
        differences.push(
          `a client that asks for ${name === "" ? "no name" : name} gets ${held}, of a fresh one ${wanted}`,
        );
    }
    return differences;
  }

  /** Files of the pod that are not the plan's. */
  #wrongFiles(): string[] {
    const folder = join(this.#pod.baseDir, "current");
    const held = new Set(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
        .map((entry) => relative(folder, join(entry.parentPath, entry.name))),
    );
    const wrong: string[] = [];
    for (const [path, file] of this.plan.files.entries()) {
      if (!held.delete(path)) wrong.push(`file ${path} is not on the pod`);
      else if (!readFileSync(join(folder, path)).equals(joinBlocks(file.blocks)))
        wrong.push(`file ${path} is another one`);
    }
    return [...wrong, ...[...held].map((path) => `file ${path} should be gone`)];
  }

  async close(): Promise<void> {
    this.#actor.stop();
    await this.#sessions.close();
    await this.#client.close();
    const agent = this.#agent;
    if (agent !== undefined && agent.exitCode === null && agent.signalCode === null) {
      const gone = once(agent, "exit");
      agent.kill("SIGTERM");
      await gone;
    }
    await this.#pod.close();
    this.#log.end();
  }
}

/** A HAProxy that was started from a copy of a set of files. */
class Fresh {
  readonly address: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(address: string, folder: string, running: ChildProcess) {
    this.address = address;
    this.#folder = folder;
    this.#process = running;
  }

  static async start(options: RigOptions, files: string): Promise<Fresh> {
    const folder = join(options.identities.root, `${options.name}-fresh`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    cpSync(`${files}/`, join(folder, "set"), { recursive: true, dereference: true });
    // With a master, as the pod's: how many files a worker may open, and so its connections, depends on it.
    const masterSocket = `${join(folder, "haproxy-master.sock")},level,admin`;
    const running = spawn(options.binary, ["-W", "-db", "-S", masterSocket, "-f", join(folder, "set/haproxy.cfg")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, HAPTIC_BIND_ADDRESS: options.freshAddress, HAPTIC_BASE: folder },
    });
    let said = "";
    for (const stream of [running.stdout, running.stderr])
      stream.on("data", (text: Buffer) => (said += text.toString()));
    const fresh = new Fresh(options.freshAddress, folder, running);
    await until("a fresh HAProxy answers", async () => {
      if (running.exitCode !== null) throw new Error(`a fresh HAProxy does not take the files:\n${said}`);
      return existsSync(fresh.socket) && (await ask(fresh.socket, "show info").catch(() => "")) !== "";
    });
    return fresh;
  }

  get socket(): string {
    return join(this.#folder, "haproxy-worker.sock");
  }

  worker(): Promise<WorkerState> {
    return readWorker({ socket: this.socket, ordered: isOrdered });
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const gone = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const pemCertificates = (text: string): X509Certificate[] =>
  (text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

/** Serial number of the certificate that answers for a name; the error where none does. */
function served(address: string, name: string): Promise<string> {
  return new Promise((found) => {
    const socket = connectTls(
      { host: address, port: 8443, rejectUnauthorized: false, ...(name !== "" && { servername: name }) },
      () => {
        found(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      },
    );
    socket.on("error", (error) => found(error.message));
  });
}

/** Servers that take connections, so that health checks succeed, and say what an agent says. */
export async function startTargets(addresses: readonly string[], ports: readonly number[]): Promise<{ close(): void }> {
  const servers: Server[] = [];
  for (const address of addresses) {
    for (const port of ports) {
      const server = createServer((socket) => socket.on("error", () => undefined).end("up\n"));
      server.listen(port, address);
      await once(server, "listening");
      servers.push(server);
    }
  }
  return { close: () => servers.forEach((server) => server.close()) };
}
