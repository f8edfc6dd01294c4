/**
 * The controller without its surroundings: charts, bus, books. What it talks to comes in as ports, so that a simulation runs the very
 * same wiring.
 */
import { createActor, fromPromise } from "xstate";
import type { AnyActorRef } from "xstate";
import { configLoaderMachine } from "../../machines/configLoader.ts";
import { controllerMachine, controllerReads } from "../../machines/controller.ts";
import { coordinatorMachine, coordinatorReads } from "../../machines/coordinator.ts";
import type { RenderReply, RenderRequest } from "../../machines/coordinator.ts";
import { deployerMachine, deployerReads } from "../../machines/deployer.ts";
import { discoveryMachine, discoveryReads } from "../../machines/discovery.ts";
import type { PodRef } from "../../machines/discovery.ts";
import { driftMonitorMachine, driftMonitorReads } from "../../machines/driftMonitor.ts";
import { eventRecorderMachine, eventRecorderReads } from "../../machines/eventRecorder.ts";
import { leadershipMachine, leadershipReads } from "../../machines/leadership.ts";
import { podApplyMachine } from "../../machines/podApply.ts";
import type { KnownState, ApplyReply, SendRequest } from "../../machines/podApply.ts";
import { podProbeMachine } from "../../machines/podProbe.ts";
import type { ProbeReply } from "../../machines/podProbe.ts";
import { reconcilerMachine, reconcilerReads } from "../../machines/reconciler.ts";
import { renderGateMachine, renderGateReads } from "../../machines/renderGate.ts";
import type { CheckVerdict } from "../../machines/renderGate.ts";
import { schedulerMachine, schedulerReads } from "../../machines/scheduler.ts";
import { statusWriterMachine, statusWriterReads } from "../../machines/statusWriter.ts";
import { leaseNameOf } from "../config/index.ts";
import type { Assembled } from "../config/index.ts";
import { capabilitiesOf, lowestVersion } from "../haproxy/index.ts";
import { applyStatus, beginTerm, EventWriter } from "../kube/index.ts";
import type { Clock } from "../kube/index.ts";
import type { KubeClient } from "../kube/types.ts";
import { EventHistory, FaultRegistry } from "../observe/index.ts";
import type { StandingFault } from "../observe/index.ts";
import { summarize } from "../plan/index.ts";
import type { AgentConnect } from "./agent-port.ts";
import { Bus } from "./bus.ts";
import { candidatesOf } from "./candidates.ts";
import { onBus, registered } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import { conditionDiffers, conditionStatus } from "./condition.ts";
import { ConfigSource } from "./config-source.ts";
import { PODS_ALIAS, tryConfig } from "./iteration.ts";
import type { CompiledConfig, Iteration, IterationDeps } from "./iteration.ts";
import { PlanShelf } from "./plan-shelf.ts";
import { PodSessions } from "./pod-sessions.ts";
import { Records } from "./records.ts";
import { Verdicts } from "./verdicts.ts";
import type { CheckFiles } from "./verdicts.ts";
import { WatchPool } from "./watch-pool.ts";

/** The part of pino's interface that is used: constant messages, variables as keys. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ControllerPorts {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly configName: string;
  readonly identity: string;
  readonly clock: Clock;
  /** 0 ≤ value < 1. */
  readonly random: () => number;
  /** Wall-clock milliseconds. */
  readonly wallClock: () => number;
  readonly log: Log;
  readonly connect: AgentConnect;
  readonly compile: (assembled: Assembled) => CompiledConfig | Promise<CompiledConfig>;
  readonly check: CheckFiles;
  /** Version of the HAProxy that judges, e.g. `3.4.7`; counts while no pod is known. */
  readonly haproxyVersion: string;
  /** In place of `spec.dataplane.port`. */
  readonly agentPort?: number;
  /** Lets other work of the process have its turn. */
  readonly pause: () => Promise<void>;
}

export interface ControllerCore {
  readonly bus: Bus;
  readonly variables: Readonly<Record<string, () => unknown>>;
  /** Present state of every actor: name → state value. */
  states(): Readonly<Record<string, unknown>>;
  faults(): readonly StandingFault[];
  /** "" = well. */
  health(): Readonly<Record<string, string>>;
  /** A configuration serves. */
  ready(): boolean;
  close(): Promise<void>;
}

const statusOf = (error: unknown): number => (error as { status?: number }).status ?? 0;
const API_VERSION = "haproxy-haptic.org/v1alpha1";

export function createController(ports: ControllerPorts): ControllerCore {
  const { kube, namespace, configName, clock, log } = ports;
  const now = (): string => new Date(ports.wallClock()).toISOString();
  const startedAt = ports.wallClock();
  const backoffMs =
    (base: number, cap: number) =>
    (attempt: number): number =>
      Math.round(Math.min(cap, base * 2 ** Math.min(attempt - 1, 20)) * (0.5 + ports.random() / 2));

  const actors = new Map<string, AnyActorRef>();
  const registry: ActorRegistry = {
    add: (name, actor) => actors.set(name, actor),
    remove: (name, actor) => {
      if (actors.get(name) === actor) actors.delete(name);
    },
  };
  const bus = new Bus({
    now: () => clock.now(),
    onFailure: (subscriber, event, error) => {
      log.error({ subscriber, event: event.type, err: error }, "A bus subscriber failed");
    },
  });
  const history = new EventHistory();
  const faults = new FaultRegistry(
    () => new Date(ports.wallClock()),
    (fault, state) => {
      const { object, reason, message } = fault;
      if (state === "began") log.warn({ object, reason, message }, "Fault");
      else log.info({ object, reason }, "Fault mended");
    },
  );

  const source = new ConfigSource({
    kube,
    namespace,
    name: configName,
    onWarnings: (warnings) => {
      for (const { object, field, message } of warnings) log.warn({ object, field, message }, "Configuration warning");
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
  });
  const shelf = new PlanShelf();
  const verdicts = new Verdicts(ports.check, shelf, (planId, verdict) => {
    records.noteCheck(verdict.passed);
    log.info(
      { plan: planId.slice(0, 12), passed: verdict.passed, ms: Math.round(verdict.tookMs) },
      "HAProxy judged a plan",
    );
  });
  const pool = new WatchPool({ kube, bus, registry, clock });

  let pods: readonly PodRef[] = [];
  let epoch = 0;
  /** Of the newest render of this term. */
  let seq = 0;
  let highestSeen = 0;
  let serving: Iteration | undefined;
  /** The one that was tried last: to be installed, or refused and kept for its watches. */
  let tried: Iteration | undefined;
  let triedReply: "accepted" | "refused" = "refused";

  const sessions = new PodSessions({
    connect: ports.connect,
    shelf,
    epoch: () => epoch,
    seq: () => seq,
    now: () => clock.now(),
    pause: ports.pause,
    onApply: (record) => {
      records.noteApply(record);
      const { pod, planId, mode, ok, reasons, message, tookMs } = record;
      const fields = {
        pod,
        plan: planId.slice(0, 12),
        mode,
        ms: Math.round(tookMs),
        ...(reasons.length > 0 && { reasons }),
      };
      if (ok) log.info(fields, "Applied");
      else log.warn({ ...fields, message }, "Apply refused");
    },
  });
  const capabilities = (): Readonly<Record<string, boolean>> =>
    capabilitiesOf(
      lowestVersion(pods.map((pod) => pod.version).filter((version) => version !== "")) ?? ports.haproxyVersion,
    );
  const iterationDeps: IterationDeps = { pool, namespace, compile: ports.compile, capabilities, verdicts, shelf };
  const agentPort = (iteration: Iteration): number => ports.agentPort ?? iteration.agentPort;

  const listPods = (): void => {
    const iteration = serving ?? tried;
    const view = iteration?.pods();
    if (iteration === undefined || view === undefined) return;
    bus.publish({ type: "PODS.LISTED", candidates: candidatesOf(view.list(), agentPort(iteration)) });
  };

  const render = async (signal: AbortSignal): Promise<RenderReply> => {
    const iteration = serving;
    if (iteration === undefined) throw new Error("no configuration serves");
    const outcome = await iteration.render(signal);
    const generation = iteration.config.generation;
    records.noteObjects(outcome.isolated, outcome.result?.events ?? []);
    if (outcome.result === undefined) {
      return {
        kind: "failed",
        iteration: generation,
        message: outcome.problems.map((problem) => problem.text).join("\n"),
      };
    }
    const { plan, cacheState, stats } = outcome.result;
    seq += 1;
    shelf.put(plan);
    log.debug({ plan: plan.id.slice(0, 12), seq, cacheState, ...stats }, "Rendered");
    return { kind: "rendered", planId: plan.id, seq, iteration: generation };
  };

  const podApply = registered(
    podApplyMachine.provide({
      actors: {
        readState: fromPromise<KnownState, { pod: string; verify: boolean }>(({ input, signal }) =>
          sessions.readState(input.pod, input.verify, signal),
        ),
        send: fromPromise<ApplyReply, SendRequest>(({ input, signal }) =>
          sessions.send(input.pod, input.planId, input.seq, input.form, signal),
        ),
        promote: fromPromise<ApplyReply, { pod: string; planId: string }>(({ input, signal }) =>
          sessions.promote(input.pod, input.planId, signal),
        ),
        revert: fromPromise<ApplyReply, { pod: string; planId: string }>(({ input, signal }) =>
          sessions.revert(input.pod, input.planId, signal),
        ),
        storeBlob: fromPromise<void, { pod: string; planId: string }>(({ input, signal }) =>
          sessions.storeBlob(input.pod, input.planId, signal),
        ),
      },
    }),
    registry,
  );

  const podProbe = registered(
    podProbeMachine.provide({
      actors: {
        probe: fromPromise<ProbeReply, { pod: string; address: string }>(async ({ input, signal }) => {
          const port = ports.connect(input.address);
          try {
            const state = await port.state({ verify: false, plan: false }, signal);
            highestSeen = Math.max(highestSeen, state.applied_token.leader_epoch);
            return { version: state.haproxy?.version ?? "" };
          } finally {
            await port.close();
          }
        }),
      },
    }),
    registry,
  );

  const writer = new EventWriter({
    client: kube,
    component: "haptic",
    instance: ports.identity,
    now: ports.wallClock,
    random: ports.random,
  });
  const machine = onBus(
    controllerMachine.provide({
      actors: {
        configLoader: onBus(
          configLoaderMachine.provide({
            actors: { source: source.stream(), assemble: fromPromise(() => Promise.resolve(source.assemble())) },
          }),
          [],
          bus,
          registry,
        ),
        discovery: onBus(discoveryMachine.provide({ actors: { podProbe } }), discoveryReads, bus, registry),
        leadership: onBus(
          leadershipMachine.provide({
            actors: {
              claimEpoch: fromPromise<number, { above: number }>(async ({ input, signal }) => {
                const term = await beginTerm(
                  kube,
                  {
                    namespace,
                    name: leaseNameOf(source.loaded?.assembled.spec ?? {}),
                    holder: ports.identity,
                    durationSeconds: 30,
                    atLeast: Math.max(input.above, highestSeen),
                    now: ports.wallClock,
                  },
                  signal,
                );
                epoch = term.epoch;
                seq = 0;
                return epoch;
              }),
            },
          }),
          leadershipReads,
          bus,
          registry,
        ),
        trial: fromPromise(async ({ signal }) => {
          const config = source.loaded;
          if (config === undefined) throw new Error("no configuration is loaded");
          const former = tried;
          const trial = await tryConfig(config, iterationDeps, signal);
          if (signal.aborted) {
            trial.iteration?.release();
            throw new Error("a newer configuration came");
          }
          if (former !== serving) former?.release();
          tried = trial.iteration;
          triedReply = trial.reply.kind;
          listPods();
          return trial.reply;
        }),
        reconciler: onBus(reconcilerMachine.provide({}), reconcilerReads, bus, registry),
        coordinator: onBus(
          coordinatorMachine.provide({
            actors: { render: fromPromise<RenderReply, RenderRequest>(({ signal }) => render(signal)) },
          }),
          coordinatorReads,
          bus,
          registry,
        ),
        scheduler: onBus(schedulerMachine.provide({}), schedulerReads, bus, registry),
        deployer: onBus(deployerMachine.provide({ actors: { podApply } }), deployerReads, bus, registry),
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
          registry,
        ),
        driftMonitor: onBus(driftMonitorMachine.provide({}), driftMonitorReads, bus, registry),
        statusWriter: onBus(
          statusWriterMachine.provide({
            actors: {
              write: fromPromise<void>(async ({ signal }) => {
                const config = source.config;
                if (config === undefined) return;
                const written = await applyStatus(
                  kube,
                  {
                    apiVersion: API_VERSION,
                    kind: "HAProxyTemplateConfig",
                    resource: "haproxytemplateconfigs",
                    namespace,
                  },
                  configName,
                  conditionStatus(records.book, config, now()),
                  { signal },
                );
                source.adopt(written);
              }),
            },
          }),
          statusWriterReads,
          bus,
          registry,
        ),
        eventRecorder: onBus(
          eventRecorderMachine.provide({
            actors: {
              record: fromPromise<number>(async ({ signal }) => {
                let count = 0;
                for (let write = records.ledger.next(); write !== undefined; write = records.ledger.next()) {
                  const { object: subject, type, reason, message } = write;
                  const outcome = await writer.write({ subject, type, reason, message }, signal);
                  // An object or namespace that is gone, or a right that is not given: nobody can be told.
                  if (outcome.written === "failed" && ![403, 404, 422].includes(statusOf(outcome.error)))
                    throw outcome.error;
                  records.ledger.done(write);
                  count += 1;
                }
                return count;
              }),
            },
          }),
          eventRecorderReads,
          bus,
          registry,
        ),
      },
      actions: {
        install: () => {
          if (tried === undefined || triedReply !== "accepted" || tried === serving) return;
          serving?.release();
          serving = tried;
        },
        reportComponent: (_, { component, message }) => {
          faults.state(`component:${component}`, [{ object: component, reason: "ComponentFailed", message }]);
          log.error({ component, message }, "A component failed and is begun anew");
        },
      },
    }),
    controllerReads,
    bus,
    registry,
  );

  bus.observe("history", (event) => {
    history.add(ports.wallClock(), event);
  });
  bus.observe("records", (event) => {
    records.note(event);
    log.debug({ event }, "Event");
  });
  bus.observe("pods", (event) => {
    if (event.type === "PODS.CHANGED") {
      pods = event.pods;
      sessions.follow(pods);
    }
  });
  bus.subscribe("podList", ["RESOURCES.CHANGED", "WATCH.SYNCED", "ITERATION.ACCEPTED"], (event) => {
    if (event.type === "ITERATION.ACCEPTED" || event.alias === PODS_ALIAS) listPods();
  });

  const root = createActor(machine, {
    clock,
    input: {
      backoffMs: backoffMs(250, 60_000),
      verdictOf: (planId) => verdicts.of(planId),
      statusDiffers: () => conditionDiffers(records.book, source.config),
      hasEvents: () => records.ledger.hasWork,
    },
  });
  root.subscribe({
    error: (error) => {
      log.error({ err: error }, "The controller's root ended");
    },
  });
  root.start();

  const states = (): Record<string, unknown> =>
    Object.fromEntries(
      [...actors]
        .map(([name, actor]) => [name, (actor.getSnapshot() as { value?: unknown }).value])
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
  const rendered = (): unknown => {
    const last = history.last(1_000).find((event) => event.type === "PLAN.RENDERED");
    const plan = last === undefined ? undefined : shelf.get(String(last["planId"]));
    return plan === undefined ? null : summarize(plan);
  };

  return {
    bus,
    states,
    faults: () => faults.list(),
    health: () =>
      Object.fromEntries(
        faults
          .list()
          .filter((fault) => fault.reason === "ComponentFailed")
          .map(({ object, message }) => [object, message]),
      ),
    ready: () => serving !== undefined,
    variables: {
      counters: () => ({
        ...records.counters,
        apiWrites: { ...kube.counters.writes },
        apiRequests: { ...kube.counters.requests },
      }),
      faults: () => faults.list(),
      config: () => ({
        version: source.loaded?.version ?? null,
        serving: serving?.config.version ?? null,
        generation: serving?.config.generation ?? null,
      }),
      effectiveConfigResolution: () => ({
        members: serving?.config.assembled.members ?? [],
        overrides: serving?.config.assembled.overrides ?? [],
        warnings: serving?.config.warnings ?? [],
      }),
      resources: () => {
        const snapshot = serving?.snapshot();
        return Object.fromEntries(
          (snapshot?.aliases() ?? []).map((alias) => [alias, snapshot?.alias(alias)?.size ?? 0]),
        );
      },
      pods: () => sessions.view(),
      rendered,
      state: states,
      bus: () => bus.metrics(),
      events: () => history.last(100),
      uptime: () => ({
        started: new Date(startedAt).toISOString(),
        uptime_seconds: Math.round((ports.wallClock() - startedAt) / 1_000),
      }),
      term: () => ({ epoch, renderSeq: seq }),
    },
    close: async () => {
      root.stop();
      if (tried !== serving) tried?.release();
      serving?.release();
      await sessions.close();
    },
  };
}
