/** Every event that travels on the bus: the union of what the components' charts declare. */
import type { ConfigLoaderEmitted } from "../../machines/configLoader.ts";
import type { ControllerEmitted } from "../../machines/controller.ts";
import type { CoordinatorEmitted } from "../../machines/coordinator.ts";
import type { DeployerEmitted } from "../../machines/deployer.ts";
import type { DiscoveryEmitted, DiscoveryEvent } from "../../machines/discovery.ts";
import type { DriftMonitorEmitted } from "../../machines/driftMonitor.ts";
import type { EventRecorderEmitted } from "../../machines/eventRecorder.ts";
import type { ControllerStopping, ElectionConfigured, LeaderElectionEmitted } from "../../machines/leaderElection.ts";
import type { PublisherEmitted } from "../../machines/publisher.ts";
import type { ReconcilerEmitted } from "../../machines/reconciler.ts";
import type { RenderGateEmitted } from "../../machines/renderGate.ts";
import type { SchedulerEmitted } from "../../machines/scheduler.ts";
import type { StatusWriterEmitted } from "../../machines/statusWriter.ts";
import type { WarmerEmitted } from "../../machines/warmer.ts";
import type { WatcherEmitted } from "../../machines/watcher.ts";

export type ObservedEvent =
  | ConfigLoaderEmitted
  | ControllerEmitted
  | CoordinatorEmitted
  | DeployerEmitted
  | DiscoveryEmitted
  | Extract<DiscoveryEvent, { type: "PODS.LISTED" }>
  | DriftMonitorEmitted
  | EventRecorderEmitted
  | LeaderElectionEmitted
  | ElectionConfigured
  | ControllerStopping
  | PublisherEmitted
  | ReconcilerEmitted
  | RenderGateEmitted
  | SchedulerEmitted
  | StatusWriterEmitted
  | WarmerEmitted
  | WatcherEmitted;
