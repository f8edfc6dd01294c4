/**
 * Writes Kubernetes Events: verdicts on the configuration object, faults on the objects that have them, and the answer when a fault is
 * mended. What is to be said is kept in a ledger outside the chart, where identical tuples are one.
 *
 * Lives with a term.
 * Reads: whatever may add to the ledger (eventRecorderReads). Emits: EVENTS.RECORDED, EVENTS.FAILED.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { ConfigLoaderEmitted } from "./configLoader.ts";
import type { ControllerEmitted } from "./controller.ts";
import type { CoordinatorEmitted } from "./coordinator.ts";
import type { DeployerEmitted } from "./deployer.ts";
import type { LeaderElectionEmitted } from "./leaderElection.ts";
import type { PublisherEmitted } from "./publisher.ts";
import type { RenderGateEmitted } from "./renderGate.ts";
import type { WatcherEmitted } from "./watcher.ts";

export type EventRecorderEvent =
  | Extract<ConfigLoaderEmitted, { type: "CONFIG.HELD" | "CONFIG.INVALID" }>
  | ControllerEmitted
  | CoordinatorEmitted
  | Extract<DeployerEmitted, { type: "DEPLOYMENT.COMPLETED" }>
  | Extract<RenderGateEmitted, { type: "PLAN.REFUSED" | "GATE.RECOVERED" }>
  | Extract<LeaderElectionEmitted, { type: "TERM.UNDISPUTED" }>
  | Extract<WatcherEmitted, { type: "WATCH.FAULTED" | "WATCH.RECOVERED" }>
  | PublisherEmitted;

export type EventRecorderEmitted =
  | { readonly type: "EVENTS.RECORDED"; readonly count: number }
  | { readonly type: "EVENTS.FAILED"; readonly message: string };

export const eventRecorderReads = [
  "CONFIG.HELD",
  "CONFIG.INVALID",
  "ITERATION.ACCEPTED",
  "ITERATION.REFUSED",
  "PLAN.RENDERED",
  "RENDER.FAILED",
  "PLAN.REFUSED",
  "DEPLOYMENT.COMPLETED",
  "GATE.RECOVERED",
  "TERM.UNDISPUTED",
  "WATCH.FAULTED",
  "WATCH.RECOVERED",
  "PUBLICATION.WRITTEN",
  "PUBLICATION.REFUSED",
  "PUBLICATION.FAILED",
  "PUBLICATION.RECOVERED",
] as const;

export interface EventRecorderInput {
  /** Whether the ledger holds something that is not written yet. */
  readonly hasWork: () => boolean;
  readonly backoffMs: (attempt: number) => number;
}

export const eventRecorderMachine = setup({
  types: {
    context: {} as EventRecorderInput & { readonly attempt: number },
    events: {} as EventRecorderEvent,
    input: {} as EventRecorderInput,
    emitted: {} as EventRecorderEmitted,
  },
  actors: {
    /** Writes what the ledger holds now; resolves with the number of writes. */
    record: fromPromise<number>(() => Promise.reject(new Error("the record actor is provided by the wiring"))),
  },
  actions: {
    announceRecorded: emit((_, params: { count: number }) => ({ type: "EVENTS.RECORDED", count: params.count })),
    announceFailed: emit((_, params: { message: string }) => ({ type: "EVENTS.FAILED", message: params.message })),
    succeed: assign({ attempt: 0 }),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
  },
  guards: { hasWork: ({ context }) => context.hasWork() },
  delays: { backoff: ({ context }) => context.backoffMs(context.attempt) },
}).createMachine({
  id: "eventRecorder",
  context: ({ input }) => ({ ...input, attempt: 0 }),
  initial: "looking",
  states: {
    looking: { always: [{ guard: "hasWork", target: "recording" }, { target: "idle" }] },
    idle: {
      on: {
        "CONFIG.HELD": "looking",
        "CONFIG.INVALID": "looking",
        "ITERATION.ACCEPTED": "looking",
        "ITERATION.REFUSED": "looking",
        "PLAN.RENDERED": "looking",
        "RENDER.FAILED": "looking",
        "PLAN.REFUSED": "looking",
        "DEPLOYMENT.COMPLETED": "looking",
        "GATE.RECOVERED": "looking",
        "TERM.UNDISPUTED": "looking",
        "WATCH.FAULTED": "looking",
        "WATCH.RECOVERED": "looking",
        "PUBLICATION.WRITTEN": "looking",
        "PUBLICATION.REFUSED": "looking",
        "PUBLICATION.FAILED": "looking",
        "PUBLICATION.RECOVERED": "looking",
      },
    },
    recording: {
      invoke: {
        id: "record",
        src: "record",
        onDone: {
          target: "looking",
          actions: ["succeed", { type: "announceRecorded", params: ({ event }) => ({ count: event.output }) }],
        },
        onError: {
          target: "backingOff",
          actions: { type: "announceFailed", params: ({ event }) => ({ message: String(event.error) }) },
        },
      },
    },
    backingOff: { entry: "countAttempt", after: { backoff: "looking" } },
  },
});
