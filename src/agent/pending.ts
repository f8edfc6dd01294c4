/** What takes no traffic any more and waits to leave the worker: two lists of names, and how long they may get. */
import type { Op } from "../plan/ops.ts";
import { LIMITS } from "./api.ts";

export interface Pending {
  /** `backend/server` */
  readonly pendingServers: Set<string>;
  readonly pendingBackends: Set<string>;
}

/** Keeps the lists: an add takes a name off again. */
export function notePending({ pendingServers, pendingBackends }: Pending, ops: readonly Op[]): void {
  for (const op of ops) {
    const server = `${op.backend}/${op.server}`;
    if (op.kind === "server_del") pendingServers.add(server);
    else if (op.kind === "server_add") pendingServers.delete(server);
    else if (op.kind === "backend_del") pendingBackends.add(String(op.backend));
    else if (op.kind === "backend_add") pendingBackends.delete(String(op.backend));
  }
}

/** The lists as they would be after these operations, where one of them would be longer than it may be. */
export function beyondPending(pending: Pending, ops: readonly Op[]): Pending | undefined {
  const { pendingServers, pendingBackends } = pending;
  // Every apply asks: nothing is copied where the limits are far.
  const room = Math.min(
    LIMITS.pendingServerDeletes - pendingServers.size,
    LIMITS.pendingBackendDeletes - pendingBackends.size,
  );
  if (ops.length <= room) return undefined;
  const after = { pendingServers: new Set(pendingServers), pendingBackends: new Set(pendingBackends) };
  notePending(after, ops);
  return isBeyond(after) ? after : undefined;
}

export function isBeyond({ pendingServers, pendingBackends }: Pending): boolean {
  return pendingServers.size > LIMITS.pendingServerDeletes || pendingBackends.size > LIMITS.pendingBackendDeletes;
}
