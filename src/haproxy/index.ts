/** The haproxy binary: where it is, what it can do, and its judgement of a configuration. */
export { capabilitiesOf } from "./capabilities.ts";
export {
  checkConfiguration,
  type Checker,
  type CheckerOptions,
  type CheckVerdict,
  createChecker,
  judge,
  refusalWords,
} from "./check.ts";
export {
  cacheFolder,
  installableVersions,
  type LocatedHaproxy,
  type LocateOptions,
  locateHaproxy,
  type HaproxySource,
} from "./locate.ts";
export { createSpawner, type Spawner, type SpawnRequest, type SpawnResult } from "./spawner.ts";
export { compareVersions, type HaproxyVersion, haproxyVersion, lowestVersion, parseHaproxyVersion } from "./version.ts";
export { masterProcesses, masterReload, type ReloadVerdict } from "./master.ts";
export { checkConfig } from "./process.ts";
export { getEntry, parseMapFile } from "./runtime-maps.ts";
export { runOps } from "./runtime-ops.ts";
export type { OpOutcome } from "./runtime-protocol.ts";
export { type Removal, removeBackend, removeServer } from "./runtime-removal.ts";
export { readServers, type ServerRow } from "./runtime-servers.ts";
export { RuntimeSession, sameWorker, type WorkerIdentity, type WorkerInfo } from "./runtime.ts";
