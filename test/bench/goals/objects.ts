/** Objects of the bench, as a cluster has them: an Ingress, its Service and its EndpointSlice. */
import { ingress, service, slice } from "../../unit/examples/objects.ts";

/** What answers for every endpoint listens on this port of all loopback addresses. */
export const BACKEND_PORT = 18_083;

/** An address of the bench's own; 250 × 250 of them. */
export const addressOf = (number: number): string =>
  `127.${83 + Math.floor(number / 62_500)}.${10 + (Math.floor(number / 250) % 245)}.${1 + (number % 250)}`;

export interface Endpoint {
  readonly address: string;
  readonly pod: string;
}

/** uid is the server's affair. */
function withoutUid(object: object): object {
  const { metadata, ...rest } = object as { metadata: { uid?: string } };
  const { uid: _, ...named } = metadata;
  return { ...rest, metadata: named };
}

export const hostOf = (name: string): string => `${name}.example.com`;
export const backendOf = (service: string): string => `default_${service}_80`;

export const ingressOf = (name: string, service: string): object =>
  withoutUid(ingress(name, hostOf(name), [{ service }], { ingressClassName: "haptic" }));
export const serviceOf = (name: string): object =>
  service(name, [{ name: "http", port: 80, targetPort: BACKEND_PORT, protocol: "TCP" }], { selector: { app: name } });
export const sliceOf = (name: string, endpoints: readonly Endpoint[]): object =>
  slice(name, endpoints, [{ name: "http", port: BACKEND_PORT, protocol: "TCP" }]);

/** The three objects of one more application. */
export const application = (name: string, endpoints: readonly Endpoint[]): object[] => [
  serviceOf(name),
  sliceOf(name, endpoints),
  ingressOf(name, name),
];

/** Answered by a line of the frontend that {@link structureOf} decides. */
export const STRUCTURE_HOST = "structure.example.com";
export const structureOf = (version: number): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "structure", namespace: "default" },
  data: { version: String(version) },
});
