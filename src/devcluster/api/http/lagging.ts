/** Reads that a fault has see the past: as from a replica of a server that has not caught up. */
import type { ApiState } from "../operations/context.ts";
import { storageKey } from "../resources/definition.ts";
import type { View } from "../resources/definition.ts";
import { notFound } from "../status.ts";
import type { StoredVersion } from "../storage/record.ts";
import type { ApiRequest } from "./request.ts";

/** The revision that a read lags behind to, where a fault wants it. */
function laggingRevision(state: ApiState, view: View, behind: number): number {
  const { history, revision } = state.database.store(view.definition);
  return Math.max(history.floor, revision - behind, 1);
}

/** The query of a list, which a fault may have see the past. */
export function lagging(state: ApiState, view: View, { mishaps, query }: ApiRequest): URLSearchParams {
  if (mishaps.behind === 0 || query.has("continue") || query.has("resourceVersionMatch")) return query;
  const past = new URLSearchParams(query);
  past.set("resourceVersion", String(laggingRevision(state, view, mishaps.behind)));
  past.set("resourceVersionMatch", "Exact");
  return past;
}

/** The object as it was then, or 404. */
export function readLagging(
  state: ApiState,
  view: View,
  namespace: string,
  name: string,
  behind: number,
): StoredVersion {
  const store = state.database.store(view.definition);
  const past = store.history.rollBack(store.records(), laggingRevision(state, view, behind)) ?? store.records();
  const key = storageKey(view.definition, namespace, name);
  const stored = past.find((record) => record.key === key);
  if (stored === undefined) throw notFound(view.definition, name);
  return stored;
}
