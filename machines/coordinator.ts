/**
 * Renders: one at a time, the newest wins, no reason is lost.
 *
 * Lives with a term; takes over the warm render graph of the serving iteration.
 * Reads: RECONCILE.TRIGGERED, ITERATION.ACCEPTED, PODS.SETTLED.
 * Emits: PLAN.RENDERED, RENDER.FAILED.
 *
 * A trigger that comes during a render waits in one slot: a newer one takes its place, their reasons are kept together. The
 * first render waits until discovery has met the pods that are there (or given them up): a render for HAProxy versions that the
 * fleet does not have would be deployed, only to be replaced. Once they are known nothing waits for them again.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { ControllerEmitted } from "./controller.ts";
import type { PodsSettled } from "./discovery.ts";
import type { ReconcilerEmitted, TriggerReason } from "./reconciler.ts";

export interface RenderRequest {
  readonly reasons: readonly TriggerReason[];
}

export type RenderReply =
  | { readonly kind: "rendered"; readonly planId: string; readonly seq: number; readonly iteration: number }
  | { readonly kind: "failed"; readonly iteration: number; readonly message: string };

export type CoordinatorEmitted =
  | {
      readonly type: "PLAN.RENDERED";
      readonly planId: string;
      readonly seq: number;
      readonly iteration: number;
      readonly reasons: readonly TriggerReason[];
    }
  | { readonly type: "RENDER.FAILED"; readonly iteration: number; readonly message: string };

export type CoordinatorEvent =
  | ReconcilerEmitted
  | Extract<ControllerEmitted, { type: "ITERATION.ACCEPTED" }>
  | PodsSettled;

export const coordinatorReads = ["RECONCILE.TRIGGERED", "ITERATION.ACCEPTED", "PODS.SETTLED"] as const;

export interface CoordinatorInput {
  /** An iteration serves already (a term that begins later than the process). */
  readonly iterationReady: boolean;
  readonly podsSettled: boolean;
}

interface CoordinatorContext extends CoordinatorInput {
  readonly current: readonly TriggerReason[];
  /** The one pending slot; empty = nothing waits. */
  readonly pending: readonly TriggerReason[];
  /** Triggers that were merged into a later render. */
  readonly coalesced: number;
}

const merge = (known: readonly TriggerReason[], reason: TriggerReason): readonly TriggerReason[] =>
  known.includes(reason) ? known : [...known, reason];

export const coordinatorMachine = setup({
  types: {
    context: {} as CoordinatorContext,
    events: {} as CoordinatorEvent,
    input: {} as CoordinatorInput,
    emitted: {} as CoordinatorEmitted,
  },
  actors: {
    render: fromPromise<RenderReply, RenderRequest>(() =>
      Promise.reject(new Error("the render actor is provided by the wiring")),
    ),
  },
  actions: {
    /** Non-coalescible reasons stay beside the newest; a coalescible one may be dropped when it repeats. */
    remember: assign(({ context }, params: { reason: TriggerReason }) => ({
      pending: merge(context.pending, params.reason),
      coalesced: context.coalesced + (context.pending.length > 0 ? 1 : 0),
    })),
    noteIteration: assign({ iterationReady: true }),
    notePods: assign({ podsSettled: true }),
    claim: assign(({ context }) => ({ current: context.pending, pending: [] })),
    announceRendered: emit(({ context }, params: { planId: string; seq: number; iteration: number }) => ({
      type: "PLAN.RENDERED",
      ...params,
      reasons: context.current,
    })),
    announceFailed: emit((_, params: { iteration: number; message: string }) => ({ type: "RENDER.FAILED", ...params })),
  },
  guards: {
    ready: ({ context }) => context.iterationReady && context.podsSettled,
    hasPending: ({ context }) => context.pending.length > 0,
    rendered: (_, params: { reply: RenderReply }) => params.reply.kind === "rendered",
  },
}).createMachine({
  id: "coordinator",
  context: ({ input }) => ({ ...input, current: [], pending: [], coalesced: 0 }),
  initial: "waiting",
  on: {
    "RECONCILE.TRIGGERED": { actions: { type: "remember", params: ({ event }) => ({ reason: event.reason }) } },
    "ITERATION.ACCEPTED": { actions: "noteIteration" },
    "PODS.SETTLED": { actions: "notePods" },
  },
  states: {
    waiting: { always: { guard: "ready", target: "idle" } },
    idle: { always: { guard: "hasPending", target: "rendering" } },
    rendering: {
      entry: "claim",
      invoke: {
        id: "render",
        src: "render",
        input: ({ context }) => ({ reasons: context.current }),
        onDone: [
          {
            guard: { type: "rendered", params: ({ event }) => ({ reply: event.output }) },
            target: "idle",
            actions: {
              type: "announceRendered",
              params: ({ event: { output } }) => ({
                planId: output.kind === "rendered" ? output.planId : "",
                seq: output.kind === "rendered" ? output.seq : 0,
                iteration: output.iteration,
              }),
            },
          },
          {
            target: "idle",
            actions: {
              type: "announceFailed",
              params: ({ event: { output } }) => ({
                iteration: output.iteration,
                message: output.kind === "failed" ? output.message : "",
              }),
            },
          },
        ],
        onError: {
          target: "idle",
          actions: { type: "announceFailed", params: ({ event }) => ({ iteration: 0, message: String(event.error) }) },
        },
      },
    },
  },
});
