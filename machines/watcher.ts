/**
 * Watches one resource: one list+watch stream, folded into its stores outside XState, and the debounce of its changes.
 *
 * Lives with the process (shared by reference count between configurations that watch the same thing).
 * Reads: STREAM.SYNCED, STREAM.DIRTY, STREAM.FAULTED, STREAM.RECOVERED, from its own stream actor only.
 * Emits: WATCH.SYNCED, RESOURCES.CHANGED, WATCH.FAULTED, WATCH.RECOVERED.
 *
 * Debounce is the leading edge plus a refractory window: the first change is told at once, those of the window that
 * follows are told together at its end, and the window restarts. The stream says STREAM.DIRTY once, then keeps quiet
 * until its tally was taken, so a storm of objects costs one XState event a window, not one an object.
 */
import { assign, emit, fromCallback, setup, stateIn } from "xstate";

/** What the stream counted since it was last asked. Asking resets the count and lets it say STREAM.DIRTY again. */
export interface Tally {
  readonly count: number;
  readonly revision: number;
}

export interface WatcherInput {
  /** Identity of the shared watch. */
  readonly watch: string;
  readonly alias: string;
  /** Refractory window in ms; 0 = none: a change then waits only for work in flight. */
  readonly windowMs: number;
  readonly take: () => Tally;
}

export type WatcherEvent =
  | { readonly type: "STREAM.SYNCED" }
  | { readonly type: "STREAM.DIRTY" }
  | { readonly type: "STREAM.FAULTED"; readonly message: string; readonly refused: boolean }
  | { readonly type: "STREAM.RECOVERED" };

export type WatcherEmitted =
  | { readonly type: "WATCH.SYNCED"; readonly watch: string; readonly alias: string }
  | {
      readonly type: "RESOURCES.CHANGED";
      readonly watch: string;
      readonly alias: string;
      readonly count: number;
      readonly revision: number;
    }
  | {
      readonly type: "WATCH.FAULTED";
      readonly watch: string;
      readonly alias: string;
      readonly message: string;
      /** The API server says no, and will until somebody grants or mends something. */
      readonly refused: boolean;
    }
  | { readonly type: "WATCH.RECOVERED"; readonly watch: string; readonly alias: string };

export const watcherMachine = setup({
  types: {
    context: {} as WatcherInput & { readonly faulted: boolean },
    events: {} as WatcherEvent,
    input: {} as WatcherInput,
    emitted: {} as WatcherEmitted,
  },
  actors: {
    stream: fromCallback<{ type: "unused" }, { watch: string }>(() => {
      throw new Error("the stream actor is provided by the wiring");
    }),
  },
  actions: {
    announceSynced: emit(({ context }) => ({ type: "WATCH.SYNCED", watch: context.watch, alias: context.alias })),
    announceChange: emit(({ context }) => ({
      type: "RESOURCES.CHANGED",
      watch: context.watch,
      alias: context.alias,
      ...context.take(),
    })),
    announceFault: emit(({ context }, params: { message: string; refused: boolean }) => ({
      type: "WATCH.FAULTED",
      watch: context.watch,
      alias: context.alias,
      ...params,
    })),
    announceRecovery: emit(({ context }) => ({ type: "WATCH.RECOVERED", watch: context.watch, alias: context.alias })),
    noteFault: assign({ faulted: true }),
    noteRecovery: assign({ faulted: false }),
  },
  guards: {
    windowless: ({ context }) => context.windowMs === 0,
    wasFaulted: ({ context }) => context.faulted,
    dirty: stateIn({ live: { refractory: "dirty" } }),
  },
  delays: {
    window: ({ context }) => context.windowMs,
    streamRestart: 5_000,
  },
}).createMachine({
  id: "watcher",
  context: ({ input }) => ({ ...input, faulted: false }),
  initial: "live",
  on: {
    "STREAM.FAULTED": {
      actions: [
        "noteFault",
        { type: "announceFault", params: ({ event: { message, refused } }) => ({ message, refused }) },
      ],
    },
    "STREAM.RECOVERED": { guard: "wasFaulted", actions: ["noteRecovery", "announceRecovery"] },
  },
  states: {
    live: {
      invoke: {
        id: "stream",
        src: "stream",
        input: ({ context }) => ({ watch: context.watch }),
        onError: {
          target: "broken",
          actions: [
            "noteFault",
            { type: "announceFault", params: ({ event }) => ({ message: String(event.error), refused: false }) },
          ],
        },
      },
      initial: "syncing",
      states: {
        syncing: { on: { "STREAM.SYNCED": { target: "quiet", actions: "announceSynced" } } },
        quiet: {
          on: {
            "STREAM.DIRTY": [
              { guard: "windowless", actions: "announceChange" },
              { target: "refractory", actions: "announceChange" },
            ],
          },
        },
        refractory: {
          initial: "clean",
          states: {
            clean: {
              on: { "STREAM.DIRTY": "dirty" },
            },
            dirty: {},
          },
          after: {
            window: [
              { guard: "dirty", target: "refractory", reenter: true, actions: "announceChange" },
              { target: "quiet" },
            ],
          },
        },
      },
    },
    broken: { after: { streamRestart: "live" } },
  },
});
