/** Leases (coordination.k8s.io/v1) by compare-and-swap, and the leader epoch that one of their annotations counts. */
import { KubeError } from "../errors.ts";
import type { KubeObject } from "../stores/types.ts";
import type { KubeClient, ResourceTarget } from "./types.ts";

/** Counts the terms of leaders. Agents refuse work of a smaller epoch than they have seen. */
export const EPOCH_ANNOTATION = "haproxy-haptic.org/leader-epoch";

const API_VERSION = "coordination.k8s.io/v1";
/** So often a term's begin is tried against others who write the same Lease; each loss means that somebody else won. */
const EPOCH_ATTEMPTS = 5;

export interface LeaseRef {
  readonly namespace: string;
  readonly name: string;
}

/** A Lease as it was read. Times are milliseconds since 1970; undefined where the Lease says nothing readable. */
export interface LeaseRecord extends LeaseRef {
  /** What compare-and-swap compares. */
  readonly resourceVersion: string;
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquireTimeMs: number | undefined;
  readonly renewTimeMs: number | undefined;
  readonly transitions: number;
  /** 0 = no term yet, or an annotation that is no number. */
  readonly epoch: number;
  /** The whole object: what others wrote into it is written back. */
  readonly object: KubeObject;
}

/** What a write sets; everything else of the Lease stays. */
export interface LeaseFields {
  /** "" = nobody. */
  readonly holder?: string;
  readonly durationSeconds?: number;
  readonly acquireTimeMs?: number;
  readonly renewTimeMs?: number;
  readonly transitions?: number;
  readonly epoch?: number;
}

/** A time as the API takes it in Leases and Events: RFC 3339 with exactly six decimals. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

const target = (ref: LeaseRef): ResourceTarget => ({
  apiVersion: API_VERSION,
  resource: "leases",
  namespace: ref.namespace,
});

/** The Lease, or undefined when there is none. Throws KubeError otherwise. */
export async function readLease(
  client: KubeClient,
  ref: LeaseRef,
  signal?: AbortSignal,
): Promise<LeaseRecord | undefined> {
  try {
    return recordOf(await client.get(target(ref), ref.name, signal));
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * Writes the fields over the Lease as it was read; `read` undefined = it must not exist yet. Throws KubeError
 * HAPTIC_E_KUBE_CONFLICT (status 409) when somebody else wrote first: nothing was changed then.
 */
export async function writeLease(
  client: KubeClient,
  ref: LeaseRef,
  read: LeaseRecord | undefined,
  fields: LeaseFields,
  signal?: AbortSignal,
): Promise<LeaseRecord> {
  const spec: Record<string, unknown> = { ...(read?.object["spec"] as Record<string, unknown> | undefined) };
  if (fields.holder !== undefined) spec["holderIdentity"] = fields.holder;
  if (fields.durationSeconds !== undefined) spec["leaseDurationSeconds"] = fields.durationSeconds;
  if (fields.acquireTimeMs !== undefined) spec["acquireTime"] = microTime(fields.acquireTimeMs);
  if (fields.renewTimeMs !== undefined) spec["renewTime"] = microTime(fields.renewTimeMs);
  if (fields.transitions !== undefined) spec["leaseTransitions"] = fields.transitions;
  const annotations = {
    ...read?.object.metadata.annotations,
    ...(fields.epoch !== undefined && { [EPOCH_ANNOTATION]: String(fields.epoch) }),
  };
  const { managedFields: _serverKeeps, ...metadata } = read?.object.metadata ?? {
    name: ref.name,
    namespace: ref.namespace,
  };
  const object: KubeObject = { apiVersion: API_VERSION, kind: "Lease", metadata: { ...metadata, annotations }, spec };
  const options = signal === undefined ? {} : { signal };
  return recordOf(
    await (read === undefined
      ? client.create(target(ref), object, options)
      : client.replace(target(ref), object, options)),
  );
}

export interface TermRequest extends LeaseRef {
  readonly holder: string;
  readonly durationSeconds: number;
  /** The largest epoch that any agent has seen; 0 when none answered. */
  readonly atLeast: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Begins a term: writes holder and epoch = max(the Lease's, `atLeast`) + 1 by compare-and-swap, so that two controllers
 * never hold one epoch, and a deleted Lease or a restored etcd cannot make agents refuse. Meant for who may take the Lease
 * (standalone, or the holder); throws KubeError when it cannot be written, a conflict after several lost races included.
 */
export async function beginTerm(client: KubeClient, term: TermRequest, signal?: AbortSignal): Promise<LeaseRecord> {
  for (let attempt = 1; ; attempt++) {
    const read = await readLease(client, term, signal);
    const now = term.now();
    const changesHands = read !== undefined && read.holder !== term.holder;
    try {
      return await writeLease(
        client,
        term,
        read,
        {
          holder: term.holder,
          durationSeconds: term.durationSeconds,
          renewTimeMs: now,
          epoch: Math.max(read?.epoch ?? 0, term.atLeast) + 1,
          transitions: (read?.transitions ?? 0) + (changesHands ? 1 : 0),
          ...((read === undefined || changesHands) && { acquireTimeMs: now }),
        },
        signal,
      );
    } catch (error) {
      // 409 = written, or created, by another meanwhile: look again.
      if (!(error instanceof KubeError && error.status === 409) || attempt >= EPOCH_ATTEMPTS) throw error;
    }
  }
}

function recordOf(object: KubeObject): LeaseRecord {
  const spec = (object["spec"] ?? {}) as Record<string, unknown>;
  const time = (value: unknown): number | undefined => {
    const ms = typeof value === "string" ? Date.parse(value) : NaN;
    return Number.isNaN(ms) ? undefined : ms;
  };
  const epoch = object.metadata.annotations?.[EPOCH_ANNOTATION] ?? "";
  return {
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name,
    resourceVersion: object.metadata.resourceVersion ?? "",
    holder: typeof spec["holderIdentity"] === "string" ? spec["holderIdentity"] : "",
    durationSeconds: typeof spec["leaseDurationSeconds"] === "number" ? spec["leaseDurationSeconds"] : 0,
    acquireTimeMs: time(spec["acquireTime"]),
    renewTimeMs: time(spec["renewTime"]),
    transitions: typeof spec["leaseTransitions"] === "number" ? spec["leaseTransitions"] : 0,
    epoch: /^\d{1,15}$/.test(epoch) ? Number(epoch) : 0,
    object,
  };
}
