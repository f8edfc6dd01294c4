/**
 * Takes the epoch of a term. Standalone: this replica always leads, but by the same rule as an elected one: the epoch is
 * max(the Lease's, any agent's) + 1, taken by compare-and-swap on the Lease, so a deleted Lease or a restored etcd cannot make every
 * agent refuse for ever.
 *
 * Lives with the process.
 * Reads: TERM.DEPOSED (an agent has seen a newer epoch).
 * Emits: TERM.BEGAN, TERM.ENDED, TERM.UNAVAILABLE.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { DeployerEmitted } from "./deployer.ts";

export type LeadershipEmitted =
  | { readonly type: "TERM.BEGAN"; readonly epoch: number }
  | { readonly type: "TERM.ENDED"; readonly epoch: number }
  | { readonly type: "TERM.UNAVAILABLE"; readonly message: string };

export type LeadershipEvent = Extract<DeployerEmitted, { type: "TERM.DEPOSED" }>;

export const leadershipReads = ["TERM.DEPOSED"] as const;

export interface LeadershipInput {
  /** Jittered backoff in ms before attempt `attempt` (1 = the first repeat). */
  readonly backoffMs: (attempt: number) => number;
}

export const leadershipMachine = setup({
  types: {
    context: {} as LeadershipInput & { readonly epoch: number; readonly highest: number; readonly attempt: number },
    events: {} as LeadershipEvent,
    input: {} as LeadershipInput,
    emitted: {} as LeadershipEmitted,
  },
  actors: {
    /** Resolves with the epoch taken; `above` is the highest epoch known to any agent. */
    claimEpoch: fromPromise<number, { above: number }>(() =>
      Promise.reject(new Error("the claimEpoch actor is provided by the wiring")),
    ),
  },
  actions: {
    begin: assign((_, params: { epoch: number }) => ({ epoch: params.epoch, attempt: 0 })),
    learn: assign(({ context }, params: { epoch: number }) => ({ highest: Math.max(context.highest, params.epoch) })),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    announceBegin: emit(({ context }) => ({ type: "TERM.BEGAN", epoch: context.epoch })),
    announceEnd: emit(({ context }) => ({ type: "TERM.ENDED", epoch: context.epoch })),
    announceUnavailable: emit((_, params: { message: string }) => ({
      type: "TERM.UNAVAILABLE",
      message: params.message,
    })),
  },
  guards: {
    newer: ({ context }, params: { epoch: number }) => params.epoch > context.epoch,
  },
  delays: {
    backoff: ({ context }) => context.backoffMs(context.attempt),
    /** Two standalone controllers on one fleet must not depose each other in a tight loop. */
    standDown: 2_000,
  },
}).createMachine({
  id: "leadership",
  context: ({ input }) => ({ ...input, epoch: 0, highest: 0, attempt: 0 }),
  initial: "claiming",
  states: {
    claiming: {
      invoke: {
        id: "claimEpoch",
        src: "claimEpoch",
        input: ({ context }) => ({ above: context.highest }),
        onDone: {
          target: "leading",
          actions: [{ type: "begin", params: ({ event }) => ({ epoch: event.output }) }, "announceBegin"],
        },
        onError: {
          target: "waiting",
          actions: { type: "announceUnavailable", params: ({ event }) => ({ message: String(event.error) }) },
        },
      },
    },
    waiting: { entry: "countAttempt", after: { backoff: "claiming" } },
    leading: {
      on: {
        "TERM.DEPOSED": {
          guard: { type: "newer", params: ({ event }) => ({ epoch: event.epoch }) },
          target: "standingDown",
          actions: [{ type: "learn", params: ({ event }) => ({ epoch: event.epoch }) }, "announceEnd"],
        },
      },
    },
    standingDown: { after: { standDown: "claiming" } },
  },
});
