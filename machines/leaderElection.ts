/**
 * Which replica leads: it alone holds the Lease and works on the pods. Without election (`enabled: false`) this replica leads whoever
 * holds the Lease (`standalone`); the epoch of its term is taken by the same rule.
 *
 * Lives with the process, beside what lives with the term: a renewal re-enters `held`, and nobody else hears of it.
 * Reads: ELECTION.CONFIGURED, ITERATION.ACCEPTED, ITERATION.REFUSED, TERM.DEPOSED, CONTROLLER.STOPPING; from its own watch LEASE.SEEN.
 * Emits: LEASE.OBSERVED, LEASE.UNREACHABLE, LEASE.REACHED, TERM.BEGAN, TERM.ENDED, TERM.CONTESTED, TERM.UNDISPUTED.
 *
 * A Lease is judged by how long this replica saw it unchanged, never by the times written in it. The leader gives up `renewDeadline` after
 * it sent the last renewal that succeeded; the others wait `leaseDuration`, which is longer. Whoever has no configuration that serves stands
 * back for one `leaseDuration`: a replica with a warm graph shall lead.
 */
import { assign, emit, enqueueActions, fromCallback, fromPromise, setup } from "xstate";
import type { ControllerEmitted } from "./controller.ts";
import type { DeployerEmitted } from "./deployer.ts";

export interface ElectionSettings {
  readonly enabled: boolean;
  readonly leaseName: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** A Lease as it was seen. */
export interface LeaseView {
  /** Another text = it was written meanwhile. */
  readonly version: string;
  /** "" = nobody. */
  readonly holder: string;
  /** This very process holds it. */
  readonly mine: boolean;
  readonly epoch: number;
  readonly durationMs: number;
}

export interface ClaimRequest {
  readonly settings: ElectionSettings;
  /** Take the Lease if it is still at this version; "" = it may be created. undefined = only if nobody holds it. */
  readonly version: string | undefined;
  /** The first look of this process: a Lease of its name is from its former life. */
  readonly first: boolean;
  /** Highest epoch that any agent told. */
  readonly above: number;
}

export interface ClaimReply {
  /** missing = not there, though its holder may live and create it again. */
  readonly kind: "taken" | "held" | "missing";
  /** undefined where it is missing. */
  readonly lease: LeaseView | undefined;
  readonly tookMs: number;
}

export interface RenewReply {
  readonly kind: "renewed" | "lost";
  readonly lease: LeaseView;
  readonly tookMs: number;
}

export type EndReason = "deposed" | "lost" | "not renewed in time" | "released";

export type LeaderElectionEmitted =
  | { readonly type: "LEASE.OBSERVED"; readonly holder: string; readonly epoch: number }
  | { readonly type: "LEASE.UNREACHABLE"; readonly message: string }
  | { readonly type: "LEASE.REACHED" }
  | { readonly type: "TERM.BEGAN"; readonly epoch: number }
  | { readonly type: "TERM.ENDED"; readonly epoch: number; readonly reason: EndReason }
  /** Agents refuse this leader's work once more: somebody else works on the same pods. */
  | { readonly type: "TERM.CONTESTED"; readonly epoch: number; readonly times: number }
  | { readonly type: "TERM.UNDISPUTED" };

export interface ElectionConfigured {
  readonly type: "ELECTION.CONFIGURED";
  readonly settings: ElectionSettings;
  /** The configuration has its verdict already: there is nothing to get warm for. */
  readonly judged: boolean;
}

export interface ControllerStopping {
  readonly type: "CONTROLLER.STOPPING";
}

export type LeaderElectionEvent =
  | ElectionConfigured
  | ControllerStopping
  | Extract<ControllerEmitted, { type: "ITERATION.ACCEPTED" | "ITERATION.REFUSED" }>
  | Extract<DeployerEmitted, { type: "TERM.DEPOSED" }>
  /** undefined = the Lease is not there. */
  | { readonly type: "LEASE.SEEN"; readonly lease: LeaseView | undefined };

export const leaderElectionReads = [
  "ELECTION.CONFIGURED",
  "ITERATION.ACCEPTED",
  "ITERATION.REFUSED",
  "TERM.DEPOSED",
  "CONTROLLER.STOPPING",
] as const;

export interface LeaderElectionInput {
  /** Somewhat more than so many milliseconds, so that replicas do not ask in step. */
  readonly jitter: (ms: number) => number;
  /** Jittered backoff in ms before attempt `attempt` (1 = the first repeat) to reach the API server. */
  readonly backoffMs: (attempt: number) => number;
  /** Jittered pause in ms after agents refused this leader for the `times`th time in a row. */
  readonly contestMs: (times: number) => number;
}

interface ElectionContext extends LeaderElectionInput {
  readonly settings: ElectionSettings;
  readonly judged: boolean;
  readonly stopping: boolean;
  readonly looked: boolean;
  readonly lease: LeaseView | undefined;
  /** `lease` did not change for as long as it lasts. */
  readonly expired: boolean;
  readonly epoch: number;
  /** How long the write took that this term rests on. */
  readonly tookMs: number;
  readonly highest: number;
  /** Failed requests in a row. */
  readonly attempt: number;
  readonly deposals: number;
}

const UNSET: ElectionSettings = {
  enabled: true,
  leaseName: "",
  leaseDurationMs: 30_000,
  renewDeadlineMs: 20_000,
  retryPeriodMs: 5_000,
};
/** A holder may promise to renew more seldom than we would; no more than this is believed. */
const LONGEST_LEASE_MS = 300_000;

const isFree = (lease: LeaseView | undefined): boolean => lease === undefined || lease.holder === "" || lease.mine;
const failure = ({ event: { error } }: { event: { error: unknown } }): { message: string } => ({
  message: error instanceof Error ? error.message : String(error),
});
const silence = ({ context }: { context: ElectionContext }): { message: string } => ({
  message: `the API server did not answer within ${context.settings.renewDeadlineMs / 2} ms`,
});

export const leaderElectionMachine = setup({
  types: {
    context: {} as ElectionContext,
    events: {} as LeaderElectionEvent,
    input: {} as LeaderElectionInput,
    emitted: {} as LeaderElectionEmitted,
  },
  actors: {
    /** Sends LEASE.SEEN at each change of the Lease. */
    watchLease: fromCallback<LeaderElectionEvent, ElectionSettings>(() => {
      throw new Error("the watchLease actor is provided by the wiring");
    }),
    claim: fromPromise<ClaimReply, ClaimRequest>(() =>
      Promise.reject(new Error("the claim actor is provided by the wiring")),
    ),
    renew: fromPromise<RenewReply>(() => Promise.reject(new Error("the renew actor is provided by the wiring"))),
    /** Gives the Lease back, if this process holds it. */
    release: fromPromise<void>(() => Promise.reject(new Error("the release actor is provided by the wiring"))),
  },
  actions: {
    configure: assign(({ context }, { settings, judged }: Pick<ElectionConfigured, "settings" | "judged">) => ({
      settings,
      judged: context.judged || judged,
      // What is known is known of another Lease.
      ...(context.settings.leaseName !== settings.leaseName && { lease: undefined, expired: false, looked: false }),
    })),
    noteJudged: assign({ judged: true }),
    noteStopping: assign({ stopping: true }),
    noteLease: enqueueActions(({ context, enqueue }, { lease }: { lease: LeaseView | undefined }) => {
      if (lease === undefined) return;
      if (lease.holder !== context.lease?.holder)
        enqueue.emit({ type: "LEASE.OBSERVED", holder: lease.holder, epoch: lease.epoch });
      enqueue.assign({ lease, expired: context.expired && context.lease?.version === lease.version });
    }),
    /** The API server answered. */
    noteAnswer: enqueueActions(({ context, enqueue }) => {
      if (context.attempt > 0) enqueue.emit({ type: "LEASE.REACHED" });
      enqueue.assign({ looked: true, attempt: 0 });
    }),
    noteFailure: enqueueActions(({ context, enqueue }, params: { message: string }) => {
      enqueue.emit({ type: "LEASE.UNREACHABLE", ...params });
      enqueue.assign({ attempt: context.attempt + 1 });
    }),
    markExpired: assign({ expired: true }),
    noteTerm: assign((_, { lease, tookMs }: { lease: LeaseView | undefined; tookMs: number }) => ({
      epoch: lease?.epoch ?? 0,
      tookMs,
    })),
    learn: assign(({ context }, params: { epoch: number }) => ({
      highest: Math.max(context.highest, params.epoch),
      deposals: context.deposals + 1,
    })),
    forgetDeposals: enqueueActions(({ context, enqueue }) => {
      if (context.deposals > 1) enqueue.emit({ type: "TERM.UNDISPUTED" });
      enqueue.assign({ deposals: 0 });
    }),
    announceContest: enqueueActions(({ context: { highest, deposals }, enqueue }) => {
      // Once is what becomes of a leader whom another followed unseen.
      if (deposals > 1) enqueue.emit({ type: "TERM.CONTESTED", epoch: highest, times: deposals });
    }),
    announceUnwatched: emit((_, params: { message: string }) => ({ type: "LEASE.UNREACHABLE", ...params })),
    announceBegin: emit(({ context }) => ({ type: "TERM.BEGAN", epoch: context.epoch })),
    announceEnd: emit(({ context }, params: { reason: EndReason }) => ({
      type: "TERM.ENDED",
      epoch: context.epoch,
      ...params,
    })),
  },
  guards: {
    elected: ({ context }) => context.settings.enabled,
    /** Waits for no verdict: it has one, or needs none. */
    prepared: ({ context }) => context.settings.leaseName !== "" && (context.judged || !context.settings.enabled),
    untried: ({ context }) => !context.looked && context.attempt === 0,
    configured: ({ context }) => context.settings.leaseName !== "",
    stopping: ({ context }) => context.stopping,
    changesSettings: ({ context }, params: { settings: ElectionSettings }) =>
      JSON.stringify(params.settings) !== JSON.stringify(context.settings),
    taken: (_, params: { reply: ClaimReply }) => params.reply.kind === "taken",
    renewed: (_, params: { reply: RenewReply }) => params.reply.kind === "renewed",
    free: (_, { lease }: { lease: LeaseView | undefined }) => lease !== undefined && isFree(lease),
    another: ({ context }, { lease }: { lease: LeaseView | undefined }) =>
      lease !== undefined && lease.version !== context.lease?.version,
    notMine: (_, params: { lease: LeaseView | undefined }) => params.lease?.mine !== true,
    newer: ({ context }, params: { epoch: number }) => params.epoch > context.epoch,
  },
  delays: {
    warmUp: ({ context }) => context.settings.leaseDurationMs,
    retry: ({ context: { settings, attempt, jitter, backoffMs } }) =>
      Math.min(jitter(settings.retryPeriodMs), attempt === 0 ? Infinity : backoffMs(attempt)),
    attemptLimit: ({ context }) => context.settings.renewDeadlineMs / 2,
    expiry: ({ context: { settings, lease } }) =>
      Math.max(settings.leaseDurationMs, Math.min(lease?.durationMs ?? 0, LONGEST_LEASE_MS)),
    renewDeadline: ({ context }) => Math.max(0, context.settings.renewDeadlineMs - context.tookMs),
    contest: ({ context }) => context.contestMs(context.deposals),
    /** Whoever fights for the pods, standing back as long as we do, would be back by then. */
    peace: ({ context }) => 60_000 + context.contestMs(context.deposals + 1),
    releaseLimit: 2_000,
  },
}).createMachine({
  id: "leaderElection",
  context: ({ input }) => ({
    ...input,
    settings: UNSET,
    judged: false,
    stopping: false,
    looked: false,
    lease: undefined,
    expired: false,
    epoch: 0,
    tookMs: 0,
    highest: 0,
    attempt: 0,
    deposals: 0,
  }),
  initial: "joining",
  on: {
    "ELECTION.CONFIGURED": [
      {
        guard: { type: "changesSettings", params: ({ event }) => event },
        target: ".joining",
        actions: { type: "configure", params: ({ event }) => event },
      },
      { actions: { type: "configure", params: ({ event }) => event } },
    ],
    "ITERATION.ACCEPTED": { actions: "noteJudged" },
    "ITERATION.REFUSED": { actions: "noteJudged" },
    "CONTROLLER.STOPPING": ".stopped",
  },
  states: {
    joining: {
      always: { guard: "prepared", target: "electing" },
      after: { warmUp: { guard: "configured", target: "electing" } },
    },
    electing: {
      invoke: {
        id: "watchLease",
        src: "watchLease",
        input: ({ context }) => context.settings,
        // Without it a release is seen some seconds later.
        onError: { actions: { type: "announceUnwatched", params: failure } },
      },
      on: {
        "ELECTION.CONFIGURED": {
          guard: { type: "changesSettings", params: ({ event }) => event },
          target: "releasing",
          actions: { type: "configure", params: ({ event }) => event },
        },
        "CONTROLLER.STOPPING": { target: "releasing", actions: "noteStopping" },
      },
      initial: "following",
      states: {
        following: {
          after: { expiry: { target: ".claiming", actions: "markExpired" } },
          initial: "waiting",
          states: {
            waiting: {
              always: { guard: "untried", target: "claiming" },
              after: { retry: "claiming" },
              on: {
                "LEASE.SEEN": [
                  {
                    guard: { type: "free", params: ({ event }) => event },
                    target: "claiming",
                    actions: { type: "noteLease", params: ({ event }) => event },
                  },
                  {
                    guard: { type: "another", params: ({ event }) => event },
                    target: "#leaderElection.electing.following",
                    actions: { type: "noteLease", params: ({ event }) => event },
                  },
                ],
              },
            },
            /** Looks, and takes the Lease if that is allowed. */
            claiming: {
              invoke: {
                id: "claim",
                src: "claim",
                input: ({ context: { settings, lease, looked, expired, highest } }) => ({
                  settings,
                  version: isFree(lease) || expired ? (lease?.version ?? "") : undefined,
                  first: !looked,
                  above: highest,
                }),
                onDone: [
                  {
                    guard: { type: "taken", params: ({ event }) => ({ reply: event.output }) },
                    target: "#leaderElection.electing.leading",
                    actions: [
                      "noteAnswer",
                      { type: "noteLease", params: ({ event }) => event.output },
                      { type: "noteTerm", params: ({ event }) => event.output },
                    ],
                  },
                  {
                    guard: { type: "another", params: ({ event }) => event.output },
                    target: "#leaderElection.electing.following",
                    actions: [
                      "noteAnswer",
                      { type: "noteLease", params: ({ event }) => event.output },
                      "forgetDeposals",
                    ],
                  },
                  { target: "waiting", actions: "noteAnswer" },
                ],
                onError: { target: "waiting", actions: { type: "noteFailure", params: failure } },
              },
              after: { attemptLimit: { target: "waiting", actions: { type: "noteFailure", params: silence } } },
            },
          },
        },
        leading: {
          entry: "announceBegin",
          after: { peace: { actions: "forgetDeposals" } },
          on: {
            "TERM.DEPOSED": {
              guard: { type: "newer", params: ({ event }) => event },
              target: "standingDown",
              actions: [
                { type: "learn", params: ({ event }) => event },
                { type: "announceEnd", params: { reason: "deposed" } },
              ],
            },
            "ELECTION.CONFIGURED": {
              guard: { type: "changesSettings", params: ({ event }) => event },
              target: "#leaderElection.releasing",
              actions: [
                { type: "announceEnd", params: { reason: "released" } },
                { type: "configure", params: ({ event }) => event },
              ],
            },
            "CONTROLLER.STOPPING": {
              target: "#leaderElection.releasing",
              actions: [{ type: "announceEnd", params: { reason: "released" } }, "noteStopping"],
            },
          },
          initial: "held",
          states: {
            /** Entered anew by each renewal. */
            held: {
              after: {
                renewDeadline: {
                  guard: "elected",
                  target: "#leaderElection.electing.following",
                  actions: { type: "announceEnd", params: { reason: "not renewed in time" } },
                },
              },
              initial: "resting",
              states: {
                resting: {
                  after: { retry: { guard: "elected", target: "renewing" } },
                  on: {
                    "LEASE.SEEN": { guard: { type: "notMine", params: ({ event }) => event }, target: "renewing" },
                  },
                },
                renewing: {
                  invoke: {
                    id: "renew",
                    src: "renew",
                    onDone: [
                      {
                        guard: { type: "renewed", params: ({ event }) => ({ reply: event.output }) },
                        target: "#leaderElection.electing.leading.held",
                        actions: [
                          "noteAnswer",
                          { type: "noteLease", params: ({ event }) => event.output },
                          { type: "noteTerm", params: ({ event }) => event.output },
                        ],
                      },
                      {
                        target: "#leaderElection.electing.following",
                        actions: [
                          "noteAnswer",
                          { type: "announceEnd", params: { reason: "lost" } },
                          { type: "noteLease", params: ({ event }) => event.output },
                        ],
                      },
                    ],
                    onError: { target: "resting", actions: { type: "noteFailure", params: failure } },
                  },
                  after: { attemptLimit: { target: "resting", actions: { type: "noteFailure", params: silence } } },
                },
              },
            },
          },
        },
        standingDown: {
          entry: "announceContest",
          after: { contest: "#leaderElection.electing.following.claiming" },
        },
      },
    },
    releasing: {
      invoke: {
        id: "release",
        src: "release",
        onDone: [{ guard: "stopping", target: "stopped" }, "joining"],
        onError: [{ guard: "stopping", target: "stopped" }, "joining"],
      },
      after: { releaseLimit: [{ guard: "stopping", target: "stopped" }, { target: "joining" }] },
      on: {
        "ELECTION.CONFIGURED": { actions: { type: "configure", params: ({ event }) => event } },
        "CONTROLLER.STOPPING": { actions: "noteStopping" },
      },
    },
    stopped: { type: "final" },
  },
});
