/** What the controller talks to. A simulation gives fakes and runs the very same wiring. */
import type { LeaseTimes } from "../config/index.ts";
import type { Clock } from "../kube/index.ts";
import type { KubeClient } from "../kube/types.ts";
import type { AgentConnect } from "./agent-port.ts";
import type { CompileConfig } from "./iteration.ts";
import type { CheckFiles } from "./verdicts.ts";

/** The part of pino's interface that is used: constant messages, variables as keys. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ControllerPorts {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly configName: string;
  /** Holder of the Lease, and who writes Events. */
  readonly identity: string;
  /** Times of the election where the configuration gives none, as durations; absent = the usual ones. */
  readonly leaseTimes?: LeaseTimes;
  readonly clock: Clock;
  /** 0 ≤ value < 1. */
  readonly random: () => number;
  /** Wall-clock milliseconds. */
  readonly wallClock: () => number;
  readonly log: Log;
  readonly connect: AgentConnect;
  readonly compile: CompileConfig;
  readonly check: CheckFiles;
  /** Version of the HAProxy that judges, e.g. `3.4.7`; counts while no pod is known. */
  readonly haproxyVersion: string;
  /** Of this program; "" or absent = not known. */
  readonly version?: string;
  /** In place of `spec.dataplane.port`. */
  readonly agentPort?: number;
  /** Lets other work of the process have its turn. */
  readonly pause: () => Promise<void>;
}

/** API version of the configuration's own kinds. */
export const API_VERSION = "haproxy-haptic.org/v1alpha1";

/** Half to all of base × 2ⁿ⁻¹, at most the cap, in ms. */
export const jitteredBackoff =
  (random: () => number, baseMs: number, capMs: number) =>
  (attempt: number): number =>
    Math.round(Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 20)) * (0.5 + random() / 2));
