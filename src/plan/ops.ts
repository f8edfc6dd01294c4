/** Typed runtime operations: what a plan difference asks of one HAProxy worker (agent contract, op kinds). */

export type OpKind =
  | "backend_add"
  | "backend_publish"
  | "backend_unpublish"
  | "backend_del"
  | "wait_be_removable"
  | "server_add"
  | "server_enable"
  | "server_disable"
  | "server_set_addr"
  | "server_set_weight"
  | "server_set_state"
  | "wait_srv_removable"
  | "shutdown_sessions"
  | "server_del"
  | "map_add"
  | "map_set"
  | "map_del"
  | "map_replace"
  | "cert_set"
  | "cert_new"
  | "cert_del"
  | "ca_set"
  | "ca_new"
  | "ca_del"
  | "crtlist_add"
  | "crtlist_set"
  | "crtlist_del";

export interface Op {
  kind: OpKind;
  backend?: string;
  server?: string;
  /** backend_add: the named defaults section. */
  profile?: string;
  mode?: string;
  guid?: string;
  address?: string;
  port?: number;
  weight?: number | null;
  state?: "ready" | "maint" | "drain";
  health?: boolean;
  /** server_add: keywords after the address, in order. */
  keywords?: { name: string; args: string[] }[];
  timeout_ms?: number;
  /** map_*, cert_*, ca_*, crtlist_*: path relative to the base directory, as in the manifest. */
  path?: string;
  key?: string;
  value?: string;
  /** crtlist_*: path of the certificate. */
  cert?: string;
  options?: { name: string; args: string[] }[];
  sni_filters?: string[];
}
