/** Writes one Event of the ledger to the API server. */
import type { KubeClient } from "../kube/types.ts";
import type { EventWrite } from "./event-ledger.ts";

const statusOf = (error: unknown): number => (error as { status?: number }).status ?? 0;

/**
 * Creates the Event. One of the same name exists when this tuple was told before: by a former controller (then it is left alone), or
 * by this one (`again`: then it happened anew, and the count and the time are brought up to date).
 * Resolves also when the namespace is gone or the Event is refused as such: nobody could be told.
 */
export async function writeEvent(kube: KubeClient, write: EventWrite, now: string, again: boolean, signal: AbortSignal): Promise<void> {
  const namespace = write.object.namespace === "" ? "default" : write.object.namespace;
  const target = { apiVersion: "v1", resource: "events", namespace };
  const { apiVersion, kind, name, uid } = write.object;
  try {
    await kube.create(target, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: write.name, namespace },
      involvedObject: { apiVersion, kind, name, namespace: write.object.namespace, ...(uid !== "" && { uid }) },
      type: write.type,
      reason: write.reason,
      message: write.message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: "haptic" },
      reportingComponent: "haptic",
      reportingInstance: "haptic",
    }, { signal });
  } catch (error) {
    const status = statusOf(error);
    if (status === 409) {
      if (!again) return;
      const found = await kube.get(target, write.name, signal);
      await kube.mergePatch(target, write.name, { count: Number(found["count"] ?? 1) + 1, lastTimestamp: now }, { signal });
      return;
    }
    if (status === 404 || status === 403 || status === 422) return;
    throw error;
  }
}
