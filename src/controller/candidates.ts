/** Which of HAProxy's pods may carry an agent. Pure. */
import type { PodCandidate } from "../../machines/discovery.ts";
import type { KubeObject } from "../stores/types.ts";

interface PodShape extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly containerPort: number }[];
    }[];
  };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly containerID?: string;
      readonly state?: { readonly running?: unknown };
    }[];
  };
}

/**
 * Candidates in the order of their names. A pod has one when it is not going, has an address, runs, and the container that declares
 * the agent's port (if one does, and its status is known) runs. The id changes with the pod's uid and with that container.
 */
export function candidatesOf(pods: readonly KubeObject[], agentPort: number): readonly PodCandidate[] {
  const candidates: PodCandidate[] = [];
  for (const object of pods) {
    const { metadata, spec, status } = object as PodShape;
    const address = status?.podIP;
    if (metadata["deletionTimestamp"] !== undefined || address === undefined || address === "") continue;
    if (status?.phase !== undefined && status.phase !== "Running") continue;
    const container = spec?.containers?.find(
      ({ ports }) => ports?.some(({ containerPort }) => containerPort === agentPort) === true,
    );
    const state = status?.containerStatuses?.find(({ name }) => name === container?.name);
    if (state?.state !== undefined && state.state.running === undefined) continue;
    candidates.push({
      id: [metadata.uid ?? `${metadata.namespace ?? ""}/${metadata.name}`, state?.containerID]
        .filter((part) => part !== undefined)
        .join("@"),
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      address: `${address.includes(":") ? `[${address}]` : address}:${agentPort}`,
    });
  }
  return candidates.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
