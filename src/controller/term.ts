/** The present term: its epoch, the number of its newest render, and the highest epoch that any agent spoke of. */
import { leaseNameOf } from "../config/index.ts";
import { beginTerm } from "../kube/index.ts";
import type { ConfigSource } from "./config-source.ts";
import type { ControllerPorts } from "./ports.ts";

export class Term {
  readonly #ports: Pick<ControllerPorts, "kube" | "namespace" | "identity" | "wallClock">;
  readonly #source: ConfigSource;
  #highestSeen = 0;
  epoch = 0;
  seq = 0;

  constructor(ports: Pick<ControllerPorts, "kube" | "namespace" | "identity" | "wallClock">, source: ConfigSource) {
    this.#ports = ports;
    this.#source = source;
  }

  /** An agent said that it has seen this epoch. */
  saw(epoch: number): void {
    this.#highestSeen = Math.max(this.#highestSeen, epoch);
  }

  nextRender(): number {
    this.seq += 1;
    return this.seq;
  }

  /** Takes a new epoch by compare-and-swap on the Lease. Rejects with KubeError. */
  async begin(above: number, signal: AbortSignal): Promise<number> {
    const { kube, namespace, identity, wallClock } = this.#ports;
    const { epoch } = await beginTerm(
      kube,
      {
        namespace,
        name: leaseNameOf(this.#source.loaded?.assembled.spec ?? {}),
        holder: identity,
        durationSeconds: 30,
        atLeast: Math.max(above, this.#highestSeen),
        now: wallClock,
      },
      signal,
    );
    this.epoch = epoch;
    this.seq = 0;
    return epoch;
  }
}
