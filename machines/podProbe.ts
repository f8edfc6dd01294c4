/**
 * Asks one candidate pod's agent who it is, until it answers.
 *
 * Child of `discovery`, one a candidate; ends when the candidate is gone.
 * Reports (to its parent): POD.ADMITTED, POD.REJECTED.
 */
import { assign, fromPromise, sendParent, setup } from "xstate";

export interface ProbeReply {
  /** HAProxy's version; "" = HAProxy is not up yet. */
  readonly version: string;
}

export type PodProbeReport =
  | { readonly type: "POD.ADMITTED"; readonly pod: string; readonly version: string }
  | { readonly type: "POD.REJECTED"; readonly pod: string; readonly message: string };

export interface PodProbeInput {
  readonly pod: string;
  readonly address: string;
  readonly backoffMs: (attempt: number) => number;
}

export const podProbeMachine = setup({
  types: {
    context: {} as PodProbeInput & { readonly attempt: number },
    input: {} as PodProbeInput,
  },
  actors: {
    probe: fromPromise<ProbeReply, { pod: string; address: string }>(() =>
      Promise.reject(new Error("the probe actor is provided by the wiring")),
    ),
  },
  actions: {
    admit: sendParent(({ context }, params: ProbeReply) => ({
      type: "POD.ADMITTED",
      pod: context.pod,
      version: params.version,
    })),
    reject: sendParent(({ context }, params: { message: string }) => ({
      type: "POD.REJECTED",
      pod: context.pod,
      message: params.message,
    })),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
  },
  delays: { backoff: ({ context }) => context.backoffMs(context.attempt) },
}).createMachine({
  id: "podProbe",
  context: ({ input }) => ({ ...input, attempt: 0 }),
  initial: "probing",
  states: {
    probing: {
      invoke: {
        id: "probe",
        src: "probe",
        input: ({ context }) => ({ pod: context.pod, address: context.address }),
        onDone: { target: "admitted", actions: { type: "admit", params: ({ event }) => event.output } },
        onError: {
          target: "waiting",
          actions: { type: "reject", params: ({ event }) => ({ message: String(event.error) }) },
        },
      },
    },
    waiting: { entry: "countAttempt", after: { backoff: "probing" } },
    admitted: {},
  },
});
