/** What must be watched for a specification, and how each store is indexed. */
import { DEBOUNCE_DEFAULT_MS } from "./defaults.ts";
import { parseDuration } from "./durations.ts";
import type { HAProxyTemplateConfigSpec } from "./types.ts";

/** One alias of `watchedResources`, with everything that decides its watch and its store. */
export interface WatchSpec {
  readonly alias: string;
  readonly target: { readonly apiVersion: string; readonly resource: string };
  readonly indexBy: readonly string[];
  /** watchedResourcesIgnoreFields, then the entry's own. */
  readonly ignoreFields: readonly string[];
  /** Equality only, `k=v[,k=v]`; "" = every object. The API server applies it. */
  readonly labelSelector: string;
  /** `path=value`; "" = every object. The store applies it. */
  readonly fieldSelector: string;
  /** Refractory window after a change; 0 = none. */
  readonly debounceMs: number;
}

/** Watches in the order of their aliases' names. */
export function watchSpecs(spec: HAProxyTemplateConfigSpec): readonly WatchSpec[] {
  const everywhere = spec.watchedResourcesIgnoreFields ?? [];
  return Object.entries(spec.watchedResources ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([alias, entry]) => ({
      alias,
      target: { apiVersion: entry.apiVersion ?? "", resource: entry.resources },
      indexBy: entry.indexBy ?? [],
      ignoreFields: [...everywhere, ...(entry.ignoreFields ?? [])],
      labelSelector: entry.labelSelector ?? "",
      fieldSelector: entry.fieldSelector ?? "",
      debounceMs: debounceMs(entry.debounceInterval),
    }));
}

/** "" and what is not readable (or negative) mean 100 ms, "0" means none (CRD reference, debounceInterval). */
export function debounceMs(text: string | undefined): number {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed === undefined || parsed < 0 ? DEBOUNCE_DEFAULT_MS : parsed;
}
