/** Gives `publisher` its two actors, and the book what the bus says. */
import { fromPromise } from "xstate";
import { publisherMachine, publisherReads } from "../../machines/publisher.ts";
import type { PublicationReport, PublisherInput } from "../../machines/publisher.ts";
import { compressionThresholdOf, dataplaneTimings } from "../config/index.ts";
import { PublishDesk, type PublishNews, troubleOf } from "../publish/index.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { ConfigSource } from "./config-source.ts";
import type { Iterations } from "./iterations.ts";
import type { PlanShelf } from "./plan-shelf.ts";
import type { PodSessions } from "./pod-sessions.ts";
import { jitteredBackoff } from "./ports.ts";
import type { ControllerPorts } from "./ports.ts";

export interface PublisherDeps {
  readonly ports: ControllerPorts;
  readonly source: ConfigSource;
  readonly iterations: Iterations;
  readonly sessions: PodSessions;
  readonly shelf: PlanShelf;
}

/** The book; hears the bus before the charts do. */
export function openPublishDesk({ ports, source, iterations, sessions, shelf }: PublisherDeps, bus: Bus): PublishDesk {
  const desk = new PublishDesk({
    kube: ports.kube,
    namespace: ports.namespace,
    configName: ports.configName,
    configUid: () => source.config?.metadata.uid,
    threshold: () => compressionThresholdOf(iterations.serving?.config.assembled.spec ?? {}),
    plan: (planId) => shelf.get(planId),
    podPlans: (pod) => sessions.plansOf(pod),
    wallClock: ports.wallClock,
    now: () => ports.clock.now(),
    pause: ports.pause,
  });
  bus.observe("publishing", (event) => {
    desk.note(event as PublishNews);
    // The plan must be there when its turn comes, whatever is rendered meanwhile.
    if (event.type === "PLAN.PASSED" || event.type.startsWith("TERM.") || event.type.startsWith("PUBLICATION."))
      shelf.hold("publish", desk.waiting);
  });
  return desk;
}

/** What the chart asks the desk and the serving configuration. */
export const publisherInput = (
  desk: PublishDesk,
  iterations: Iterations,
  random: ControllerPorts["random"],
): PublisherInput => ({
  differs: () => desk.differs(),
  intervalMs: () => dataplaneTimings(iterations.serving?.config.assembled.spec ?? {}).configPublishInterval,
  backoffMs: jitteredBackoff(random, 1_000, 15_000),
  reasonOf: (error) => troubleOf(error).reason,
});

export const wirePublisher = (desk: PublishDesk, bus: Bus, registry: ActorRegistry) =>
  onBus(
    publisherMachine.provide({
      actors: {
        read: fromPromise<void>(({ signal }) => desk.read(signal)),
        publish: fromPromise<PublicationReport>(({ signal }) => desk.publish(signal)),
      },
    }),
    publisherReads,
    bus,
    registry,
    { atLeisure: publisherReads },
  );
