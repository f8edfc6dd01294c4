/**
 * Turns what happened into reasons to render.
 *
 * Lives with one iteration (an accepted configuration).
 * Reads: RESOURCES.CHANGED, WATCH.SYNCED, PODS.CHANGED, TERM.BEGAN, DRIFT.FIRED.
 * Emits: RECONCILE.TRIGGERED.
 *
 * It fires at once: the only debounce is the watcher's. Changes of aliases that this iteration does not watch are not
 * its business, nor are those of HAProxy's own pods (discovery tells what matters of them).
 */
import { emit, setup } from "xstate";
import type { WatcherEmitted } from "./watcher.ts";
import type { PodsChanged } from "./discovery.ts";
import type { DriftMonitorEmitted } from "./driftMonitor.ts";
import type { LeaderElectionEmitted } from "./leaderElection.ts";

export type TriggerReason =
  | "configuration"
  | "resource_change"
  | "resync"
  | "pods_changed"
  | "became_leader"
  | "drift_prevention";

/** Coalescible triggers may be merged into a newer one; the reason of any other must not be lost. */
export type ReconcilerEmitted = {
  readonly type: "RECONCILE.TRIGGERED";
  readonly reason: TriggerReason;
  readonly coalescible: boolean;
};

export type ReconcilerEvent =
  | Extract<WatcherEmitted, { type: "RESOURCES.CHANGED" | "WATCH.SYNCED" }>
  | PodsChanged
  | Extract<LeaderElectionEmitted, { type: "TERM.BEGAN" }>
  | DriftMonitorEmitted;

export const reconcilerReads = [
  "RESOURCES.CHANGED",
  "WATCH.SYNCED",
  "PODS.CHANGED",
  "TERM.BEGAN",
  "DRIFT.FIRED",
] as const;

export const reconcilerMachine = setup({
  types: {
    context: {} as { readonly iteration: number; readonly watches: readonly string[] },
    events: {} as ReconcilerEvent,
    input: {} as { readonly iteration: number; readonly watches: readonly string[] },
    emitted: {} as ReconcilerEmitted,
  },
  actions: {
    trigger: emit((_, params: { reason: TriggerReason; coalescible: boolean }) => ({
      type: "RECONCILE.TRIGGERED",
      ...params,
    })),
  },
  guards: {
    watched: ({ context }, params: { watch: string }) => context.watches.includes(params.watch),
  },
}).createMachine({
  id: "reconciler",
  context: ({ input }) => input,
  initial: "beginning",
  states: {
    beginning: {
      entry: { type: "trigger", params: { reason: "configuration", coalescible: false } },
      always: "watching",
    },
    watching: {
      on: {
        "RESOURCES.CHANGED": {
          guard: { type: "watched", params: ({ event }) => ({ watch: event.watch }) },
          actions: { type: "trigger", params: { reason: "resource_change", coalescible: true } },
        },
        "WATCH.SYNCED": {
          guard: { type: "watched", params: ({ event }) => ({ watch: event.watch }) },
          actions: { type: "trigger", params: { reason: "resync", coalescible: true } },
        },
        "PODS.CHANGED": { actions: { type: "trigger", params: { reason: "pods_changed", coalescible: false } } },
        "TERM.BEGAN": { actions: { type: "trigger", params: { reason: "became_leader", coalescible: false } } },
        "DRIFT.FIRED": { actions: { type: "trigger", params: { reason: "drift_prevention", coalescible: false } } },
      },
    },
  },
});
