/** The controller without its surroundings: charts, bus and books, connected. */
import { createActor, fromPromise } from "xstate";
import { configLoaderMachine } from "../../machines/configLoader.ts";
import { controllerMachine, controllerReads } from "../../machines/controller.ts";
import { deployerMachine, deployerReads } from "../../machines/deployer.ts";
import type { PodRef } from "../../machines/discovery.ts";
import { driftMonitorMachine, driftMonitorReads } from "../../machines/driftMonitor.ts";
import { reconcilerMachine, reconcilerReads } from "../../machines/reconciler.ts";
import { renderGateMachine, renderGateReads } from "../../machines/renderGate.ts";
import type { CheckVerdict } from "../../machines/renderGate.ts";
import { schedulerMachine, schedulerReads } from "../../machines/scheduler.ts";
import { capabilitiesOf, lowestVersion } from "../haproxy/index.ts";
import { FaultRegistry } from "../observe/index.ts";
import type { StandingFault } from "../observe/index.ts";
import { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import { ConfigNotes } from "./config-notes.ts";
import { conditionDiffers } from "./condition.ts";
import { ConfigSource } from "./config-source.ts";
import { wireCoordinator } from "./coordinator.ts";
import { wireDiscovery } from "./discovery.ts";
import { followElectionSettings, LeaseDesk, wireLeaderElection } from "./election.ts";
import { wireEventRecorder } from "./event-recorder.ts";
import { PODS_ALIAS } from "./iteration.ts";
import { Iterations } from "./iterations.ts";
import { livePanels } from "./live-panels.ts";
import { Observation } from "./observation.ts";
import { OpenQuotes } from "./open-quotes.ts";
import { PlanShelf } from "./plan-shelf.ts";
import { wirePodApply } from "./pod-apply.ts";
import { PodSessions } from "./pod-sessions.ts";
import type { ApplyRecord } from "./pod-sessions.ts";
import { API_VERSION, jitteredBackoff } from "./ports.ts";
import type { ControllerPorts, Log } from "./ports.ts";
import { openPublishDesk, publisherInput, wirePublisher } from "./publisher.ts";
import { Records } from "./records.ts";
import { LivingActors } from "./registry.ts";
import { wireStatusWriter } from "./status-writer.ts";
import { Term } from "./term.ts";
import { debugVariables } from "./variables.ts";
import { Verdicts } from "./verdicts.ts";
import { wireWarmer } from "./warmer.ts";
import { WatchPool } from "./watch-pool.ts";

export interface ControllerCore {
  readonly bus: Bus;
  readonly observation: Observation;
  readonly variables: Readonly<Record<string, () => unknown>>;
  /** Present state of every actor: name → state value. */
  states(): Readonly<Record<string, unknown>>;
  faults(): readonly StandingFault[];
  /** By component; "" = well. */
  health(): Readonly<Record<string, string>>;
  /** A configuration serves. */
  ready(): boolean;
  close(): Promise<void>;
}

/** Starts the charts; everything they do comes in by `ports`. */
export function createController(ports: ControllerPorts): ControllerCore {
  const { kube, namespace, configName, clock, log } = ports;
  const faults = new FaultRegistry(
    () => new Date(ports.wallClock()),
    ({ object, reason, message }, state) => {
      if (state === "began") log.warn({ object, reason, message }, "Fault");
      else log.info({ object, reason }, "Fault mended");
    },
  );
  // A component that runs again has mended what ended it.
  const actors = new LivingActors((name) => {
    faults.state(`component:${name}`, []);
  });
  const bus = new Bus({
    now: () => clock.now(),
    onFailure: (subscriber, event, error) => {
      log.error({ subscriber, event: event.type, err: error }, "A bus subscriber failed");
    },
  });
  const source = new ConfigSource({
    kube,
    namespace,
    name: configName,
    onWarnings: (warnings) => {
      for (const { object, field, message } of warnings) log.warn({ object, field, message }, "Configuration warning");
    },
    onWatch: (resource, message) => {
      const found = message === undefined ? [] : [{ object: resource, reason: "WatchFailed", message }];
      faults.state(`configWatch:${resource}`, found);
    },
  });
  const records = new Records({
    faults,
    configName: `HAProxyTemplateConfig ${namespace}/${configName}`,
    subject: () => ({
      apiVersion: API_VERSION,
      kind: "HAProxyTemplateConfig",
      namespace,
      name: configName,
      uid: source.config?.metadata.uid ?? "",
    }),
    observedGeneration: () => source.config?.status?.observedGeneration,
    isWatched: (watch) => pool.holds(watch),
  });
  const notes = new ConfigNotes({ faults, log, configName: `HAProxyTemplateConfig ${namespace}/${configName}` });
  const shelf = new PlanShelf();
  const openQuotes = new OpenQuotes();
  const verdicts = new Verdicts(ports.check, shelf, (planId, { passed, tookMs }) => {
    records.noteCheck(passed);
    observation.checked(tookMs);
    log.info({ plan: planId.slice(0, 12), passed, ms: Math.round(tookMs) }, "HAProxy judged a plan");
  });
  const pool = new WatchPool({ kube, bus, registry: actors, clock });
  const term = new Term();
  const desk = new LeaseDesk(ports, term);
  const sessions = new PodSessions({
    connect: ports.connect,
    shelf,
    epoch: () => term.epoch,
    seq: () => term.seq,
    now: () => clock.now(),
    pause: ports.pause,
    onApply: (record) => {
      records.noteApply(record);
      publishing.noteApply(record);
      if (record.isOwn === true) observation.reloadedItself(record.pod);
      else observation.applied(record);
      logApply(log, record);
    },
  });
  let pods: readonly PodRef[] = [];
  const capabilitiesNow = (): Readonly<Record<string, boolean>> =>
    capabilitiesOf(
      lowestVersion(pods.map((pod) => pod.version).filter((version) => version !== "")) ?? ports.haproxyVersion,
    );
  let capabilities = capabilitiesNow();
  const iterations = new Iterations(
    source,
    {
      pool,
      namespace,
      configName,
      compile: ports.compile,
      onTypings: (typings) => {
        notes.noteTypings(typings);
      },
      capabilities: () => capabilities,
      verdicts,
      shelf,
    },
    ports.agentPort,
  );
  const publishing = openPublishDesk({ ports, source, iterations, sessions, shelf }, bus);
  const listPods = (): void => {
    const candidates = iterations.candidates();
    if (candidates !== undefined) bus.publish({ type: "PODS.LISTED", candidates });
  };

  const observation = new Observation(
    {
      ports,
      actors,
      about: () => ({
        identity: ports.identity,
        namespace,
        config: configName,
        haproxy: ports.haproxyVersion,
        version: ports.version ?? "",
      }),
      ...livePanels({
        actors,
        faults,
        records,
        iterations,
        sessions,
        term,
        desk,
        publishing,
        lastApplies: () => observation.lastApplies,
      }),
    },
    bus,
  );

  const machine = onBus(
    controllerMachine.provide({
      actors: {
        configLoader: onBus(
          configLoaderMachine.provide({
            actors: { source: source.stream(), assemble: fromPromise(() => Promise.resolve(source.assemble())) },
          }),
          [],
          bus,
          actors,
        ),
        discovery: wireDiscovery(ports.connect, term, bus, actors),
        leaderElection: wireLeaderElection(desk, bus, actors),
        trial: fromPromise(async ({ signal }) => {
          const reply = await iterations.try(signal);
          listPods();
          return reply;
        }),
        reconciler: onBus(reconcilerMachine.provide({}), reconcilerReads, bus, actors),
        coordinator: wireCoordinator({ iterations, term, shelf, records, notes, observation, log }, bus, actors),
        scheduler: onBus(schedulerMachine.provide({}), schedulerReads, bus, actors),
        deployer: onBus(
          deployerMachine.provide({ actors: { podApply: wirePodApply(sessions, actors) } }),
          deployerReads,
          bus,
          actors,
        ),
        renderGate: onBus(
          renderGateMachine.provide({
            actors: {
              check: fromPromise<CheckVerdict, { planId: string }>(({ input, signal }) =>
                verdicts.judge(input.planId, signal),
              ),
            },
          }),
          renderGateReads,
          bus,
          actors,
        ),
        driftMonitor: onBus(driftMonitorMachine.provide({}), driftMonitorReads, bus, actors),
        statusWriter: wireStatusWriter(ports, source, records, bus, actors),
        eventRecorder: wireEventRecorder(ports, records.ledger, bus, actors),
        publisher: wirePublisher(publishing, bus, actors),
        warmer: wireWarmer(iterations, shelf, bus, actors),
      },
      actions: {
        install: () => {
          iterations.install();
        },
        reportComponent: (_, { component, message }) => {
          // What hinders a trial is told of the configuration; the controller is well and the serving one goes on.
          if (component === "trial") return;
          faults.state(`component:${component}`, [{ object: component, reason: "ComponentFailed", message }]);
          log.error({ component, message }, "A component failed and is begun anew");
        },
      },
    }),
    controllerReads,
    bus,
    actors,
    // A configuration that was refused is tried again some seconds after them.
    { atLeisure: ["RESOURCES.CHANGED"] },
  );

  bus.observe("records", (event) => {
    records.note(event);
  });
  bus.observe("plans", (event) => {
    if (event.type === "PLAN.RENDERED") shelf.hold("candidate", event.planId);
    // A pod may still wait to send what was scheduled some deployments ago.
    if (event.type === "DEPLOYMENT.SCHEDULED") shelf.hold(`deployment:${event.deployment % 4}`, event.planId);
    if (event.type === "PLAN.RELEASED") shelf.hold("released", event.planId);
  });
  bus.observe("pods", (event) => {
    if (event.type !== "PODS.CHANGED") return;
    pods = event.pods;
    capabilities = capabilitiesNow();
    sessions.follow(pods);
    observation.follow(pods);
  });
  bus.subscribe("podList", ["RESOURCES.CHANGED", "WATCH.SYNCED", "ITERATION.ACCEPTED"], (event) => {
    if (event.type === "ITERATION.ACCEPTED" || event.alias === PODS_ALIAS) listPods();
  });

  followElectionSettings(source, ports, bus);
  const stopped = new Promise<void>((resolve) => {
    bus.subscribe("stopped", ["CONTROLLER.STOPPED"], () => {
      resolve();
    });
  });

  const root = createActor(machine, {
    clock,
    input: {
      backoffMs: jitteredBackoff(ports.random, 250, 15_000),
      contestMs: jitteredBackoff(ports.random, 2_000, 120_000),
      jitter: (ms) => ms * (1 + ports.random() / 5),
      verdictOf: (planId) => verdicts.of(planId),
      isRisky: (planId) => {
        const plan = shelf.get(planId);
        return plan !== undefined && openQuotes.of(plan);
      },
      statusDiffers: () => conditionDiffers(records.book, source.config),
      hasEvents: () => records.ledger.hasWork,
      publishing: publisherInput(publishing, iterations, ports.random),
    },
  });
  root.subscribe({
    error: (error) => {
      // A defect that nothing here mends: /healthz says so, and the process is begun anew by whoever looks there.
      const message = error instanceof Error ? error.message : String(error);
      faults.state("component:controller", [{ object: "controller", reason: "ComponentFailed", message }]);
      log.error({ err: error }, "The controller's root ended");
    },
  });
  const variables = debugVariables({
    ports,
    bus,
    actors,
    history: observation.history,
    lives: observation.lives,
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
    startedAt: ports.wallClock(),
  });
  root.start();

  return {
    bus,
    observation,
    variables,
    states: () => actors.states(),
    faults: () => faults.list(),
    health: () =>
      Object.fromEntries(
        faults
          .list()
          .filter(({ reason }) => reason === "ComponentFailed")
          .map(({ object, message }) => [object, message]),
      ),
    ready: () => iterations.serving !== undefined,
    close: async () => {
      // First the term and the Lease: another takes over while the rest ends.
      bus.publish({ type: "CONTROLLER.STOPPING" });
      if (root.getSnapshot().status === "active") await stopped;
      observation.close();
      root.stop();
      iterations.close();
      await sessions.close();
    },
  };
}

function logApply(log: Log, { pod, planId, mode, ok, isOwn, reasons, message, tookMs }: ApplyRecord): void {
  const fields = {
    pod,
    plan: planId.slice(0, 12),
    mode,
    ms: Math.round(tookMs),
    ...(reasons.length > 0 && { reasons }),
  };
  if (isOwn === true) log.warn(fields, "An agent reloaded HAProxy by itself");
  else if (ok) log.info(fields, "Applied");
  else log.warn({ ...fields, message }, "Apply refused");
}
