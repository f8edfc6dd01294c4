/**
 * One deployment in flight, one waiting, the newest wins. No rate limit: reloads are paced by the agents.
 *
 * Lives with a term.
 * Reads: PLAN.RELEASED, PLAN.REFUSED, PODS.CHANGED, DEPLOYMENT.COMPLETED.
 * Emits: DEPLOYMENT.SCHEDULED.
 *
 * A released plan that the pods have already is not scheduled again, unless it came by the drift check. A change of the set of pods
 * schedules the newest released plan for them: those that have it do nothing.
 */
import { assign, emit, setup } from "xstate";
import type { DeployerEmitted } from "./deployer.ts";
import type { PodsChanged } from "./discovery.ts";
import type { RenderGateEmitted } from "./renderGate.ts";

export interface Deployment {
  readonly planId: string;
  readonly seq: number;
  /** Compare each pod's files with what it says it holds (drift check). */
  readonly verify: boolean;
}

export type SchedulerEmitted = { readonly type: "DEPLOYMENT.SCHEDULED"; readonly deployment: number } & Deployment;

export type SchedulerEvent =
  | Extract<RenderGateEmitted, { type: "PLAN.RELEASED" | "PLAN.REFUSED" }>
  | PodsChanged
  | Extract<DeployerEmitted, { type: "DEPLOYMENT.COMPLETED" }>;

export const schedulerReads = ["PLAN.RELEASED", "PLAN.REFUSED", "PODS.CHANGED", "DEPLOYMENT.COMPLETED"] as const;

interface SchedulerContext {
  /** Number of the newest deployment. */
  readonly deployment: number;
  readonly pods: number;
  /** The newest released plan; undefined until there is one, or when HAProxy refused it. */
  readonly released: Deployment | undefined;
  readonly pending: Deployment | undefined;
  /** Plan of the last completed deployment that every pod took; "" = none. */
  readonly deployed: string;
  readonly coalesced: number;
}

const newest = (older: Deployment | undefined, newer: Deployment): Deployment =>
  older === undefined ? newer : { ...newer, verify: newer.verify || older.verify };

export const schedulerMachine = setup({
  types: {
    context: {} as SchedulerContext,
    events: {} as SchedulerEvent,
    /** Number of pods admitted before the term began. */
    input: {} as { readonly pods: number },
    emitted: {} as SchedulerEmitted,
  },
  actions: {
    accept: assign(({ context }, params: Deployment) => ({
      released: { ...params, verify: false },
      pending: newest(context.pending, params),
      coalesced: context.coalesced + (context.pending === undefined ? 0 : 1),
    })),
    keep: assign((_, params: Deployment) => ({ released: { ...params, verify: false } })),
    notePods: assign((_, params: { pods: number }) => ({ pods: params.pods })),
    repeat: assign(({ context }) => ({
      pending: context.released === undefined ? context.pending : newest(context.pending, context.released),
    })),
    claim: assign(({ context }) => ({ deployment: context.deployment + 1 })),
    announce: emit(({ context: { deployment, pending } }) => ({
      type: "DEPLOYMENT.SCHEDULED",
      deployment,
      planId: pending?.planId ?? "",
      seq: pending?.seq ?? 0,
      verify: pending?.verify ?? false,
    })),
    clearPending: assign({ pending: undefined }),
    noteDeployed: assign((_, params: { planId: string }) => ({ deployed: params.planId })),
    forgetDeployed: assign({ deployed: "" }),
    withdraw: assign(({ context }, params: { planId: string }) => ({
      deployed: context.deployed === params.planId ? "" : context.deployed,
      released: context.released?.planId === params.planId ? undefined : context.released,
      pending: context.pending?.planId === params.planId ? undefined : context.pending,
    })),
  },
  guards: {
    deployable: ({ context }) => context.pending !== undefined && context.pods > 0,
    inForce: ({ context }, params: Deployment) =>
      !params.verify && context.pending === undefined && context.deployed === params.planId,
    current: ({ context }, params: { deployment: number }) => params.deployment === context.deployment,
    complete: ({ context }, params: { deployment: number; failed: number }) =>
      params.deployment === context.deployment && params.failed === 0,
  },
}).createMachine({
  id: "scheduler",
  context: ({ input }) => ({
    deployment: 0,
    pods: input.pods,
    released: undefined,
    pending: undefined,
    deployed: "",
    coalesced: 0,
  }),
  initial: "idle",
  on: {
    "PLAN.RELEASED": {
      actions: {
        type: "accept",
        params: ({ event }) => ({
          planId: event.planId,
          seq: event.seq,
          verify: event.reasons.includes("drift_prevention"),
        }),
      },
    },
    "PLAN.REFUSED": { actions: { type: "withdraw", params: ({ event }) => ({ planId: event.planId }) } },
    "PODS.CHANGED": {
      actions: [{ type: "notePods", params: ({ event }) => ({ pods: event.pods.length }) }, "forgetDeployed", "repeat"],
    },
  },
  states: {
    idle: {
      on: {
        "PLAN.RELEASED": [
          {
            guard: {
              type: "inForce",
              params: ({ event }) => ({
                planId: event.planId,
                seq: event.seq,
                verify: event.reasons.includes("drift_prevention"),
              }),
            },
            actions: { type: "keep", params: ({ event }) => ({ planId: event.planId, seq: event.seq, verify: false }) },
          },
        ],
      },
      always: { guard: "deployable", target: "deploying" },
    },
    deploying: {
      entry: ["claim", "announce", "clearPending"],
      on: {
        "DEPLOYMENT.COMPLETED": [
          {
            guard: {
              type: "complete",
              params: ({ event }) => ({ deployment: event.deployment, failed: event.failed + event.pending }),
            },
            target: "idle",
            actions: { type: "noteDeployed", params: ({ event }) => ({ planId: event.planId }) },
          },
          {
            guard: { type: "current", params: ({ event }) => ({ deployment: event.deployment }) },
            target: "idle",
            actions: "forgetDeployed",
          },
        ],
      },
    },
  },
});
