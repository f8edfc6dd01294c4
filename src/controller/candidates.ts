/** Which of HAProxy's pods may carry an agent. Pure. */
import type { PodCandidate } from "../../machines/discovery.ts";
import type { KubeObject } from "../stores/types.ts";

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly containerPort: number }[];
}

interface ContainerStatus {
  readonly name: string;
  readonly containerID?: string;
  /** Of the agent: it accepts applies. */
  readonly ready?: boolean;
  readonly state?: { readonly running?: unknown };
}

interface PodShape extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** Whether it runs; a container whose state is not told counts as running. */
const runs = (status: ContainerStatus | undefined): boolean =>
  status?.state === undefined || status.state.running !== undefined;

/**
 * Candidates in the order of their names. A pod has one when it has an address, runs, and the container that declares the agent's port
 * (if one does, and its status is known) runs; that may be a native sidecar, which stands among the init containers. A pod that is
 * going still serves while it drains, and follows changes until its agent says otherwise or the first of its containers has ended. The id changes with the pod's
 * uid and with the agent's container.
 */
export function candidatesOf(pods: readonly KubeObject[], agentPort: number): readonly PodCandidate[] {
  const candidates: PodCandidate[] = [];
  for (const object of pods) {
    const { metadata, spec, status } = object as PodShape;
    const address = status?.podIP;
    if (address === undefined || address === "") continue;
    if (status?.phase !== undefined && status.phase !== "Running") continue;
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
    const container = containers.find(
      ({ ports }) => ports?.some(({ containerPort }) => containerPort === agentPort) === true,
    );
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const state = statuses.find(({ name }) => name === container?.name);
    if (!runs(state)) continue;
    const going = metadata["deletionTimestamp"] !== undefined;
    if (going && (state?.ready === false || status?.containerStatuses?.every(runs) !== true)) continue;
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
