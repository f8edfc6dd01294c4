/**
 * The agent: owner of one pod's file tree and of its way to HAProxy. Recovers what a kill left, finds the worker, brings
 * it to the claimed set, then takes one apply at a time; files follow by folds, reloads are paced.
 * Reads: APPLY.REQUESTED and START.REQUESTED (the HTTP server and the local socket), WORKER.LOST (the connection ended),
 * REMOVALS.QUEUED (an apply left servers or backends to remove).
 * Emits: nothing; requests are answered by its actions and actors.
 */
import { assign, fromPromise, raise, sendTo, setup, stateIn } from "xstate";
import { agentApplyMachine } from "./agentApply.ts";
import { agentReloadMachine } from "./agentReload.ts";
import { agentRemovalsMachine } from "./agentRemovals.ts";

export type AgentEvent =
  | { readonly type: "APPLY.REQUESTED"; readonly id: number }
  /** The start wrapper of HAProxy wants the files to be whole. */
  | { readonly type: "START.REQUESTED"; readonly id: number }
  | { readonly type: "WORKER.LOST" }
  | { readonly type: "REMOVALS.QUEUED" }
  | { readonly type: "FILES.CHANGED" }
  | { readonly type: "RELOAD.STARTED" }
  | { readonly type: "RELOAD.WANTED" }
  | { readonly type: "RELOAD.OWED" };

/**
 * `more` came meanwhile; `diverged`: the worker is not what its operations were to make of it, and a reload is owed; `owed`: one
 * is owed, for whatever reason.
 */
export type FoldEnd = "whole" | "more" | "diverged" | "owed";

export interface AgentInput {
  /** Least time between two reloads, in milliseconds; 0 = none. Old workers stretch it. */
  readonly reloadIntervalMs: number;
  /** More waiting applies than this are refused: there is one leader, and it sends one at a time. */
  readonly maxWaiting: number;
  /** Tries of a reload, 20 ms apart, before HAProxy counts as lost. */
  readonly reloadAttempts: number;
}

interface AgentContext extends AgentInput {
  /** Waiting requests, oldest first. */
  readonly applies: readonly number[];
  readonly starts: readonly number[];
  readonly current: number | undefined;
  /** What old workers add to the interval, until they are looked at again, in milliseconds. */
  readonly restMs: number;
}

interface ById {
  readonly id: number;
}

const missing = <O, I>() => fromPromise<O, I>(() => Promise.reject(new Error("this actor is provided by the wiring")));

export const agentMachine = setup({
  types: {
    context: {} as AgentContext,
    events: {} as AgentEvent,
    input: {} as AgentInput,
  },
  actors: {
    recover: missing<void, undefined>(),
    attach: missing<void, undefined>(),
    /** Redoes what the worker may lack; true when only a reload makes it what the files say. */
    reconcile: missing<boolean, undefined>(),
    apply: agentApplyMachine,
    /** Takes the set without loading it; in-place operations run. Answers the request. */
    schedule: missing<void, ById>(),
    reload: agentReloadMachine,
    /** Reads back what operations have changed, then makes the files whole. */
    fold: missing<FoldEnd, undefined>(),
    /** Folds, falls back to last good if asked, answers the wrapper. */
    prepareStart: missing<void, ById>(),
    removals: agentRemovalsMachine,
    /** Looks at the workers that former reloads left; how long the next one has to wait for them still, in milliseconds. */
    weigh: missing<number, undefined>(),
  },
  actions: {
    enqueueApply: assign({
      applies: ({ context, event }) =>
        event.type === "APPLY.REQUESTED" ? [...context.applies, event.id] : context.applies,
    }),
    enqueueStart: assign({
      starts: ({ context, event }) =>
        event.type === "START.REQUESTED" ? [...context.starts, event.id] : context.starts,
    }),
    takeApply: assign(({ context }) => ({ current: context.applies[0], applies: context.applies.slice(1) })),
    takeStart: assign(({ context }) => ({ current: context.starts[0], starts: context.starts.slice(1) })),
    queueRemovals: sendTo("removals", { type: "REMOVALS.QUEUED" }),
    clearCurrent: assign({ current: undefined }),
    noteRest: assign({ restMs: (_args, params: { readonly restMs: number }) => params.restMs }),
    dropApplies: assign({ applies: [], current: undefined }),
    /** 503 to the sender of the event. */
    refuseBusy: (_args, _params: ById) => {},
    /** 503 to all who wait for an apply: HAProxy is not there. */
    refuseWaiting: (_args, _params: { readonly ids: readonly number[] }) => {},
    /** 500 to one. */
    answerFailure: (_args, _params: { readonly id: number | undefined; readonly error: unknown }) => {},
    /** The old worker's connection ended while the new one is looked for. */
    noteHandover: () => {},
    /** From the first time on the agent accepts applies. */
    markReady: () => {},
    /** Lets go of what the last applies left in memory, while nobody waits: the next one finds room. */
    tidyMemory: () => {},
    logFailure: (_args, _params: { readonly what: string; readonly error: unknown }) => {},
  },
  guards: {
    isCrowded: ({ context }) => context.applies.length >= context.maxWaiting,
    hasApply: ({ context }) => context.applies.length > 0,
    hasStart: ({ context }) => context.starts.length > 0,
    hasDiverged: (_args, params: { end: FoldEnd }) => params.end === "diverged",
    hasMore: (_args, params: { end: FoldEnd }) => params.end === "more",
    isOwed: (_args, params: { end: FoldEnd }) => params.end === "owed",
    isTrue: (_args, params: { value: boolean }) => params.value,
    followedByReload: (_args, params: { next: "done" | "reload" }) => params.next === "reload",
    isLost: (_args, params: { end: "loaded" | "refused" | "lost" }) => params.end === "lost",
    paceAllows: stateIn({ ready: { pacing: "open" } }),
    reloadIsDue: stateIn({ ready: { pacing: "due" } }),
    reloadIsPending: stateIn({ ready: { pacing: { quiet: { wish: "pending" } } } }),
    isStretched: (_args, params: { restMs: number }) => params.restMs > 0,
  },
  delays: {
    reloadInterval: ({ context }) => context.reloadIntervalMs,
    // Looked at again meanwhile: an old worker may have ended.
    stretch: ({ context }) => Math.min(context.restMs, 5_000),
    attachRetry: 100,
    recoverRetry: 1_000,
    foldDelay: 200,
    foldRetry: 2_000,
  },
}).createMachine({
  id: "agent",
  description: "Owns the files and the runtime sockets of one HAProxy; decides nothing about their content.",
  context: ({ input }) => ({ ...input, applies: [], starts: [], current: undefined, restMs: 0 }),
  initial: "recovering",
  on: {
    "APPLY.REQUESTED": [
      { guard: "isCrowded", actions: { type: "refuseBusy", params: ({ event }) => ({ id: event.id }) } },
      { actions: "enqueueApply" },
    ],
    "START.REQUESTED": { actions: "enqueueStart" },
  },
  states: {
    recovering: {
      invoke: {
        id: "recover",
        src: "recover",
        onDone: "detached",
        onError: {
          target: "broken",
          actions: { type: "logFailure", params: ({ event }) => ({ what: "recover", error: event.error }) },
        },
      },
    },
    broken: {
      description: "The tree cannot be read or written.",
      after: { recoverRetry: "recovering" },
    },
    detached: {
      description: "HAProxy is not there, or its worker is not known. Nothing is folded but for a start.",
      entry: [{ type: "refuseWaiting", params: ({ context }) => ({ ids: waiting(context) }) }, "dropApplies"],
      initial: "choosing",
      on: {
        "APPLY.REQUESTED": { actions: { type: "refuseWaiting", params: ({ event }) => ({ ids: [event.id] }) } },
      },
      states: {
        choosing: { always: [{ guard: "hasStart", target: "starting" }, { target: "attaching" }] },
        attaching: {
          on: { "START.REQUESTED": { target: "choosing", actions: "enqueueStart" } },
          invoke: {
            id: "attach",
            src: "attach",
            onDone: "#agent.reconciling",
            onError: "pausing",
          },
        },
        pausing: {
          on: { "START.REQUESTED": { target: "choosing", actions: "enqueueStart" } },
          after: { attachRetry: "choosing" },
        },
        starting: {
          entry: "takeStart",
          invoke: {
            id: "prepareStart",
            src: "prepareStart",
            input: ({ context }) => ({ id: context.current ?? 0 }),
            onDone: { target: "pausing", actions: "clearCurrent" },
            onError: {
              target: "pausing",
              actions: [
                {
                  type: "answerFailure",
                  params: ({ context, event }) => ({ id: context.current, error: event.error }),
                },
                "clearCurrent",
              ],
            },
          },
        },
      },
    },
    reconciling: {
      on: { "WORKER.LOST": "detached" },
      invoke: {
        id: "reconcile",
        src: "reconcile",
        onDone: [
          {
            guard: { type: "isTrue", params: ({ event }) => ({ value: event.output }) },
            target: "ready",
            actions: raise({ type: "RELOAD.WANTED" }),
          },
          { target: "ready" },
        ],
        onError: {
          target: "detached",
          actions: { type: "logFailure", params: ({ event }) => ({ what: "reconcile", error: event.error }) },
        },
      },
    },
    ready: {
      entry: "markReady",
      type: "parallel",
      invoke: {
        id: "removals",
        src: "removals",
        onError: { actions: { type: "logFailure", params: ({ event }) => ({ what: "removals", error: event.error }) } },
      },
      on: { "WORKER.LOST": "detached", "REMOVALS.QUEUED": { actions: "queueRemovals" } },
      states: {
        work: {
          initial: "idle",
          states: {
            idle: {
              entry: "clearCurrent",
              // Nobody is at it: the files could not be made ready for it at that moment. Else its end says so again.
              on: { "RELOAD.OWED": { actions: raise({ type: "RELOAD.WANTED" }) } },
              always: [
                { guard: "hasStart", target: "starting" },
                { guard: "reloadIsDue", target: "reloading" },
                { guard: "hasApply", target: "applying" },
              ],
            },
            applying: {
              entry: "takeApply",
              invoke: {
                id: "apply",
                src: "apply",
                input: ({ context }) => ({ id: context.current ?? 0 }),
                onDone: [
                  {
                    guard: { type: "followedByReload", params: ({ event }) => ({ next: event.output.next }) },
                    target: "deciding",
                  },
                  { target: "idle", actions: raise({ type: "FILES.CHANGED" }) },
                ],
                onError: {
                  target: "idle",
                  actions: [
                    {
                      type: "answerFailure",
                      params: ({ context, event }) => ({ id: context.current, error: event.error }),
                    },
                  ],
                },
              },
            },
            deciding: {
              always: [{ guard: "paceAllows", target: "reloading" }, { target: "scheduling" }],
            },
            scheduling: {
              entry: raise({ type: "RELOAD.WANTED" }),
              exit: raise({ type: "FILES.CHANGED" }),
              invoke: {
                id: "schedule",
                src: "schedule",
                input: ({ context }) => ({ id: context.current ?? 0 }),
                onDone: "idle",
                onError: {
                  target: "idle",
                  actions: {
                    type: "answerFailure",
                    params: ({ context, event }) => ({ id: context.current, error: event.error }),
                  },
                },
              },
            },
            reloading: {
              entry: raise({ type: "RELOAD.STARTED" }),
              exit: raise({ type: "FILES.CHANGED" }),
              // The reload itself ends the connection to the old worker.
              on: { "WORKER.LOST": { actions: "noteHandover" } },
              invoke: {
                id: "reload",
                src: "reload",
                input: ({ context }) => ({ id: context.current, attempts: context.reloadAttempts }),
                onDone: [
                  {
                    guard: { type: "isLost", params: ({ event }) => ({ end: event.output.end }) },
                    target: "#agent.detached",
                  },
                  { target: "idle" },
                ],
                onError: {
                  target: "#agent.detached",
                  actions: { type: "logFailure", params: ({ event }) => ({ what: "reload", error: event.error }) },
                },
              },
            },
            starting: {
              entry: "takeStart",
              invoke: {
                id: "prepareStart",
                src: "prepareStart",
                input: ({ context }) => ({ id: context.current ?? 0 }),
                onDone: "idle",
                onError: {
                  target: "idle",
                  actions: {
                    type: "answerFailure",
                    params: ({ context, event }) => ({ id: context.current, error: event.error }),
                  },
                },
              },
            },
          },
        },
        files: {
          initial: "clean",
          states: {
            clean: { on: { "FILES.CHANGED": "dirty" } },
            dirty: { after: { foldDelay: "folding" } },
            folding: {
              description:
                "What operations have changed is read back before; where the worker differs, a reload heals it.",
              exit: "tidyMemory",
              invoke: {
                id: "fold",
                src: "fold",
                onDone: [
                  {
                    guard: { type: "hasDiverged", params: ({ event }) => ({ end: event.output }) },
                    target: "dirty",
                    actions: raise({ type: "RELOAD.WANTED" }),
                  },
                  { guard: { type: "hasMore", params: ({ event }) => ({ end: event.output }) }, target: "dirty" },
                  {
                    guard: { type: "isOwed", params: ({ event }) => ({ end: event.output }) },
                    target: "clean",
                    actions: raise({ type: "RELOAD.OWED" }),
                  },
                  { target: "clean" },
                ],
                onError: {
                  target: "unfoldable",
                  actions: { type: "logFailure", params: ({ event }) => ({ what: "fold", error: event.error }) },
                },
              },
            },
            unfoldable: {
              description:
                "The file system takes no files, full or read-only as it may be. The journal holds what they lack.",
              after: { foldRetry: "refolding" },
            },
            refolding: {
              description: "Takes files again? Then a reload that found none to load may be owed still.",
              invoke: {
                id: "fold",
                src: "fold",
                onDone: [
                  {
                    guard: { type: "hasMore", params: ({ event }) => ({ end: event.output }) },
                    target: "dirty",
                    actions: raise({ type: "RELOAD.WANTED" }),
                  },
                  { target: "clean", actions: raise({ type: "RELOAD.WANTED" }) },
                ],
                onError: {
                  target: "unfoldable",
                  actions: { type: "logFailure", params: ({ event }) => ({ what: "fold", error: event.error }) },
                },
              },
            },
          },
        },
        pacing: {
          description:
            "The first reload is immediate; later ones wait for the interval, which old workers stretch, and the newest set wins.",
          initial: "open",
          states: {
            open: { on: { "RELOAD.STARTED": "quiet", "RELOAD.WANTED": "due" } },
            quiet: {
              description: "The interval runs from the last reload on, whenever another one is wanted meanwhile.",
              type: "parallel",
              states: {
                wish: {
                  initial: "content",
                  states: { content: { on: { "RELOAD.WANTED": "pending" } }, pending: {} },
                },
                wait: {
                  initial: "least",
                  states: {
                    least: { after: { reloadInterval: "weighing" } },
                    weighing: {
                      invoke: {
                        id: "weigh",
                        src: "weigh",
                        onDone: [
                          {
                            guard: { type: "isStretched", params: ({ event }) => ({ restMs: event.output }) },
                            target: "stretched",
                            actions: { type: "noteRest", params: ({ event }) => ({ restMs: event.output }) },
                          },
                          { guard: "reloadIsPending", target: "#agent.ready.pacing.due" },
                          { target: "#agent.ready.pacing.open" },
                        ],
                        onError: [
                          { guard: "reloadIsPending", target: "#agent.ready.pacing.due" },
                          { target: "#agent.ready.pacing.open" },
                        ],
                      },
                    },
                    stretched: {
                      description: "Old workers live: together they could fill the pod.",
                      after: { stretch: "weighing" },
                    },
                  },
                },
              },
            },
            due: { on: { "RELOAD.STARTED": "quiet" } },
          },
        },
      },
    },
  },
});

function waiting(context: AgentContext): readonly number[] {
  return context.current === undefined ? context.applies : [context.current, ...context.applies];
}
