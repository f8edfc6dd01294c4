/**
 * One apply inside the agent: verify, write the journal entry, run the operations, make it the tail and answer.
 * Reads: nothing but the answers of its actors. Emits: nothing; its output tells the agent whether a reload must follow
 * (the requester is answered by then, unless a reload follows).
 */
import { assign, fromPromise, setup } from "xstate";

/** `answered`: conflict, missing, noop, or failed. */
export type StageDecision = "answered" | "operate" | "reload";

export interface ApplyInput {
  /** Number of the request; the request itself stays outside. */
  readonly id: number;
}

export interface ApplyOutput {
  readonly id: number;
  readonly next: "done" | "reload";
}

interface Failure {
  readonly id: number;
  readonly error: unknown;
}

interface ApplyContext {
  readonly id: number;
  readonly next: "done" | "reload";
}

const missing = <O>() =>
  fromPromise<O, ApplyInput>(() => Promise.reject(new Error("this actor is provided by the wiring")));

export const agentApplyMachine = setup({
  types: {
    context: {} as ApplyContext,
    input: {} as ApplyInput,
    output: {} as ApplyOutput,
  },
  actors: {
    /** Promote, fence, verify. Answers the request itself when nothing is to be done. */
    stage: missing<StageDecision>(),
    /** Journal entry; a large set goes to the files. */
    write: missing<void>(),
    /** Runtime operations; true when HAProxy took all. */
    operate: missing<boolean>(),
    /** `done` record, tail, answer. */
    commit: missing<void>(),
    /** The set becomes the tail although the worker refused an operation; a reload is owed. */
    owe: missing<void>(),
  },
  actions: {
    /** Answers the request with what went wrong; the old set stays. */
    answerFailure: (_args, _params: Failure) => {},
    /** Says in the log and in the answer why a reload is owed. */
    tellFailure: (_args, _params: Failure) => {},
    noteReload: assign({ next: "reload" }),
  },
  guards: {
    isAnswered: (_args, params: { decision: StageDecision }) => params.decision === "answered",
    wantsReload: (_args, params: { decision: StageDecision }) => params.decision === "reload",
    tookAll: (_args, params: { ok: boolean }) => params.ok,
  },
}).createMachine({
  id: "agentApply",
  description: "Old set or new set after a kill at any point: the journal entry is the turning point.",
  context: ({ input }) => ({ id: input.id, next: "done" }),
  initial: "staging",
  output: ({ context }) => ({ id: context.id, next: context.next }),
  states: {
    staging: {
      invoke: {
        id: "stage",
        src: "stage",
        input: ({ context }) => ({ id: context.id }),
        onDone: [
          { guard: { type: "isAnswered", params: ({ event }) => ({ decision: event.output }) }, target: "done" },
          {
            guard: { type: "wantsReload", params: ({ event }) => ({ decision: event.output }) },
            target: "done",
            actions: "noteReload",
          },
          { target: "writing" },
        ],
        onError: {
          target: "done",
          actions: { type: "answerFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    writing: {
      invoke: {
        id: "write",
        src: "write",
        input: ({ context }) => ({ id: context.id }),
        onDone: "operating",
        onError: {
          target: "done",
          actions: { type: "answerFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    operating: {
      invoke: {
        id: "operate",
        src: "operate",
        input: ({ context }) => ({ id: context.id }),
        onDone: [
          { guard: { type: "tookAll", params: ({ event }) => ({ ok: event.output }) }, target: "committing" },
          { target: "owing" },
        ],
        onError: {
          target: "owing",
          actions: { type: "tellFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    committing: {
      invoke: {
        id: "commit",
        src: "commit",
        input: ({ context }) => ({ id: context.id }),
        onDone: "done",
        onError: {
          target: "owing",
          actions: { type: "tellFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    owing: {
      invoke: {
        id: "owe",
        src: "owe",
        input: ({ context }) => ({ id: context.id }),
        onDone: { target: "done", actions: "noteReload" },
        onError: {
          target: "done",
          actions: { type: "answerFailure", params: ({ context, event }) => ({ id: context.id, error: event.error }) },
        },
      },
    },
    done: { type: "final" },
  },
});
