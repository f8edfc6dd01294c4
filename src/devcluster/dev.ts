/** `haptic dev` as a thing that other code can hold: the command line, `--once`, and tests that want a whole cluster. */
import { createActor, waitFor } from "xstate";
import { DevClusterError, HapticError } from "../errors.ts";
import { Narrator, type Outlet } from "./narrator.ts";
import { controllerNames } from "./controllers.ts";
import { withPlaces } from "./places.ts";
import { type DevOptions, DevSession } from "./session.ts";
import { wireDevCluster } from "./wiring.ts";

/** Time from the first process to live traffic. */
const PATIENCE_MS = 40_000;
/** A container that lived so long starts its backoff anew. */
const SETTLED_MS = 10_000;

export interface DevCluster {
  readonly session: DevSession;
  readonly narrator: Narrator;
  /** Resolves with live traffic; rejects with a DevClusterError when a step failed or took too long. */
  readonly live: Promise<void>;
  /** Resolves when everything has ended and is cleared away. */
  readonly ended: Promise<void>;
  /** Ends everything in order. May be called at any time, more than once. */
  stop(): Promise<void>;
}

/** Backoff of a container: at once the first time, then 250 ms, 500 ms … up to 10 s. */
function backoffMs(recent: number): number {
  return recent === 0 ? 0 : Math.min(10_000, 125 * 2 ** recent);
}

/** Of several controllers one stays away for longer than a Lease lasts, as a pod that is made anew does: another leads. */
const CONTROLLER_PAUSE_MS = 10_000;

export function startDevCluster(options: DevOptions, outlet: Outlet, verbose = false): DevCluster {
  const placed = (message: string): string => withPlaces(message, options.manifests);
  const narrator = new Narrator({
    pods: options.pods,
    controllers: options.controllers,
    outlet,
    now: () => performance.now(),
    verbose,
    placed,
  });
  const session = new DevSession(options, narrator);
  const actor = createActor(wireDevCluster(session), {
    input: {
      pods: Array.from({ length: options.pods }, (_, index) => `haproxy-${index + 1}`),
      controllers: controllerNames(options.controllers),
      controllerBackoffMs: (recent) => Math.max(options.controllers > 1 ? CONTROLLER_PAUSE_MS : 0, backoffMs(recent)),
      backoffMs,
      settledMs: SETTLED_MS,
      patienceMs: PATIENCE_MS,
    },
  });
  const live = new Promise<void>((resolve, reject) => {
    actor.on("CLUSTER.LIVE", () => resolve());
    actor.on("CLUSTER.FAILED", ({ message, error }) =>
      reject(error instanceof HapticError ? error : new DevClusterError(message)),
    );
    actor.subscribe({
      complete: () => reject(new DevClusterError("stopped before there was live traffic")),
      error: reject,
    });
  });
  actor.on("CONTROLLER.ENDED", ({ controller, how }) => narrator.controllerEnded(controller, how));
  // Whoever does not wait for it still hears of the end.
  live.catch(() => undefined);
  actor.start();
  const ended = waitFor(actor, (snapshot) => snapshot.status !== "active", { timeout: Infinity }).then(() => undefined);
  return {
    session,
    narrator,
    live,
    ended,
    stop() {
      narrator.hush();
      actor.send({ type: "CLUSTER.STOP" });
      return ended;
    },
  };
}
