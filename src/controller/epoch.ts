/** The epoch on the Lease: taken by compare-and-swap, so that no two terms have the same. */
import type { KubeClient } from "../kube/types.ts";
import type { KubeObject } from "../stores/types.ts";

export const EPOCH_ANNOTATION = "haproxy-haptic.org/leader-epoch";

interface LeaseOptions {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Wall-clock milliseconds, for the Lease's times. */
  readonly wallClock: () => number;
}

/** Epoch that a Lease carries; 0 when it carries none that can be read. */
export function epochOf(lease: KubeObject | undefined): number {
  const text = lease?.metadata.annotations?.[EPOCH_ANNOTATION] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/**
 * Takes max(the Lease's, `above`) + 1 and resolves with it. Rejects with KubeError, also when another was faster (Conflict, or the
 * Lease came to be meanwhile): the caller tries again.
 */
export async function claimEpoch(options: LeaseOptions, above: number, signal: AbortSignal): Promise<number> {
  const { kube, namespace, name, identity, wallClock } = options;
  const target = { apiVersion: "coordination.k8s.io/v1", resource: "leases", namespace };
  const time = `${new Date(wallClock()).toISOString().slice(0, -1)}000Z`;
  const found = await kube.get(target, name, signal).catch((error: unknown) => {
    if ((error as { status?: number }).status === 404) return undefined;
    throw error;
  });
  const epoch = Math.max(epochOf(found), above) + 1;
  const transitions = (found?.["spec"] as { leaseTransitions?: number } | undefined)?.leaseTransitions ?? 0;
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      ...found?.metadata,
      name,
      namespace,
      annotations: { ...found?.metadata.annotations, [EPOCH_ANNOTATION]: String(epoch) },
    },
    spec: { holderIdentity: identity, leaseDurationSeconds: 30, acquireTime: time, renewTime: time, leaseTransitions: transitions + 1 },
  };
  if (found === undefined) await kube.create(target, lease, { signal });
  else await kube.replace(target, lease, { signal });
  return epoch;
}
