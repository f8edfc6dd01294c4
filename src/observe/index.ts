/** What is seen of the controller: faults, events and what belongs together, metrics, log lines, the live page, the debug server. */
export { ActorBoard, type ActorSource, type ActorView } from "./actor-board.ts";
export { Commentator } from "./commentator.ts";
export { Correlator } from "./correlation.ts";
export { type DebugServer, type DebugServerOptions, startDebugServer } from "./debug-server.ts";
export type { ObservedEvent } from "./events.ts";
export { type Fault, FaultRegistry, type StandingFault } from "./faults.ts";
export { EventHistory, type PastEvent } from "./history.ts";
export { choose, LiveFeed, type Page, toldEvent } from "./live-feed.ts";
export { LiveServer } from "./live-server.ts";
export { type ApplyNote, type RenderFigures, type RenderLife, RenderLives } from "./lives.ts";
export { isLogLevel, LOG_LEVELS, type LogLevel, readLogLevel } from "./log-level.ts";
export { ControllerMetrics, type MetricSources } from "./metrics.ts";
export { type MetricsServer, startMetricsServer } from "../metrics-server.ts";
export { messageOf } from "./stately.ts";
