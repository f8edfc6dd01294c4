/** The slow half of a deletion: servers and backends that take no traffic any more leave the worker. */
import { type Removal, RuntimeSession, removeBackend, removeServer, sameWorker } from "../haproxy/index.ts";
import type { Op } from "../plan/ops.ts";
import { LIMITS } from "./api.ts";
import type { Holding } from "./holding.ts";
import { beyondPending, isBeyond, type Pending } from "./pending.ts";

/** All that waits is tried at once; then each waits in turn for its requests, each no longer than this in all. */
const GRACE_MS = 10_000;
const QUICK_MS = 5;
const CUT_MS = 2_000;
/** How long a new server or backend of the same name waits for the old one. */
const REPLACE_MS = 500;

/**
 * One pass over what waits. `cut` ends running requests. True when something is still held by requests.
 * A connection of its own, because `wait` blocks it.
 */
export async function removePending(holding: Holding, cut: boolean, signal: AbortSignal): Promise<boolean> {
  const { model, options, removalsSince } = holding;
  for (const name of removalsSince.keys())
    if (!model.pendingServers.has(name) && !model.pendingBackends.has(name)) removalsSince.delete(name);
  if (model.pendingServers.size === 0 && model.pendingBackends.size === 0) return false;
  const grace = options.removalGraceMs ?? GRACE_MS;
  for (const name of [...model.pendingServers, ...model.pendingBackends])
    if (!removalsSince.has(name)) removalsSince.set(name, options.now());
  const isOverdue = (name: string): boolean => options.now() - (removalsSince.get(name) ?? 0) >= grace;
  const session = await RuntimeSession.connect(holding.options.workerSocket);
  const stop = (): void => session.close();
  // After a reload this connection is the old worker's: what it says of a name is nothing to the new one.
  const isPending = (names: ReadonlySet<string>, name: string): boolean =>
    names.has(name) && sameWorker(session.info, holding.session?.info);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const deadline = options.now() + (cut ? CUT_MS : grace);
    // HAProxy takes whole milliseconds only.
    for (const wait of [() => QUICK_MS, () => Math.max(QUICK_MS, Math.ceil(deadline - options.now()))]) {
      for (const name of Array.from(holding.model.pendingServers)) {
        // An apply may have made a new server of this name meanwhile.
        if (!isPending(holding.model.pendingServers, name)) continue;
        note(holding, name, await removeServer(session, name, wait(), cut || isOverdue(name)));
      }
      for (const name of Array.from(holding.model.pendingBackends)) {
        if (!isPending(holding.model.pendingBackends, name)) continue;
        note(holding, name, await removeBackend(session, name, wait()));
      }
    }
    return holding.model.pendingServers.size > 0 || holding.model.pendingBackends.size > 0;
  } finally {
    signal.removeEventListener("abort", stop);
    session.close();
  }
}

/** What this worker will never remove stays out of traffic until the next reload; asking again is of no use. */
function note(holding: Holding, name: string, removal: Removal): void {
  if (removal === "busy") return;
  holding.append({ type: "deleted", seq: holding.number(), names: [name] });
  const kind = name.includes("/") ? "server" : "backend";
  holding.note({ what: "removal", kind, outcome: removal === "gone" ? "done" : "abandoned", count: 1 });
}

/** Names that left the worker before they were waited for. */
export function noteRemoved(holding: Holding, names: readonly string[]): void {
  if (names.length === 0) return;
  holding.append({ type: "deleted", seq: holding.number(), names });
  const servers = names.filter((name) => name.includes("/")).length;
  for (const [kind, count] of [["server", servers] as const, ["backend", names.length - servers] as const])
    if (count > 0) holding.note({ what: "removal", kind, outcome: "done", count });
}

export interface Room {
  readonly removed: readonly string[];
  /** Why the operations' set cannot be left at that: even so more would wait than may. */
  readonly lack?: string;
}

const NOTHING: Room = { removed: [] };

/**
 * Operations that take more out of traffic than may wait for its last requests: what no request holds leaves at once, until the
 * rest is no more than may. Nothing of it is in the lists yet.
 */
export async function makeRoom(holding: Holding, ops: readonly Op[]): Promise<Room> {
  const { model } = holding;
  const after = beyondPending(model, ops);
  if (after === undefined) return NOTHING;
  const { pendingServers: servers, pendingBackends: backends } = after;
  const removed: string[] = [];
  let busyServers = model.pendingServers.size;
  let busyBackends = model.pendingBackends.size;
  const session = await RuntimeSession.connect(holding.options.workerSocket);
  const remove = async (names: Set<string>, name: string, ask: Promise<Removal>): Promise<boolean> => {
    if ((await ask) === "busy") return false;
    names.delete(name);
    removed.push(name);
    return true;
  };
  try {
    for (const backend of Array.from(backends)) {
      if (backends.size <= LIMITS.pendingBackendDeletes || busyBackends > LIMITS.pendingBackendDeletes) break;
      if (model.pendingBackends.has(backend)) continue;
      for (const server of Array.from(servers).filter((name) => name.startsWith(`${backend}/`)))
        await remove(servers, server, removeServer(session, server, QUICK_MS, false));
      if (!(await remove(backends, backend, removeBackend(session, backend, QUICK_MS)))) busyBackends += 1;
    }
    for (const server of Array.from(servers)) {
      if (servers.size <= LIMITS.pendingServerDeletes || busyServers > LIMITS.pendingServerDeletes) break;
      if (model.pendingServers.has(server)) continue;
      if (!(await remove(servers, server, removeServer(session, server, QUICK_MS, false)))) busyServers += 1;
    }
  } finally {
    session.close();
  }
  return isBeyond(after) ? { removed, lack: tellLack(after) } : { removed };
}

function tellLack({ pendingServers, pendingBackends }: Pending): string {
  const [most, what] =
    pendingServers.size > LIMITS.pendingServerDeletes
      ? [LIMITS.pendingServerDeletes, "servers"]
      : [LIMITS.pendingBackendDeletes, "backends"];
  const count = what === "servers" ? pendingServers.size : pendingBackends.size;
  return `${count} ${what} would wait for their last requests, and no more than ${most} may`;
}

/** A name that waits for removal is about to be used again: the old object goes now, its last requests are cut. */
export async function releaseNames(holding: Holding, ops: readonly Op[]): Promise<void> {
  const session = holding.session;
  const { model } = holding;
  if (session === undefined || (model.pendingServers.size === 0 && model.pendingBackends.size === 0)) return;
  for (const op of ops) {
    if (op.kind === "server_add") {
      const name = `${op.backend}/${op.server}`;
      if (!model.pendingServers.has(name)) continue;
      await removeServer(session, name, REPLACE_MS, true);
      holding.append({ type: "deleted", seq: holding.number(), names: [name] });
      holding.note({ what: "removal", kind: "server", outcome: "superseded", count: 1 });
    } else if (op.kind === "backend_add" && model.pendingBackends.has(String(op.backend))) {
      const servers = [...model.pendingServers].filter((name) => name.startsWith(`${op.backend}/`));
      for (const name of servers) await removeServer(session, name, REPLACE_MS, true);
      await removeBackend(session, String(op.backend), REPLACE_MS);
      holding.append({ type: "deleted", seq: holding.number(), names: [...servers, String(op.backend)] });
      holding.note({ what: "removal", kind: "server", outcome: "superseded", count: servers.length });
      holding.note({ what: "removal", kind: "backend", outcome: "superseded", count: 1 });
    }
  }
}
