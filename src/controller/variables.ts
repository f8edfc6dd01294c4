/** The values behind `/debug/vars`: ids, counts, names and messages, no content of objects or files. */
import { summarize } from "../plan/index.ts";
import type { EventHistory, FaultRegistry, RenderLives } from "../observe/index.ts";
import type { Bus } from "./bus.ts";
import type { ConfigNotes } from "./config-notes.ts";
import type { ConfigSource } from "./config-source.ts";
import type { LeaseDesk } from "./election.ts";
import type { Iterations } from "./iterations.ts";
import type { PlanShelf } from "./plan-shelf.ts";
import type { PublishDesk } from "../publish/index.ts";
import type { PodSessions } from "./pod-sessions.ts";
import type { ControllerPorts } from "./ports.ts";
import type { Records } from "./records.ts";
import type { LivingActors } from "./registry.ts";
import type { Term } from "./term.ts";

export interface VariableSources {
  readonly ports: ControllerPorts;
  readonly bus: Bus;
  readonly actors: LivingActors;
  readonly history: EventHistory;
  readonly lives: RenderLives;
  readonly faults: FaultRegistry;
  readonly records: Records;
  readonly notes: ConfigNotes;
  readonly source: ConfigSource;
  readonly iterations: Iterations;
  readonly sessions: PodSessions;
  readonly shelf: PlanShelf;
  readonly term: Term;
  readonly desk: LeaseDesk;
  readonly publishing: PublishDesk;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
}

export function debugVariables(from: VariableSources): Readonly<Record<string, () => unknown>> {
  const {
    ports,
    bus,
    actors,
    history,
    lives,
    faults,
    records,
    notes,
    source,
    iterations,
    sessions,
    shelf,
    term,
    desk,
    publishing,
    startedAt,
  } = from;
  return {
    counters: () => ({
      ...records.counters,
      apiWrites: { ...ports.kube.counters.writes },
      apiRequests: { ...ports.kube.counters.requests },
    }),
    faults: () => faults.list(),
    config: () => ({
      version: source.loaded?.version ?? null,
      serving: iterations.serving?.config.version ?? null,
      generation: iterations.serving?.config.generation ?? null,
    }),
    effectiveConfigResolution: () => ({
      members: iterations.serving?.config.assembled.members ?? [],
      overrides: iterations.serving?.config.assembled.overrides ?? [],
      warnings: iterations.serving?.config.warnings ?? [],
    }),
    types: () => notes.typings,
    notCarriedOut: () => notes.calls,
    resources: () => {
      const snapshot = iterations.serving?.snapshot();
      return Object.fromEntries((snapshot?.aliases() ?? []).map((alias) => [alias, snapshot?.alias(alias)?.size ?? 0]));
    },
    pods: () => sessions.view(),
    rendered: () => {
      const plan = shelf.get(records.renderedPlan);
      return plan === undefined ? null : summarize(plan);
    },
    published: () => publishing.view(),
    templates: () => iterations.serving?.profile() ?? null,
    renders: () => lives.list(),
    pipeline: () => {
      const [newest] = lives.list();
      if (newest === undefined) return null;
      const { id, at, state, reasons, changes, renderBeganMs, renderedMs, judgedMs, passed, completedMs, pods } =
        newest;
      return {
        correlation_id: id,
        state,
        last_trigger: { at: new Date(at).toISOString(), reasons, changes },
        rendering: { began_ms: renderBeganMs, ended_ms: renderedMs ?? null },
        validation: { ended_ms: judgedMs ?? null, passed: passed ?? null },
        deployment: { ended_ms: completedMs ?? null, pods },
      };
    },
    state: () => actors.states(),
    bus: () => bus.metrics(),
    events: () => history.last(100),
    term: () => ({
      leading: actors.state("coordinator") !== undefined,
      epoch: term.epoch,
      renderSeq: term.seq,
      highestSeen: term.highestSeen,
    }),
    lease: () => ({ identity: ports.identity, ...desk.sight() }),
    uptime: () => ({
      started: new Date(startedAt).toISOString(),
      uptime_seconds: Math.round((ports.wallClock() - startedAt) / 1_000),
    }),
  };
}
