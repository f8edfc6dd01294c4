/**
 * Plays the cluster's own controllers for the demo's workloads: brings sample backends, Pods and EndpointSlices to what the
 * Deployments and Services say, and looks again after each change.
 *
 * Lives with `devCluster`'s `running`.
 * Reads: WORKLOADS.CHANGED (from its watches and from pods that came or went).
 */
import { fromCallback, fromPromise, setup, stateIn } from "xstate";

export type DevWorkloadsEvent = { readonly type: "WORKLOADS.CHANGED" };

const notProvided = (): never => {
  throw new Error("the actor is provided by the wiring");
};

export const devWorkloadsMachine = setup({
  types: { events: {} as DevWorkloadsEvent },
  actors: {
    /** Watches Deployments and Services; sends WORKLOADS.CHANGED. Ends the sample backends when it is stopped. */
    watches: fromCallback<DevWorkloadsEvent>(notProvided),
    /** One look at the world, and what follows from it. */
    reconcile: fromPromise<void>(notProvided),
  },
  guards: { dirty: stateIn({ looking: "dirty" }) },
  delays: { retry: 1_000 },
}).createMachine({
  id: "devWorkloads",
  invoke: { id: "watches", src: "watches", onError: ".refused" },
  initial: "settled",
  states: {
    settled: { on: { "WORKLOADS.CHANGED": "looking" } },
    looking: {
      invoke: {
        id: "reconcile",
        src: "reconcile",
        onDone: [{ guard: "dirty", target: "looking", reenter: true }, "settled"],
        onError: "refused",
      },
      on: { "WORKLOADS.CHANGED": ".dirty" },
      initial: "clean",
      // What changes during a look may have been missed by it.
      states: { clean: {}, dirty: {} },
    },
    refused: { after: { retry: "looking" } },
  },
});
