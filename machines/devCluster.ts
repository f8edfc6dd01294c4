/**
 * `haptic dev`: the order in which a whole cluster on this machine comes up, and goes.
 *
 * Root of its process.
 * Reads: CLUSTER.STOP, POD.CHANGED (from its pods), CONTAINER.CHANGED (from the controllers' containers).
 * Emits: STEP.REACHED, CLUSTER.LIVE, CLUSTER.FAILED, CONTROLLER.ENDED.
 *
 * Everything that runs is a child of `running`; `stopping` is inside it, so that the children end in order before the API does.
 */
import { assign, emit, enqueueActions, fromCallback, fromPromise, setup } from "xstate";
import { type ContainerChanged, devContainerMachine, type DevContainerInput } from "./devContainer.ts";
import { devPodMachine, type PodChanged } from "./devPod.ts";
import { devWorkloadsMachine } from "./devWorkloads.ts";

export type DevStep = "prepared" | "api" | "objects";
export type DevClusterEmitted =
  | { readonly type: "STEP.REACHED"; readonly step: DevStep }
  | { readonly type: "CLUSTER.LIVE" }
  | { readonly type: "CLUSTER.FAILED"; readonly message: string; readonly error?: unknown }
  /** By itself; it is started again after a while. */
  | { readonly type: "CONTROLLER.ENDED"; readonly controller: string; readonly how: string };

export type DevClusterEvent = { readonly type: "CLUSTER.STOP" } | PodChanged | ContainerChanged;

export interface DevClusterInput extends Omit<DevContainerInput, "container" | "pod"> {
  readonly pods: readonly string[];
  readonly controllers: readonly string[];
  /** Of a controller, as `backoffMs` of other containers. */
  readonly controllerBackoffMs: (recent: number) => number;
  /** Milliseconds from the first process to live traffic, before that counts as failed. */
  readonly patienceMs: number;
}

interface DevClusterContext extends DevClusterInput {
  readonly states: Readonly<Record<string, PodChanged>>;
  /** By controller. */
  readonly phases: Readonly<Record<string, ContainerChanged["phase"]>>;
}

/** XState's own event when a child ended with an error. */
interface ChildFailed {
  readonly type: `xstate.error.actor.${string}`;
  readonly error: unknown;
  readonly actorId: string;
}

const notProvided = (): never => {
  throw new Error("the actor is provided by the wiring");
};

export const devClusterMachine = setup({
  types: {
    context: {} as DevClusterContext,
    input: {} as DevClusterInput,
    events: {} as DevClusterEvent | ChildFailed,
    emitted: {} as DevClusterEmitted,
  },
  actors: {
    /** Finds HAProxy and addresses, makes folders and certificates. */
    prepare: fromPromise<void>(notProvided),
    /** Starts the embedded Kubernetes API; resolves when it serves. */
    startApi: fromPromise<void>(notProvided),
    /** Stands for the API's life: closes it when it is stopped. */
    api: fromCallback<DevClusterEvent>(notProvided),
    /** Creates the CRDs, the manifests' objects (and follows their files from then on) and the Pod objects. */
    createObjects: fromPromise<void>(notProvided),
    workloads: devWorkloadsMachine,
    pod: devPodMachine,
    controller: devContainerMachine,
    /** Ends what is left and removes the folders. */
    clear: fromPromise<void>(notProvided),
  },
  actions: {
    tellStep: emit((_, params: { step: DevStep }) => ({ type: "STEP.REACHED", step: params.step })),
    tellLive: emit({ type: "CLUSTER.LIVE" }),
    tellFailure: emit((_, { error }: { error: unknown }) => ({
      type: "CLUSTER.FAILED",
      message: String(error),
      error,
    })),
    tellTimeout: emit(({ context }) => {
      const missing = context.pods
        .filter((pod) => context.states[pod]?.ready !== true)
        .map((pod) => `pod ${pod} is not ready`);
      const late = context.controllers.filter((name) => context.phases[name] !== "ready");
      missing.unshift(...late.map((name) => `the ${name} is ${context.phases[name] ?? "starting"}`));
      return {
        type: "CLUSTER.FAILED",
        message: `no live traffic after ${context.patienceMs / 1_000} s: ${missing.join(", ")}`,
      };
    }),
    tellControllerEnd: enqueueActions(({ enqueue }, { container, phase, lastExit }: ContainerChanged) => {
      if (phase === "waiting") enqueue.emit({ type: "CONTROLLER.ENDED", controller: container, how: lastExit });
    }),
    startControllers: enqueueActions(({ context, enqueue }) => {
      for (const container of context.controllers) {
        const { settledMs, controllerBackoffMs: backoffMs } = context;
        enqueue.spawnChild("controller", { id: container, input: { pod: "", container, settledMs, backoffMs } });
      }
    }),
    startPods: enqueueActions(({ context, enqueue }) => {
      for (const pod of context.pods) enqueue.spawnChild("pod", { id: pod, input: { ...context, pod } });
    }),
    stopPods: enqueueActions(({ context, enqueue }) => {
      for (const pod of context.pods) enqueue.sendTo(pod, { type: "POD.STOP" });
    }),
    stopControllers: enqueueActions(({ context, enqueue }) => {
      for (const name of context.controllers) {
        // One that ended by a defect is there no more.
        if (context.phases[name] !== "stopped") enqueue.sendTo(name, { type: "CONTAINER.STOP" });
      }
    }),
    notePod: assign(({ context }, params: PodChanged) => ({ states: { ...context.states, [params.pod]: params } })),
    noteDefect: assign(({ context }, params: { child: string }) => ({
      phases: { ...context.phases, [params.child]: "stopped" as const },
    })),
    noteController: assign(({ context }, params: ContainerChanged) => ({
      phases: { ...context.phases, [params.container]: params.phase },
    })),
  },
  guards: {
    allReady: ({ context }) =>
      context.controllers.every((name) => context.phases[name] === "ready") &&
      context.pods.every((pod) => context.states[pod]?.ready === true),
    controllersStopped: ({ context }) => context.controllers.every((name) => context.phases[name] === "stopped"),
    podsStopped: ({ context }) => context.pods.every((pod) => context.states[pod]?.stopped === true),
  },
  delays: { patience: ({ context }) => context.patienceMs, grace: 8_000 },
}).createMachine({
  id: "devCluster",
  context: ({ input }) => ({ ...input, states: {}, phases: {} }),
  initial: "preparing",
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        onDone: { target: "up", actions: { type: "tellStep", params: { step: "prepared" } } },
        onError: {
          target: "clearing",
          actions: { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
        },
      },
      on: { "CLUSTER.STOP": "clearing" },
    },
    up: {
      invoke: {
        id: "api",
        src: "api",
        onError: {
          target: "clearing",
          actions: { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
        },
      },
      initial: "starting",
      states: {
        starting: {
          invoke: {
            id: "startApi",
            src: "startApi",
            onDone: { target: "creating", actions: { type: "tellStep", params: { step: "api" } } },
            onError: {
              target: "#devCluster.clearing",
              actions: { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
            },
          },
          on: { "CLUSTER.STOP": "#devCluster.clearing" },
        },
        creating: {
          invoke: {
            id: "createObjects",
            src: "createObjects",
            onDone: { target: "running", actions: { type: "tellStep", params: { step: "objects" } } },
            onError: {
              target: "#devCluster.clearing",
              actions: { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
            },
          },
          on: { "CLUSTER.STOP": "#devCluster.clearing" },
        },
        running: {
          entry: ["startPods", "startControllers"],
          invoke: [
            {
              id: "workloads",
              src: "workloads",
              onError: {
                target: ".stopping",
                actions: { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
              },
            },
          ],
          on: {
            "POD.CHANGED": { actions: { type: "notePod", params: ({ event }) => event } },
            "CONTAINER.CHANGED": {
              actions: [
                { type: "noteController", params: ({ event }) => event },
                { type: "tellControllerEnd", params: ({ event }) => event },
              ],
            },
            "xstate.error.actor.*": {
              target: ".stopping",
              actions: [
                { type: "noteDefect", params: ({ event }) => ({ child: event.actorId }) },
                { type: "tellFailure", params: ({ event }) => ({ error: event.error }) },
              ],
            },
          },
          initial: "settling",
          states: {
            settling: {
              always: { guard: "allReady", target: "live", actions: "tellLive" },
              after: { patience: { target: "stopping", actions: "tellTimeout" } },
              on: { "CLUSTER.STOP": "stopping" },
            },
            live: { on: { "CLUSTER.STOP": "stopping" } },
            stopping: {
              // The controllers go first, or they would see their pods go and act on it.
              entry: "stopControllers",
              after: { grace: "#devCluster.clearing" },
              initial: "controllers",
              states: {
                controllers: { always: { guard: "controllersStopped", target: "pods" } },
                pods: { entry: "stopPods", always: { guard: "podsStopped", target: "#devCluster.clearing" } },
              },
            },
          },
        },
      },
    },
    clearing: { invoke: { id: "clear", src: "clear", onDone: "gone", onError: "gone" } },
    gone: { type: "final" },
  },
});
