/**
 * One container of a pod on this machine: a process that is started, probed, and started again when it ends, as a kubelet does.
 *
 * Child of `devPod`.
 * Reads: CONTAINER.STOP (from its parent), PROBE.PASSED, PROBE.FAILED (from its probe).
 * Reports (to its parent): CONTAINER.CHANGED.
 */
import { assign, fromCallback, fromPromise, sendParent, setup } from "xstate";

export type ContainerPhase = "starting" | "ready" | "unready" | "waiting" | "stopped";

export interface ContainerChanged {
  readonly type: "CONTAINER.CHANGED";
  readonly container: string;
  readonly phase: ContainerPhase;
  /** How often it was started again. */
  readonly restarts: number;
  /** How it ended the last time, e.g. `exit code 1`; "" = never. */
  readonly lastExit: string;
}

/** Names a process: the container of a pod; `pod` is "" for what is in no HAProxy pod. */
export interface ContainerRef {
  readonly pod: string;
  readonly container: string;
}

export interface DevContainerInput extends ContainerRef {
  /** Milliseconds to wait before start number `restarts` + 1; 0 for the first restart. */
  readonly backoffMs: (recent: number) => number;
  /** After so long a life earlier ends count no more for the backoff. */
  readonly settledMs: number;
}

export type DevContainerEvent =
  | { readonly type: "CONTAINER.STOP" }
  | { readonly type: "PROBE.PASSED" }
  | { readonly type: "PROBE.FAILED" };

interface DevContainerContext extends DevContainerInput {
  readonly restarts: number;
  /** Ends since the last long life. */
  readonly recent: number;
  readonly lastExit: string;
}

const notProvided = (): never => {
  throw new Error("the actor is provided by the wiring");
};

export const devContainerMachine = setup({
  types: {
    context: {} as DevContainerContext,
    input: {} as DevContainerInput,
    events: {} as DevContainerEvent,
  },
  actors: {
    /** Runs the process; resolves with how it ended. */
    process: fromPromise<string, ContainerRef>(notProvided),
    /** Sends PROBE.PASSED and PROBE.FAILED when its verdict changes. */
    probe: fromCallback<DevContainerEvent, ContainerRef>(notProvided),
    /** Asks the process to end, insists after a while; resolves when it is gone. */
    terminate: fromPromise<void, ContainerRef>(notProvided),
  },
  actions: {
    tell: sendParent(({ context }, params: { phase: ContainerPhase }): ContainerChanged => ({
      type: "CONTAINER.CHANGED",
      container: context.container,
      phase: params.phase,
      restarts: context.restarts,
      lastExit: context.lastExit,
    })),
    noteExit: assign((_, params: { how: string }) => ({ lastExit: params.how })),
    countRestart: assign(({ context }) => ({ restarts: context.restarts + 1, recent: context.recent + 1 })),
    forgetRecent: assign({ recent: 0 }),
  },
  delays: {
    backoff: ({ context }) => context.backoffMs(context.recent),
    settled: ({ context }) => context.settledMs,
  },
}).createMachine({
  id: "devContainer",
  context: ({ input }) => ({ ...input, restarts: 0, recent: 0, lastExit: "" }),
  initial: "running",
  states: {
    running: {
      invoke: [
        {
          id: "process",
          src: "process",
          input: ({ context }) => ({ pod: context.pod, container: context.container }),
          onDone: { target: "waiting", actions: { type: "noteExit", params: ({ event }) => ({ how: event.output }) } },
          onError: {
            target: "waiting",
            actions: { type: "noteExit", params: ({ event }) => ({ how: String(event.error) }) },
          },
        },
        {
          id: "probe",
          src: "probe",
          input: ({ context }) => ({ pod: context.pod, container: context.container }),
          onError: ".unready",
        },
      ],
      on: { "CONTAINER.STOP": "stopping" },
      after: { settled: { actions: "forgetRecent" } },
      initial: "starting",
      states: {
        starting: { entry: { type: "tell", params: { phase: "starting" } }, on: { "PROBE.PASSED": "ready" } },
        ready: { entry: { type: "tell", params: { phase: "ready" } }, on: { "PROBE.FAILED": "unready" } },
        unready: { entry: { type: "tell", params: { phase: "unready" } }, on: { "PROBE.PASSED": "ready" } },
      },
    },
    waiting: {
      entry: { type: "tell", params: { phase: "waiting" } },
      exit: "countRestart",
      on: { "CONTAINER.STOP": "stopped" },
      after: { backoff: "running" },
    },
    stopping: {
      invoke: {
        id: "terminate",
        src: "terminate",
        input: ({ context }) => ({ pod: context.pod, container: context.container }),
        onDone: "stopped",
        onError: "stopped",
      },
    },
    stopped: { type: "final", entry: { type: "tell", params: { phase: "stopped" } } },
  },
});
