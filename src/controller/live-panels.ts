/** What the live page and the metrics read when they look: stores, pods, what is held. Names, counts and ids; no messages, no content. */
import type { FaultRegistry, MetricSources } from "../observe/index.ts";
import { verdictOf } from "./condition.ts";
import type { LeaseDesk } from "./election.ts";
import type { Iterations } from "./iterations.ts";
import type { LastApply } from "./observation.ts";
import type { PublishDesk } from "../publish/index.ts";
import type { PodSessions } from "./pod-sessions.ts";
import type { Records } from "./records.ts";
import type { LivingActors } from "./registry.ts";
import type { Term } from "./term.ts";

export interface PanelSources {
  readonly actors: LivingActors;
  readonly faults: FaultRegistry;
  readonly records: Records;
  readonly iterations: Iterations;
  readonly sessions: PodSessions;
  readonly term: Term;
  readonly desk: LeaseDesk;
  readonly publishing: PublishDesk;
  readonly lastApplies: () => ReadonlyMap<string, LastApply>;
}

interface Panels {
  readonly panels: () => object;
  readonly metrics: Pick<
    MetricSources,
    "resources" | "rejectedInputs" | "retained" | "validated" | "gatePinned" | "published"
  >;
}

export function livePanels({
  actors,
  faults,
  records,
  iterations,
  sessions,
  term,
  desk,
  publishing,
  lastApplies,
}: PanelSources): Panels {
  /** The gate's state while this replica leads: open, closed, holding, pinned. */
  const gate = (): string => {
    const value = actors.state("renderGate");
    return typeof value === "object" && value !== null
      ? (Object.keys(value)[0] ?? "")
      : typeof value === "string"
        ? value
        : "";
  };
  const stores = (): readonly { readonly alias: string; readonly objects: number; readonly revision: number }[] => {
    const snapshot = iterations.serving?.snapshot();
    return (snapshot?.aliases() ?? []).map((alias) => {
      const view = snapshot?.alias(alias);
      return { alias, objects: view?.size ?? 0, revision: view?.revision ?? 0 };
    });
  };
  return {
    panels: () => ({
      term: {
        leading: actors.state("coordinator") !== undefined,
        epoch: term.epoch,
        render: term.seq,
        leader: desk.sight().holder,
      },
      gate: gate(),
      published: publishing.state,
      serving: iterations.serving === undefined ? null : { generation: iterations.serving.config.generation },
      held: faults.list().map(({ object, reason, since }) => ({ object, reason, since })),
      stores: stores(),
      pods: sessions.view().map((pod) => ({ ...pod, last: lastApplies().get(pod.id) ?? null })),
      counters: records.counters,
    }),
    metrics: {
      resources: () => Object.fromEntries(stores().map(({ alias, objects }) => [alias, objects])),
      rejectedInputs: () => faults.count("objects"),
      retained: () => iterations.serving !== undefined && faults.count("config") > 0,
      validated: () => verdictOf(records.book),
      published: () => ({ objects: publishing.objects, lagMs: publishing.lagMs }),
      gatePinned: () => gate() === "pinned",
    },
  };
}
