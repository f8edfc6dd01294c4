/** `haptic dev` for the command line and for tests: a whole cluster on this machine, and load on it. */
export { type DevCluster, startDevCluster } from "./dev.ts";
export { startLane, sumOf, type Answer, type Lane, type LanePlan, type LaneReport, type Target } from "./load/index.ts";
export { demoRoute, introduction } from "./introduction.ts";
export type { Outlet } from "./narrator.ts";
export { firstAnswer, proveOnce, type Proof } from "./once.ts";
export type { ContainerName } from "./pods.ts";
export type { DevOptions, DevSession } from "./session.ts";
