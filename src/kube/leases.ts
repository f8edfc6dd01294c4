/** Leases (coordination.k8s.io/v1) by compare-and-swap, and the leader epoch that one of their annotations counts. */
import { Observable } from "rxjs";
import { KubeError } from "../errors.ts";
import type { KubeObject } from "../stores/types.ts";
import type { KubeClient, ResourceTarget } from "./types.ts";

/** Counts the terms of leaders. Agents refuse work of a smaller epoch than they have seen. */
export const EPOCH_ANNOTATION = "haproxy-haptic.org/leader-epoch";
/** Which life of the holder holds it: two processes of one name are two. */
const INSTANCE_ANNOTATION = "haproxy-haptic.org/leader-instance";

const API_VERSION = "coordination.k8s.io/v1";
/** So often a claim is tried against others who write the same Lease; each loss means that somebody else won. */
const CLAIM_ATTEMPTS = 5;

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
  /** Of the holder; "" = not said. */
  readonly instance: string;
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
  readonly instance?: string;
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
    ...(fields.instance !== undefined && { [INSTANCE_ANNOTATION]: fields.instance }),
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

/** Who wants to hold a Lease. */
export interface Candidate extends LeaseRef {
  readonly holder: string;
  /** Tells this life of the holder from its former ones, and from others of the same name. */
  readonly instance: string;
  readonly durationSeconds: number;
  /** Milliseconds since 1970; what it says is written for people, nobody judges by it. */
  readonly now: () => number;
}

export interface ClaimRules {
  /** Whether this Lease may be taken from its holder. */
  readonly mayTake: (lease: LeaseRecord) => boolean;
  /** Whether one that is not there may be created: its holder may live, and create it again. */
  readonly mayCreate: boolean;
  /** The largest epoch that is known from elsewhere; 0 = none. */
  readonly atLeast: number;
}

export type Claim =
  | { readonly kind: "taken" | "held"; readonly lease: LeaseRecord }
  /** Not there, and may not be created. */
  | { readonly kind: "missing" };

/** Held by this life of the candidate. */
export const isHeldBy = (lease: LeaseRecord, candidate: Pick<Candidate, "holder" | "instance">): boolean =>
  lease.holder === candidate.holder && lease.instance === candidate.instance;

/**
 * Takes the Lease if the rules let it, with epoch = max(the Lease's, `atLeast`) + 1, by compare-and-swap: two never hold one epoch, and
 * a deleted Lease or a restored etcd cannot make agents refuse for ever. Throws KubeError when the API server refuses, a conflict after
 * several lost races included.
 */
export async function claimLease(
  client: KubeClient,
  candidate: Candidate,
  rules: ClaimRules,
  signal?: AbortSignal,
): Promise<Claim> {
  for (let attempt = 1; ; attempt++) {
    const read = await readLease(client, candidate, signal);
    if (read === undefined && !rules.mayCreate) return { kind: "missing" };
    if (read !== undefined && !rules.mayTake(read)) return { kind: "held", lease: read };
    const { holder, instance, durationSeconds } = candidate;
    const now = candidate.now();
    const changesHands = read !== undefined && read.holder !== holder;
    const fields: LeaseFields = {
      holder,
      instance,
      durationSeconds,
      renewTimeMs: now,
      acquireTimeMs: read === undefined || changesHands ? now : (read.acquireTimeMs ?? now),
      transitions: (read?.transitions ?? 0) + (changesHands ? 1 : 0),
      epoch: Math.max(read?.epoch ?? 0, rules.atLeast) + 1,
    };
    try {
      return { kind: "taken", lease: await writeLease(client, candidate, read, fields, signal) };
    } catch (error) {
      // 409 = written, or created, by another meanwhile: look again.
      if (!(error instanceof KubeError && error.status === 409) || attempt >= CLAIM_ATTEMPTS) throw error;
    }
  }
}

/**
 * Renews the Lease that the candidate holds as it was read or written last; one that was deleted meanwhile is created again under the
 * same epoch. "lost" with the Lease as it is now: somebody else holds it. Throws KubeError when the API server cannot be asked.
 */
export async function renewLease(
  client: KubeClient,
  candidate: Candidate,
  held: LeaseRecord,
  signal?: AbortSignal,
): Promise<{ readonly kind: "renewed" | "lost"; readonly lease: LeaseRecord }> {
  const { holder, instance, durationSeconds } = candidate;
  const fields: LeaseFields = { holder, instance, durationSeconds, renewTimeMs: candidate.now(), epoch: held.epoch };
  try {
    return { kind: "renewed", lease: await writeLease(client, candidate, held, fields, signal) };
  } catch (error) {
    // No answer, or none that a look could explain.
    if (!(error instanceof KubeError) || error.status === 0) throw error;
    const read = await readLease(client, candidate, signal);
    if (read !== undefined && !isHeldBy(read, candidate)) return { kind: "lost", lease: read };
    if (read !== undefined && read.resourceVersion === held.resourceVersion) throw error;
    const again =
      read === undefined ? { ...fields, acquireTimeMs: candidate.now(), transitions: held.transitions } : fields;
    return { kind: "renewed", lease: await writeLease(client, candidate, read, again, signal) };
  }
}

/** Gives the Lease back so that another may take it at once; one that the candidate does not hold is left alone. Throws KubeError. */
export async function releaseLease(client: KubeClient, candidate: Candidate, signal?: AbortSignal): Promise<void> {
  const read = await readLease(client, candidate, signal);
  if (read === undefined || !isHeldBy(read, candidate)) return;
  await writeLease(client, candidate, read, { holder: "", instance: "", renewTimeMs: candidate.now() }, signal);
}

/** The Lease as it comes and goes; undefined = it is not there. Never errors, never completes. */
export function watchLease(client: KubeClient, ref: LeaseRef): Observable<LeaseRecord | undefined> {
  return new Observable((subscriber) => {
    let listed: LeaseRecord | undefined;
    return client.listWatch(target(ref), { fieldSelector: `metadata.name=${ref.name}` }).subscribe({
      next: (signal) => {
        const named = (object: KubeObject): boolean => object.metadata.name === ref.name;
        switch (signal.type) {
          case "RELIST":
            listed = undefined;
            break;
          case "PAGE":
            for (const object of signal.objects.filter(named)) listed = recordOf(object);
            break;
          case "SYNCED":
            subscriber.next(listed);
            break;
          case "ADDED":
          case "MODIFIED":
            if (named(signal.object)) subscriber.next(recordOf(signal.object));
            break;
          case "DELETED":
            if (named(signal.object)) subscriber.next(undefined);
            break;
          case "BOOKMARK":
          case "FAULT":
        }
      },
      error: (error: unknown) => {
        subscriber.error(error);
      },
    });
  });
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
    instance: object.metadata.annotations?.[INSTANCE_ANNOTATION] ?? "",
    object,
  };
}
