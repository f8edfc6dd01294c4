/** What configurations share: a stream of the API server and the stores that it fills, used by the one that serves and by the one that warms beside it. */
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
