/**
 * A whole cluster for a traffic proof: an API server, HAProxy pods (agent and HAProxy by the start wrapper), backends in
 * a process of their own, and the controller as `haptic run`, configured with the ingress example.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";
import type { Authority } from "../../../src/devcluster/certificates.ts";
import { ProcessKeeper, type RunningProcess } from "../../../src/devcluster/processes.ts";
import { hapticCommand } from "../../../src/devcluster/program.ts";
import { createKubeClient, findConnection, type KubeClient } from "../../../src/kube/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { kubernetesFolder } from "../../parts/index.ts";
import { type HaproxyVersion, testHaproxy } from "../../support/parts.ts";
import { slice } from "../../unit/examples/objects.ts";
import { Backends } from "./backends.ts";
import { BACKEND_PORT } from "./backends-process.ts";
import { favour } from "./isolation.ts";
import type { ApiChoice, ApiServer } from "./planes.ts";
import { PodKeeper } from "./pods.ts";

const root = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);
const DEBUG_PORT = 6060;
const GRACE_MS = 5_000;
const NAMESPACE = "default";
export const CONFIG = {
  target: { apiVersion: "haproxy-haptic.org/v1alpha1", resource: "haproxytemplateconfigs", namespace: NAMESPACE },
  name: "ingress",
} as const;
const SLICES = { apiVersion: "discovery.k8s.io/v1", resource: "endpointslices", namespace: NAMESPACE } as const;

export interface ClusterOptions {
  readonly api: ApiChoice;
  readonly version: HaproxyVersion;
  readonly pods: number;
  /** First two numbers of all addresses. */
  readonly prefix: string;
  /** Merged into `spec.dataplane` of the example. */
  readonly dataplane?: object;
  /** Changes the example's configuration before it is created. */
  readonly configure?: (config: ExampleConfig, folder: string) => void;
  /** Further flags of the agents. */
  readonly agentFlags?: readonly string[];
  /** The kubeconfig of the controller; default the API server's own. */
  readonly controllerKubeconfig?: (api: ApiServer, folder: string) => Promise<string>;
  /** Makes the folder that will be a pod's tree, as on a disk of its own; default a plain folder. */
  readonly makeTree?: (baseDir: string) => void;
  /** Further environment of controller and pods. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What of the example's configuration tests change. */
export interface ExampleConfig {
  readonly spec: {
    dataplane?: object;
    readonly templatingSettings: { readonly extraContext: Record<string, unknown> };
    readonly haproxyConfig: { template: string };
    readonly templateSnippets: Record<string, { readonly template: string }>;
  };
}

export interface Counters {
  readonly applies: number;
  readonly appliesByMode: Readonly<Record<string, number>>;
  readonly reloads: number;
  readonly checks: number;
  readonly renders: number;
  readonly apiWrites: Readonly<Record<string, number>>;
}

export interface FaultView {
  readonly object: string;
  readonly reason: string;
  readonly message: string;
}

/** Waits until a condition holds; an error of the condition counts as "not yet". */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  limitMs = 20_000,
): Promise<Exclude<T, false | undefined | null>> {
  const began = performance.now();
  let last = "";
  for (;;) {
    try {
      last = "";
      const value = await condition();
      if (value !== false && value !== undefined && value !== null)
        return value as Exclude<T, false | undefined | null>;
    } catch (error) {
      last = ` (${error instanceof Error ? error.message : String(error)})`;
    }
    if (performance.now() - began > limitMs) throw new Error(`not within ${limitMs} ms: ${what}${last}`);
    await new Promise((wake) => setTimeout(wake, 15));
  }
}

export class Cluster {
  readonly options: ClusterOptions;
  readonly folder: string;
  readonly keeper: ProcessKeeper;
  readonly backends = new Backends();
  readonly pods: PodKeeper[] = [];
  /** What each part printed, in order: `MILLISECONDS SOURCE LINE`. */
  readonly lines: string[] = [];
  #api: ApiServer | undefined;
  #client: KubeClient | undefined;
  #authority: Authority | undefined;
  #controller: RunningProcess | undefined;
  #controllerKubeconfig = "";
  #nextAddress = 1;
  /** Addresses of each Service's endpoints, in order. */
  readonly #endpoints = new Map<string, readonly { readonly address: string; readonly pod: string }[]>();
  #nextPod = 1;

  constructor(options: ClusterOptions) {
    this.options = options;
    this.folder = mkdtempSync(existsSync("/dev/shm") ? "/dev/shm/haptic-e2e-" : "/tmp/haptic-e2e-");
    this.keeper = new ProcessKeeper(this.folder);
  }

  get api(): ApiServer {
    return this.#api!;
  }
  get client(): KubeClient {
    return this.#client!;
  }
  get authority(): Authority {
    return this.#authority!;
  }

  /** Runs kubectl; rejects with what it printed. */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const found = join(kubernetesFolder(), "kubectl");
    const promise = run(existsSync(found) ? found : "kubectl", ["--kubeconfig", this.api.kubeconfig, ...args], {
      maxBuffer: 1 << 26,
      env: { ...process.env, HOME: this.folder },
    });
    promise.child.stdin?.end(input ?? "");
    return (await promise).stdout;
  }

  /** Creates or changes objects as a user would. */
  apply(...objects: readonly object[]): Promise<string> {
    return this.kubectl(["apply", "-f", "-"], objects.map((object) => JSON.stringify(object)).join("\n---\n"));
  }

  async start(): Promise<void> {
    this.#api = await this.options.api.start();
    const connection = await findConnection({ kubeconfig: this.api.kubeconfig });
    this.#client = createKubeClient(connection, { userAgent: "haptic-e2e" });
    this.#authority = await createAuthority("haptic-e2e", new Date());
    await this.#createConfiguration();
    await this.#startPods();
    this.#controllerKubeconfig =
      (await this.options.controllerKubeconfig?.(this.api, this.folder)) ?? this.api.kubeconfig;
    this.startController();
  }

  async #createConfiguration(): Promise<void> {
    // Where no controller makes it, nobody else would: a real API server admits no pod without it.
    await this.client
      .create(
        { apiVersion: "v1", resource: "serviceaccounts", namespace: NAMESPACE },
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: NAMESPACE } },
      )
      .catch(() => undefined);
    await this.kubectl(["apply", "--server-side", "-f", join(root, "crds")]);
    await this.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
    const config = parse(readFileSync(join(root, "examples/ingress/config.yaml"), "utf8")) as ExampleConfig;
    config.spec.dataplane = { ...config.spec.dataplane, ...this.options.dataplane };
    this.options.configure?.(config, this.folder);
    const file = join(this.folder, "config.json");
    writeFileSync(file, JSON.stringify(config));
    await until("the configuration's kind is served", async () => (await this.kubectl(["apply", "-f", file])) !== "");
    await this.apply({
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "haptic" },
      spec: { controller: "haproxy-haptic.org/ingress" },
    });
  }

  async #startPods(): Promise<void> {
    const { prefix, version } = this.options;
    const haproxy = testHaproxy(version);
    if (haproxy === undefined) throw new Error(`HAProxy ${version} is not installed`);
    const identities = [
      ["agent-tls", `haptic-agent.${NAMESPACE}.svc`, "server"],
      ["controller-tls", `haptic-controller-tls.${NAMESPACE}.svc`, "client"],
    ] as const;
    for (const [folder, name, usage] of identities) {
      writeIdentity(join(this.folder, folder), await this.authority.issue([name], usage), this.authority);
    }
    for (let index = 0; index < this.options.pods; index++) {
      const keeper = new PodKeeper(
        {
          name: `haproxy-${index + 1}`,
          namespace: NAMESPACE,
          labels: { "app.kubernetes.io/component": "loadbalancer" },
          address: `${prefix}.1.${11 + index}`,
          folder: join(this.folder, `haproxy-${index + 1}`),
          haproxy,
          haproxyVersion: version,
          tlsFolder: join(this.folder, "agent-tls"),
          controllerName: `haptic-controller-tls.${NAMESPACE}.svc`,
          httpPort: 8080,
          environment: this.options.environment ?? {},
          agentFlags: this.options.agentFlags ?? [],
        },
        {
          keeper: this.keeper,
          client: this.client,
          node: "e2e",
          now: () => new Date(),
          onLine: (pod, container, line) => this.#heard(`${pod}/${container}`, line),
        },
      );
      this.pods.push(keeper);
      this.options.makeTree?.(keeper.pod.baseDir);
      await keeper.start();
    }
  }

  /** `haptic run`, in a process of its own. */
  startController(): void {
    const [command, ...args] = hapticCommand([
      "run",
      `--crd-name=${CONFIG.name}`,
      `--kubeconfig=${this.#controllerKubeconfig}`,
      `--agent-tls-dir=${join(this.folder, "controller-tls")}`,
      `--haproxy=${testHaproxy(this.options.version)}`,
      `--debug-port=${DEBUG_PORT}`,
    ]);
    this.#controller = this.keeper.start({
      command,
      args,
      channel: true,
      environment: {
        ...process.env,
        ...this.options.environment,
        POD_NAME: "haptic-controller",
        POD_NAMESPACE: NAMESPACE,
      },
      onLine: (line) => this.#heard("controller", line),
    });
    favour(this.#controller.pid);
  }

  get controllerPid(): number {
    return this.#controller!.pid;
  }

  async stopController(): Promise<void> {
    await this.#controller?.end(GRACE_MS);
  }

  #heard(source: string, line: string): void {
    this.lines.push(`${Date.now()} ${source} ${line}`);
    if (process.env["TEST_LOG"] !== undefined) process.stderr.write(`${source} ${line}\n`);
  }

  async variable<T>(name: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${DEBUG_PORT}/debug/vars/${name}`, {
      signal: AbortSignal.timeout(2_000),
    });
    return (await answer.json()) as T;
  }
  counters(): Promise<Counters> {
    return this.variable("counters");
  }
  faults(): Promise<readonly FaultView[]> {
    return this.variable("faults");
  }

  /** A configuration serves, each pod has what was rendered last, proven and told; a reload of it may be due. */
  async settled(limitMs = 40_000): Promise<void> {
    let seen: unknown;
    type PodView = { applied: string; lastGood: string; blobStored: boolean };
    await until(
      "every pod has what it shall have",
      async () => {
        const views = await this.variable<readonly PodView[]>("pods");
        seen = views;
        const same = ({ applied, lastGood, blobStored }: PodView): boolean =>
          applied !== "" && applied === views[0]!.applied && lastGood === applied && blobStored;
        return views.length === this.pods.length && views.every(same);
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(seen)}\n${this.tail()}`, { cause: error });
    });
  }

  address(pod: number): string {
    return this.pods[pod]!.pod.spec.address;
  }

  async #haproxySays(pod: number, socketName: string, command: string): Promise<string> {
    const socket = connect(join(this.pods[pod]!.pod.baseDir, socketName));
    socket.end(`${command}\n`);
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    return text;
  }

  /** Process id of the worker that serves now. */
  async workerPid(pod: number): Promise<number> {
    const info = await this.#haproxySays(pod, "haproxy-worker.sock", "show info");
    return Number(/^Pid: (\d+)$/m.exec(info)?.[1]);
  }

  /** How often HAProxy itself has reloaded since it was started. */
  async reloadsOf(pod: number): Promise<number> {
    const processes = await this.#haproxySays(pod, "haproxy-master.sock", "show proc");
    return Number(/^\d+\s+master\s+(\d+)/m.exec(processes)?.[1]);
  }

  workerPids(): Promise<number[]> {
    return Promise.all(this.pods.map((_, index) => this.workerPid(index)));
  }

  endpointsOf(service: string): readonly { readonly address: string; readonly pod: string }[] {
    return this.#endpoints.get(service) ?? [];
  }

  /** New backends that answer; nobody knows of them yet. `names` = pods of these names, at other addresses than before. */
  async newEndpoints(
    service: string,
    count: number,
    names?: readonly string[],
  ): Promise<{ address: string; pod: string }[]> {
    const made = Array.from({ length: count }, (_, index) => {
      const at = this.#nextAddress++;
      const pod = names?.[index] ?? `${service}-${this.#nextPod++}`;
      return { address: `${this.options.prefix}.${2 + Math.floor(at / 250)}.${1 + (at % 250)}`, pod };
    });
    await Promise.all(made.map(({ address, pod }) => this.backends.start(address, pod)));
    return made;
  }

  sliceOf(service: string, endpoints: readonly { readonly address: string; readonly pod: string }[]): object {
    return slice(service, endpoints, [{ name: "http", port: BACKEND_PORT, protocol: "TCP" }]);
  }

  /** Makes these the endpoints of a Service; those that were it before are gone with the API's answer. */
  async setEndpoints(
    service: string,
    endpoints: readonly { readonly address: string; readonly pod: string }[],
  ): Promise<void> {
    const object = this.sliceOf(service, endpoints) as KubeObject;
    await this.client.apply(SLICES, object, { fieldManager: "e2e", force: true });
    const kept = new Set(endpoints.map(({ address }) => address));
    const gone = this.endpointsOf(service).filter(({ address }) => !kept.has(address));
    this.#endpoints.set(service, endpoints);
    await this.backends.remove(gone.map(({ address }) => address));
  }

  /** Told that an object with these endpoints was created otherwise. */
  noteEndpoints(service: string, endpoints: readonly { readonly address: string; readonly pod: string }[]): void {
    this.#endpoints.set(service, endpoints);
  }

  /** The last lines of all parts, for a failure's message. */
  tail(count = 40): string {
    return this.lines.slice(-count).join("\n");
  }

  async close(): Promise<void> {
    await this.stopController().catch(() => undefined);
    await Promise.all(this.pods.map((pod) => pod.close().catch(() => undefined)));
    await this.backends.close();
    await this.#client?.close();
    await this.#api?.close();
    await this.keeper.clear(GRACE_MS);
  }
}
