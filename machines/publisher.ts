/**
 * Publishes what is in force as objects that people and tools read: the accepted configuration, its files, and what each pod runs.
 *
 * Lives with a term.
 * Reads: whatever may change what is published (publisherReads).
 * Emits: PUBLICATION.WRITTEN, PUBLICATION.REFUSED (the accepted plan cannot be published, however often it is tried),
 * PUBLICATION.FAILED (it is tried again), PUBLICATION.RECOVERED (after that: what is published is right).
 *
 * It keeps out of the way of the change that it tells of: it looks what differs `settle` after the last event (at the latest `patience`
 * after the first), all in one pass, and not again before `interval`. What came meanwhile waits in the book that it looks into: the newest
 * wins. When nothing differs nothing is written. What is published is read at the begin, after every failure, and every `audit`, so that
 * what others changed is put right.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { CoordinatorEmitted } from "./coordinator.ts";
import type { DeployerEmitted } from "./deployer.ts";
import type { DiscoveryEvent, PodsChanged } from "./discovery.ts";
import type { RenderGateEmitted } from "./renderGate.ts";

export interface PublicationReport {
  /** The plan that is published; "" = none. */
  readonly planId: string;
  readonly writes: number;
  readonly tookMs: number;
  /** Why the newest accepted plan cannot be published as it is; trying again would not help. */
  readonly trouble: { readonly reason: string; readonly message: string } | null;
}

export type PublisherEvent =
  | Extract<CoordinatorEmitted, { type: "PLAN.RENDERED" }>
  | Exclude<RenderGateEmitted, { type: "PLAN.RELEASED" | "GATE.HELD" | "GATE.RECOVERED" }>
  | Extract<DeployerEmitted, { type: "POD.APPLIED" | "POD.FAILED" | "POD.REVERTED" }>
  | PodsChanged
  | Extract<DiscoveryEvent, { type: "PODS.LISTED" }>;

export type PublisherEmitted =
  | {
      readonly type: "PUBLICATION.WRITTEN";
      readonly planId: string;
      readonly writes: number;
      readonly tookMs: number;
    }
  | { readonly type: "PUBLICATION.REFUSED"; readonly reason: string; readonly message: string }
  | { readonly type: "PUBLICATION.FAILED"; readonly reason: string; readonly message: string }
  | { readonly type: "PUBLICATION.RECOVERED" };

export const publisherReads = [
  "PLAN.RENDERED",
  "PLAN.PASSED",
  "PLAN.REFUSED",
  "PLAN.UNPROVEN",
  "GATE.PINNED",
  "POD.APPLIED",
  "POD.FAILED",
  "POD.REVERTED",
  "PODS.CHANGED",
  "PODS.LISTED",
] as const;

export interface PublisherInput {
  /** Whether what is published is not what should be. */
  readonly differs: () => boolean;
  /** Least time between two publications, in ms. */
  readonly intervalMs: () => number;
  readonly backoffMs: (attempt: number) => number;
  /** One word for what went wrong. */
  readonly reasonOf: (error: unknown) => string;
}

interface PublisherContext extends PublisherInput {
  readonly attempt: number;
}

const report = ({ event }: { event: { output: PublicationReport } }) => ({ report: event.output });
const failure = ({ context, event }: { context: PublisherContext; event: { error: unknown } }) => ({
  reason: context.reasonOf(event.error),
  message: event.error instanceof Error ? event.error.message : String(event.error),
});
const unprovided = (name: string) => () => Promise.reject(new Error(`the ${name} actor is provided by the wiring`));
/** All that the chart reads, as transitions. */
const onEvery = <const T>(transition: T) =>
  Object.fromEntries(publisherReads.map((type) => [type, transition])) as Record<(typeof publisherReads)[number], T>;

export const publisherMachine = setup({
  types: {
    context: {} as PublisherContext,
    events: {} as PublisherEvent,
    input: {} as PublisherInput,
    emitted: {} as PublisherEmitted,
  },
  actors: {
    read: fromPromise<void>(unprovided("read")),
    publish: fromPromise<PublicationReport>(unprovided("publish")),
  },
  actions: {
    succeed: assign({ attempt: 0 }),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    announceWritten: emit((_, { report: { planId, writes, tookMs } }: { report: PublicationReport }) => ({
      type: "PUBLICATION.WRITTEN",
      planId,
      writes,
      tookMs,
    })),
    announceRefused: emit((_, params: { report: PublicationReport }) => ({
      type: "PUBLICATION.REFUSED",
      reason: params.report.trouble?.reason ?? "",
      message: params.report.trouble?.message ?? "",
    })),
    announceRecovered: emit({ type: "PUBLICATION.RECOVERED" }),
    announceFailed: emit((_, params: { reason: string; message: string }) => ({
      type: "PUBLICATION.FAILED",
      ...params,
    })),
  },
  guards: {
    differs: ({ context }) => context.differs(),
    failedBefore: ({ context }) => context.attempt > 0,
    unpublishable: (_, params: { report: PublicationReport }) => params.report.trouble !== null,
  },
  delays: {
    settle: 1_000,
    patience: 5_000,
    audit: 300_000,
    interval: ({ context }) => context.intervalMs(),
    backoff: ({ context }) => context.backoffMs(context.attempt),
  },
}).createMachine({
  id: "publisher",
  context: ({ input }) => ({ ...input, attempt: 0 }),
  initial: "reading",
  states: {
    reading: {
      invoke: {
        id: "read",
        src: "read",
        onDone: "waiting",
        onError: { target: "backingOff", actions: { type: "announceFailed", params: failure } },
      },
    },
    idle: { on: onEvery("waiting"), after: { audit: "reading" } },
    waiting: {
      initial: "settling",
      after: { patience: "deciding" },
      states: {
        settling: {
          on: onEvery({ target: "settling", reenter: true }),
          after: { settle: "#publisher.deciding" },
        },
      },
    },
    deciding: {
      always: [
        { guard: "differs", target: "publishing" },
        { guard: "failedBefore", target: "idle", actions: ["succeed", "announceRecovered"] },
        { target: "idle" },
      ],
    },
    publishing: {
      invoke: {
        id: "publish",
        src: "publish",
        onDone: [
          {
            guard: { type: "unpublishable", params: report },
            target: "resting",
            actions: ["succeed", { type: "announceRefused", params: report }],
          },
          { target: "resting", actions: ["succeed", { type: "announceWritten", params: report }] },
        ],
        onError: { target: "backingOff", actions: { type: "announceFailed", params: failure } },
      },
    },
    resting: { after: { interval: "waiting" } },
    backingOff: { entry: "countAttempt", after: { backoff: "reading" } },
  },
});
