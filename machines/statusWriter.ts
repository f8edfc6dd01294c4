/**
 * Writes the `Validated` condition of the configuration object: only when it differs from what the object says, and what came
 * meanwhile in one write.
 *
 * Lives with a term.
 * Reads: whatever may change the verdict (statusWriterReads). Emits: STATUS.WRITTEN, STATUS.FAILED.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { ConfigLoaderEmitted } from "./configLoader.ts";
import type { ControllerEmitted } from "./controller.ts";
import type { CoordinatorEmitted } from "./coordinator.ts";
import type { RenderGateEmitted } from "./renderGate.ts";

export type StatusWriterEvent =
  | Exclude<ConfigLoaderEmitted, { type: "CONFIG.MISSING" }>
  | ControllerEmitted
  | CoordinatorEmitted
  | Extract<RenderGateEmitted, { type: "PLAN.PASSED" | "PLAN.REFUSED" }>;

export type StatusWriterEmitted =
  | { readonly type: "STATUS.WRITTEN" }
  | { readonly type: "STATUS.FAILED"; readonly message: string };

export const statusWriterReads = [
  "CONFIG.LOADED",
  "CONFIG.HELD",
  "CONFIG.INVALID",
  "ITERATION.ACCEPTED",
  "ITERATION.REFUSED",
  "PLAN.RENDERED",
  "RENDER.FAILED",
  "PLAN.PASSED",
  "PLAN.REFUSED",
] as const;

export interface StatusWriterInput {
  /** Whether the wanted condition differs from the one that the live object carries. */
  readonly differs: () => boolean;
  readonly backoffMs: (attempt: number) => number;
}

export const statusWriterMachine = setup({
  types: {
    context: {} as StatusWriterInput & { readonly attempt: number },
    events: {} as StatusWriterEvent,
    input: {} as StatusWriterInput,
    emitted: {} as StatusWriterEmitted,
  },
  actors: {
    write: fromPromise<void>(() => Promise.reject(new Error("the write actor is provided by the wiring"))),
  },
  actions: {
    announceWritten: emit({ type: "STATUS.WRITTEN" }),
    announceFailed: emit((_, params: { message: string }) => ({ type: "STATUS.FAILED", message: params.message })),
    succeed: assign({ attempt: 0 }),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
  },
  guards: { differs: ({ context }) => context.differs() },
  delays: { backoff: ({ context }) => context.backoffMs(context.attempt) },
}).createMachine({
  id: "statusWriter",
  context: ({ input }) => ({ ...input, attempt: 0 }),
  initial: "looking",
  states: {
    looking: { always: [{ guard: "differs", target: "writing" }, { target: "idle" }] },
    idle: {
      on: {
        "CONFIG.LOADED": "looking",
        "CONFIG.HELD": "looking",
        "CONFIG.INVALID": "looking",
        "ITERATION.ACCEPTED": "looking",
        "ITERATION.REFUSED": "looking",
        "PLAN.RENDERED": "looking",
        "RENDER.FAILED": "looking",
        "PLAN.PASSED": "looking",
        "PLAN.REFUSED": "looking",
      },
    },
    writing: {
      invoke: {
        id: "write",
        src: "write",
        onDone: { target: "looking", actions: ["succeed", "announceWritten"] },
        onError: {
          target: "backingOff",
          actions: { type: "announceFailed", params: ({ event }) => ({ message: String(event.error) }) },
        },
      },
    },
    backingOff: { entry: "countAttempt", after: { backoff: "looking" } },
  },
});
