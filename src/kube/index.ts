/** Kubernetes I/O: connections, the client, list+watch, Leases, Events. */
export type * from "./types.ts";
export { createKubeClient, FIELD_MANAGER, type KubeClientDeps } from "./client.ts";
export {
  directConnection,
  findConnection,
  inClusterConnection,
  type Credentials,
  type KubeConnection,
} from "./connection.ts";
export { systemClock, type Clock } from "./clock.ts";
export {
  claimLease,
  EPOCH_ANNOTATION,
  isHeldBy,
  microTime,
  readLease,
  releaseLease,
  renewLease,
  watchLease,
  writeLease,
  type Candidate,
  type Claim,
  type LeaseRecord,
  type LeaseRef,
} from "./leases.ts";
export { EventWriter, type EventOutcome, type EventRecord, type EventSubject, type EventWriterDeps } from "./events.ts";
export { applyStatus } from "./status.ts";
