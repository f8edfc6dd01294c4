/** What this agent can do. A controller that needs more sends the full set and a reload. */
import { compareVersions } from "../haproxy/index.ts";
import type { OpKind } from "../plan/ops.ts";

/** With every supported HAProxy. */
export const AGENT_OPS_30: readonly OpKind[] = [
  "server_add",
  "server_enable",
  "server_disable",
  "server_set_addr",
  "server_set_weight",
  "server_set_state",
  "wait_srv_removable",
  "shutdown_sessions",
  "server_del",
  "map_add",
  "map_set",
  "map_del",
  "map_replace",
  "cert_set",
  "cert_new",
  "cert_del",
  "ca_set",
  "ca_new",
  "ca_del",
  "crtlist_add",
  "crtlist_set",
  "crtlist_del",
];

/** HAProxy 3.4 makes and removes whole backends too. */
export const AGENT_OPS_34: readonly OpKind[] = [
  ...AGENT_OPS_30,
  "backend_add",
  "backend_publish",
  "backend_unpublish",
  "backend_del",
  "wait_be_removable",
];

/** `version` = HAProxy's, e.g. `3.4` or `3.4.7-1`. */
export function agentOpsBeside(version: string): readonly OpKind[] {
  return compareVersions(version, "3.4") < 0 ? AGENT_OPS_30 : AGENT_OPS_34;
}

/**
 * `file_patch`: splices of blocks. `worker_fence`: operations only onto the expected baseline of the worker. `runtime_batches`: more than
 * one batch of operations in an apply.
 */
export const FEATURES = ["file_patch", "worker_fence", "runtime_batches"] as const;
