/**
 * The processes of the bench, as in production: API server, `haptic run`, `haptic agent`, HAProxy, and one more HAProxy that
 * answers for all endpoints. Beside them those of the floor: relay, bare agent, and a HAProxy with a copy of the same files.
 */
import { type ChildProcess, execFile, fork } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import { nodeFlags, withMallocSettings } from "../../../bin/node-flags.mjs";
import { askAgent } from "../../../src/agent/index.ts";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";
import { ProcessKeeper, type RunningProcess } from "../../../src/devcluster/processes.ts";
import type { ApiOrder, ApiReport, ApiSettings } from "./api-process.ts";
import { monotonic } from "./clock.ts";
import type { FloorAgentSettings } from "./floor-agent-process.ts";
import type { FloorRelaySettings } from "./floor-relay-process.ts";
import type { LoopReport } from "./loop-probe.ts";
import { BACKEND_PORT, STRUCTURE_HOST, structureOf } from "./objects.ts";
import { Poller } from "./poller.ts";

const root = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** Two runs beside each other need addresses of their own. */
const NET = Number(process.env["BENCH_NET"] ?? 83);
const ADDRESS = { api: `127.${NET}.0.1`, pod: `127.${NET}.1.11`, floor: `127.${NET}.1.12` } as const;
const PORT = { api: 6443, line: 6444, agent: 5555, http: 8080, debug: 6000 + NET } as const;
const NAMESPACE = "default";
const NAMES = { agent: `haptic-agent.${NAMESPACE}.svc`, controller: `haptic-controller-tls.${NAMESPACE}.svc` } as const;
const GRACE_MS = 3_000;
const NODE_FLAGS = nodeFlags("run");
const BUNDLE = process.env["BENCH_BUNDLE"] ?? join(root, "dist", "main.mjs");
const START_WRAPPER = `haproxy=$1 master=$2; shift 2
config=$("$@") && exec "$haproxy" -W -db -S "$master,level,admin" -f "$config"`;

const BACKENDS = `global
    nbthread 1
defaults
    mode http
    timeout client 60s
    timeout server 60s
    timeout connect 1s
frontend all
    bind 0.0.0.0:${BACKEND_PORT}
    http-request return status 200 hdr x-served-by "%[dst]"
`;

/** Waits until a condition holds; an error counts as "not yet". */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const began = monotonic();
  let last: unknown;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      last = error;
    }
    if (monotonic() - began > limitMs) throw new Error(`not within ${limitMs} ms: ${what} (${String(last)})`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

export class Rig {
  readonly #haproxy: string;
  readonly #folder = mkdtempSync(existsSync("/dev/shm") ? "/dev/shm/haptic-bench-" : join(tmpdir(), "haptic-bench-"));
  readonly #keeper = new ProcessKeeper(this.#folder);
  readonly #children: ChildProcess[] = [];
  readonly #pending = new Map<number, (report: Extract<ApiReport, { kind: "done" }>) => void>();
  /** Last lines of everything that runs. */
  readonly #lines: string[] = [];
  #api: ChildProcess | undefined;
  #orders = 0;
  #controller: RunningProcess | undefined;
  #agent: RunningProcess | undefined;
  /** Where the poller of the product and that of the floor ask. */
  readonly poller = new Poller(ADDRESS.pod, PORT.http);
  readonly floorPoller = new Poller(ADDRESS.floor, PORT.http);

  constructor(haproxy: string) {
    this.#haproxy = haproxy;
  }

  /** Bundles the sources, unless BENCH_BUNDLE names a bundle. */
  static async bundle(): Promise<void> {
    if (process.env["BENCH_BUNDLE"] !== undefined) return;
    await run(process.execPath, [join(root, ".ci/bundle.ts")], { cwd: root });
  }

  tail(): string {
    return this.#lines.slice(-30).join("\n");
  }

  get pids(): { controller: number; agent: number } {
    return { controller: this.#controller!.pid, agent: this.#agent!.pid };
  }

  #node(name: string, args: readonly string[], environment: object = {}): RunningProcess {
    const folder = process.env["BENCH_PROFILE"];
    const profile =
      folder === undefined
        ? []
        : ["--cpu-prof", "--cpu-prof-interval=100", `--cpu-prof-name=${name}.cpuprofile`, `--cpu-prof-dir=${folder}`];
    const more = (process.env["BENCH_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");
    const command = [process.execPath, ...nodeFlags(name), ...more, ...profile, ...args];
    return this.#start(name, command, withMallocSettings({ ...environment }), true);
  }

  #start(name: string, command: readonly string[], environment: object = {}, channel = false): RunningProcess {
    const [program = "", ...args] = command;
    return this.#keeper.start({
      command: program,
      args,
      channel,
      environment: { ...process.env, NODE_COMPILE_CACHE: join(this.#folder, "compile-cache"), ...environment },
      onLine: (line) => this.#hear(name, line),
    });
  }

  #hear(name: string, line: string): void {
    this.#lines.push(`${name} ${line}`);
    if (this.#lines.length > 200) this.#lines.splice(0, 100);
    if (process.env["TEST_LOG"] !== undefined) process.stderr.write(`${name} ${line}\n`);
  }

  /** A helper process of the bench itself; ready when it has sent its first message. */
  async #helper(file: string, settings: object): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, file), [JSON.stringify(settings)], { execArgv: NODE_FLAGS });
    this.#children.push(child);
    child.on("message", (message) => this.#hear(file, JSON.stringify(message)));
    await new Promise<void>((done, failed) => {
      child.once("message", () => done());
      child.once("exit", (code) => failed(new Error(`${file} ended with ${code}`)));
    });
    return child;
  }

  /** API server, certificates, endpoints' answers; the API holds `objects`. */
  async begin(objects: readonly object[]): Promise<void> {
    const manifests = join(this.#folder, "manifests");
    mkdirSync(manifests);
    cpSync(join(root, "crds"), manifests, { recursive: true });
    writeFileSync(join(manifests, "z-config.yaml"), stringify(withStructure()));
    writeFileSync(join(manifests, "structure.yaml"), stringify(structureOf(0)));
    writeFileSync(
      join(manifests, "class.yaml"),
      stringify({
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        metadata: { name: "haptic" },
        spec: { controller: "haproxy-haptic.org/ingress" },
      }),
    );
    const authority = await createAuthority("haptic-bench", new Date());
    writeIdentity(join(this.#folder, "agent-tls"), await authority.issue([NAMES.agent], "server"), authority);
    writeIdentity(join(this.#folder, "controller-tls"), await authority.issue([NAMES.controller], "client"), authority);
    writeFileSync(join(this.#folder, "backends.cfg"), BACKENDS);
    this.#start("backends", [this.#haproxy, "-db", "-f", join(this.#folder, "backends.cfg")]);

    const settings: ApiSettings = {
      host: ADDRESS.api,
      port: PORT.api,
      linePort: PORT.line,
      lineTlsFolder: join(this.#folder, "agent-tls"),
      manifests,
    };
    this.#api = fork(join(import.meta.dirname, "api-process.ts"), [JSON.stringify(settings)], { execArgv: NODE_FLAGS });
    this.#children.push(this.#api);
    await new Promise<void>((done) => {
      this.#api!.on("message", (report: ApiReport) => {
        if (report.kind === "ready") {
          writeFileSync(join(this.#folder, "kubeconfig"), report.kubeconfig);
          return done();
        }
        this.#pending.get(report.id)?.(report);
        this.#pending.delete(report.id);
      });
    });
    for (let at = 0; at < objects.length; at += 300)
      await this.order({ do: "put", objects: objects.slice(at, at + 300) });
  }

  /** Has the API's process do something; resolves with the moment in which the marked bytes were written. */
  async order(order: WithoutId<ApiOrder>): Promise<number> {
    this.#orders += 1;
    const id = this.#orders;
    const report = await new Promise<Extract<ApiReport, { kind: "done" }>>((done) => {
      this.#pending.set(id, done);
      this.#api!.send({ ...order, id });
    });
    if (report.error !== undefined) throw new Error(`the API: ${report.error}`);
    return report.at;
  }

  /** One HAProxy pod: agent, HAProxy, and the Pod object that says that it is ready. */
  async startPod(): Promise<void> {
    const base = join(this.#folder, "pod");
    mkdirSync(base);
    this.#agent = this.#node("agent", [
      BUNDLE,
      "agent",
      `--base-dir=${base}`,
      `--listen=${ADDRESS.pod}:${PORT.agent}`,
      `--tls-dir=${join(this.#folder, "agent-tls")}`,
      `--tls-client-name=${NAMES.controller}`,
      `--metrics-listen=${ADDRESS.pod}:9101`,
      // The first reload is immediate anyway; a bench of many need not wait five seconds for each.
      "--reload-interval-min=1s",
    ]);
    await until("the agent listens", () => agentSays(ADDRESS.pod, "/healthz"));
    const prepare = [
      process.execPath,
      ...NODE_FLAGS,
      BUNDLE,
      "agent",
      "prepare",
      `--base-dir=${base}`,
      `--haproxy=${this.#haproxy}`,
    ];
    const master = join(base, "haproxy-master.sock");
    this.#start("haproxy", ["/bin/sh", "-c", START_WRAPPER, "haproxy-start", this.#haproxy, master, ...prepare], {
      HAPTIC_BIND_ADDRESS: ADDRESS.pod,
      HAPTIC_WORKER_SOCKET: join(base, "haproxy-worker.sock"),
    });
    await until("the agent is ready", () => agentSays(ADDRESS.pod, "/readyz"));
    const condition = (type: string): object => ({ type, status: "True" });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "haproxy-1", namespace: NAMESPACE, labels: { "app.kubernetes.io/component": "loadbalancer" } },
      spec: {
        nodeName: "bench",
        containers: [
          { name: "haproxy", image: "haproxy:3.4", ports: [{ name: "http", containerPort: PORT.http }] },
          { name: "agent", image: "haptic:bench", ports: [{ name: "agent", containerPort: PORT.agent }] },
        ],
      },
    };
    await this.order({ do: "put", objects: [pod] });
    const status = {
      phase: "Running",
      podIP: ADDRESS.pod,
      podIPs: [{ ip: ADDRESS.pod }],
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition),
      containerStatuses: ["haproxy", "agent"].map((name) => ({
        name,
        image: name,
        imageID: name,
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: {} },
      })),
    };
    await this.order({ do: "status", object: { ...pod, status } });
  }

  /** `haptic run`; the loop of its process is watched from the first moment. */
  startController(): void {
    // Without types: what strips them would stay in the controller's memory.
    const probe = join(this.#folder, "loop-probe.mjs");
    writeFileSync(probe, stripTypeScriptTypes(readFileSync(join(import.meta.dirname, "loop-probe.ts"), "utf8")));
    this.#controller = this.#node(
      "controller",
      [
        `--import=${probe}`,
        BUNDLE,
        "run",
        "--crd-name=ingress",
        `--kubeconfig=${join(this.#folder, "kubeconfig")}`,
        `--agent-tls-dir=${join(this.#folder, "controller-tls")}`,
        `--haproxy=${this.#haproxy}`,
        `--debug-port=${PORT.debug}`,
      ],
      {
        POD_NAME: "haptic-controller",
        POD_NAMESPACE: NAMESPACE,
        BENCH_PROBE_SOCKET: join(this.#folder, "probe.sock"),
        BENCH_PROBE_AT_START: "1",
      },
    );
  }

  /** What the controller's loop did since the last call; afterwards it is watched, or not. */
  loop(next: "watch" | "rest"): Promise<LoopReport> {
    return new Promise((done, failed) => {
      const socket = connect(join(this.#folder, "probe.sock"));
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => (text += part));
      socket.on("error", failed);
      socket.on("end", () => done(JSON.parse(text) as LoopReport));
      socket.write(next);
    });
  }

  /** Waits for a host's first answer through the pod; the moment of it. */
  async served(host: string, limitMs: number): Promise<number> {
    const listening = async (): Promise<boolean> => {
      await this.poller.open();
      return true;
    };
    await until("HAProxy listens", listening, limitMs);
    return this.poller.until(host, "x-served-by", limitMs);
  }

  async variable<T>(name: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${PORT.debug}/debug/vars/${name}`);
    return (await answer.json()) as T;
  }

  /** Adds what controller and agent say of the newest change to a file of JSON lines. */
  async trace(file: string, about: object): Promise<void> {
    await new Promise((wake) => setTimeout(wake, 30));
    const [life] = await this.variable<object[]>("renders");
    const state = (await askAgent(join(this.#folder, "pod", ".haptic", "agent.sock"), "GET", "/state")) as {
      last_apply?: { timing: object };
    };
    appendFileSync(file, `${JSON.stringify({ ...about, agent: state.last_apply?.timing, life })}\n`);
  }

  /** The pod has what the controller wants it to have, judged and stored. */
  async settled(limitMs = 60_000): Promise<void> {
    await until(
      "the controller is at rest",
      async () => {
        const pods =
          await this.variable<{ applied: string; running: string; lastGood: string; blobStored: boolean }[]>("pods");
        return pods.length > 0 && pods.every((pod) => pod.blobStored && pod.applied === pod.lastGood);
      },
      limitMs,
    );
  }

  /** Where the bench runs with real-time priority, `haproxy -c` leaves it: no niceness counts there. */
  async demoteChecks(): Promise<void> {
    if (process.env["BENCH_REALTIME"] === undefined) return;
    const { controller } = this.pids;
    const children = readFileSync(`/proc/${controller}/task/${controller}/children`, "utf8").trim().split(" ");
    for (const pid of children) await run("chrt", ["--other", "--pid", "0", pid]);
  }

  /** The floor's processes, from a copy of the files that the pod has now. */
  async startFloor(): Promise<Floor> {
    const base = join(this.#folder, "floor");
    cpSync(realpathSync(join(this.#folder, "pod", "current")), base, { recursive: true });
    const workerSocket = join(base, "worker.sock");
    const masterSocket = join(base, "master.sock");
    const configFile = join(base, "haproxy.cfg");
    this.#start("floor-haproxy", [this.#haproxy, "-W", "-db", "-S", masterSocket, "-f", configFile], {
      HAPTIC_BIND_ADDRESS: ADDRESS.floor,
      HAPTIC_WORKER_SOCKET: workerSocket,
    });
    await until("the floor's HAProxy listens", async () => {
      await this.floorPoller.open();
      return existsSync(workerSocket);
    });
    const agent: FloorAgentSettings = {
      host: ADDRESS.floor,
      port: PORT.agent,
      tlsFolder: join(this.#folder, "agent-tls"),
      workerSocket,
      masterSocket,
      configFile,
    };
    await this.#helper("floor-agent-process.ts", agent);
    const relay: FloorRelaySettings = {
      host: ADDRESS.api,
      linePort: PORT.line,
      agent: `${ADDRESS.floor}:${PORT.agent}`,
      tlsFolder: join(this.#folder, "controller-tls"),
      serverName: NAMES.agent,
    };
    await this.#helper("floor-relay-process.ts", relay);
    const text = readFileSync(configFile, "utf8");
    return {
      profile: / from (haptic-be-\S+)/.exec(text)![1]!,
      map: /map_beg\(([^)]+)\)/.exec(text)![1]!,
    };
  }

  async close(): Promise<void> {
    this.poller.close();
    this.floorPoller.close();
    await this.#controller?.end(GRACE_MS);
    await this.#keeper.clear(GRACE_MS);
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await gone;
    }
  }
}

/** The ingress example, and one line of its frontend that a ConfigMap decides: what changes it needs a reload. */
function withStructure(): object {
  const config = parse(readFileSync(join(root, "examples/ingress/config.yaml"), "utf8")) as {
    spec: { watchedResources: Record<string, object>; haproxyConfig: { template: string } };
  };
  const { watchedResources, haproxyConfig } = config.spec;
  watchedResources["structures"] = {
    apiVersion: "v1",
    resources: "configmaps",
    indexBy: ["metadata.name"],
    debounceInterval: "0",
  };
  const place = "    http-request set-header X-Forwarded-Proto http\n";
  const version = `{{ resources.structures.GetSingle("structure") | dig_string("0", "data", "version") }}`;
  const line = `    http-request return status 200 hdr x-structure "${version}" if { req.hdr(host) ${STRUCTURE_HOST} }\n`;
  haproxyConfig.template = haproxyConfig.template.replace(place, place + line);
  return config;
}

/** Names that the floor's commands need. */
export interface Floor {
  readonly profile: string;
  readonly map: string;
}

function agentSays(host: string, path: string): Promise<boolean> {
  return new Promise((done) => {
    const ask = request({ host, port: PORT.agent, path, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode === 200);
    });
    ask.on("error", () => done(false));
    ask.end();
  });
}
