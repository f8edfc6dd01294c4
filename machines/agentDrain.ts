/**
 * One drain: HAProxy serves on until nobody opens connections to it any more. It is told to say "not ready", and its
 * count of accepted connections is read again and again; once it stands still for the quiet period, or the limit is
 * reached, who asked is answered and may stop HAProxy. Then it is watched until it listens no more: a worker that ends
 * waits for all its connections, that of the agent among them, so the agent lets go of it.
 * Lives from the wish to drain until HAProxy has been let go, or was not stopped after all.
 * Reads: nothing. Emits: nothing; `answer` tells how the drain ended.
 */
import { assign, fromPromise, setup } from "xstate";

/** What was accepted so far by the frontends that count; `worker` is another one after a reload. */
export interface DrainReading {
  readonly worker: string;
  readonly accepted: number;
}

export type DrainEnd = "quiet" | "limit";

export interface DrainInput {
  readonly quietMs: number;
  readonly limitMs: number;
}

interface DrainContext extends DrainInput {
  readonly last: DrainReading | undefined;
  /** Connections that came while it drained. */
  readonly came: number;
}

export const agentDrainMachine = setup({
  types: { context: {} as DrainContext, input: {} as DrainInput },
  actors: {
    /** Says "not ready" to whoever asks HAProxy, and reads what it has accepted. */
    look: fromPromise<DrainReading>(() => Promise.reject(new Error("this actor is provided by the wiring"))),
  },
  actions: {
    note: assign(({ context }, params: { reading: DrainReading }) => ({
      last: params.reading,
      came: context.came + cameSince(context.last, params.reading),
    })),
    /** To who asked. */
    answer: (_args, _params: { readonly end: DrainEnd; readonly came: number }) => {},
    /** The agent's connection to the worker ends. */
    letGo: () => {},
  },
  guards: {
    someCame: ({ context }, params: { reading: DrainReading }) => cameSince(context.last, params.reading) > 0,
  },
  delays: {
    quietPeriod: ({ context }) => context.quietMs,
    limit: ({ context }) => context.limitMs,
    lookInterval: 250,
    patience: 60_000,
  },
}).createMachine({
  id: "agentDrain",
  description: "HAProxy serves on until no new connection comes; once it is stopped, the agent lets go of it.",
  context: ({ input }) => ({ ...input, last: undefined, came: 0 }),
  initial: "draining",
  states: {
    draining: {
      initial: "counting",
      after: {
        limit: {
          target: "stopping",
          actions: { type: "answer", params: ({ context }) => ({ end: "limit", came: context.came }) },
        },
      },
      states: {
        counting: {
          description: "Entered anew with each connection that comes.",
          initial: "looking",
          after: {
            quietPeriod: {
              target: "#agentDrain.stopping",
              actions: { type: "answer", params: ({ context }) => ({ end: "quiet", came: context.came }) },
            },
          },
          states: {
            looking: {
              invoke: {
                id: "look",
                src: "look",
                onDone: [
                  {
                    guard: { type: "someCame", params: ({ event }) => ({ reading: event.output }) },
                    target: "#agentDrain.draining.counting",
                    actions: { type: "note", params: ({ event }) => ({ reading: event.output }) },
                  },
                  {
                    target: "pausing",
                    actions: { type: "note", params: ({ event }) => ({ reading: event.output }) },
                  },
                ],
                // An HAProxy that is not there takes no connections.
                onError: "pausing",
              },
            },
            pausing: { after: { lookInterval: "looking" } },
          },
        },
      },
    },
    stopping: {
      description: "HAProxy may be stopped now, and listens until it is.",
      initial: "watching",
      after: { patience: "ended" },
      states: {
        watching: {
          invoke: {
            id: "watch",
            src: "look",
            onDone: "waiting",
            onError: { target: "#agentDrain.ended", actions: "letGo" },
          },
        },
        waiting: { after: { lookInterval: "watching" } },
      },
    },
    ended: { type: "final" },
  },
});

/** The first reading is the measure; a new worker counts from zero. */
function cameSince(last: DrainReading | undefined, reading: DrainReading): number {
  if (last === undefined) return 0;
  return last.worker === reading.worker ? Math.max(0, reading.accepted - last.accepted) : reading.accepted;
}
