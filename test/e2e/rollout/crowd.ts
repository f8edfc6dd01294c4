/** Many hosts, each with a Service and a backend of its own; all are served by the same few endpoints. */
import type { KubeObject } from "../../../src/stores/types.ts";
import type { Cluster } from "../harness/cluster.ts";
import { hostObjects } from "../harness/hosts.ts";

const RESOURCES: Readonly<Record<string, string>> = {
  Service: "services",
  EndpointSlice: "endpointslices",
  Ingress: "ingresses",
};
/** Requests to the API server at once. */
const AT_ONCE = 24;
const ENDPOINTS = 2;

export const crowdHost = (number: number): string => `crowd-${number}.example`;

export async function makeCrowd(cluster: Cluster, count: number): Promise<void> {
  const at = await cluster.newEndpoints("crowd", ENDPOINTS);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      for (const object of await hostObjects(cluster, `crowd-${next}`, crowdHost(next), { at })) {
        const { apiVersion, kind } = object as KubeObject;
        const target = { apiVersion, resource: RESOURCES[kind]!, namespace: "default" };
        await cluster.client.create(target, object as KubeObject);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
