/** Does the worker hold what operations were to bring about? Only the objects that they touched are read. */
import type { Op } from "../plan/ops.ts";
import type { Holding } from "./holding.ts";
import { getEntry, readServers, type ServerRow } from "../haproxy/index.ts";

/** What is expected of one server after all operations. Absent fields were not touched. */
interface ExpectedServer {
  present: boolean;
  address?: string;
  port?: number;
  weight?: number;
  maint?: boolean;
}

/** The first difference, in words; undefined when there is none. */
export async function differsFrom(holding: Holding, ops: readonly Op[]): Promise<string | undefined> {
  const session = holding.session;
  if (session === undefined) return "HAProxy is not there";
  const servers = new Map<string, ExpectedServer>();
  const entries = new Map<string, { path: string; key: string; value: string | undefined }>();
  for (const op of ops) expect(op, servers, entries);
  const backends = new Map<string, Map<string, ServerRow> | undefined>();
  for (const [name, expected] of servers) {
    const [backend = "", server = ""] = name.split("/");
    if (!backends.has(backend)) backends.set(backend, await readServers(session, backend));
    const difference = compareServer(name, expected, backends.get(backend)?.get(server));
    if (difference !== undefined) return difference;
  }
  for (const { path, key, value } of entries.values()) {
    const held = await getEntry(session, holding.nameOf(path), key);
    if (held !== value) return `map ${path}: ${key} is ${held ?? "absent"}, not ${value ?? "absent"}`;
  }
  return undefined;
}

function expect(
  op: Op,
  servers: Map<string, ExpectedServer>,
  entries: Map<string, { path: string; key: string; value: string | undefined }>,
): void {
  const name = `${op.backend}/${op.server}`;
  const server = servers.get(name) ?? { present: true };
  switch (op.kind) {
    case "server_add":
      servers.set(name, { present: true, address: op.address!, port: op.port!, weight: op.weight ?? 1 });
      break;
    case "server_set_addr":
      servers.set(name, { ...server, address: op.address!, port: op.port! });
      break;
    case "server_set_weight":
      servers.set(name, { ...server, weight: op.weight ?? 1 });
      break;
    case "server_enable":
    case "server_disable":
      servers.set(name, { ...server, maint: op.kind === "server_disable" });
      break;
    case "server_set_state":
      servers.set(name, { ...server, maint: op.state === "maint" });
      break;
    case "server_del":
      // Its removal is queued: it may be there still, but not in traffic.
      servers.set(name, { present: false });
      break;
    case "backend_del":
      for (const known of servers.keys()) if (known.startsWith(`${op.backend}/`)) servers.delete(known);
      break;
    case "map_add":
    case "map_set":
      entries.set(`${op.path}\n${op.key}`, { path: op.path!, key: op.key!, value: op.value });
      break;
    case "map_del":
      entries.set(`${op.path}\n${op.key}`, { path: op.path!, key: op.key!, value: undefined });
      break;
    default:
  }
}

function compareServer(name: string, expected: ExpectedServer, row: ServerRow | undefined): string | undefined {
  if (!expected.present) return row === undefined || row.maint ? undefined : `server ${name} still takes traffic`;
  if (row === undefined) return `server ${name} is not there`;
  if (expected.address !== undefined && row.address !== expected.address)
    return `server ${name} has the address ${row.address}, not ${expected.address}`;
  if (expected.port !== undefined && row.port !== expected.port)
    return `server ${name} has the port ${row.port}, not ${expected.port}`;
  if (expected.weight !== undefined && row.weight !== expected.weight)
    return `server ${name} has the weight ${row.weight}, not ${expected.weight}`;
  if (expected.maint !== undefined && row.maint !== expected.maint)
    return `server ${name} is ${row.maint ? "" : "not "}in maintenance`;
  return undefined;
}
