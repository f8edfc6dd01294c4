/** The controller: `startController` connects the charts to Kubernetes, HAProxy and the agents, and serves the debug page's variables. */
import type { AgentTransport, ClientTls } from "../agent/client.ts";
import { dataplaneOf, toTemplateSources } from "../config/index.ts";
import type { LeaseTimes } from "../config/index.ts";
import { createChecker, createSpawner, haproxyVersion } from "../haproxy/index.ts";
import { systemClock } from "../kube/index.ts";
import type { Clock } from "../kube/index.ts";
import type { KubeClient } from "../kube/types.ts";
import { LiveServer, startDebugServer, startMetricsServer } from "../observe/index.ts";
import type { LogLevel, MetricsServer, StandingFault } from "../observe/index.ts";
import { createRenderServiceInSlices } from "../render/index.ts";
import { connectAgents } from "./agent-connect.ts";
import { followCredentials } from "./agent-credentials.ts";
import type { Bus } from "./bus.ts";
import { createController } from "./core.ts";
import type { ControllerCore } from "./core.ts";
import type { ControllerPorts, Log } from "./ports.ts";
import { readResourceSchemas } from "./resource-schemas.ts";

export type { Bus, BusMetrics } from "./bus.ts";
export type { BusEvent, BusEventOf, BusEventType } from "./events.ts";
export { createController, type ControllerCore } from "./core.ts";
export type { ControllerPorts, Log } from "./ports.ts";
export { diffOptionsOf, MAX_OPS, type PodState, podStateOf } from "./manifest.ts";
export { agentReload } from "./reload-ledger.ts";
export { readResourceSchemas } from "./resource-schemas.ts";
export type { AgentConnect, AgentPort, ApplyAnswer, ApplyPart } from "./agent-port.ts";

export interface ControllerOptions {
  readonly kube: KubeClient;
  /** Namespace of the configuration, its libraries, the HAProxy pods and the Lease. */
  readonly namespace: string;
  /** Name of the HAProxyTemplateConfig. */
  readonly configName: string;
  /**
   * How the agents' certificates are judged, and ours: mutual TLS 1.3. Or, in the legacy form without TLS, the name of the Secret with
   * username and password.
   */
  readonly agents: { readonly tls: ClientTls } | { readonly basicSecret: string };
  /** In place of `spec.dataplane.port`. */
  readonly agentPort?: number;
  /** The HAProxy that judges configurations. */
  readonly haproxyBinary: string;
  /** Where HAProxy's folder is on a pod; default /etc/haproxy. */
  readonly baseDir?: string;
  /** Loopback port of `/debug/vars` and the health paths; 0 = any free one, absent = no server. */
  readonly debugPort?: number;
  /** Default 127.0.0.1. */
  readonly debugHost?: string;
  /** Port of `/metrics`; 0 = any free one, absent = none. */
  readonly metricsPort?: number;
  /** Default: every address. */
  readonly metricsHost?: string;
  /** The log's level, to be changed while it runs (`/debug/log-level`). */
  readonly logLevel?: LogLevel;
  /** Version of this program, for metrics and the live page. */
  readonly version?: string;
  /** Holder of the Lease, unless the election is off; default `haptic`. Two controllers must have two. */
  readonly identity?: string;
  /** Times of the election where the configuration gives none. */
  readonly leaseTimes?: LeaseTimes;
  readonly log: Log;
  readonly clock?: Clock;
  /** 0 ≤ value < 1. */
  readonly random?: () => number;
  /** Wall-clock milliseconds. */
  readonly wallClock?: () => number;
}

export interface ControllerHandle {
  readonly bus: Bus;
  /** undefined without a debug server. */
  readonly debugPort: number | undefined;
  /** undefined without a metrics server. */
  readonly metricsPort: number | undefined;
  /** Values of `/debug/vars/<name>`. */
  readonly variables: Readonly<Record<string, () => unknown>>;
  /** Present state of every actor, by its name. */
  states(): Readonly<Record<string, unknown>>;
  faults(): readonly StandingFault[];
  /** A configuration serves. */
  ready(): boolean;
  close(): Promise<void>;
}

/** Resolves when everything is started (not: when a configuration serves). Rejects when HAProxy cannot be run or the port is taken. */
export async function startController(options: ControllerOptions): Promise<ControllerHandle> {
  const { log } = options;
  const spawner = createSpawner();
  const closers: (() => Promise<void>)[] = [() => spawner.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.toReversed()) {
      await close().catch((error: unknown) => {
        log.warn({ err: error }, "Something did not close");
      });
    }
  };
  try {
    const { version } = await haproxyVersion(options.haproxyBinary, spawner, AbortSignal.timeout(10_000));
    const checker = createChecker({
      binary: options.haproxyBinary,
      spawner,
      ...(options.baseDir !== undefined && { baseDir: options.baseDir }),
    });
    closers.push(() => checker.close());
    const connect = connectAgents(transportOf(options, closers));
    const ports: ControllerPorts = {
      kube: options.kube,
      namespace: options.namespace,
      configName: options.configName,
      identity: options.identity ?? "haptic",
      ...(options.leaseTimes !== undefined && { leaseTimes: options.leaseTimes }),
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      wallClock: options.wallClock ?? Date.now,
      log,
      connect,
      compile: async (assembled, signal) => {
        const { spec } = assembled;
        const { schemas, typings } = await readResourceSchemas(options.kube, spec, signal);
        const { service, problems } = await createRenderServiceInSlices({
          spec,
          schemas,
          sources: toTemplateSources(assembled),
          dataplane: dataplaneOf(spec),
        });
        return { service: problems.length === 0 ? service : undefined, problems, typings };
      },
      check: (files, signal) => checker.check(files, signal),
      haproxyVersion: version,
      ...(options.version !== undefined && { version: options.version }),
      ...(options.agentPort !== undefined && { agentPort: options.agentPort }),
      pause: () =>
        new Promise((resolve) => {
          setImmediate(resolve);
        }),
    };
    const core = createController(ports);
    closers.push(() => core.close());
    const server =
      options.debugPort === undefined
        ? undefined
        : await startDebugServer({
            port: options.debugPort,
            ...(options.debugHost !== undefined && { host: options.debugHost }),
            variables: core.variables,
            health: () => core.health(),
            ready: () => core.ready(),
            events: (limit, correlationId) => core.observation.events(limit, correlationId),
            ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
            live: new LiveServer(core.observation.feed),
          });
    if (server !== undefined) closers.push(() => server.close());
    const metrics = await openMetrics(core, options);
    if (metrics !== undefined) closers.push(() => metrics.close());
    log.info(
      {
        haproxy: version,
        namespace: options.namespace,
        config: options.configName,
        debugPort: server?.port ?? null,
        metricsPort: metrics?.port ?? null,
      },
      "Controller started",
    );
    return {
      bus: core.bus,
      debugPort: server?.port,
      metricsPort: metrics?.port,
      variables: core.variables,
      states: () => core.states(),
      faults: () => core.faults(),
      ready: () => core.ready(),
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function transportOf(
  { agents, kube, namespace, log }: ControllerOptions,
  closers: (() => Promise<void>)[],
): AgentTransport {
  if ("tls" in agents) {
    let said = "";
    // Each pod has a client of its own, and all of them find the same.
    const onUnusable = (error: Error): void => {
      const obstacle = String(error.cause);
      if (obstacle !== said)
        log.warn({ err: error }, "New certificates towards agents cannot be used; the former ones stay");
      said = obstacle;
    };
    return { tls: { ...agents.tls, onUnusable } };
  }
  log.warn(
    { secret: `${namespace}/${agents.basicSecret}` },
    "No TLS towards agents: who can listen on the network between reads the password, keys and all files",
  );
  const followed = followCredentials(kube, { namespace, name: agents.basicSecret }, log);
  closers.push(async () => followed.close());
  return { basic: followed.current };
}

/** Traffic matters more than its figures: a port that is taken is told of, and the controller goes on without. */
async function openMetrics(
  core: ControllerCore,
  { metricsPort: port, metricsHost: host, log }: ControllerOptions,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined;
  const { metrics } = core.observation;
  metrics.addProcess();
  try {
    return await startMetricsServer(metrics.registry, { port, ...(host !== undefined && { host }) });
  } catch (error) {
    log.error({ port, err: error }, "No metrics: their port cannot be had");
    return undefined;
  }
}
