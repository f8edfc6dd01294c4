/**
 * Brings one HAProxy pod to a plan, and keeps its plan blob and its rollback baseline up to date.
 *
 * Child of `deployer`, one an admitted pod.
 * Reads (from its parent): POD.APPLY, POD.PROMOTE, POD.REVERT. Reports (to its parent): POD.SETTLED, POD.DEPOSED.
 *
 * What the pod holds is remembered after each answer, so an ordinary change is one POST with the difference and no read before it. The
 * pod is read when it is new, after an answer that did not come, when it says that it holds something else, and for a drift
 * check. A newer plan takes the place of the one that waits; it also ends a backoff. An agent that says nothing for long is
 * reported as failed while the request goes on: a reload may take its time, a frozen agent takes for ever. The blob of a plan follows
 * when fifty times as long has passed as the last one took: of many changes in a row only some are stored, and large ones less often.
 */
import { assign, enqueueActions, fromPromise, sendParent, setup } from "xstate";

/** What the pod said of itself last. Plan ids; "" = unknown. */
export interface KnownState {
  readonly applied: string;
  readonly running: string;
  readonly lastGood: string;
  readonly blobStored: boolean;
  /** The files are not what the applied plan says (only after a verifying read). */
  readonly drifted: boolean;
}

/** delta = the difference to what is known; full = the whole set, content of missing files included, and a reload. */
export type ApplyForm = "delta" | "full";

export type ApplyReply =
  | { readonly kind: "applied"; readonly mode: string; readonly known: KnownState }
  /** The agent or HAProxy refused the work; the pod holds what `known` says. */
  | { readonly kind: "rejected"; readonly message: string; readonly known: KnownState }
  /** The pod holds something else than was believed. */
  | { readonly kind: "moved" }
  /** The pod cannot take a difference (baseline unknown, content lacking). */
  | { readonly kind: "baseline_unknown" }
  /** Another leader's epoch is newer than ours. */
  | { readonly kind: "deposed"; readonly epoch: number };

export type PodApplyCommand =
  | { readonly type: "POD.APPLY"; readonly planId: string; readonly seq: number; readonly verify: boolean }
  | { readonly type: "POD.PROMOTE"; readonly planId: string }
  | { readonly type: "POD.REVERT"; readonly planId: string };

export type PodApplyEvent =
  | PodApplyCommand
  | { readonly type: "BLOB.STALE" }
  /** The chart's own: what the pod holds was heard of. */
  | { readonly type: "PLAN.HEARD" };

export type PodApplyOutcome = "applied" | "unchanged" | "failed" | "reverted";

export type PodApplyReport =
  | {
      readonly type: "POD.SETTLED";
      readonly pod: string;
      readonly planId: string;
      readonly outcome: PodApplyOutcome;
      readonly mode: string;
      readonly message: string;
    }
  | { readonly type: "POD.DEPOSED"; readonly pod: string; readonly epoch: number };

export interface PodApplyInput {
  readonly pod: string;
  /** Jittered backoff in ms before attempt `attempt` (1 = the first repeat). */
  readonly backoffMs: (attempt: number) => number;
}

interface PodApplyContext extends PodApplyInput {
  /** The newest plan asked for; "" = none (or withdrawn by a refusal). */
  readonly wanted: string;
  readonly seq: number;
  readonly verify: boolean;
  /** The parent waits for a report about `wanted`. */
  readonly owed: boolean;
  readonly known: KnownState | undefined;
  /** Plan that is being sent. */
  readonly inFlight: string;
  readonly form: ApplyForm;
  /** Repeats since the last success. */
  readonly attempt: number;
  /** Reads since the last success that a conflict asked for. */
  readonly rereads: number;
  /** Plan that HAProxy passed last; the pod promotes it when it is the applied one. */
  readonly validated: string;
  /** Plan that HAProxy refused last; reverted where it was taken without being loaded. */
  readonly refused: string;
  /** How long the last blob took to make and to send. */
  readonly lastBlobMs: number;
}

interface ReadRequest {
  readonly pod: string;
  readonly verify: boolean;
}

export interface BlobReport {
  readonly tookMs: number;
}

export interface SendRequest {
  readonly pod: string;
  readonly planId: string;
  readonly seq: number;
  readonly form: ApplyForm;
}

const SILENT = "the agent has not answered for 8 s; the request goes on";

const unprovided = (name: string) => () => Promise.reject(new Error(`the ${name} actor is provided by the wiring`));

export const podApplyMachine = setup({
  types: {
    context: {} as PodApplyContext,
    events: {} as PodApplyEvent,
    input: {} as PodApplyInput,
  },
  actors: {
    readState: fromPromise<KnownState, ReadRequest>(unprovided("readState")),
    send: fromPromise<ApplyReply, SendRequest>(unprovided("send")),
    promote: fromPromise<ApplyReply, { pod: string; planId: string }>(unprovided("promote")),
    revert: fromPromise<ApplyReply, { pod: string; planId: string }>(unprovided("revert")),
    storeBlob: fromPromise<BlobReport, { pod: string; planId: string }>(unprovided("storeBlob")),
  },
  actions: {
    want: assign(({ context }, params: { planId: string; seq: number; verify: boolean }) => ({
      wanted: params.planId,
      seq: params.seq,
      verify: context.verify || params.verify,
      owed: true,
    })),
    noteValidated: assign((_, params: { planId: string }) => ({ validated: params.planId })),
    noteRefused: assign(({ context }, params: { planId: string }) => ({
      refused: params.planId,
      wanted: context.wanted === params.planId ? "" : context.wanted,
      owed: context.wanted === params.planId ? false : context.owed,
    })),
    adopt: enqueueActions(({ context, enqueue }, params: { known: KnownState }) => {
      enqueue.assign({
        known: params.known,
        verify: false,
        form: params.known.drifted ? "full" : context.form,
      });
      enqueue.raise({ type: "PLAN.HEARD" });
      if (params.known.applied !== "" && !params.known.blobStored) enqueue.raise({ type: "BLOB.STALE" });
    }),
    /** What the agent says after an apply, a promotion or a revert; nothing is known after any other answer. */
    adoptReply: enqueueActions(({ enqueue }, params: { reply: ApplyReply }) => {
      const { reply } = params;
      if (reply.kind !== "applied" && reply.kind !== "rejected") {
        enqueue.assign({ known: undefined });
        return;
      }
      enqueue.assign({ known: reply.known });
      enqueue.raise({ type: "PLAN.HEARD" });
      if (reply.known.applied !== "" && !reply.known.blobStored) enqueue.raise({ type: "BLOB.STALE" });
    }),
    claim: assign(({ context }) => ({ inFlight: context.wanted })),
    succeed: assign({ attempt: 0, rereads: 0, form: "delta" }),
    forget: assign({ known: undefined }),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    countReread: assign(({ context }) => ({ rereads: context.rereads + 1 })),
    sendAll: assign({ form: "full" }),
    reportApplied: sendParent(({ context }, params: { mode: string }) => ({
      type: "POD.SETTLED",
      pod: context.pod,
      planId: context.inFlight,
      outcome: "applied",
      mode: params.mode,
      message: "",
    })),
    reportUnchanged: sendParent(({ context }) => ({
      type: "POD.SETTLED",
      pod: context.pod,
      planId: context.wanted,
      outcome: "unchanged",
      mode: "noop",
      message: "",
    })),
    reportFailed: sendParent(({ context }, params: { message: string }) => ({
      type: "POD.SETTLED",
      pod: context.pod,
      planId: context.wanted,
      outcome: "failed",
      mode: "",
      message: params.message,
    })),
    reportReverted: sendParent(({ context }) => ({
      type: "POD.SETTLED",
      pod: context.pod,
      planId: context.refused,
      outcome: "reverted",
      mode: "",
      message: "",
    })),
    reportDeposed: sendParent(({ context }, params: { epoch: number }) => ({
      type: "POD.DEPOSED",
      pod: context.pod,
      epoch: params.epoch,
    })),
    settleDebt: assign(({ context }) => ({ owed: context.wanted !== context.inFlight })),
    clearDebt: assign({ owed: false }),
    noteBlob: assign((_, { tookMs }: BlobReport) => ({ lastBlobMs: tookMs })),
    clearRefused: assign({ refused: "" }),
    notePromoted: assign(({ context: { known } }, { reply }: { reply: ApplyReply }) => ({
      known: known === undefined || reply.kind !== "applied" ? known : { ...known, lastGood: reply.known.lastGood },
    })),
  },
  guards: {
    unknown: ({ context }) => context.known === undefined || context.verify,
    /** It took the plan without HAProxy loading it: a reload would have made it the last good one. */
    mustRevert: ({ context: { known, refused } }) =>
      refused !== "" && known !== undefined && known.applied === refused && known.lastGood !== refused,
    idle: ({ context }) => context.wanted === "",
    there: ({ context }) => context.form === "delta" && context.known?.applied === context.wanted,
    promotable: ({ context: { known, validated } }) =>
      validated !== "" && known !== undefined && known.applied === validated && known.lastGood !== validated,
    owing: ({ context }) => context.form === "delta" && context.known?.applied === context.wanted && context.owed,
    applied: (_, params: { reply: ApplyReply }) => params.reply.kind === "applied",
    deposed: (_, params: { reply: ApplyReply }) => params.reply.kind === "deposed",
    movedOnce: ({ context }, params: { reply: ApplyReply }) => params.reply.kind === "moved" && context.rereads < 3,
    needsAll: ({ context }, params: { reply: ApplyReply }) =>
      params.reply.kind === "baseline_unknown" && context.form === "delta",
  },
  delays: {
    backoff: ({ context }) => context.backoffMs(context.attempt),
    silence: 8_000,
    promotionSettle: 250,
    blobSettle: ({ context }) => Math.min(10_000, Math.max(500, 50 * context.lastBlobMs)),
    blobRetry: 5_000,
  },
}).createMachine({
  id: "podApply",
  context: ({ input }) => ({
    ...input,
    wanted: "",
    seq: 0,
    verify: false,
    owed: false,
    known: undefined,
    inFlight: "",
    form: "delta",
    attempt: 0,
    rereads: 0,
    validated: "",
    refused: "",
    lastBlobMs: 0,
  }),
  type: "parallel",
  on: {
    "POD.APPLY": { actions: { type: "want", params: ({ event }) => event } },
    "POD.PROMOTE": { actions: { type: "noteValidated", params: ({ event }) => ({ planId: event.planId }) } },
    "POD.REVERT": { actions: { type: "noteRefused", params: ({ event }) => ({ planId: event.planId }) } },
  },
  states: {
    work: {
      initial: "idle",
      states: {
        idle: {
          on: {
            "POD.APPLY": { target: "deciding", actions: { type: "want", params: ({ event }) => event } },
            "POD.REVERT": {
              target: "deciding",
              actions: { type: "noteRefused", params: ({ event }) => ({ planId: event.planId }) },
            },
          },
        },
        deciding: {
          always: [
            { guard: "unknown", target: "reading" },
            { guard: "mustRevert", target: "reverting" },
            { guard: "idle", target: "idle" },
            { guard: "owing", target: "idle", actions: ["reportUnchanged", "clearDebt"] },
            { guard: "there", target: "idle" },
            { target: "sending" },
          ],
        },
        reading: {
          after: { silence: { actions: { type: "reportFailed", params: { message: SILENT } } } },
          invoke: {
            id: "readState",
            src: "readState",
            input: ({ context }) => ({ pod: context.pod, verify: context.verify }),
            onDone: {
              target: "deciding",
              actions: { type: "adopt", params: ({ event }) => ({ known: event.output }) },
            },
            onError: {
              target: "backingOff",
              actions: { type: "reportFailed", params: ({ event }) => ({ message: String(event.error) }) },
            },
          },
        },
        sending: {
          entry: "claim",
          after: { silence: { actions: { type: "reportFailed", params: { message: SILENT } } } },
          invoke: {
            id: "send",
            src: "send",
            input: ({ context }) => ({
              pod: context.pod,
              planId: context.wanted,
              seq: context.seq,
              form: context.form,
            }),
            onDone: [
              {
                guard: { type: "applied", params: ({ event }) => ({ reply: event.output }) },
                target: "deciding",
                actions: [
                  { type: "adoptReply", params: ({ event }) => ({ reply: event.output }) },
                  "succeed",
                  {
                    type: "reportApplied",
                    params: ({ event }) => ({ mode: event.output.kind === "applied" ? event.output.mode : "" }),
                  },
                  "settleDebt",
                ],
              },
              {
                guard: { type: "deposed", params: ({ event }) => ({ reply: event.output }) },
                target: "deposed",
                actions: {
                  type: "reportDeposed",
                  params: ({ event }) => ({ epoch: event.output.kind === "deposed" ? event.output.epoch : 0 }),
                },
              },
              {
                guard: { type: "movedOnce", params: ({ event }) => ({ reply: event.output }) },
                target: "deciding",
                actions: ["forget", "countReread"],
              },
              {
                guard: { type: "needsAll", params: ({ event }) => ({ reply: event.output }) },
                target: "deciding",
                actions: ["forget", "sendAll"],
              },
              {
                target: "backingOff",
                actions: [
                  "forget",
                  {
                    type: "reportFailed",
                    params: ({ event }) => ({
                      message:
                        event.output.kind === "rejected"
                          ? event.output.message
                          : `the agent answered ${event.output.kind}`,
                    }),
                  },
                ],
              },
            ],
            onError: {
              target: "backingOff",
              actions: ["forget", { type: "reportFailed", params: ({ event }) => ({ message: String(event.error) }) }],
            },
          },
        },
        reverting: {
          invoke: {
            id: "revert",
            src: "revert",
            input: ({ context }) => ({ pod: context.pod, planId: context.refused }),
            onDone: {
              target: "deciding",
              actions: [
                { type: "adoptReply", params: ({ event }) => ({ reply: event.output }) },
                "reportReverted",
                "clearRefused",
              ],
            },
            onError: { target: "backingOff", actions: "forget" },
          },
        },
        backingOff: {
          entry: "countAttempt",
          on: {
            "POD.APPLY": { target: "deciding", actions: { type: "want", params: ({ event }) => event } },
          },
          after: { backoff: "deciding" },
        },
        deposed: {},
      },
    },
    // Beside the work: neither a promotion nor a blob may keep the next change waiting.
    promotion: {
      initial: "none",
      states: {
        none: {
          on: {
            "POD.PROMOTE": {
              target: "settling",
              actions: { type: "noteValidated", params: ({ event }) => ({ planId: event.planId }) },
            },
            "PLAN.HEARD": { guard: "promotable", target: "settling" },
          },
        },
        settling: { after: { promotionSettle: [{ guard: "promotable", target: "promoting" }, { target: "none" }] } },
        promoting: {
          on: {
            "POD.PROMOTE": {
              target: "settling",
              actions: { type: "noteValidated", params: ({ event }) => ({ planId: event.planId }) },
            },
          },
          invoke: {
            id: "promote",
            src: "promote",
            input: ({ context }) => ({ pod: context.pod, planId: context.validated }),
            onDone: {
              target: "none",
              actions: { type: "notePromoted", params: ({ event }) => ({ reply: event.output }) },
            },
            onError: "none",
          },
        },
      },
    },
    blob: {
      initial: "stored",
      states: {
        stored: { on: { "BLOB.STALE": "settling" } },
        settling: { after: { blobSettle: "storing" } },
        storing: {
          on: { "BLOB.STALE": "settling" },
          invoke: {
            id: "storeBlob",
            src: "storeBlob",
            input: ({ context }) => ({ pod: context.pod, planId: context.known?.applied ?? "" }),
            onDone: { target: "stored", actions: { type: "noteBlob", params: ({ event }) => event.output } },
            onError: "failed",
          },
        },
        failed: { on: { "BLOB.STALE": "settling" }, after: { blobRetry: "storing" } },
      },
    },
  },
});
