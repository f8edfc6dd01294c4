/** Faults, event history, the debug and health server. */
export { type DebugServer, type DebugServerOptions, startDebugServer } from "./debug-server.ts";
export { type Fault, FaultRegistry, type StandingFault } from "./faults.ts";
export { EventHistory, type PastEvent } from "./history.ts";
