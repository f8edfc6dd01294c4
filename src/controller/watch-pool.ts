/**
 * Watches and their stores, shared by reference count: a configuration that watches what another one watches already relists
 * nothing. Each has a `watcher` actor that lives as long as somebody holds it.
 */
import { createActor, fromCallback } from "xstate";
import { watcherMachine } from "../../machines/watcher.ts";
import type { Tally, WatcherEvent } from "../../machines/watcher.ts";
import type { Clock } from "../kube/index.ts";
import type { KubeClient } from "../kube/types.ts";
import { CFG_LABEL } from "../publish/index.ts";
import { ObjectStore, SharedRegistry, watchKey } from "../stores/index.ts";
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
  readonly alias: string;
  readonly store: ObjectStore;
  /** Resolves when the first list is complete. */
  readonly synced: Promise<void>;
  isSynced(): boolean;
  /** The last fault, until the stream recovers. */
  fault(): Error | undefined;
  /** Called with each fault. Returns the function that ends it. */
  onFault(listener: (error: Error) => void): () => void;
  stop(): void;
}

export interface WatchPoolDeps {
  readonly kube: KubeClient;
  readonly bus: Bus;
  readonly registry: ActorRegistry;
  readonly clock: Clock;
}

export class WatchPool {
  readonly #deps: WatchPoolDeps;
  readonly #shared = new SharedRegistry<Watch>();
  readonly #open = new Set<string>();

  constructor(deps: WatchPoolDeps) {
    this.#deps = deps;
  }

  /** Somebody needs this watch. */
  holds(id: string): boolean {
    return this.#open.has(id);
  }

  acquire(request: WatchRequest): Shared<Watch> {
    const key = `${watchKey(request)} ${request.windowMs}`;
    return this.#shared.acquire(
      key,
      () => {
        this.#open.add(key);
        return openWatch(key, request, this.#deps);
      },
      (watch) => {
        this.#open.delete(key);
        watch.stop();
      },
    );
  }
}

/** A refusal that lasts until somebody grants, installs or mends something; other faults pass by themselves. */
function isRefusal(error: Error): boolean {
  return [400, 403, 404, 422].includes((error as { status?: number }).status ?? 0);
}

function openWatch(id: string, request: WatchRequest, { kube, bus, registry, clock }: WatchPoolDeps): Watch {
  const { alias, apiVersion, resource, namespace, labelSelector } = request;
  const store = new ObjectStore(request, apiVersion);
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
    const tally = { count, revision: store.revision };
    count = 0;
    told = false;
    return tally;
  };

  const stream = fromCallback<{ type: "unused" }, { watch: string }>(({ sendBack }) => {
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
              store.beginReplace();
              break;
            case "PAGE":
              changed(store.page(signal.objects));
              break;
            case "SYNCED":
              changed(store.endReplace());
              if (listed) break;
              listed = true;
              if (!isSynced) take();
              isSynced = true;
              settle();
              tell({ type: "STREAM.SYNCED" });
              break;
            case "DELETED":
              changed(store.remove(signal.object) ? 1 : 0);
              break;
            case "ADDED":
            case "MODIFIED":
              changed(store.upsert(signal.object) ? 1 : 0);
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

  const machine = onBus(watcherMachine.provide({ actors: { stream } }), [], bus, registry, {
    name: `watcher:${alias}`,
  });
  const actor = createActor(machine, { clock, input: { watch: id, alias, windowMs: request.windowMs, take } });
  actor.start();
  return {
    id,
    alias,
    store,
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
