/** Values that hold where a specification is silent (CRD reference). */
import { parseDuration } from "./durations.ts";
import type { HAProxyTemplateConfigSpec } from "./types.ts";

/** `dataplane` with every field set. Durations as text, as templates see them. */
export const DATAPLANE_DEFAULTS = {
  port: 5555,
  minDeploymentInterval: "2s",
  driftPreventionInterval: "60s",
  deploymentTimeout: "30s",
  configPublishInterval: "10s",
  reloadVerificationTimeout: "60s",
  syncTimeout: "2m",
  mapsDir: "/etc/haproxy/maps",
  sslCertsDir: "/etc/haproxy/certs",
  generalStorageDir: "/etc/haproxy/general",
  configFile: "/etc/haproxy/haproxy.cfg",
} as const;

export type Dataplane = {
  readonly [K in keyof typeof DATAPLANE_DEFAULTS]: (typeof DATAPLANE_DEFAULTS)[K] extends number ? number : string;
};

export const DATAPLANE_DURATIONS = [
  "minDeploymentInterval",
  "driftPreventionInterval",
  "deploymentTimeout",
  "configPublishInterval",
  "reloadVerificationTimeout",
  "syncTimeout",
] as const;

export const LEADER_ELECTION_DEFAULTS = {
  enabled: true,
  leaseName: "haptic-leader",
  leaseDuration: "30s",
  renewDeadline: "20s",
  retryPeriod: "5s",
} as const;

const COMPRESSION_THRESHOLD = 1_048_576;

/** Window in which further changes of an alias are gathered when `debounceInterval` is empty or not readable. */
export const DEBOUNCE_DEFAULT_MS = 100;

/** The `dataplane` block with its defaults; what templates read as the global `dataplane`. */
export function dataplaneOf(spec: HAProxyTemplateConfigSpec): Dataplane {
  return { ...DATAPLANE_DEFAULTS, ...spec.dataplane };
}

/** The durations of `dataplane` in milliseconds; a text that is no duration counts as its default. */
export function dataplaneTimings(
  spec: HAProxyTemplateConfigSpec,
): Readonly<Record<(typeof DATAPLANE_DURATIONS)[number], number>> {
  const dataplane = dataplaneOf(spec);
  const read = (name: (typeof DATAPLANE_DURATIONS)[number]): number =>
    parseDuration(dataplane[name]) ?? parseDuration(DATAPLANE_DEFAULTS[name]) ?? 0;
  return {
    minDeploymentInterval: read("minDeploymentInterval"),
    driftPreventionInterval: read("driftPreventionInterval"),
    deploymentTimeout: read("deploymentTimeout"),
    configPublishInterval: read("configPublishInterval"),
    reloadVerificationTimeout: read("reloadVerificationTimeout"),
    syncTimeout: read("syncTimeout"),
  };
}

/** Name of the Lease that carries the leader's epoch. */
export function leaseNameOf(spec: HAProxyTemplateConfigSpec): string {
  const name = spec.controller?.leaderElection?.leaseName;
  return name === undefined || name === "" ? LEADER_ELECTION_DEFAULTS.leaseName : name;
}

/** Durations as text: `30s`. */
export type LeaseTimes = Readonly<Record<"leaseDuration" | "renewDeadline" | "retryPeriod", string>>;

/** Times of the election in milliseconds: the specification's, else `defaults`. Times that do not fit together count as the usual ones. */
export function electionTimings(
  spec: HAProxyTemplateConfigSpec,
  defaults: LeaseTimes = LEADER_ELECTION_DEFAULTS,
): { readonly leaseDurationMs: number; readonly renewDeadlineMs: number; readonly retryPeriodMs: number } {
  const times = { ...defaults, ...spec.controller?.leaderElection };
  const leaseDurationMs = parseDuration(times.leaseDuration) ?? 0;
  const renewDeadlineMs = parseDuration(times.renewDeadline) ?? 0;
  const retryPeriodMs = parseDuration(times.retryPeriod) ?? 0;
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0)
    return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  return electionTimings({}, LEADER_ELECTION_DEFAULTS);
}

/** Bytes above which published content is compressed; 0 counts as not set. */
export function compressionThresholdOf(spec: HAProxyTemplateConfigSpec): number {
  const threshold = spec.controller?.configPublishing?.compressionThreshold ?? 0;
  return threshold === 0 ? COMPRESSION_THRESHOLD : threshold;
}

/** Level of the log in lower case: the specification's, else `LOG_LEVEL`, else info. */
export function logLevelOf(
  spec: HAProxyTemplateConfigSpec,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const level = spec.logging?.level;
  return (level === undefined || level === "" ? (environment["LOG_LEVEL"] ?? "info") : level).toLowerCase();
}
