/** The current objects of one resource, folded from a list+watch. */
import type { Subscription } from "rxjs";
import type { KubeClient, ResourceTarget } from "../kube/index.ts";
import type { KubeObject } from "../stores/types.ts";

const idOf = ({ metadata }: KubeObject): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

export class ObjectFold {
  readonly #client: KubeClient;
  readonly #target: ResourceTarget;
  #objects = new Map<string, KubeObject>();
  /** Content of a relist that has not ended yet. */
  #listing: Map<string, KubeObject> | undefined;
  #synced = false;

  constructor(client: KubeClient, target: ResourceTarget) {
    this.#client = client;
    this.#target = target;
  }

  /** True once a whole list was read. */
  get synced(): boolean {
    return this.#synced;
  }

  values(): KubeObject[] {
    return [...this.#objects.values()];
  }

  /** By `namespace/name`, or `name` where there is no namespace. */
  get(id: string): KubeObject | undefined {
    return this.#objects.get(id);
  }

  has(id: string): boolean {
    return this.#objects.has(id);
  }

  /** Starts the watch; `changed` hears of each object that changed, came or went (undefined: a whole list was read). */
  follow(changed: (type?: "ADDED" | "MODIFIED" | "DELETED", object?: KubeObject) => void): Subscription {
    return this.#client.listWatch(this.#target).subscribe({
      next: (signal) => {
        switch (signal.type) {
          case "RELIST":
            this.#listing = new Map();
            break;
          case "PAGE":
            for (const object of signal.objects) this.#listing?.set(idOf(object), object);
            break;
          case "SYNCED":
            this.#objects = this.#listing ?? this.#objects;
            this.#listing = undefined;
            this.#synced = true;
            changed();
            break;
          case "ADDED":
          case "MODIFIED":
            this.#objects.set(idOf(signal.object), signal.object);
            changed(signal.type, signal.object);
            break;
          case "DELETED":
            this.#objects.delete(idOf(signal.object));
            changed(signal.type, signal.object);
            break;
          case "BOOKMARK":
          case "FAULT":
            break;
        }
      },
      // A list+watch never errors: it tells FAULT and goes on.
      error: () => undefined,
    });
  }
}
