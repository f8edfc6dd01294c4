/** The controllers of an election: the cluster's own, and a second one beside it. Each can be asked, frozen, killed and stopped. */
import { join } from "node:path";
import type { RunningProcess } from "../../../src/devcluster/processes.ts";
import { hapticCommand } from "../../../src/devcluster/program.ts";
import { testHaproxy } from "../../support/parts.ts";
import { type Cluster, CONFIG, until } from "../harness/cluster.ts";
import { favour } from "../harness/isolation.ts";

/** leaseDuration, renewDeadline, retryPeriod: a hand-over and the end of a Lease can be told apart, and nobody waits for long. */
export const LEASE_TIMES = "12s,8s,2s";
const NAMESPACE = "default";
const LEASE = { apiVersion: "coordination.k8s.io/v1", resource: "leases", namespace: NAMESPACE } as const;
const LEASE_NAME = "haptic-leader";
const SECOND_PORT = 6070;

export interface LeaseState {
  readonly holder: string;
  readonly epoch: number;
}

export async function leaseOf(cluster: Cluster): Promise<LeaseState> {
  const lease = await cluster.client.get(LEASE, LEASE_NAME);
  const { holderIdentity = "" } = lease["spec"] as { holderIdentity?: string };
  return {
    holder: holderIdentity,
    epoch: Number(lease.metadata.annotations?.["haproxy-haptic.org/leader-epoch"]),
  };
}

export const deleteLease = (cluster: Cluster): Promise<void> => cluster.client.delete(LEASE, LEASE_NAME);

export abstract class Candidate {
  /** Holder of the Lease while it leads. */
  abstract readonly name: string;
  abstract readonly port: number;
  abstract get pid(): number;
  abstract start(): void;
  /** As by SIGTERM; resolves when it has ended. */
  abstract stop(): Promise<void>;

  async variable<T>(name: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/debug/vars/${name}`, {
      signal: AbortSignal.timeout(3_000),
    });
    return (await answer.json()) as T;
  }

  async leads(): Promise<boolean> {
    return (await this.variable<{ leading: boolean }>("term")).leading;
  }

  async ready(limitMs = 40_000): Promise<void> {
    await until(
      `${this.name} is ready`,
      async () => (await fetch(`http://127.0.0.1:${this.port}/readyz`, { signal: AbortSignal.timeout(3_000) })).ok,
      limitMs,
    );
  }

  freeze(): void {
    process.kill(this.pid, "SIGSTOP");
  }
  wake(): void {
    process.kill(this.pid, "SIGCONT");
  }
  kill(): void {
    process.kill(this.pid, "SIGKILL");
  }
}

/** The one that the cluster starts. */
export class FirstCandidate extends Candidate {
  readonly name = "haptic-controller";
  readonly port = 6060;
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    super();
    this.#cluster = cluster;
  }

  get pid(): number {
    return this.#cluster.controllerPid;
  }
  start(): void {
    this.#cluster.startController();
  }
  stop(): Promise<void> {
    return this.#cluster.stopController();
  }
}

export class SecondCandidate extends Candidate {
  readonly name = "haptic-second";
  readonly port = SECOND_PORT;
  readonly #cluster: Cluster;
  #process: RunningProcess | undefined;

  constructor(cluster: Cluster) {
    super();
    this.#cluster = cluster;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("it was not started");
    return this.#process.pid;
  }

  start(): void {
    const { api, folder, keeper, options, lines } = this.#cluster;
    const [command, ...args] = hapticCommand([
      "run",
      `--crd-name=${CONFIG.name}`,
      `--kubeconfig=${api.kubeconfig}`,
      `--agent-tls-dir=${join(folder, "controller-tls")}`,
      `--haproxy=${testHaproxy(options.version)}`,
      `--debug-port=${SECOND_PORT}`,
      "--metrics-port=9091",
    ]);
    this.#process = keeper.start({
      command,
      args,
      channel: true,
      environment: { ...process.env, LEASE_TIMES, POD_NAME: this.name, POD_NAMESPACE: NAMESPACE },
      onLine: (line) => lines.push(`${Date.now()} second ${line}`),
    });
    favour(this.#process.pid);
  }

  async stop(): Promise<void> {
    await this.#process?.end(5_000);
  }
}
