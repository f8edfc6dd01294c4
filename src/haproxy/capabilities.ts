/** `capabilities` as templates see it: what the lowest HAProxy version of the fleet can do. */
import { compareVersions } from "./version.ts";

/** First version that has it. */
const SINCE: Readonly<Record<string, string>> = {
  supports_crt_list: "3.2",
  supports_map_storage: "3.0",
  supports_general_storage: "3.0",
  supports_http2: "3.0",
  supports_quic: "3.0",
  supports_runtime_maps: "3.0",
  supports_runtime_servers: "3.0",
  supports_dynamic_backends: "3.4",
  supports_automatic_sni: "3.3",
};

/** Functions of the enterprise edition, which is not supported: always false. */
const ENTERPRISE = [
  "supports_waf",
  "supports_waf_global",
  "supports_waf_profiles",
  "supports_udp_lb_acls",
  "supports_udp_lb_server_switching",
  "supports_keepalived",
  "supports_udp_load_balancing",
  "supports_bot_management",
  "supports_git_integration",
  "supports_dynamic_update",
  "supports_aloha",
  "supports_advanced_logging",
  "supports_ping",
  "is_enterprise",
];

/** All known keys for a version such as `3.4.7`; a key that is not here counts as false in a template. */
export function capabilitiesOf(version: string): Readonly<Record<string, boolean>> {
  const capabilities: Record<string, boolean> = {};
  for (const [name, since] of Object.entries(SINCE)) capabilities[name] = compareVersions(version, since) >= 0;
  for (const name of ENTERPRISE) capabilities[name] = false;
  return Object.freeze(capabilities);
}
