/**
 * One reload inside the agent: put the set into the files, ask the master, hear the verdict, find the new worker; on a
 * refusal bring the former set back, and load it again if the worker had taken operations of the refused one.
 * Reads: nothing but the answers of its actors. Emits: nothing; its output says how it ended.
 */
import { assign, fromPromise, setup } from "xstate";

/** `lost`: HAProxy gave no verdict; the reload stays owed and is judged when a worker is found again. */
export type ReloadEnd = "loaded" | "refused" | "lost";

export interface ReloadInput {
  /** The request that wants it; undefined = a scheduled one. */
  readonly id: number | undefined;
  /** Tries before HAProxy counts as lost. */
  readonly attempts: number;
}

export interface ReloadOutput {
  readonly id: number | undefined;
  readonly end: ReloadEnd;
}

interface ReloadContext {
  readonly id: number | undefined;
  readonly maxAttempts: number;
  readonly attempts: number;
  readonly end: ReloadEnd;
  readonly restored: boolean;
}

const missing = <O>() =>
  fromPromise<O, { readonly id: number | undefined }>(() =>
    Promise.reject(new Error("this actor is provided by the wiring")),
  );

export const agentReloadMachine = setup({
  types: {
    context: {} as ReloadContext,
    input: {} as ReloadInput,
    output: {} as ReloadOutput,
  },
  actors: {
    /** The files hold the wanted set afterwards, the former one is kept; false when no reload is owed any more. */
    take: missing<boolean>(),
    /** Master `reload`; true when HAProxy took the set. */
    load: missing<boolean>(),
    /** Attaches to the new worker; rejects while the old one still answers. */
    adopt: missing<void>(),
    /** Former set back into the files; true when it must be loaded again. */
    restore: missing<boolean>(),
    /** Tells the requester how it ended. */
    answer: fromPromise<void, ReloadOutput>(() => Promise.reject(new Error("this actor is provided by the wiring"))),
  },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    resetAttempts: assign({ attempts: 0 }),
    noteLoaded: assign({ end: ({ context }) => (context.restored ? ("refused" as const) : ("loaded" as const)) }),
    noteRefused: assign({ end: "refused" }),
    noteRestored: assign({ restored: true, end: "refused" as const }),
    /** Nothing has changed yet. */
    answerFailure: (_args, _params: { readonly id: number | undefined; readonly error: unknown }) => {},
  },
  guards: {
    isOwed: (_args, params: { owed: boolean }) => params.owed,
    isLoaded: (_args, params: { ok: boolean }) => params.ok,
    mustLoadFormer: (_args, params: { touched: boolean }) => params.touched,
    isRestored: ({ context }) => context.restored,
    mayTryAgain: ({ context }) => context.attempts < context.maxAttempts,
  },
  delays: { retryPause: 20 },
}).createMachine({
  id: "agentReload",
  description: "HAProxy's verdict decides: the new set, or the former one again.",
  context: ({ input }) => ({ id: input.id, maxAttempts: input.attempts, attempts: 0, end: "lost", restored: false }),
  initial: "taking",
  output: ({ context }) => ({ id: context.id, end: context.end }),
  states: {
    taking: {
      invoke: {
        id: "take",
        src: "take",
        input: ({ context }) => ({ id: context.id }),
        onDone: [
          { guard: { type: "isOwed", params: ({ event }) => ({ owed: event.output }) }, target: "loading" },
          { target: "answering", actions: "noteLoaded" },
        ],
        onError: {
          target: "answering",
          actions: [
            { type: "answerFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
            "noteRefused",
          ],
        },
      },
    },
    loading: {
      invoke: {
        id: "load",
        src: "load",
        input: ({ context }) => ({ id: context.id }),
        onDone: [
          {
            guard: { type: "isLoaded", params: ({ event }) => ({ ok: event.output }) },
            target: "adopting",
            actions: "resetAttempts",
          },
          { guard: "isRestored", target: "answering" },
          { target: "restoring" },
        ],
        onError: [{ guard: "mayTryAgain", target: "loadPausing", actions: "countAttempt" }, { target: "answering" }],
      },
    },
    loadPausing: { after: { retryPause: "loading" } },
    adopting: {
      invoke: {
        id: "adopt",
        src: "adopt",
        input: ({ context }) => ({ id: context.id }),
        onDone: { target: "answering", actions: "noteLoaded" },
        onError: [{ guard: "mayTryAgain", target: "adoptPausing", actions: "countAttempt" }, { target: "answering" }],
      },
    },
    adoptPausing: { after: { retryPause: "adopting" } },
    restoring: {
      invoke: {
        id: "restore",
        src: "restore",
        input: ({ context }) => ({ id: context.id }),
        onDone: [
          {
            guard: { type: "mustLoadFormer", params: ({ event }) => ({ touched: event.output }) },
            target: "loading",
            actions: "noteRestored",
          },
          { target: "answering", actions: "noteRefused" },
        ],
        onError: { target: "answering", actions: "noteRefused" },
      },
    },
    answering: {
      invoke: {
        id: "answer",
        src: "answer",
        input: ({ context }) => ({ id: context.id, end: context.end }),
        onDone: "ended",
        onError: {
          target: "ended",
          actions: { type: "answerFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    ended: { type: "final" },
  },
});
