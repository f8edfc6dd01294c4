/**
 * Asks for a look at every pod when nothing was deployed for an interval.
 *
 * Lives with a term.
 * Reads: DEPLOYMENT.COMPLETED (any deployment looked at the pods, so the timer starts anew), ITERATION.ACCEPTED (brings the
 * interval of the configuration).
 * Emits: DRIFT.FIRED.
 */
import { assign, emit, setup } from "xstate";
import type { DeployerEmitted } from "./deployer.ts";
import type { ControllerEmitted } from "./controller.ts";

export type DriftMonitorEmitted = { readonly type: "DRIFT.FIRED" };
export type DriftMonitorEvent =
  | Extract<DeployerEmitted, { type: "DEPLOYMENT.COMPLETED" }>
  | Extract<ControllerEmitted, { type: "ITERATION.ACCEPTED" }>;

export const driftMonitorReads = ["DEPLOYMENT.COMPLETED", "ITERATION.ACCEPTED"] as const;

export const driftMonitorMachine = setup({
  types: {
    context: {} as { readonly intervalMs: number },
    events: {} as DriftMonitorEvent,
    /** `spec.dataplane.driftPreventionInterval` in ms; 0 = never. */
    input: {} as { readonly intervalMs: number },
    emitted: {} as DriftMonitorEmitted,
  },
  actions: {
    fire: emit({ type: "DRIFT.FIRED" }),
    adopt: assign((_, params: { intervalMs: number }) => ({ intervalMs: params.intervalMs })),
  },
  guards: {
    off: ({ context }) => context.intervalMs === 0,
  },
  delays: { interval: ({ context }) => context.intervalMs },
}).createMachine({
  id: "driftMonitor",
  context: ({ input }) => input,
  initial: "choosing",
  on: {
    "ITERATION.ACCEPTED": {
      target: ".choosing",
      actions: { type: "adopt", params: ({ event }) => ({ intervalMs: event.driftIntervalMs }) },
    },
  },
  states: {
    choosing: { always: [{ guard: "off", target: "off" }, { target: "waiting" }] },
    off: {},
    waiting: {
      on: { "DEPLOYMENT.COMPLETED": { target: "waiting", reenter: true } },
      after: { interval: { target: "waiting", reenter: true, actions: "fire" } },
    },
  },
});
