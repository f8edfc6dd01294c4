/** The agent: `runAgent` serves one pod's HAProxy, `prepareStart` readies its files before HAProxy starts. */
import { mkdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { pino, type Logger } from "pino";
import manifest from "../../package.json" with { type: "json" };
import type { BodyTimes } from "./body-time.ts";
import { Desk, storePlan } from "./desk.ts";
import { serveDrain, type DrainOptions } from "./drain.ts";
import { Holding } from "./holding.ts";
import type { AgentIdentity } from "./identity.ts";
import { parseListen } from "./listen.ts";
import { LocalLock } from "./local.ts";
import { checkManifest } from "./manifest.ts";
import { Memory } from "./memory.ts";
import { agentPaths, type PathFlags } from "./options.ts";
import { PlanStore } from "./plan-store.ts";
import type { Prepared, PrepareOptions } from "./prepare.ts";
import { Pacer, pacingDefaults, readOldWorkers, type PacingRules } from "./pacing.ts";
import { createAgentServer, EarlyAnswer } from "./server.ts";
import { linkState } from "./state-link.ts";
import { StartDesk } from "./start-desk.ts";
import { stateOf, type Answer } from "./ticket.ts";
import { wireAgent } from "./wiring.ts";
import { Witness } from "./witness.ts";
import type { ApplyResult } from "./api.ts";

export { type AgentIdentity, chosenBasic } from "./identity.ts";
export { agentPaths, type AgentPaths, type PathFlags } from "./options.ts";
export type { Prepared, PrepareOptions } from "./prepare.ts";
export { agentOpsBeside } from "./capabilities.ts";
export { askAgent } from "./local.ts";
export { drain, type Drained } from "./drain.ts";

export type AgentOptions = AgentSettings & AgentIdentity;

export interface AgentSettings extends PathFlags {
  /** `host:port`, `:port` or `[v6]:port`. Port 0 chooses one. */
  readonly listen?: string;
  /** Where Prometheus asks, in the same form; absent or "" = nowhere. */
  readonly metricsListen?: string;
  /** Least time between two reloads, 0–60,000 ms; default 5,000. 0 = reloads never wait. */
  readonly reloadIntervalMs?: number;
  /** How far old workers stretch it; `pacingDefaults` where it is not given. */
  readonly pacing?: Partial<Omit<PacingRules, "leastMs">>;
  /** At most 60,000 ms; default 60,000. */
  readonly reloadTimeoutMs?: number;
  /** At most 60,000 ms; default 10,000. */
  readonly removalGraceMs?: number;
  /** How long a request's body may take; `BODY_TIMES` where it is not given. */
  readonly bodyTimes?: BodyTimes;
  /** How a drain goes; `drainDefaults` where it is not given. */
  readonly drain?: Partial<DrainTiming>;
  readonly log?: Logger;
  /** Milliseconds since 1970, with fractions where the platform gives them: compared with HAProxy's start time. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
}

/** What the start wrapper does before HAProxy; loaded there only, as an agent has no use for it. */
export async function prepareStart(options: PrepareOptions): Promise<Prepared> {
  return (await import("./prepare.ts")).prepareStart(options);
}

export type DrainTiming = Omit<DrainOptions, "workerSocket">;

/** `haptic agent drain` and the agent's drain socket. */
export const drainDefaults: DrainTiming = { quietMs: 5_000, limitMs: 45_000, ignoredFrontends: [] };

export interface RunningAgent {
  /** `https://127.0.0.1:5555` */
  readonly url: string;
  /** HAProxy is found and brought to the claimed set; stays true until HAProxy is stopped after a drain. */
  readonly isReady: () => boolean;
  /** Where metrics are served; 0 = nowhere. */
  readonly metricsPort: number;
  close(): Promise<void>;
}

/**
 * Starts the agent. Resolves when it listens; it becomes ready when HAProxy is found.
 * @throws AgentTreeError when another agent owns the tree or the certificates cannot be read.
 */
export async function runAgent(options: AgentOptions): Promise<RunningAgent> {
  const paths = agentPaths(options);
  const log = options.log ?? pino({ level: process.env["LOG_LEVEL"]?.toLowerCase() ?? "info" });
  const { now, monotonic } = options;
  const rules = { ...pacingDefaults, ...options.pacing };
  const reloadIntervalMs = options.reloadIntervalMs ?? rules.leastMs;
  const memory = new Memory({ collect: globalThis.gc, resident: () => process.memoryUsage.rss(), monotonic });
  const pacer = new Pacer({ ...rules, leastMs: reloadIntervalMs }, monotonic);
  const witness = new Witness(log);
  mkdirSync(paths.baseDir, { recursive: true });
  const lock = await LocalLock.takeAfterWrapper(paths.localSocket);
  try {
    const { removalGraceMs } = options;
    const holding = new Holding({
      ...paths,
      now,
      note: (note) => witness.note(note),
      ...(removalGraceMs !== undefined && { removalGraceMs }),
    });
    witness.checkMounts(paths.baseDir);
    if (paths.stateFile !== undefined) {
      const why = linkState(paths.baseDir, paths.stateFile);
      if (why !== undefined) log.warn({ stateFile: paths.stateFile, why }, "no link to the state of the set in force");
    }
    const plans = new PlanStore(holding.tree.planPath);
    await plans.load();
    const starts = new StartDesk(holding);
    let ready = false;
    const desk: Desk = new Desk({
      holding,
      plans,
      reloadTimeoutMs: Math.min(options.reloadTimeoutMs ?? 60_000, 60_000),
      now,
      monotonic,
      nextReloadAt: () => now() + pacer.restMs,
      onRemovals: () => actor.send({ type: "REMOVALS.QUEUED" }),
      onOwnReload: ({ reason, ok }) => log.warn({ reason, ok }, "HAProxy was reloaded though no apply asked for it"),
    });
    const actor = wireAgent({
      holding,
      desk,
      starts,
      reloadIntervalMs,
      onReady: () => {
        if (!ready) log.info({ worker: holding.session?.info.pid, plan: holding.model.planId }, "ready");
        ready = true;
      },
      onFailure: (what, error) => log.error({ err: error, what }, "step failed"),
      onHandover: () => log.debug("the old worker closed its connection"),
      onReloadStarted: () => pacer.reloadBegins(),
      tidyMemory: () => memory.tidy(),
      weigh: async () => {
        if (reloadIntervalMs === 0) return 0;
        const before = pacer.intervalMs;
        const old = await readOldWorkers(paths.masterSocket, holding.session?.info.pid);
        const restMs = pacer.weigh(old);
        const { intervalMs } = pacer;
        if (intervalMs !== before) log.info({ ...old, intervalMs }, "old workers stretch the time between reloads");
        if (desk.reloadPendingAt !== undefined) desk.reloadPendingAt = now() + restMs;
        return restMs;
      },
    });
    holding.onWorkerLost = () => {
      log.warn("HAProxy closed the runtime connection");
      actor.send({ type: "WORKER.LOST" });
    };
    const readState = async (query: { verify: boolean; plan: boolean }): Promise<Answer> => {
      if (!holding.recovered) return { status: 503, body: { error: "the agent has not read its files yet" } };
      if (query.verify) {
        // Until the worker was brought to the claimed set the journal alone says what it lacks.
        if (ready)
          await holding.fold().catch((error: unknown) => log.error({ err: error, what: "fold" }, "step failed"));
        witness.checkFiles(holding, await holding.checkFiles());
        await holding.checkWorker();
      }
      const { planId } = holding.model;
      const appliedPlan = query.plan ? await plans.read(planId) : undefined;
      const extras = {
        agentVersion: manifest.version,
        appliedPlan,
        planStored: plans.holds(planId),
        violation: witness.broken,
        reloadPendingAt: desk.reloadPendingAt,
        ownReload: desk.ownReloads.last,
      };
      return { status: 200, body: stateOf(holding, extras) };
    };
    const reserved = reservedNames(paths.baseDir, [
      paths.masterSocket,
      paths.workerSocket,
      paths.localSocket,
      ...[paths.drainSocket, paths.stateFile].filter((path) => path !== undefined),
    ]);
    const server = await createAgentServer({
      identity: options,
      monotonic,
      ...(options.bodyTimes !== undefined && { bodyTimes: options.bodyTimes }),
      onUnusable: (error) => log.warn({ err: error }, "new certificates cannot be used; the former ones stay"),
      handlers: {
        isReady: () => ready,
        state: readState,
        preview: (candidate) => {
          checkManifest(candidate, reserved);
          const refusal = desk.preview(candidate);
          if (refusal !== undefined) throw new EarlyAnswer(refusal);
        },
        stagingPath: () => holding.tree.stagingPath(),
        apply: async (body) => {
          const { id, answer: promised } = desk.open(body);
          const before = witness.sight(holding);
          actor.send({ type: "APPLY.REQUESTED", id });
          const answer = await promised;
          if (answer.status === 200) witness.judge(answer.body as ApplyResult, before, witness.sight(holding));
          return answer;
        },
        onApplied: (answer) => witness.answered(answer),
        storePlan: (plan, blob) => storePlan(holding, plans, plan, blob),
      },
    });
    lock.serve(async (method, url) => {
      if (method === "GET" && url.pathname === "/state") {
        const asked = (name: string): boolean => url.searchParams.get(name) === "1";
        return readState({ verify: asked("verify"), plan: asked("plan") });
      }
      if (method === "GET" && url.pathname === "/health") return { status: 200, body: { ok: true, ready } };
      if (method === "POST" && url.pathname === "/start") {
        const { id, done } = starts.open(url.searchParams.get("fallback") === "1");
        actor.send({ type: "START.REQUESTED", id });
        await done;
        return { status: 200, body: { ok: true } };
      }
      return { status: 404, body: { error: "no such thing here" } };
    });
    actor.subscribe({ error: (error) => log.fatal({ err: error }, "the agent's chart failed") });
    const { host, port } = parseListen("--listen", options.listen ?? ":5555");
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, ...(host === "" ? {} : { host }) }, resolve);
    });
    const drains =
      paths.drainSocket === undefined
        ? undefined
        : await serveDrain(
            paths.drainSocket,
            { ...drainDefaults, ...options.drain, workerSocket: paths.workerSocket },
            () => {
              log.info("HAProxy is being stopped: letting go of it");
              ready = false;
              holding.detach();
              actor.send({ type: "WORKER.LOST" });
            },
          );
    const metricsListen = options.metricsListen ?? "";
    const exposition =
      metricsListen === ""
        ? undefined
        : await (
            await import("./exposition.ts")
          ).exposeMetrics({
            listen: metricsListen,
            holding,
            pacer,
            isReady: () => ready,
            isReloadPending: () => desk.reloadPendingAt !== undefined,
            log,
          });
    witness.countWith(exposition?.metrics);
    actor.start();
    const bound = server.address() as AddressInfo;
    const scheme = options.basic === undefined ? "https" : "http";
    const url = `${scheme}://${host === "" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host}:${bound.port}`;
    log.info({ url, baseDir: paths.baseDir }, "listening");
    if (options.basic !== undefined)
      log.warn(
        "TLS is off: who can listen on the network between controller and agent reads the password, keys and all files",
      );
    return {
      url,
      isReady: () => ready,
      metricsPort: exposition?.port ?? 0,
      close: async () => {
        actor.stop();
        await exposition?.close();
        await drains?.close();
        server.closeAllConnections();
        await new Promise<void>((resolve) => server.close(() => resolve()));
        if (ready) await holding.fold().catch((error: unknown) => log.error({ err: error }, "last fold failed"));
        holding.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** First components, inside the base directory, that belong to sockets and the link to the state. */
function reservedNames(baseDir: string, places: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const place of places) {
    if (place.startsWith(`${baseDir}/`)) names.add(place.slice(baseDir.length + 1).split("/", 1)[0]!);
  }
  return names;
}
