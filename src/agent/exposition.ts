/** Serves the agent's metrics. The packages that this needs are loaded only where somebody may ask. */
import type { Logger } from "pino";
import { startMetricsServer } from "../metrics-server.ts";
import type { Holding } from "./holding.ts";
import { parseListen } from "./listen.ts";
import { AgentMetrics } from "./metrics.ts";
import { readOldWorkers, type Pacer } from "./pacing.ts";

export interface ExpositionOptions {
  readonly listen: string;
  readonly holding: Holding;
  readonly pacer: Pacer;
  readonly isReady: () => boolean;
  readonly isReloadPending: () => boolean;
  readonly log: Logger;
}

export interface Exposition {
  readonly metrics: AgentMetrics;
  /** 0 = the port could not be had: traffic matters more than its figures. */
  readonly port: number;
  close(): Promise<void>;
}

export async function exposeMetrics(options: ExpositionOptions): Promise<Exposition> {
  const { holding, pacer, log } = options;
  const metrics = new AgentMetrics({
    generation: () => holding.model.generation,
    isReady: options.isReady,
    isReloadPending: options.isReloadPending,
    pendingRemovals: () => ({
      server: holding.model.pendingServers.size,
      backend: holding.model.pendingBackends.size,
    }),
    reloadIntervalMs: () => pacer.intervalMs,
    oldWorkers: () => readOldWorkers(holding.options.masterSocket, holding.session?.info.pid).catch(() => undefined),
  });
  metrics.addProcess();
  const { host, port } = parseListen("--metrics-listen", options.listen);
  try {
    const server = await startMetricsServer(metrics.registry, { port, ...(host !== "" && { host }) });
    return { metrics, port: server.port, close: () => server.close() };
  } catch (error) {
    log.error({ err: error, listen: options.listen }, "metrics are not served: the port cannot be had");
    return { metrics, port: 0, close: async () => undefined };
  }
}
