/** Objects of files in the stores of a configuration, as its watches would have filled them from a cluster. */
import type { WatchSpec } from "../config/index.ts";
import { createStoreSet, type KubeObject, ObjectStore, type StoreSet } from "../stores/index.ts";

export interface FilledStores {
  readonly stores: StoreSet;
  /** What was left out and why, one line each. */
  readonly notes: readonly string[];
}

export interface FillOptions {
  readonly watches: readonly WatchSpec[];
  readonly objects: readonly KubeObject[];
  /** Namespace of objects that name none, where the index asks for one. */
  readonly namespace: string;
}

export function fillStores({ watches, objects, namespace }: FillOptions): FilledStores {
  const plurals = definedPlurals(objects);
  const notes = new Map<string, number>();
  const note = (line: string): void => void notes.set(line, (notes.get(line) ?? 0) + 1);
  const taken = new Set<KubeObject>();
  const stores = createStoreSet();
  for (const watch of watches) {
    const store = new ObjectStore(watch, watch.target.apiVersion);
    stores.attach(watch.alias, store);
    for (const object of objects) {
      if (!namesKind(watch.target.resource, object, plurals)) continue;
      const { apiVersion, resource } = watch.target;
      if (object.apiVersion !== apiVersion) {
        if (groupOf(object.apiVersion) !== groupOf(apiVersion)) continue;
        taken.add(object);
        note(
          `${object.kind} of ${object.apiVersion}: spec.watchedResources.${watch.alias} watches ${apiVersion} ${resource}`,
        );
        continue;
      }
      taken.add(object);
      if (!hasLabels(object, watch.labelSelector)) continue;
      const namespaced = object.metadata.namespace !== undefined || !watch.indexBy.includes("metadata.namespace");
      store.upsert(namespaced ? object : { ...object, metadata: { ...object.metadata, namespace } });
    }
    // An object may well lack what one of several aliases of its resource is indexed by: that is how one selects.
    for (const [id, path] of store.unindexed)
      note(`${watch.target.resource} ${id}: has no ${path}, by which spec.watchedResources.${watch.alias} is indexed`);
  }
  for (const object of objects) {
    if (!taken.has(object)) note(`${object.kind} of ${object.apiVersion}: not watched by the configuration`);
  }
  return { stores, notes: [...notes].map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`)) };
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";

/** Plurals that definitions among the objects give, by `group/Kind`. */
function definedPlurals(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const plurals = new Map<string, string>();
  for (const object of objects) {
    if (object.kind !== "CustomResourceDefinition") continue;
    const { group, names } = object["spec"] as { group?: string; names?: { kind?: string; plural?: string } };
    if (names?.kind !== undefined && names.plural !== undefined)
      plurals.set(`${group ?? ""}/${names.kind}`, names.plural);
  }
  return plurals;
}

/** Whether a plural is that of the object's kind: as its definition says, else as plurals are formed. */
function namesKind(plural: string, object: KubeObject, plurals: ReadonlyMap<string, string>): boolean {
  const defined = plurals.get(`${groupOf(object.apiVersion)}/${object.kind}`);
  if (defined !== undefined) return defined === plural;
  const kind = object.kind.toLowerCase();
  return [kind, `${kind}s`, `${kind}es`, `${kind.slice(0, -1)}ies`].includes(plural);
}

/** `k=v[,k=v]`, as the API server would judge it. */
function hasLabels({ metadata: { labels } }: KubeObject, selector: string): boolean {
  if (selector === "") return true;
  return selector.split(",").every((part) => {
    const [key = "", value = ""] = part.split(/==?/);
    return labels !== undefined && Object.hasOwn(labels, key.trim()) && labels[key.trim()] === value.trim();
  });
}
