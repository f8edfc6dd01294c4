/** Draining before HAProxy is stopped: the reading, the wiring of its chart, and the socket that a preStop hook asks. */
import { chmodSync, rmSync } from "node:fs";
import { createActor, fromPromise } from "xstate";
import { agentDrainMachine, type DrainEnd, type DrainReading } from "../../machines/agentDrain.ts";
import { RuntimeSession } from "../haproxy/index.ts";
import { listenPlain } from "../plain-server.ts";
import { answerOf } from "./server.ts";

export interface DrainOptions {
  /** Absolute. */
  readonly workerSocket: string;
  /** No new connection for so long = quiet. */
  readonly quietMs: number;
  /** Quiet or not, it ends after this. */
  readonly limitMs: number;
  /** Frontends whose connections do not count: those of probes. */
  readonly ignoredFrontends: readonly string[];
}

export interface Drained {
  readonly end: DrainEnd;
  /** Connections that came while it drained. */
  readonly came: number;
}

/** Draining configurations answer their readiness path by `var(proc.haptic.draining) -m bool`. */
const SAY_NOT_READY = "experimental-mode on;set var proc.haptic.draining bool(true)";
/** Every proxy, frontends alone, every server. */
const SHOW_FRONTENDS = "show stat -1 1 -1";
const LOOK_TIMEOUT_MS = 2_000;

export interface Drain {
  /** Settles when HAProxy may be stopped. HAProxy's absence is no fault: one that is not there takes no connections. */
  readonly over: Promise<Drained>;
  stop(): void;
}

/** `letGo` is called when HAProxy has been stopped after the drain: whoever holds a connection to it ends that one. */
export function startDrain(options: DrainOptions, letGo: () => void): Drain {
  const { promise, resolve } = Promise.withResolvers<Drained>();
  const actor = createActor(
    agentDrainMachine.provide({
      actors: { look: fromPromise(() => lookAt(options)) },
      actions: { answer: (_, drained) => resolve(drained), letGo },
    }),
    { input: { quietMs: options.quietMs, limitMs: options.limitMs } },
  );
  actor.start();
  return { over: promise, stop: () => actor.stop() };
}

/** The same for who holds no connection. */
export async function drain(options: DrainOptions): Promise<Drained> {
  const one = startDrain(options, () => undefined);
  try {
    return await one.over;
  } finally {
    one.stop();
  }
}

async function lookAt({ workerSocket, ignoredFrontends }: DrainOptions): Promise<DrainReading> {
  const session = await RuntimeSession.connect(workerSocket, LOOK_TIMEOUT_MS);
  try {
    await session.batch(SAY_NOT_READY.split(";"), LOOK_TIMEOUT_MS);
    const { text } = await session.command(SHOW_FRONTENDS, undefined, LOOK_TIMEOUT_MS);
    const { pid, startMicros } = session.info;
    return { worker: `${pid}@${startMicros}`, accepted: acceptedConnections(text, new Set(ignoredFrontends)) };
  } finally {
    session.close();
  }
}

/** Sum of `conn_tot` over the frontends of a `show stat` table. */
export function acceptedConnections(table: string, ignored: ReadonlySet<string>): number {
  const [head = "", ...lines] = table.split("\n");
  const at = head.replace(/^# /, "").split(",").indexOf("conn_tot");
  return lines
    .map((line) => line.split(","))
    .filter(([name = "", kind]) => kind === "FRONTEND" && !ignored.has(name))
    .reduce((sum, fields) => sum + Number(fields[at] ?? 0), 0);
}

export interface DrainServer {
  close(): Promise<void>;
}

/** `GET /drain` on a unix socket; several who ask wait for the same drain. */
export async function serveDrain(path: string, options: DrainOptions, letGo: () => void): Promise<DrainServer> {
  rmSync(path, { force: true });
  const begun = new Set<Drain>();
  let running: Drain | undefined;
  const answerTo = async (method: string, target: string): Promise<{ status: number; body: object }> => {
    if (method !== "GET" || target !== "/drain") return { status: 404, body: { error: "only GET /drain is here" } };
    running ??= startDrain(options, letGo);
    begun.add(running);
    const body = await running.over;
    running = undefined;
    return { status: 200, body };
  };
  // A drain is as long as it is.
  const server = await listenPlain({ path }, (request, response) => {
    void answerTo(request.method ?? "", request.url ?? "")
      .catch(answerOf)
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(`${JSON.stringify(body)}\n`);
      });
  });
  // For HAProxy's container, should it run as another user of the same group.
  chmodSync(path, 0o660);
  return {
    close: () => {
      for (const each of begun) each.stop();
      return server.close();
    },
  };
}
