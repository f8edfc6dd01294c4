/**
 * Has HAProxy judge every plan, beside its deployment when all is well, before it otherwise.
 *
 * Lives with a term.
 * Reads: PLAN.RENDERED.
 * Emits: PLAN.RELEASED (may be deployed), PLAN.PASSED (agents may promote it), PLAN.REFUSED (revert it where it is not loaded),
 * PLAN.UNPROVEN (HAProxy could not be asked), GATE.HELD, GATE.PINNED, GATE.RECOVERED.
 *
 * closed: nothing of this term is proven, a new configuration came, or a text at whose reload HAProxy could die: validate before dispatch.
 * open: release at once, check beside. A check waits for `settle`, is let finish also when a newer plan comes, and then HAProxy is not
 * asked again for `rest`, eight times as long as it took (a minute at most): checks must not crowd out the deployments that they watch
 * over, so they get a ninth of one processor's time, however many plans there are. What came meanwhile is checked then, the newest only.
 * closed, holding and pinned: a newer plan kills the check of the older one, but not for ever: after `maxSuperseded` kills in a row the
 * running check is let finish.
 * holding: HAProxy refused the newest plan: validate before dispatch until one passes. pinned: it refused two in a row.
 *
 * A verdict belongs to the plan's content: the same plan is never checked twice.
 */
import { assign, emit, fromPromise, setup } from "xstate";
import type { CoordinatorEmitted } from "./coordinator.ts";
import type { TriggerReason } from "./reconciler.ts";

export interface CheckVerdict {
  readonly passed: boolean;
  /** HAProxy's own words; "" when it passed. */
  readonly message: string;
  readonly tookMs: number;
}

export type RenderGateEvent = Extract<CoordinatorEmitted, { type: "PLAN.RENDERED" }>;

interface Release {
  readonly planId: string;
  readonly seq: number;
  readonly iteration: number;
  readonly reasons: readonly TriggerReason[];
}

export type RenderGateEmitted =
  | ({ readonly type: "PLAN.RELEASED" } & Release)
  | { readonly type: "PLAN.PASSED"; readonly planId: string }
  | { readonly type: "PLAN.REFUSED"; readonly planId: string; readonly iteration: number; readonly message: string }
  | { readonly type: "PLAN.UNPROVEN"; readonly planId: string; readonly message: string }
  | { readonly type: "GATE.HELD"; readonly planId: string }
  | { readonly type: "GATE.PINNED"; readonly planId: string }
  | { readonly type: "GATE.RECOVERED"; readonly planId: string };

export const renderGateReads = ["PLAN.RENDERED"] as const;

export interface RenderGateInput {
  /** Remembered verdict of a plan; verdicts outlive the term: they belong to the content and to HAProxy's binary. */
  readonly verdictOf: (planId: string) => CheckVerdict | undefined;
  /** Its text could end HAProxy when it is reloaded. */
  readonly isRisky: (planId: string) => boolean;
  readonly maxSuperseded: number;
}

interface RenderGateContext extends RenderGateInput {
  /** The newest render. */
  readonly candidate: Release;
  /** Plan of the check that runs, ran last, or was remembered last. */
  readonly checking: string;
  /** The plan refused last. */
  readonly refused: string;
  /** Checks killed in a row because something newer came. */
  readonly superseded: number;
  readonly lastCheckMs: number;
  /** The verdict that came last, whatever the memory keeps. */
  readonly last: (CheckVerdict & { readonly planId: string }) | undefined;
}

const verdictFor = ({ last, verdictOf }: RenderGateContext, planId: string): CheckVerdict | undefined =>
  last?.planId === planId ? last : verdictOf(planId);

const NOTHING: Release = { planId: "", seq: 0, iteration: 0, reasons: [] };

const gate = setup({
  types: {
    context: {} as RenderGateContext,
    events: {} as RenderGateEvent,
    input: {} as RenderGateInput,
    emitted: {} as RenderGateEmitted,
  },
  actors: {
    check: fromPromise<CheckVerdict, { planId: string }>(() =>
      Promise.reject(new Error("the check actor is provided by the wiring")),
    ),
  },
  actions: {
    propose: assign((_, { planId, seq, iteration, reasons }: Release) => ({
      candidate: { planId, seq, iteration, reasons },
    })),
    release: emit(({ context }) => ({ type: "PLAN.RELEASED", ...context.candidate })),
    claim: assign(({ context }) => ({ checking: context.candidate.planId })),
    countSuperseded: assign(({ context }) => ({ superseded: context.superseded + 1 })),
    /** A check came to its end: nothing is starving. */
    learn: assign(({ context }, { verdict }: { verdict: CheckVerdict }) => ({
      last: { ...verdict, planId: context.checking },
      lastCheckMs: verdict.tookMs,
      superseded: 0,
    })),
    /** HAProxy could not be asked: the next attempt is not at once. */
    delay: assign({ lastCheckMs: 2_500, superseded: 0 }),
    rememberRefusal: assign(({ context }) => ({ refused: context.checking })),
    announcePassed: emit(({ context }) => ({ type: "PLAN.PASSED", planId: context.checking })),
    announceRefused: emit(({ context }) => ({
      type: "PLAN.REFUSED",
      planId: context.checking,
      iteration: context.candidate.iteration,
      message: verdictFor(context, context.checking)?.message ?? "",
    })),
    announceUnproven: emit(({ context }, params: { message: string }) => ({
      type: "PLAN.UNPROVEN",
      planId: context.checking,
      message: params.message,
    })),
    announceHeld: emit(({ context }) => ({ type: "GATE.HELD", planId: context.checking })),
    announcePinned: emit(({ context }) => ({ type: "GATE.PINNED", planId: context.checking })),
    announceRecovered: emit(({ context }) => ({ type: "GATE.RECOVERED", planId: context.checking })),
  },
  guards: {
    known: ({ context }) => verdictFor(context, context.checking) !== undefined,
    proven: ({ context }) => verdictFor(context, context.checking)?.passed === true,
    candidateProven: ({ context }) => verdictFor(context, context.candidate.planId)?.passed === true,
    candidateRefused: ({ context }) => verdictFor(context, context.candidate.planId)?.passed === false,
    remembered: ({ context }, params: { planId: string }) => verdictFor(context, params.planId) !== undefined,
    hasPassed: ({ context }, params: { planId: string }) => verdictFor(context, params.planId)?.passed === true,
    inCheck: ({ context }, params: { planId: string }) => context.checking === params.planId,
    mustBeProven: ({ context }, params: { planId: string; reasons: readonly TriggerReason[] }) =>
      params.reasons.includes("configuration") || context.isRisky(params.planId),
    candidateMustBeProven: ({ context: { candidate, isRisky } }) =>
      candidate.reasons.includes("configuration") || isRisky(candidate.planId),
    starving: ({ context }) => context.superseded >= context.maxSuperseded,
    stale: ({ context }) => context.candidate.planId !== context.checking,
    repeated: ({ context }) => context.refused === context.checking,
  },
  delays: {
    settle: ({ context }) => Math.min(5_000, Math.max(20, 2 * context.lastCheckMs)),
    rest: ({ context }) => Math.min(60_000, 8 * context.lastCheckMs),
    checkRetry: 5_000,
  },
});

const propose = { type: "propose", params: ({ event }: { event: RenderGateEvent }) => event } as const;
const inCheck = {
  type: "inCheck",
  params: ({ event }: { event: RenderGateEvent }) => ({ planId: event.planId }),
} as const;
const check = {
  id: "check",
  src: "check",
  input: ({ context }: { context: RenderGateContext }) => ({ planId: context.checking }),
} as const;
const learn = {
  type: "learn",
  params: ({ event }: { event: { output: CheckVerdict } }) => ({ verdict: event.output }),
} as const;
const unproven = {
  type: "announceUnproven",
  params: ({ event }: { event: { error: unknown } }) => ({ message: String(event.error) }),
} as const;
/** While HAProxy judges before the dispatch: a newer plan kills the check of the older one unless that has happened too often. */
const replaceUnlessStarving = [
  { guard: inCheck, actions: propose },
  { guard: "starving", actions: propose },
  { target: "deciding", actions: [propose, "countSuperseded"] },
] as const;
const refuse = ["announceRefused", "announceHeld", "rememberRefusal"] as const;
const pin = ["announceRefused", "announcePinned", "rememberRefusal"] as const;

const hasPassed = {
  guard: { type: "hasPassed", params: ({ event }: { event: RenderGateEvent }) => ({ planId: event.planId }) },
} as const;

/** While checks are under way or at rest: what needs no verdict first, and has none, is released. */
const releaseBeside = [
  {
    guard: { type: "mustBeProven", params: ({ event }: { event: RenderGateEvent }) => event },
    target: "deciding",
    actions: propose,
  },
  {
    guard: { type: "remembered", params: ({ event }: { event: RenderGateEvent }) => ({ planId: event.planId }) },
    target: "deciding",
    actions: propose,
  },
  { actions: [propose, "release"] },
] as const;

/** The part that closed, holding and pinned have in common; they differ in what follows a verdict. */
const checkFirst = {
  idle: { on: { "PLAN.RENDERED": { target: "deciding", actions: propose } } },
  deciding: { entry: "claim", always: [{ guard: "known", target: "judged" }, { target: "checking" }] },
  checking: {
    invoke: {
      ...check,
      onDone: { target: "judged", actions: learn },
      onError: { target: "retrying", actions: unproven },
    },
    on: { "PLAN.RENDERED": replaceUnlessStarving },
  },
  retrying: {
    on: { "PLAN.RENDERED": { target: "deciding", actions: propose } },
    after: { checkRetry: "deciding" },
  },
} as const;

export const renderGateMachine = gate.createMachine({
  id: "renderGate",
  context: ({ input }) => ({
    ...input,
    candidate: NOTHING,
    checking: "",
    refused: "",
    superseded: 0,
    lastCheckMs: 0,
    last: undefined,
  }),
  initial: "closed",
  states: {
    closed: {
      initial: "idle",
      states: {
        ...checkFirst,
        judged: {
          always: [
            { guard: "proven", target: "#renderGate.open" },
            { guard: "stale", target: "#renderGate.holding.deciding", actions: refuse },
            { target: "#renderGate.holding", actions: refuse },
          ],
        },
      },
    },
    open: {
      initial: "deciding",
      on: {
        "PLAN.RENDERED": { target: ".deciding", actions: propose },
      },
      states: {
        deciding: {
          always: [
            { guard: "candidateRefused", target: "#renderGate.holding", actions: ["claim", ...refuse] },
            { guard: "candidateProven", target: "idle", actions: ["claim", "release", "announcePassed"] },
            // It came while the check of another one, which has passed, was let finish.
            { guard: "candidateMustBeProven", target: "#renderGate.closed.deciding" },
            { target: "settling", actions: "release" },
          ],
        },
        idle: {},
        settling: { on: { "PLAN.RENDERED": releaseBeside }, after: { settle: "checking" } },
        checking: {
          entry: "claim",
          invoke: {
            ...check,
            onDone: { target: "judged", actions: learn },
            onError: { target: "settling", actions: [unproven, "delay"] },
          },
          on: {
            // The check of another one goes on: a plan that comes and goes beside one that passed would never be judged.
            "PLAN.RENDERED": [{ ...hasPassed, actions: [propose, "release"] }, ...releaseBeside],
          },
        },
        judged: {
          always: [
            { guard: "proven", target: "resting", actions: "announcePassed" },
            { guard: "stale", target: "#renderGate.holding.deciding", actions: refuse },
            { target: "#renderGate.holding", actions: refuse },
          ],
        },
        resting: {
          on: {
            "PLAN.RENDERED": [
              { ...hasPassed, actions: [propose, "claim", "release", "announcePassed"] },
              ...releaseBeside,
            ],
          },
          after: { rest: [{ guard: "stale", target: "checking" }, { target: "idle" }] },
        },
      },
    },
    holding: {
      initial: "idle",
      states: {
        ...checkFirst,
        judged: {
          always: [
            { guard: "proven", target: "#renderGate.open", actions: "announceRecovered" },
            { guard: "repeated", target: "idle" },
            { guard: "stale", target: "#renderGate.pinned.deciding", actions: pin },
            { target: "#renderGate.pinned", actions: pin },
          ],
        },
      },
    },
    pinned: {
      initial: "idle",
      states: {
        ...checkFirst,
        judged: {
          always: [
            { guard: "proven", target: "#renderGate.open", actions: "announceRecovered" },
            { guard: "repeated", target: "idle" },
            { guard: "stale", target: "deciding", actions: ["announceRefused", "rememberRefusal"] },
            { target: "idle", actions: ["announceRefused", "rememberRefusal"] },
          ],
        },
      },
    },
  },
});
