/**
 * Finds the HAProxy pods that can be deployed to.
 *
 * Lives with the process.
 * Reads: PODS.LISTED (the candidates among HAProxy's pods, whenever that watch's content changed); from its children POD.ADMITTED,
 * POD.REJECTED.
 * Emits: PODS.CHANGED (set, address or version of an admitted pod), PODS.SETTLED (once: every candidate of the first listing
 * was admitted or has failed to answer once), POD.UNREACHABLE.
 */
import { assign, emit, enqueueActions, setup } from "xstate";
import { podProbeMachine } from "./podProbe.ts";
import type { PodProbeReport } from "./podProbe.ts";

/** A pod that may carry an agent: it has an address, is not going, and its agent's container runs. */
export interface PodCandidate {
  /** Another one when the pod's uid or its agent's container changes. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
}

export interface PodRef extends PodCandidate {
  /** HAProxy's version as the agent tells it, e.g. `3.4.7`; "" = HAProxy is not up. */
  readonly version: string;
}

export type PodsChanged = { readonly type: "PODS.CHANGED"; readonly pods: readonly PodRef[] };
export type PodsSettled = { readonly type: "PODS.SETTLED" };
export type DiscoveryEmitted =
  | PodsChanged
  | PodsSettled
  | { readonly type: "POD.UNREACHABLE"; readonly pod: string; readonly name: string; readonly message: string };

export type DiscoveryEvent =
  | { readonly type: "PODS.LISTED"; readonly candidates: readonly PodCandidate[] }
  | PodProbeReport
  | ChildFailed;

/** XState's own event when a child ended with an error. */
interface ChildFailed {
  readonly type: `xstate.error.actor.${string}`;
  readonly error: unknown;
  readonly actorId: string;
}

export const discoveryReads = ["PODS.LISTED"] as const;

export interface DiscoveryInput {
  /** Jittered backoff in ms before probe number `attempt` (1 = the first repeat). */
  readonly backoffMs: (attempt: number) => number;
}

interface DiscoveryContext extends DiscoveryInput {
  readonly candidates: readonly PodCandidate[];
  /** Versions by pod id: the admitted ones. */
  readonly admitted: Readonly<Record<string, string>>;
  /** Candidates that have answered or failed to at least once. */
  readonly heard: readonly string[];
}

const childId = (pod: string): string => `podProbe:${pod}`;
const admittedPods = (context: Pick<DiscoveryContext, "candidates" | "admitted">): readonly PodRef[] =>
  context.candidates
    .filter((pod) => Object.hasOwn(context.admitted, pod.id))
    .map(({ id, namespace, name, address }) => ({ id, namespace, name, address, version: context.admitted[id] ?? "" }));

export const discoveryMachine = setup({
  types: {
    context: {} as DiscoveryContext,
    events: {} as DiscoveryEvent,
    input: {} as DiscoveryInput,
    emitted: {} as DiscoveryEmitted,
  },
  actors: { podProbe: podProbeMachine },
  actions: {
    followCandidates: enqueueActions(({ context, enqueue }, params: { candidates: readonly PodCandidate[] }) => {
      const wanted = new Map(params.candidates.map((pod) => [pod.id, pod]));
      const before = new Map(context.candidates.map((pod) => [pod.id, pod]));
      let gone = false;
      for (const pod of context.candidates) {
        if (wanted.get(pod.id)?.address === pod.address) continue;
        enqueue.stopChild(childId(pod.id));
        gone ||= Object.hasOwn(context.admitted, pod.id);
      }
      const stays = (id: string): boolean => wanted.has(id) && wanted.get(id)?.address === before.get(id)?.address;
      for (const pod of params.candidates) {
        if (stays(pod.id)) continue;
        enqueue.spawnChild("podProbe", {
          id: childId(pod.id),
          input: { pod: pod.id, address: pod.address, backoffMs: context.backoffMs },
        });
      }
      const admitted = Object.fromEntries(Object.entries(context.admitted).filter(([id]) => stays(id)));
      const { candidates } = params;
      enqueue.assign({ candidates, admitted, heard: context.heard.filter(stays) });
      if (gone) enqueue.emit({ type: "PODS.CHANGED", pods: admittedPods({ candidates, admitted }) });
    }),
    admit: assign(({ context }, params: { pod: string; version: string }) => ({
      admitted: { ...context.admitted, [params.pod]: params.version },
      heard: [...context.heard.filter((id) => id !== params.pod), params.pod],
    })),
    hear: assign(({ context }, params: { pod: string }) => ({
      heard: [...context.heard.filter((id) => id !== params.pod), params.pod],
    })),
    announceChange: emit(({ context }) => ({ type: "PODS.CHANGED", pods: admittedPods(context) })),
    announceSettled: emit({ type: "PODS.SETTLED" }),
    announceUnreachable: emit(({ context }, params: { pod: string; message: string }) => ({
      type: "POD.UNREACHABLE",
      pod: params.pod,
      message: params.message,
      name: context.candidates.find((pod) => pod.id === params.pod)?.name ?? "",
    })),
    replaceProbe: enqueueActions(({ context, enqueue }, params: { child: string }) => {
      const pod = context.candidates.find(({ id }) => childId(id) === params.child);
      enqueue.stopChild(params.child);
      if (pod === undefined) return;
      enqueue.spawnChild("podProbe", {
        id: params.child,
        input: { pod: pod.id, address: pod.address, backoffMs: context.backoffMs },
      });
    }),
  },
  guards: {
    allHeard: ({ context }) => context.candidates.every((pod) => context.heard.includes(pod.id)),
    candidate: ({ context }, params: { pod: string }) => context.candidates.some((pod) => pod.id === params.pod),
  },
  delays: { settleLimit: 5_000 },
}).createMachine({
  id: "discovery",
  context: ({ input }) => ({ ...input, candidates: [], admitted: {}, heard: [] }),
  initial: "listing",
  on: {
    "PODS.LISTED": { actions: { type: "followCandidates", params: ({ event }) => ({ candidates: event.candidates }) } },
    "POD.ADMITTED": {
      guard: { type: "candidate", params: ({ event }) => ({ pod: event.pod }) },
      actions: [
        { type: "admit", params: ({ event }) => ({ pod: event.pod, version: event.version }) },
        "announceChange",
      ],
    },
    "POD.REJECTED": {
      guard: { type: "candidate", params: ({ event }) => ({ pod: event.pod }) },
      actions: [
        { type: "hear", params: ({ event }) => ({ pod: event.pod }) },
        { type: "announceUnreachable", params: ({ event }) => ({ pod: event.pod, message: event.message }) },
      ],
    },
    "xstate.error.actor.*": { actions: { type: "replaceProbe", params: ({ event }) => ({ child: event.actorId }) } },
  },
  states: {
    listing: {
      on: {
        "PODS.LISTED": {
          target: "meeting",
          actions: { type: "followCandidates", params: ({ event }) => ({ candidates: event.candidates }) },
        },
      },
    },
    meeting: {
      always: { guard: "allHeard", target: "following" },
      after: { settleLimit: "following" },
    },
    following: { entry: "announceSettled" },
  },
});
