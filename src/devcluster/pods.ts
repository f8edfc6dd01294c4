/**
 * HAProxy pods of this machine: each has its own loopback address and folder, an agent's process and a real HAProxy that
 * its start wrapper begins, and a Pod object that tells the truth about both. When what happens is in machines/devPod.ts.
 */
import { mkdirSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import type { ContainerStates } from "../../machines/devPod.ts";
import type { KubeClient } from "../kube/index.ts";
import type { KubeObject } from "../stores/types.ts";
import { hapticCommand, WITHOUT_BASIC } from "./program.ts";
import type { ProcessKeeper, RunningProcess } from "./processes.ts";

export const AGENT_METRICS_PORT = 9101;
const AGENT_PORT = 5555;
const GRACE_MS = 5_000;
const MANAGER = "haptic-dev";

/** Asks the agent's prepare for a configuration that HAProxy accepts, then becomes HAProxy. */
const START_WRAPPER = `haproxy=$1 base=$2 master=$3; shift 3
config=$("$@") && exec "$haproxy" -C "$base" -W -db -S "$master,level,admin" -f "$config"`;

export type ContainerName = "agent" | "haproxy";

export interface PodSpec {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
  /** Folder of its own, on a tmpfs where there is one. */
  readonly folder: string;
  /** Binary that the pod runs. */
  readonly haproxy: string;
  readonly haproxyVersion: string;
  /** Folder with the agent's tls.crt, tls.key and ca.crt. */
  readonly tlsFolder: string;
  /** DNS name that the controller's certificate carries. */
  readonly controllerName: string;
  /** Port that tells HAProxy ready: the one of its HTTP frontend. */
  readonly httpPort: number;
  /** Further environment of HAProxy. */
  readonly environment: Readonly<Record<string, string>>;
  /** Further flags of the agent. */
  readonly agentFlags?: readonly string[];
}

export interface PodDeps {
  readonly keeper: ProcessKeeper;
  readonly client: KubeClient;
  readonly node: string;
  readonly now: () => Date;
  /** Hears what the containers say. */
  readonly onLine: (pod: string, container: ContainerName, line: string) => void;
}

export class DevPod {
  readonly spec: PodSpec;
  readonly #deps: PodDeps;
  readonly #processes = new Map<ContainerName, { running: RunningProcess; startedAt: string }>();
  #uid = "";
  #readySince = "";
  #wasReady: boolean | undefined;

  constructor(spec: PodSpec, deps: PodDeps) {
    this.spec = spec;
    this.#deps = deps;
  }

  get baseDir(): string {
    return join(this.spec.folder, "base");
  }

  /** Process id of a container's main process while it runs. */
  pid(container: ContainerName): number | undefined {
    return this.#processes.get(container)?.running.pid;
  }

  /** Runs a container once; resolves with how it ended. */
  async run(container: ContainerName): Promise<string> {
    mkdirSync(this.baseDir, { recursive: true });
    const [command, ...args] = container === "agent" ? this.#agentCommand() : this.#haproxyCommand();
    const running = this.#deps.keeper.start({
      command,
      args,
      channel: container === "agent",
      environment: {
        ...process.env,
        ...WITHOUT_BASIC,
        ...this.spec.environment,
        HAPTIC_BIND_ADDRESS: this.spec.address,
        HAPTIC_WORKER_SOCKET: join(this.baseDir, "haproxy-worker.sock"),
        POD_NAME: this.spec.name,
        POD_NAMESPACE: this.spec.namespace,
      },
      onLine: (line) => this.#deps.onLine(this.spec.name, container, line),
    });
    this.#processes.set(container, { running, startedAt: this.#timestamp() });
    const how = await running.ended;
    this.#processes.delete(container);
    return how;
  }

  async terminate(container: ContainerName): Promise<void> {
    await this.#processes.get(container)?.running.end(GRACE_MS);
  }

  /** One readiness probe: the agent's /readyz; HAProxy's public port. */
  probe(container: ContainerName): Promise<boolean> {
    return container === "agent" ? this.#agentReady() : this.#portOpen();
  }

  /** Creates the Pod object; its status follows with the containers. */
  async createObject(): Promise<void> {
    const { name, namespace, labels } = this.spec;
    const object: KubeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels },
      spec: {
        nodeName: this.#deps.node,
        containers: [
          {
            name: "haproxy",
            image: `haproxy:${this.spec.haproxyVersion}`,
            ports: [{ name: "http", containerPort: this.spec.httpPort }],
          },
          { name: "agent", image: "haptic:dev", ports: [{ name: "agent", containerPort: AGENT_PORT }] },
        ],
      },
    };
    const created = await this.#deps.client.create({ apiVersion: "v1", resource: "pods", namespace }, object);
    this.#uid = created.metadata.uid ?? "";
  }

  async deleteObject(): Promise<void> {
    const { name, namespace } = this.spec;
    await this.#deps.client.delete({ apiVersion: "v1", resource: "pods", namespace }, name, { uid: this.#uid });
  }

  /** Writes the object's status as a kubelet would. */
  async writeStatus(containers: ContainerStates): Promise<void> {
    const { name, namespace, address } = this.spec;
    const ready = Object.values(containers).every(({ phase }) => phase === "ready");
    if (ready !== this.#wasReady) this.#readySince = this.#timestamp();
    this.#wasReady = ready;
    const condition = (type: string, holds: boolean): object => ({
      type,
      status: holds ? "True" : "False",
      lastTransitionTime: this.#readySince,
    });
    const status = {
      phase: "Running",
      podIP: address,
      podIPs: [{ ip: address }],
      hostIP: address,
      conditions: [
        condition("PodScheduled", true),
        condition("Initialized", true),
        condition("ContainersReady", ready),
        condition("Ready", ready),
      ],
      containerStatuses: Object.values(containers).map((state) => this.#containerStatus(state)),
    };
    const pods = { apiVersion: "v1", resource: "pods", namespace };
    await this.#deps.client.mergePatch(pods, name, { status }, { subresource: "status", fieldManager: MANAGER });
  }

  #containerStatus({ container, phase, restarts, lastExit }: ContainerStates[string]): object {
    const process = this.#processes.get(container as ContainerName);
    const image = container === "agent" ? "haptic:dev" : `haproxy:${this.spec.haproxyVersion}`;
    const ended =
      lastExit === ""
        ? {}
        : { lastState: { terminated: { exitCode: exitCodeOf(lastExit), reason: "Error", message: lastExit } } };
    const state =
      process === undefined
        ? { waiting: { reason: phase === "stopped" ? "Completed" : "CrashLoopBackOff" } }
        : { running: { startedAt: process.startedAt } };
    return {
      name: container,
      image,
      imageID: image,
      // Another number with each start: what watches the pod sees that the process is another one.
      ...(process === undefined ? {} : { containerID: `process://${process.running.pid}` }),
      ready: phase === "ready",
      started: process !== undefined,
      restartCount: restarts,
      state,
      ...ended,
    };
  }

  #agentCommand(): [string, ...string[]] {
    const { address, tlsFolder, controllerName, agentFlags = [] } = this.spec;
    return hapticCommand([
      "agent",
      `--base-dir=${this.baseDir}`,
      `--listen=${address}:${AGENT_PORT}`,
      `--tls-dir=${tlsFolder}`,
      `--tls-client-name=${controllerName}`,
      `--metrics-listen=${address}:${AGENT_METRICS_PORT}`,
      ...agentFlags,
    ]);
  }

  #haproxyCommand(): [string, ...string[]] {
    const prepare = hapticCommand(["agent", "prepare", `--base-dir=${this.baseDir}`, `--haproxy=${this.spec.haproxy}`]);
    const master = join(this.baseDir, "haproxy-master.sock");
    return ["/bin/sh", "-c", START_WRAPPER, "haproxy-start", this.spec.haproxy, this.baseDir, master, ...prepare];
  }

  #agentReady(): Promise<boolean> {
    return new Promise((done) => {
      const ask = request({
        host: this.spec.address,
        port: AGENT_PORT,
        path: "/readyz",
        // The probe asks whether it answers, as a kubelet does; who it is the controller checks.
        rejectUnauthorized: false,
        agent: false,
        timeout: 1_000,
      });
      ask.on("response", (response) => {
        response.resume();
        done(response.statusCode === 200);
      });
      ask.on("timeout", () => ask.destroy(new Error("timeout")));
      ask.on("error", () => done(false));
      ask.end();
    });
  }

  #portOpen(): Promise<boolean> {
    return new Promise((done) => {
      const socket = connect({ host: this.spec.address, port: this.spec.httpPort, timeout: 1_000 });
      const finish = (open: boolean): void => {
        socket.destroy();
        done(open);
      };
      socket.on("connect", () => finish(true));
      socket.on("timeout", () => finish(false));
      socket.on("error", () => finish(false));
    });
  }

  #timestamp(): string {
    return this.#deps
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }
}

/** The number a kubelet would tell: of a signal, 128 + its number is not known here; 137 stands for it. */
function exitCodeOf(how: string): number {
  return Number(/exit code (\d+)/.exec(how)?.[1] ?? 137);
}
