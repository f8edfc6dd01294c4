/**
 * Fans a deployment out: one child `podApply` a pod, each with its own newest-wins slot.
 *
 * Lives with a term.
 * Reads: DEPLOYMENT.SCHEDULED, PLAN.PASSED, PLAN.REFUSED, PODS.CHANGED; from its children POD.SETTLED, POD.DEPOSED.
 * Emits: DEPLOYMENT.COMPLETED, POD.APPLIED, POD.FAILED, POD.REVERTED, TERM.DEPOSED.
 *
 * A deployment is complete when each pod took the plan or failed; a pod that does neither within `patience` counts as pending: it
 * goes on by itself, and does not keep a newer plan from the others.
 */
import { assign, emit, enqueueActions, setup } from "xstate";
import type { PodRef, PodsChanged } from "./discovery.ts";
import { podApplyMachine } from "./podApply.ts";
import type { PodApplyReport } from "./podApply.ts";
import type { RenderGateEmitted } from "./renderGate.ts";
import type { SchedulerEmitted } from "./scheduler.ts";

export type DeployerEmitted =
  | {
      readonly type: "DEPLOYMENT.COMPLETED";
      readonly deployment: number;
      readonly planId: string;
      readonly total: number;
      readonly succeeded: number;
      readonly failed: number;
      readonly pending: number;
    }
  | { readonly type: "POD.APPLIED"; readonly pod: string; readonly planId: string; readonly mode: string }
  | { readonly type: "POD.FAILED"; readonly pod: string; readonly planId: string; readonly message: string }
  | { readonly type: "POD.REVERTED"; readonly pod: string; readonly planId: string }
  | { readonly type: "TERM.DEPOSED"; readonly epoch: number };

export type DeployerEvent =
  | SchedulerEmitted
  | Extract<RenderGateEmitted, { type: "PLAN.PASSED" | "PLAN.REFUSED" }>
  | PodsChanged
  | PodApplyReport;

export const deployerReads = ["DEPLOYMENT.SCHEDULED", "PLAN.PASSED", "PLAN.REFUSED", "PODS.CHANGED"] as const;

interface DeployerContext {
  readonly deployment: number;
  readonly planId: string;
  readonly pods: readonly PodRef[];
  /** Pods of which the current deployment has not heard yet. */
  readonly waiting: readonly string[];
  readonly succeeded: number;
  readonly failed: number;
}

const childId = (pod: string): string => `podApply:${pod}`;
type Settled = Extract<PodApplyReport, { type: "POD.SETTLED" }>;
/** XState's own event when a child ended with an error. */
interface ChildFailed {
  readonly type: `xstate.error.actor.${string}`;
  readonly error: unknown;
  readonly actorId: string;
}

export interface DeployerInput {
  /** Pods that were admitted before the term began. */
  readonly admitted: readonly PodRef[];
  /** Jittered backoff in ms before attempt `attempt` of one pod (1 = the first repeat). */
  readonly backoffMs: (attempt: number) => number;
}

export const deployerMachine = setup({
  types: {
    context: {} as DeployerContext & DeployerInput,
    events: {} as DeployerEvent | ChildFailed,
    input: {} as DeployerInput,
    emitted: {} as DeployerEmitted,
  },
  actors: { podApply: podApplyMachine },
  actions: {
    /** A pod is another one when its uid or its agent's container changed: the id says so. */
    followPods: enqueueActions(({ context, enqueue }, params: { pods: readonly PodRef[] }) => {
      const wanted = new Set(params.pods.map((pod) => pod.id));
      const known = new Set(context.pods.map((pod) => pod.id));
      for (const id of known) if (!wanted.has(id)) enqueue.stopChild(childId(id));
      for (const pod of params.pods) {
        if (known.has(pod.id)) continue;
        enqueue.spawnChild("podApply", { id: childId(pod.id), input: { pod: pod.id, backoffMs: context.backoffMs } });
      }
      enqueue.assign({ pods: params.pods, waiting: context.waiting.filter((id) => wanted.has(id)) });
    }),
    begin: enqueueActions(
      ({ context, enqueue }, params: { deployment: number; planId: string; seq: number; verify: boolean }) => {
        enqueue.assign({
          deployment: params.deployment,
          planId: params.planId,
          waiting: context.pods.map((pod) => pod.id),
          succeeded: 0,
          failed: 0,
        });
        for (const pod of context.pods) {
          enqueue.sendTo(childId(pod.id), {
            type: "POD.APPLY",
            planId: params.planId,
            seq: params.seq,
            verify: params.verify,
          });
        }
      },
    ),
    tellPromote: enqueueActions(({ context, enqueue }, params: { planId: string }) => {
      for (const pod of context.pods) enqueue.sendTo(childId(pod.id), { type: "POD.PROMOTE", planId: params.planId });
    }),
    tellRevert: enqueueActions(({ context, enqueue }, params: { planId: string }) => {
      for (const pod of context.pods) enqueue.sendTo(childId(pod.id), { type: "POD.REVERT", planId: params.planId });
    }),
    count: assign(({ context }, { report }: { report: Settled }) => ({
      waiting: context.waiting.filter((id) => id !== report.pod),
      succeeded: context.succeeded + (report.outcome === "failed" ? 0 : 1),
      failed: context.failed + (report.outcome === "failed" ? 1 : 0),
    })),
    pass: enqueueActions(({ enqueue }, { report: { pod, planId, outcome, mode, message } }: { report: Settled }) => {
      if (outcome === "applied" || outcome === "unchanged") enqueue.emit({ type: "POD.APPLIED", pod, planId, mode });
      if (outcome === "failed") enqueue.emit({ type: "POD.FAILED", pod, planId, message });
      if (outcome === "reverted") enqueue.emit({ type: "POD.REVERTED", pod, planId });
    }),
    announceCompleted: emit(({ context }) => ({
      type: "DEPLOYMENT.COMPLETED",
      deployment: context.deployment,
      planId: context.planId,
      total: context.succeeded + context.failed + context.waiting.length,
      succeeded: context.succeeded,
      failed: context.failed,
      pending: context.waiting.length,
    })),
    announceDeposed: emit((_, params: { epoch: number }) => ({ type: "TERM.DEPOSED", epoch: params.epoch })),
    announceChildFailed: emit(({ context }, params: { child: string; message: string }) => ({
      type: "POD.FAILED",
      pod: params.child.replace("podApply:", ""),
      planId: context.planId,
      message: params.message,
    })),
    /** A child ends only by a defect; a fresh one takes its place, knowing nothing. */
    replaceChild: enqueueActions(({ context, enqueue }, params: { child: string }) => {
      const pod = params.child.replace("podApply:", "");
      enqueue.stopChild(params.child);
      if (context.pods.some((known) => known.id === pod)) {
        enqueue.spawnChild("podApply", { id: params.child, input: { pod, backoffMs: context.backoffMs } });
      }
      enqueue.assign({
        waiting: context.waiting.filter((id) => id !== pod),
        failed: context.failed + (context.waiting.includes(pod) ? 1 : 0),
      });
    }),
  },
  guards: {
    allHeard: ({ context }) => context.waiting.length === 0,
    awaited: ({ context }, { report }: { report: Settled }) =>
      report.planId === context.planId && report.outcome !== "reverted" && context.waiting.includes(report.pod),
  },
  delays: { patience: 1_000 },
}).createMachine({
  id: "deployer",
  context: ({ input }) => ({ ...input, deployment: 0, planId: "", pods: [], waiting: [], succeeded: 0, failed: 0 }),
  initial: "idle",
  entry: { type: "followPods", params: ({ context }) => ({ pods: context.admitted }) },
  on: {
    "PODS.CHANGED": { actions: { type: "followPods", params: ({ event }) => ({ pods: event.pods }) } },
    "PLAN.PASSED": { actions: { type: "tellPromote", params: ({ event }) => ({ planId: event.planId }) } },
    "PLAN.REFUSED": { actions: { type: "tellRevert", params: ({ event }) => ({ planId: event.planId }) } },
    "POD.SETTLED": { actions: { type: "pass", params: ({ event }) => ({ report: event }) } },
    "POD.DEPOSED": { actions: { type: "announceDeposed", params: ({ event }) => ({ epoch: event.epoch }) } },
    "xstate.error.actor.*": {
      actions: [
        {
          type: "announceChildFailed",
          params: ({ event }) => ({ child: event.actorId, message: String(event.error) }),
        },
        { type: "replaceChild", params: ({ event }) => ({ child: event.actorId }) },
      ],
    },
  },
  states: {
    idle: {
      on: { "DEPLOYMENT.SCHEDULED": { target: "deploying", actions: { type: "begin", params: ({ event }) => event } } },
    },
    deploying: {
      on: {
        "DEPLOYMENT.SCHEDULED": {
          target: "deploying",
          reenter: true,
          actions: { type: "begin", params: ({ event }) => event },
        },
        "POD.SETTLED": [
          {
            guard: { type: "awaited", params: ({ event }) => ({ report: event }) },
            actions: [
              { type: "count", params: ({ event }) => ({ report: event }) },
              { type: "pass", params: ({ event }) => ({ report: event }) },
            ],
          },
        ],
      },
      always: { guard: "allHeard", target: "idle", actions: "announceCompleted" },
      after: { patience: { target: "idle", actions: "announceCompleted" } },
    },
  },
});
