/** Gives `leaderElection` its actors: the Lease, as this process sees and holds it. */
import { fromCallback, fromPromise } from "xstate";
import { leaderElectionMachine, leaderElectionReads } from "../../machines/leaderElection.ts";
import type {
  ClaimReply,
  ClaimRequest,
  ElectionSettings,
  LeaderElectionEvent,
  LeaseView,
  RenewReply,
} from "../../machines/leaderElection.ts";
import { electionTimings, leaseNameOf } from "../config/index.ts";
import type { HAProxyTemplateConfigSpec } from "../config/index.ts";
import { ControllerError } from "../errors.ts";
import { claimLease, isHeldBy, releaseLease, renewLease, watchLease } from "../kube/index.ts";
import type { Candidate, LeaseRecord } from "../kube/index.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { ConfigSource } from "./config-source.ts";
import type { ControllerPorts } from "./ports.ts";
import type { Term } from "./term.ts";

/** What is known of the Lease, for `/debug/vars` and the live page. */
export interface LeaseSight {
  readonly name: string;
  readonly enabled: boolean;
  /** "" = nobody, or not seen yet. */
  readonly holder: string;
  readonly epoch: number;
  readonly renewed: string | null;
  readonly transitions: number;
}

/** Settings of the election, as the newest configuration object has them; whoever may not be read falls back to the defaults. */
export function electionSettings(
  spec: HAProxyTemplateConfigSpec,
  times: ControllerPorts["leaseTimes"],
): ElectionSettings {
  return {
    enabled: spec.controller?.leaderElection?.enabled !== false,
    leaseName: leaseNameOf(spec),
    ...electionTimings(spec, times),
  };
}

/** Holder of the Lease without election. */
const STANDALONE = "standalone";

export class LeaseDesk {
  readonly #ports: Pick<ControllerPorts, "kube" | "namespace" | "identity" | "wallClock" | "clock">;
  readonly #term: Term;
  readonly #instance: string;
  #candidate: Candidate | undefined;
  #settings: ElectionSettings | undefined;
  #held: LeaseRecord | undefined;
  #seen: LeaseRecord | undefined;

  constructor(ports: ControllerPorts, term: Term) {
    this.#ports = ports;
    this.#term = term;
    this.#instance = `${ports.identity}-${Math.floor(ports.random() * 2 ** 48).toString(36)}`;
  }

  sight(): LeaseSight {
    const lease = this.#seen;
    return {
      name: this.#settings?.leaseName ?? "",
      enabled: this.#settings?.enabled ?? true,
      holder: lease?.holder ?? "",
      epoch: lease?.epoch ?? 0,
      renewed: lease?.renewTimeMs === undefined ? null : new Date(lease.renewTimeMs).toISOString(),
      transitions: lease?.transitions ?? 0,
    };
  }

  /** Calls `tell` at each change of the Lease; without election nobody wants to know. */
  watch(settings: ElectionSettings, tell: (lease: LeaseView | undefined) => void): () => void {
    this.#settings = settings;
    if (!settings.enabled) return () => {};
    const subscription = watchLease(this.#ports.kube, {
      namespace: this.#ports.namespace,
      name: settings.leaseName,
    }).subscribe({
      next: (lease) => {
        this.#note(lease);
        tell(lease === undefined ? undefined : this.#view(lease));
      },
      error: (error: unknown) => {
        throw error;
      },
    });
    return () => {
      subscription.unsubscribe();
    };
  }

  async claim({ settings, version, first, above }: ClaimRequest, signal: AbortSignal): Promise<ClaimReply> {
    const { kube, namespace, identity, wallClock, clock } = this.#ports;
    const candidate: Candidate = {
      namespace,
      name: settings.leaseName,
      holder: settings.enabled ? identity : STANDALONE,
      instance: this.#instance,
      durationSeconds: Math.max(1, Math.ceil(settings.leaseDurationMs / 1_000)),
      now: wallClock,
    };
    this.#candidate = candidate;
    const sent = clock.now();
    const claim = await claimLease(
      kube,
      candidate,
      {
        mayTake: (lease) =>
          !settings.enabled ||
          lease.holder === "" ||
          isHeldBy(lease, candidate) ||
          // A container that was started again is the same pod: it has the name for itself.
          (first && lease.holder === candidate.holder) ||
          lease.resourceVersion === version,
        mayCreate: !settings.enabled || version !== undefined,
        atLeast: Math.max(above, this.#term.highestSeen),
      },
      signal,
    );
    const tookMs = clock.now() - sent;
    if (claim.kind === "missing") return { kind: "missing", lease: undefined, tookMs };
    this.#note(claim.lease);
    if (claim.kind === "taken") {
      this.#held = claim.lease;
      this.#term.begin(claim.lease.epoch);
    }
    return { kind: claim.kind, lease: this.#view(claim.lease), tookMs };
  }

  async renew(signal: AbortSignal): Promise<RenewReply> {
    const { kube, clock } = this.#ports;
    if (this.#candidate === undefined || this.#held === undefined) throw new ControllerError("no Lease is held");
    const sent = clock.now();
    const { kind, lease } = await renewLease(kube, this.#candidate, this.#held, signal);
    this.#note(lease);
    if (kind === "renewed") this.#held = lease;
    return { kind, lease: this.#view(lease), tookMs: clock.now() - sent };
  }

  async release(signal: AbortSignal): Promise<void> {
    const candidate = this.#candidate;
    if (candidate === undefined) return;
    this.#held = undefined;
    await releaseLease(this.#ports.kube, candidate, signal);
  }

  #note(lease: LeaseRecord | undefined): void {
    this.#seen = lease;
    // Whoever takes a Lease that was deleted must not fall behind what it has seen.
    if (lease !== undefined) this.#term.saw(lease.epoch);
  }

  #view(lease: LeaseRecord): LeaseView {
    return {
      version: lease.resourceVersion,
      holder: lease.holder,
      mine: this.#candidate !== undefined && isHeldBy(lease, this.#candidate),
      epoch: lease.epoch,
      durationMs: lease.durationSeconds * 1_000,
    };
  }
}

export const wireLeaderElection = (desk: LeaseDesk, bus: Bus, registry: ActorRegistry) =>
  onBus(
    leaderElectionMachine.provide({
      actors: {
        watchLease: fromCallback<LeaderElectionEvent, ElectionSettings>(({ input, sendBack }) =>
          desk.watch(input, (lease) => {
            sendBack({ type: "LEASE.SEEN", lease });
          }),
        ),
        claim: fromPromise<ClaimReply, ClaimRequest>(({ input, signal }) => desk.claim(input, signal)),
        renew: fromPromise<RenewReply>(({ signal }) => desk.renew(signal)),
        release: fromPromise<void>(({ signal }) => desk.release(signal)),
      },
    }),
    leaderElectionReads,
    bus,
    registry,
  );

/** Tells the election of each configuration: the assembled one, or what the object says where it cannot be assembled. */
export function followElectionSettings(source: ConfigSource, ports: ControllerPorts, bus: Bus): void {
  bus.subscribe("electionSettings", ["CONFIG.LOADED", "CONFIG.HELD", "CONFIG.INVALID"], (event) => {
    const spec = source.loaded?.assembled.spec ?? source.config?.spec;
    if (spec === undefined) return;
    bus.publish({
      type: "ELECTION.CONFIGURED",
      settings: electionSettings(spec, ports.leaseTimes),
      judged: event.type !== "CONFIG.LOADED",
    });
  });
}
