/**
 * Things that several owners share and that live as long as anybody holds them: a watch and its store, used by the serving
 * configuration and by the one that warms beside it.
 */
import type { StoreOptions } from "./types.ts";

/** What one list+watch asks of the API server. */
export interface StreamIdentity {
  readonly apiVersion: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/** The key of a stream: what has the same one may read the same stream. */
export function streamKey({ apiVersion, resource, namespace = "", labelSelector = "" }: StreamIdentity): string {
  return JSON.stringify([apiVersion, resource, namespace, labelSelector]);
}

/** The key of a store among those that one stream fills. Order matters in `indexBy` only; the alias is not part of it. */
export function storeKey({ fieldSelector, indexBy, ignoreFields }: Omit<StoreOptions, "alias">): string {
  return JSON.stringify([fieldSelector, indexBy, [...new Set(ignoreFields)].toSorted()]);
}

export interface Shared<T> {
  readonly value: T;
  /** Gives the share back; the last one closes the thing. A second call does nothing. */
  release(): void;
}

export class SharedRegistry<T> {
  readonly #held = new Map<string, { readonly value: T; holders: number; readonly close: (value: T) => void }>();

  /** Number of things alive. */
  get size(): number {
    return this.#held.size;
  }

  /** The thing under `key`, opened when nobody holds it yet. */
  acquire(key: string, open: () => T, close: (value: T) => void): Shared<T> {
    const held = this.#held.get(key) ?? { value: open(), holders: 0, close };
    this.#held.set(key, held);
    held.holders++;
    let released = false;
    return {
      value: held.value,
      release: () => {
        if (released) return;
        released = true;
        if (--held.holders > 0) return;
        this.#held.delete(key);
        held.close(held.value);
      },
    };
  }
}
