/**
 * The slow half of deletions inside the agent: what takes no traffic any more leaves the worker, on a connection of its
 * own. Lives as long as the worker is known; begins with a pass over what an earlier life left. What an apply left waits for
 * `removalSettle`: it takes no traffic any more, and the change that left it is only now taken up by HAProxy's threads.
 * Reads: REMOVALS.QUEUED (an apply left more). Emits: nothing.
 */
import { fromPromise, setup } from "xstate";

export type AgentRemovalsEvent = { readonly type: "REMOVALS.QUEUED" };

export const agentRemovalsMachine = setup({
  types: { events: {} as AgentRemovalsEvent },
  actors: {
    /** Removes what waits; true when requests still hold something. */
    remove: fromPromise<boolean, { readonly cut: boolean }>(() =>
      Promise.reject(new Error("this actor is provided by the wiring")),
    ),
  },
  guards: {
    isBusy: (_args, params: { busy: boolean }) => params.busy,
  },
  delays: { removalSettle: 100, removalRetry: 2_000 },
}).createMachine({
  id: "agentRemovals",
  description: "Running requests may end; those that do not are ended.",
  initial: "waiting",
  states: {
    idle: { on: { "REMOVALS.QUEUED": "settling" } },
    settling: {
      description: "Not prolonged by what comes meanwhile.",
      after: { removalSettle: "waiting" },
    },
    waiting: {
      on: { "REMOVALS.QUEUED": "settling" },
      invoke: {
        id: "remove",
        src: "remove",
        input: () => ({ cut: false }),
        onDone: [
          { guard: { type: "isBusy", params: ({ event }) => ({ busy: event.output }) }, target: "cutting" },
          { target: "idle" },
        ],
        onError: "resting",
      },
    },
    cutting: {
      on: { "REMOVALS.QUEUED": "settling" },
      invoke: {
        id: "cut",
        src: "remove",
        input: () => ({ cut: true }),
        onDone: [
          { guard: { type: "isBusy", params: ({ event }) => ({ busy: event.output }) }, target: "resting" },
          { target: "idle" },
        ],
        onError: "resting",
      },
    },
    resting: { on: { "REMOVALS.QUEUED": "settling" }, after: { removalRetry: "waiting" } },
  },
});
