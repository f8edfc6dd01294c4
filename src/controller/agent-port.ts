/** What the controller needs of an agent's HTTP API; `agent/client.ts` gives it, tests give fakes. */
import type { AgentState, ApplyResult, Conflict, Manifest } from "../agent/api.ts";

export type ApplyAnswer =
  | { readonly kind: "result"; readonly result: ApplyResult }
  | { readonly kind: "conflict"; readonly conflict: Conflict }
  | { readonly kind: "missing"; readonly missing: readonly string[] };

/** One part of an apply: the path it belongs to and its bytes, in pieces that are not joined before they are sent. */
export interface ApplyPart {
  readonly path: string;
  readonly bytes: readonly Uint8Array[];
}

export interface AgentPort {
  /** `verify` re-hashes the pod's files; `plan` asks for the stored plan blob. */
  state(options: { readonly verify: boolean; readonly plan: boolean }, signal: AbortSignal): Promise<AgentState>;
  apply(manifest: Manifest, parts: readonly ApplyPart[], signal: AbortSignal): Promise<ApplyAnswer>;
  /** false = the pod holds another plan by now. The blob's memory is used again once this has resolved. */
  storePlan(planId: string, blob: Uint8Array, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a connection to the agent at `address` (`host:port`). */
export type AgentConnect = (address: string) => AgentPort;
