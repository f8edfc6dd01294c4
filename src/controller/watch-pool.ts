/**
 * Watches and their stores, shared by reference count: a configuration that watches what another one watches already, or less, relists
 * nothing. Aliases that ask the API server for the same objects and differ in index, trimming or field selector are stores of
 * one stream. Each watch has a `watcher` actor that lives as long as somebody holds it.
 */
import { createActor, fromCallback } from "xstate";
import { watcherMachine } from "../../machines/watcher.ts";
import type { Tally, WatcherEvent } from "../../machines/watcher.ts";
import type { Clock } from "../kube/index.ts";
import type { KubeClient } from "../kube/types.ts";
import { CFG_LABEL } from "../publish/index.ts";
import { ObjectStore, storeKey, streamKey } from "../stores/index.ts";
import type { Shared } from "../stores/index.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";

export interface WatchRequest {
  /** For logs and events; not part of the watch's identity. */
  readonly alias: string;
  readonly apiVersion: string;
  readonly resource: string;
  /** Absent = all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly indexBy: readonly string[];
  readonly ignoreFields: readonly string[];
  readonly windowMs: number;
}

export interface Watch {
  readonly id: string;
  /** Of the first that asked. */
  readonly alias: string;
  /** The store of a request that this watch was acquired for. */
  store(request: WatchRequest): ObjectStore;
  /** Resolves when the first list is complete. */
  readonly synced: Promise<void>;
  isSynced(): boolean;
  /** The last fault, until the stream recovers. */
  fault(): Error | undefined;
  /** Called with each fault. Returns the function that ends it. */
  onFault(listener: (error: Error) => void): () => void;
  stop(): void;
}

/** A watch, and who needs which of its stores. */
interface OpenWatch extends Watch {
  /** What it reads, and how its changes are told. */
  readonly stream: string;
  has(store: string): boolean;
  hold(stores: readonly string[]): void;
  /** A store that nobody needs any more is filled no longer. False = nobody needs any. */
  letGo(stores: readonly string[]): boolean;
}

export interface WatchPoolDeps {
  readonly kube: KubeClient;
  readonly bus: Bus;
  readonly registry: ActorRegistry;
  readonly clock: Clock;
}

/** One watch, and the requests that it answers: at least one. */
export interface Acquired {
  readonly watch: Shared<Watch>;
  readonly requests: readonly WatchRequest[];
}

export class WatchPool {
  readonly #deps: WatchPoolDeps;
  /** Watches that somebody holds, by id. */
  readonly #open = new Map<string, OpenWatch>();

  constructor(deps: WatchPoolDeps) {
    this.#deps = deps;
  }

  /** Somebody needs this watch. */
  holds(id: string): boolean {
    return this.#open.has(id);
  }

  /** A watch for all requests that one stream and one debounce can answer, in the order of their first. */
  acquire(requests: readonly WatchRequest[]): readonly Acquired[] {
    const streams = Map.groupBy(requests, (request) => `${streamKey(request)} ${request.windowMs}`);
    return [...streams].map(([stream, asked]) => ({ watch: this.#acquire(stream, asked), requests: asked }));
  }

  #acquire(stream: string, requests: readonly WatchRequest[]): Shared<Watch> {
    const stores = new Map(requests.map((request) => [storeKey(request), request]));
    const names = [...stores.keys()];
    const watch = this.#openFor(stream, names) ?? this.#openNew(stream, stores);
    watch.hold(names);
    let released = false;
    return {
      value: watch,
      release: () => {
        if (released) return;
        released = true;
        if (watch.letGo(names)) return;
        this.#open.delete(watch.id);
        watch.stop();
      },
    };
  }

  /** Its id names the stores that it has at first, and is its own while it is open. */
  #openNew(stream: string, stores: ReadonlyMap<string, WatchRequest>): OpenWatch {
    const name = [stream, ...[...stores.keys()].toSorted()].join(" ");
    let id = name;
    for (let number = 2; this.#open.has(id); number++) id = `${name} ${number}`;
    const watch = openWatch(id, stream, stores, this.#deps);
    this.#open.set(id, watch);
    return watch;
  }

  /** An open watch of this stream that has all these stores; it may have more. */
  #openFor(stream: string, stores: readonly string[]): OpenWatch | undefined {
    return this.#open.values().find((watch) => watch.stream === stream && stores.every((name) => watch.has(name)));
  }
}

/** A refusal that lasts until somebody grants, installs or mends something; other faults pass by themselves. */
function isRefusal(error: Error): boolean {
  return [400, 403, 404, 422].includes((error as { status?: number }).status ?? 0);
}

/** `requests`: of one stream, by the keys of their stores; at least one. */
function openWatch(
  id: string,
  stream: string,
  requests: ReadonlyMap<string, WatchRequest>,
  { kube, bus, registry, clock }: WatchPoolDeps,
): OpenWatch {
  const [first] = requests.values();
  const { alias, apiVersion, resource, namespace, labelSelector, windowMs } = first!;
  const byKey = new Map([...requests].map(([key, request]) => [key, new ObjectStore(request, apiVersion)]));
  const holders = new Map<string, number>();
  let stores = [...byKey.values()];
  let count = 0;
  /** The chart was told that there is something, and has not taken it yet. */
  let told = false;
  let isSynced = false;
  let fault: Error | undefined;
  const listeners = new Set<(error: Error) => void>();
  let settle = (): void => {};
  const synced = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const take = (): Tally => {
    const tally = { count, revision: stores.reduce((sum, { revision }) => sum + revision, 0) };
    count = 0;
    told = false;
    return tally;
  };

  /** Objects that changed in the store where most did. */
  const most = (change: (store: ObjectStore) => number): number => Math.max(0, ...stores.map(change));

  const reading = fromCallback<{ type: "unused" }, { watch: string }>(({ sendBack }) => {
    const tell = (event: WatcherEvent): void => {
      sendBack(event);
    };
    let listed = false;
    const changed = (changes: number): void => {
      count += changes;
      if (changes === 0 || !isSynced || told) return;
      told = true;
      tell({ type: "STREAM.DIRTY" });
    };
    const subscription = kube
      .listWatch(
        { apiVersion, resource, ...(namespace !== undefined && { namespace }) },
        // What is published must not come back as input: a template that takes every Secret would make one more of each, without end.
        { labelSelector: labelSelector === "" ? `!${CFG_LABEL}` : `${labelSelector},!${CFG_LABEL}` },
      )
      .subscribe({
        next: (signal) => {
          if (signal.type === "FAULT") {
            fault = signal.error;
            tell({ type: "STREAM.FAULTED", message: signal.error.message, refused: isRefusal(signal.error) });
            for (const listener of listeners) listener(signal.error);
            return;
          }
          if (fault !== undefined && signal.type !== "RELIST") {
            fault = undefined;
            tell({ type: "STREAM.RECOVERED" });
          }
          switch (signal.type) {
            case "RELIST":
              for (const store of stores) store.beginReplace();
              break;
            case "PAGE":
              changed(most((store) => store.page(signal.objects)));
              break;
            case "SYNCED":
              changed(most((store) => store.endReplace()));
              if (listed) break;
              listed = true;
              if (!isSynced) take();
              isSynced = true;
              settle();
              tell({ type: "STREAM.SYNCED" });
              break;
            case "DELETED":
              changed(most((store) => Number(store.remove(signal.object))));
              break;
            case "ADDED":
            case "MODIFIED":
              changed(most((store) => Number(store.upsert(signal.object))));
              break;
            case "BOOKMARK":
              break;
          }
        },
        error: (error: unknown) => {
          throw error;
        },
      });
    return () => {
      subscription.unsubscribe();
    };
  });

  const machine = onBus(watcherMachine.provide({ actors: { stream: reading } }), [], bus, registry, {
    name: `watcher:${alias}`,
  });
  const actor = createActor(machine, { clock, input: { watch: id, alias, windowMs, take } });
  actor.start();
  return {
    id,
    stream,
    alias,
    store: (request) => byKey.get(storeKey(request))!,
    has: (key) => byKey.has(key),
    hold: (keys) => {
      for (const key of keys) holders.set(key, (holders.get(key) ?? 0) + 1);
    },
    letGo: (keys) => {
      for (const key of keys) {
        const left = (holders.get(key) ?? 0) - 1;
        holders.set(key, left);
        if (left === 0) byKey.delete(key);
      }
      stores = [...byKey.values()];
      return stores.length > 0;
    },
    synced,
    isSynced: () => isSynced,
    fault: () => fault,
    onFault: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      actor.stop();
    },
  };
}
