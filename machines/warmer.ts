/**
 * Keeps the render graph of a replica warm that does not lead: it renders what the leader renders, and nothing comes of it.
 *
 * Lives with the time between two terms of this replica.
 * Reads: RECONCILE.TRIGGERED, ITERATION.ACCEPTED.
 * Emits: GRAPH.WARMED, GRAPH.FAILED.
 *
 * It renders as often as the leader does: the plans that both have rendered are known to this replica too, so that a leader may go at
 * any moment, also before it has told the pods what they run.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { ControllerEmitted } from "./controller.ts";
import type { ReconcilerEmitted } from "./reconciler.ts";

export interface WarmReply {
  /** "" = the templates failed on something. */
  readonly planId: string;
  readonly message: string;
}

export type WarmerEmitted =
  | { readonly type: "GRAPH.WARMED"; readonly planId: string }
  | { readonly type: "GRAPH.FAILED"; readonly message: string };

export type WarmerEvent = ReconcilerEmitted | Extract<ControllerEmitted, { type: "ITERATION.ACCEPTED" }>;

export const warmerReads = ["RECONCILE.TRIGGERED", "ITERATION.ACCEPTED"] as const;

export const warmerMachine = setup({
  types: {
    context: {} as { readonly stale: boolean },
    events: {} as WarmerEvent,
    emitted: {} as WarmerEmitted,
  },
  actors: {
    render: fromPromise<WarmReply>(() => Promise.reject(new Error("the render actor is provided by the wiring"))),
  },
  actions: {
    noteChange: assign({ stale: true }),
    begin: assign({ stale: false }),
    announceWarmed: emit((_, params: { planId: string }) => ({ type: "GRAPH.WARMED", ...params })),
    announceFailed: emit((_, params: { message: string }) => ({ type: "GRAPH.FAILED", ...params })),
  },
  guards: {
    stale: ({ context }) => context.stale,
    rendered: (_, params: WarmReply) => params.planId !== "",
  },
}).createMachine({
  id: "warmer",
  // The graph has the state of the last render, whenever that was.
  context: { stale: false },
  initial: "idle",
  on: {
    "RECONCILE.TRIGGERED": { actions: "noteChange" },
    // The trial has just rendered it.
    "ITERATION.ACCEPTED": { actions: "begin" },
  },
  states: {
    idle: { always: { guard: "stale", target: "rendering" } },
    rendering: {
      entry: "begin",
      invoke: {
        id: "render",
        src: "render",
        onDone: [
          {
            guard: { type: "rendered", params: ({ event }) => event.output },
            target: "idle",
            actions: { type: "announceWarmed", params: ({ event }) => ({ planId: event.output.planId }) },
          },
          {
            target: "idle",
            actions: { type: "announceFailed", params: ({ event }) => ({ message: event.output.message }) },
          },
        ],
        onError: {
          target: "idle",
          actions: { type: "announceFailed", params: ({ event }) => ({ message: String(event.error) }) },
        },
      },
    },
  },
});
