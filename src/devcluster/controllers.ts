/** The controllers of one `haptic dev`: a process each, with its own debug page and metrics. */
import { join } from "node:path";
import { DevClusterError } from "../errors.ts";
import type { ProcessKeeper, RunningProcess } from "./processes.ts";
import { hapticCommand, WITHOUT_BASIC } from "./program.ts";

/** The first controller's; each further one has the next two. */
const DEBUG_PORT = 6060;
/** Not the usual 9090, where a Prometheus of this machine may listen on every address. */
const METRICS_PORT = 6061;
/** Time that a process has to end by itself. */
const GRACE_MS = 5_000;
/** Much shorter than in a cluster: who kills a leader here wants to see who follows. */
const LEASE_TIMES = "8s,5s,1s";

export interface ControllerSurroundings {
  readonly keeper: ProcessKeeper;
  readonly folder: string;
  readonly kubeconfig: string;
  readonly haproxy: string;
  /** Where debug page and metrics listen. */
  readonly host: string;
  /** Of the configuration object. */
  readonly config: { readonly name: string; readonly namespace: string };
  readonly onLine: (source: string, line: string) => void;
}

export class DevController {
  /** Of its container, e.g. `controller-2`. */
  readonly name: string;
  readonly #index: number;
  readonly #around: () => ControllerSurroundings;
  #process: RunningProcess | undefined;

  /** `index` counts from 0. */
  constructor(name: string, index: number, around: () => ControllerSurroundings) {
    this.name = name;
    this.#index = index;
    this.#around = around;
  }

  /** Holder of the Lease while it leads. */
  get podName(): string {
    return `haptic-${this.name}`;
  }
  /** `http://ADDRESS:PORT` of its debug endpoint. */
  get debugUrl(): string {
    return `http://${this.#around().host}:${DEBUG_PORT + 2 * this.#index}`;
  }
  get livePage(): string {
    return `${this.debugUrl}/live/`;
  }
  get metricsUrl(): string {
    return `http://${this.#around().host}:${METRICS_PORT + 2 * this.#index}/metrics`;
  }
  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Runs it once; resolves with how it ended. */
  run(): Promise<string> {
    const { keeper, folder, kubeconfig, haproxy, host, config, onLine } = this.#around();
    const [command, ...args] = hapticCommand([
      "run",
      `--crd-name=${config.name}`,
      `--kubeconfig=${kubeconfig}`,
      `--agent-tls-dir=${join(folder, "controller-tls")}`,
      `--haproxy=${haproxy}`,
      `--debug-address=${host}`,
      `--debug-port=${DEBUG_PORT + 2 * this.#index}`,
      `--metrics-port=${METRICS_PORT + 2 * this.#index}`,
      `--metrics-address=${host}`,
      `--lease-times=${LEASE_TIMES}`,
    ]);
    this.#process = keeper.start({
      command,
      args,
      channel: true,
      environment: { ...process.env, ...WITHOUT_BASIC, POD_NAME: this.podName, POD_NAMESPACE: config.namespace },
      onLine: (line) => onLine(this.name, line),
    });
    return this.#process.ended;
  }

  async terminate(): Promise<void> {
    await this.#process?.end(GRACE_MS);
  }

  async probe(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.debugUrl}/readyz`, { signal: AbortSignal.timeout(1_000) });
      await answer.arrayBuffer();
      return answer.ok;
    } catch {
      return false;
    }
  }
}

/** `controller` where there is one, else `controller-1`, `controller-2` … */
export const controllerNames = (count: number): readonly string[] =>
  count === 1 ? ["controller"] : Array.from({ length: count }, (_, index) => `controller-${index + 1}`);

/** The one of this name. */
export function namedController(controllers: readonly DevController[], name: string): DevController {
  const found = controllers.find((controller) => controller.name === name);
  if (found === undefined) throw new DevClusterError(`there is no ${name}`);
  return found;
}
