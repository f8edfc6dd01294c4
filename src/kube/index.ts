/** Kubernetes I/O: connections, the client, list+watch, Leases, Events. */
export type * from "./types.ts";
export { createKubeClient, FIELD_MANAGER, type KubeClientDeps } from "./client.ts";
export { directConnection, findConnection, inClusterConnection, type Credentials, type KubeConnection } from "./connection.ts";
export { systemClock, type Clock } from "./clock.ts";
