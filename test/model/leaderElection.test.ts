import { leaderElectionMachine } from "../../machines/leaderElection.ts";
import { modelTests } from "./harness.ts";

const settings = {
  enabled: true,
  leaseName: "haptic-leader",
  leaseDurationMs: 30_000,
  renewDeadlineMs: 20_000,
  retryPeriodMs: 5_000,
};
const lease = (version: string, holder: string, mine = false) => ({
  version,
  holder,
  mine,
  epoch: Number(version),
  durationMs: 40_000,
});
const input = {
  jitter: (ms: number) => ms + 1,
  backoffMs: (attempt: number) => 300 * attempt,
  contestMs: (times: number) => 1_500 * times,
};
const key = (context: Record<string, unknown>) => ({
  enabled: (context["settings"] as typeof settings).enabled,
  name: (context["settings"] as typeof settings).leaseName,
  judged: context["judged"],
  stopping: context["stopping"],
  looked: context["looked"],
  lease: context["lease"],
  expired: context["expired"],
  epoch: context["epoch"],
  tookMs: context["tookMs"],
  highest: context["highest"],
  attempt: Math.min(context["attempt"] as number, 2),
  deposals: Math.min(context["deposals"] as number, 2),
});
const partOf = ["joining", "following", "leading", "standalone", "ending"];
const configured = { type: "ELECTION.CONFIGURED", settings, judged: false };
const joined = { type: "ELECTION.CONFIGURED", settings, judged: true };
const taken = (version: string) => ({
  type: "xstate.done.actor.claim",
  output: { kind: "taken", lease: lease(version, "me", true), tookMs: 120 },
});
const held = (version: string, holder: string) => ({
  type: "xstate.done.actor.claim",
  output: { kind: "held", lease: lease(version, holder), tookMs: 5 },
});
const noAnswer = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: new Error("connection refused") });
const after = (delay: string, state: string) => ({ type: `xstate.after.${delay}.leaderElection.${state}` });
const accepted = {
  type: "ITERATION.ACCEPTED",
  iteration: 1,
  version: "v",
  generation: 1,
  planId: "p",
  driftIntervalMs: 60_000,
};
const refused = { type: "ITERATION.REFUSED", version: "v", generation: 1, reason: "ConfigInvalid", message: "no" };
const stopping = { type: "CONTROLLER.STOPPING" };
const common = { machine: leaderElectionMachine, timersByEvent: true, callbacks: ["watchLease"], partOf, input, key };

modelTests({
  ...common,
  variant: "joining",
  events: [
    configured,
    joined,
    { ...configured, settings: { ...settings, enabled: false } },
    { ...configured, settings: { ...settings, leaseName: "another" } },
    accepted,
    refused,
    stopping,
    after("warmUp", "joining"),
  ],
});

modelTests({
  ...common,
  variant: "following",
  events: [
    joined,
    { type: "LEASE.SEEN", lease: lease("3", "other") },
    { type: "LEASE.SEEN", lease: lease("4", "") },
    { type: "LEASE.SEEN", lease: undefined },
    held("3", "other"),
    held("5", "third"),
    { type: "xstate.done.actor.claim", output: { kind: "missing", lease: undefined, tookMs: 5 } },
    noAnswer("claim"),
    { type: "xstate.error.actor.watchLease", error: new Error("forbidden") },
    after("retry", "electing.following.waiting"),
    after("expiry", "electing.following"),
    after("attemptLimit", "electing.following.claiming"),
  ],
});

modelTests({
  ...common,
  variant: "leading",
  skip: ({ context }: { context: unknown }): boolean => (context as { deposals: number }).deposals > 2,
  events: [
    joined,
    taken("7"),
    held("9", "other"),
    { type: "LEASE.SEEN", lease: lease("9", "other") },
    { type: "LEASE.SEEN", lease: lease("7", "me", true) },
    {
      type: "xstate.done.actor.renew",
      output: { kind: "renewed", lease: { ...lease("7", "me", true), version: "8" }, tookMs: 30 },
    },
    { type: "xstate.done.actor.renew", output: { kind: "lost", lease: lease("9", "other"), tookMs: 5 } },
    noAnswer("renew"),
    { type: "TERM.DEPOSED", epoch: 7 },
    { type: "TERM.DEPOSED", epoch: 12 },
    after("retry", "electing.leading.held.resting"),
    after("attemptLimit", "electing.leading.held.renewing"),
    after("renewDeadline", "electing.leading.held"),
    after("contest", "electing.standingDown"),
    after("peace", "electing.leading"),
    after("retry", "electing.following.waiting"),
  ],
});

modelTests({
  ...common,
  variant: "standalone",
  events: [
    { ...configured, settings: { ...settings, enabled: false } },
    taken("7"),
    noAnswer("claim"),
    { type: "TERM.DEPOSED", epoch: 12 },
    after("retry", "electing.following.waiting"),
    after("retry", "electing.leading.held.resting"),
    after("renewDeadline", "electing.leading.held"),
    after("contest", "electing.standingDown"),
  ],
  skip: ({ context }: { context: unknown }): boolean => (context as { deposals: number }).deposals > 2,
});

modelTests({
  ...common,
  variant: "ending",
  events: [
    joined,
    { ...joined, settings: { ...settings, leaseName: "another" } },
    taken("7"),
    held("3", "other"),
    { type: "TERM.DEPOSED", epoch: 12 },
    stopping,
    { type: "xstate.done.actor.release" },
    noAnswer("release"),
    after("releaseLimit", "releasing"),
  ],
  skip: ({ context }: { context: unknown }): boolean =>
    (context as { deposals: number }).deposals > 1 || (context as { highest: number }).highest > 12,
});
