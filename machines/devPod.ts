/**
 * One HAProxy pod on this machine: an agent's and a HAProxy's container, and the Pod object that tells of them.
 *
 * Child of `devCluster`.
 * Reads: POD.STOP (from its parent), CONTAINER.CHANGED (from its containers).
 * Reports (to its parent): POD.CHANGED.
 *
 * The object is written after each change; while a write is under way changes wait, and one more write tells them all.
 */
import { assign, enqueueActions, fromPromise, sendParent, setup } from "xstate";
import { type ContainerChanged, devContainerMachine, type DevContainerInput } from "./devContainer.ts";

export interface PodChanged {
  readonly type: "POD.CHANGED";
  readonly pod: string;
  /** Every container is ready. */
  readonly ready: boolean;
  readonly stopped: boolean;
}

export type ContainerStates = Readonly<Record<string, Omit<ContainerChanged, "type">>>;

export interface DevPodInput extends Omit<DevContainerInput, "container"> {}

export type DevPodEvent = ContainerChanged | { readonly type: "POD.STOP" };

const notProvided = (): never => {
  throw new Error("the actor is provided by the wiring");
};
const all = (containers: ContainerStates, phase: ContainerChanged["phase"]): boolean =>
  Object.values(containers).every((container) => container.phase === phase);

export const devPodMachine = setup({
  types: {
    context: {} as DevPodInput & { readonly containers: ContainerStates },
    input: {} as DevPodInput,
    events: {} as DevPodEvent,
  },
  actors: {
    agent: devContainerMachine,
    haproxy: devContainerMachine,
    /** Writes the Pod object's status. */
    writeStatus: fromPromise<void, { pod: string; containers: ContainerStates }>(notProvided),
  },
  actions: {
    noteContainer: assign(({ context }, params: ContainerChanged) => {
      const { type: _, ...state } = params;
      return { containers: { ...context.containers, [params.container]: state } };
    }),
    /** The container's chart itself ended by a defect: nothing starts it again. */
    noteDefect: assign(({ context }, params: { container: string; message: string }) => ({
      containers: {
        ...context.containers,
        [params.container]: {
          container: params.container,
          phase: "stopped" as const,
          restarts: 0,
          lastExit: params.message,
        },
      },
    })),
    tellParent: sendParent(({ context }): PodChanged => ({
      type: "POD.CHANGED",
      pod: context.pod,
      ready: all(context.containers, "ready"),
      stopped: all(context.containers, "stopped"),
    })),
    stopContainers: enqueueActions(({ context, enqueue }) => {
      for (const name of ["haproxy", "agent"]) {
        // One that ended by a defect is there no more.
        if (context.containers[name]?.phase !== "stopped") enqueue.sendTo(name, { type: "CONTAINER.STOP" });
      }
    }),
  },
  delays: { retry: 1_000 },
}).createMachine({
  id: "devPod",
  context: ({ input }) => ({ ...input, containers: {} }),
  type: "parallel",
  states: {
    containers: {
      invoke: [
        {
          id: "agent",
          src: "agent",
          input: ({ context }) => ({ ...context, container: "agent" }),
          onError: {
            actions: [
              { type: "noteDefect", params: ({ event }) => ({ container: "agent", message: String(event.error) }) },
              "tellParent",
            ],
          },
        },
        {
          id: "haproxy",
          src: "haproxy",
          input: ({ context }) => ({ ...context, container: "haproxy" }),
          onError: {
            actions: [
              { type: "noteDefect", params: ({ event }) => ({ container: "haproxy", message: String(event.error) }) },
              "tellParent",
            ],
          },
        },
      ],
      on: { "POD.STOP": { actions: "stopContainers" } },
    },
    object: {
      initial: "written",
      states: {
        written: {},
        dirty: {
          invoke: {
            id: "writeStatus",
            src: "writeStatus",
            input: ({ context }) => ({ pod: context.pod, containers: context.containers }),
            onDone: "written",
            onError: "refused",
          },
        },
        refused: { after: { retry: "dirty" } },
      },
      on: {
        "CONTAINER.CHANGED": {
          target: ".dirty",
          actions: [{ type: "noteContainer", params: ({ event }) => event }, "tellParent"],
        },
      },
    },
  },
});
