/**
 * The root: which component lives how long.
 *
 * process: configLoader, discovery, leaderElection (and the watchers, shared by reference count).
 * iteration (one accepted configuration): reconciler.
 * term (this replica leads): coordinator, scheduler, deployer, renderGate, driftMonitor, statusWriter, eventRecorder,
 * publisher.
 * between terms (it follows): warmer, which renders for the graph's sake only.
 *
 * Reads: CONFIG.LOADED, RESOURCES.CHANGED, PODS.CHANGED, PODS.SETTLED, TERM.BEGAN, TERM.ENDED, CONTROLLER.STOPPING.
 * Emits: ITERATION.ACCEPTED, ITERATION.REFUSED, CONTROLLER.STOPPED.
 *
 * A new configuration is tried beside the serving one (compile, sync its watches, render, `haproxy -c`) and takes over only when it
 * passed. A refusal that depends on watched objects (a template that fails on one) is tried again after they changed.
 */
import { assign, emit, fromPromise, raise, setup } from "xstate";
import { configLoaderMachine } from "./configLoader.ts";
import type { ConfigLoaderEmitted } from "./configLoader.ts";
import { coordinatorMachine } from "./coordinator.ts";
import { deployerMachine } from "./deployer.ts";
import { discoveryMachine } from "./discovery.ts";
import type { PodRef, PodsChanged, PodsSettled } from "./discovery.ts";
import { driftMonitorMachine } from "./driftMonitor.ts";
import { eventRecorderMachine } from "./eventRecorder.ts";
import { leaderElectionMachine } from "./leaderElection.ts";
import type { ControllerStopping, LeaderElectionEmitted } from "./leaderElection.ts";
import { publisherMachine } from "./publisher.ts";
import type { PublisherInput } from "./publisher.ts";
import { reconcilerMachine } from "./reconciler.ts";
import { renderGateMachine } from "./renderGate.ts";
import type { CheckVerdict } from "./renderGate.ts";
import { schedulerMachine } from "./scheduler.ts";
import { statusWriterMachine } from "./statusWriter.ts";
import { warmerMachine } from "./warmer.ts";
import type { WatcherEmitted } from "./watcher.ts";

export type RefusalReason = "ConfigInvalid" | "HAProxyValidationFailed";

export type TrialReply =
  | {
      readonly kind: "accepted";
      readonly planId: string;
      readonly watches: readonly string[];
      readonly driftIntervalMs: number;
    }
  | {
      readonly kind: "refused";
      readonly reason: RefusalReason;
      readonly message: string;
      /** Other objects might turn the verdict. */
      readonly dependsOnInputs: boolean;
    };

export type ControllerEmitted =
  | {
      readonly type: "ITERATION.ACCEPTED";
      readonly iteration: number;
      readonly version: string;
      readonly generation: number;
      readonly planId: string;
      readonly driftIntervalMs: number;
    }
  | {
      readonly type: "ITERATION.REFUSED";
      readonly version: string;
      readonly generation: number;
      readonly reason: RefusalReason;
      readonly message: string;
    }
  /** The term is over and the Lease given back: the process may end. */
  | { readonly type: "CONTROLLER.STOPPED" };

export type ControllerEvent =
  | Extract<ConfigLoaderEmitted, { type: "CONFIG.LOADED" }>
  | Extract<WatcherEmitted, { type: "RESOURCES.CHANGED" }>
  | PodsChanged
  | PodsSettled
  | Extract<LeaderElectionEmitted, { type: "TERM.BEGAN" | "TERM.ENDED" }>
  | ControllerStopping
  | { readonly type: "ITERATION.INSTALLED" };

export const controllerReads = [
  "CONFIG.LOADED",
  "RESOURCES.CHANGED",
  "PODS.CHANGED",
  "PODS.SETTLED",
  "TERM.BEGAN",
  "TERM.ENDED",
  "CONTROLLER.STOPPING",
] as const;

export interface ControllerInput {
  readonly backoffMs: (attempt: number) => number;
  readonly contestMs: (times: number) => number;
  readonly jitter: (ms: number) => number;
  readonly verdictOf: (planId: string) => CheckVerdict | undefined;
  readonly isRisky: (planId: string) => boolean;
  readonly statusDiffers: () => boolean;
  readonly hasEvents: () => boolean;
  readonly publishing: PublisherInput;
}

interface ControllerContext extends ControllerInput {
  readonly version: string;
  readonly generation: number;
  readonly iteration: number;
  readonly watches: readonly string[];
  readonly driftIntervalMs: number;
  readonly refusalDependsOnInputs: boolean;
  readonly pods: readonly PodRef[];
  readonly podsSettled: boolean;
}

/** A component ends only by a defect; it is reported and begun anew. */
const failure =
  (component: string) =>
  ({ event }: { event: { error: unknown } }) => ({ component, message: String(event.error) });

export const controllerMachine = setup({
  types: {
    context: {} as ControllerContext,
    events: {} as ControllerEvent,
    input: {} as ControllerInput,
    emitted: {} as ControllerEmitted,
  },
  actors: {
    configLoader: configLoaderMachine,
    discovery: discoveryMachine,
    leaderElection: leaderElectionMachine,
    trial: fromPromise<TrialReply, { version: string; generation: number }>(() =>
      Promise.reject(new Error("the trial actor is provided by the wiring")),
    ),
    reconciler: reconcilerMachine,
    coordinator: coordinatorMachine,
    scheduler: schedulerMachine,
    deployer: deployerMachine,
    renderGate: renderGateMachine,
    driftMonitor: driftMonitorMachine,
    statusWriter: statusWriterMachine,
    eventRecorder: eventRecorderMachine,
    publisher: publisherMachine,
    warmer: warmerMachine,
  },
  actions: {
    noteConfig: assign((_, params: { version: string; generation: number }) => params),
    notePods: assign((_, params: { pods: readonly PodRef[] }) => ({ pods: params.pods })),
    noteSettled: assign({ podsSettled: true }),
    /** Makes the tried iteration the serving one, and lets the former go. */
    install: () => {},
    adopt: assign(({ context }, params: { watches: readonly string[]; driftIntervalMs: number }) => ({
      iteration: context.iteration + 1,
      watches: params.watches,
      driftIntervalMs: params.driftIntervalMs,
    })),
    noteRefusal: assign((_, params: { dependsOnInputs: boolean }) => ({
      refusalDependsOnInputs: params.dependsOnInputs,
    })),
    tellInstalled: raise({ type: "ITERATION.INSTALLED" }),
    announceAccepted: emit(({ context }, params: { planId: string }) => ({
      type: "ITERATION.ACCEPTED",
      iteration: context.iteration,
      version: context.version,
      generation: context.generation,
      planId: params.planId,
      driftIntervalMs: context.driftIntervalMs,
    })),
    announceRefused: emit(({ context }, params: { reason: RefusalReason; message: string }) => ({
      type: "ITERATION.REFUSED",
      version: context.version,
      generation: context.generation,
      ...params,
    })),
    announceStopped: emit({ type: "CONTROLLER.STOPPED" }),
    reportComponent: (_args, _params: { component: string; message: string }) => {},
  },
  guards: {
    accepted: (_, params: { reply: TrialReply }) => params.reply.kind === "accepted",
    dependsOnInputs: ({ context }) => context.refusalDependsOnInputs,
  },
  delays: { retrial: 2_000, trialRetry: 5_000, componentRestart: 1_000 },
}).createMachine({
  id: "controller",
  context: ({ input }) => ({
    ...input,
    version: "",
    generation: 0,
    iteration: 0,
    watches: [],
    driftIntervalMs: 60_000,
    refusalDependsOnInputs: false,
    pods: [],
    podsSettled: false,
  }),
  type: "parallel",
  on: {
    "PODS.CHANGED": { actions: { type: "notePods", params: ({ event }) => ({ pods: event.pods }) } },
    "PODS.SETTLED": { actions: "noteSettled" },
  },
  states: {
    configLoading: {
      initial: "running",
      states: {
        running: {
          invoke: {
            id: "configLoader",
            src: "configLoader",
            onError: { target: "failed", actions: { type: "reportComponent", params: failure("configLoader") } },
          },
        },
        failed: { after: { componentRestart: "running" } },
      },
    },
    discovering: {
      initial: "running",
      states: {
        running: {
          invoke: {
            id: "discovery",
            src: "discovery",
            input: ({ context }) => ({ backoffMs: context.backoffMs }),
            onError: { target: "failed", actions: { type: "reportComponent", params: failure("discovery") } },
          },
        },
        failed: { after: { componentRestart: "running" } },
      },
    },
    configuration: {
      initial: "waiting",
      on: {
        "CONFIG.LOADED": {
          target: ".trying",
          actions: { type: "noteConfig", params: ({ event: { version, generation } }) => ({ version, generation }) },
        },
      },
      states: {
        waiting: {},
        trying: {
          invoke: {
            id: "trial",
            src: "trial",
            input: ({ context: { version, generation } }) => ({ version, generation }),
            onDone: [
              {
                guard: { type: "accepted", params: ({ event }) => ({ reply: event.output }) },
                target: "accepted",
                actions: [
                  "install",
                  {
                    type: "adopt",
                    params: ({ event: { output } }) =>
                      output.kind === "accepted" ? output : { watches: [], driftIntervalMs: 0 },
                  },
                  {
                    type: "announceAccepted",
                    params: ({ event: { output } }) => ({ planId: output.kind === "accepted" ? output.planId : "" }),
                  },
                  "tellInstalled",
                ],
              },
              {
                target: "refused",
                actions: [
                  {
                    type: "noteRefusal",
                    params: ({ event: { output } }) => ({
                      dependsOnInputs: output.kind === "refused" && output.dependsOnInputs,
                    }),
                  },
                  {
                    type: "announceRefused",
                    params: ({ event: { output } }) => ({
                      reason: output.kind === "refused" ? output.reason : "ConfigInvalid",
                      message: output.kind === "refused" ? output.message : "",
                    }),
                  },
                ],
              },
            ],
            onError: {
              target: "untried",
              actions: [
                { type: "reportComponent", params: failure("trial") },
                {
                  type: "announceRefused",
                  params: ({ event: { error } }) => ({
                    reason: "ConfigInvalid",
                    message: error instanceof Error ? error.message : String(error),
                  }),
                },
              ],
            },
          },
        },
        accepted: {},
        refused: { on: { "RESOURCES.CHANGED": { guard: "dependsOnInputs", target: "stale" } } },
        stale: { after: { retrial: "trying" } },
        untried: { after: { trialRetry: "trying" } },
      },
    },
    serving: {
      initial: "nothing",
      states: {
        nothing: { on: { "ITERATION.INSTALLED": "iteration" } },
        iteration: {
          // On this state, not on the region: a region that re-enters itself takes all regions beside it along.
          on: { "ITERATION.INSTALLED": { target: "iteration", reenter: true } },
          invoke: {
            id: "reconciler",
            src: "reconciler",
            input: ({ context: { iteration, watches } }) => ({ iteration, watches }),
            onError: { target: "failed", actions: { type: "reportComponent", params: failure("reconciler") } },
          },
        },
        failed: { on: { "ITERATION.INSTALLED": "iteration" }, after: { componentRestart: "iteration" } },
      },
    },
    leadership: {
      initial: "running",
      states: {
        running: {
          invoke: {
            id: "leaderElection",
            src: "leaderElection",
            input: ({ context: { backoffMs, contestMs, jitter } }) => ({ backoffMs, contestMs, jitter }),
            onDone: "stopped",
            onError: { target: "failed", actions: { type: "reportComponent", params: failure("leaderElection") } },
          },
        },
        failed: { after: { componentRestart: "running" }, on: { "CONTROLLER.STOPPING": "stopped" } },
        stopped: { entry: "announceStopped" },
      },
    },
    term: {
      initial: "following",
      on: { "TERM.ENDED": ".following" },
      states: {
        following: {
          on: { "TERM.BEGAN": "leading" },
          initial: "warming",
          states: {
            warming: {
              invoke: {
                id: "warmer",
                src: "warmer",
                onError: { target: "failed", actions: { type: "reportComponent", params: failure("warmer") } },
              },
            },
            failed: { after: { componentRestart: "warming" } },
          },
        },
        leading: {
          invoke: [
            {
              id: "coordinator",
              src: "coordinator",
              input: ({ context }) => ({ iterationReady: context.iteration > 0, podsSettled: context.podsSettled }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("coordinator") } },
            },
            {
              id: "renderGate",
              src: "renderGate",
              input: ({ context }) => ({ verdictOf: context.verdictOf, isRisky: context.isRisky, maxSuperseded: 8 }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("renderGate") } },
            },
            {
              id: "scheduler",
              src: "scheduler",
              input: ({ context }) => ({ pods: context.pods.length }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("scheduler") } },
            },
            {
              id: "deployer",
              src: "deployer",
              input: ({ context }) => ({ admitted: context.pods, backoffMs: context.backoffMs }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("deployer") } },
            },
            {
              id: "driftMonitor",
              src: "driftMonitor",
              input: ({ context }) => ({ intervalMs: context.driftIntervalMs }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("driftMonitor") } },
            },
            {
              id: "statusWriter",
              src: "statusWriter",
              input: ({ context }) => ({ differs: context.statusDiffers, backoffMs: context.backoffMs }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("statusWriter") } },
            },
            {
              id: "eventRecorder",
              src: "eventRecorder",
              input: ({ context }) => ({ hasWork: context.hasEvents, backoffMs: context.backoffMs }),
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("eventRecorder") } },
            },
            {
              id: "publisher",
              src: "publisher",
              input: ({ context }) => context.publishing,
              onError: { target: "failed", actions: { type: "reportComponent", params: failure("publisher") } },
            },
          ],
        },
        failed: { after: { componentRestart: "leading" } },
      },
    },
  },
});
