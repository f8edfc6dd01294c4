/** Does the worker hold what operations were to bring about? Only the objects that they touched are read. */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { RuntimeError } from "../errors.ts";
import { getEntry, parseMapFile, readServers, type RuntimeSession, type ServerRow } from "../haproxy/index.ts";
import { pemBlocks } from "../plan/index.ts";
import type { Op } from "../plan/ops.ts";
import type { Holding } from "./holding.ts";

/** What is expected of one server after all operations. Absent fields were not touched. */
interface ExpectedServer {
  present: boolean;
  address?: string;
  port?: number;
  weight?: number;
  maint?: boolean;
}

export interface Difference {
  readonly object: "server" | "backend" | "map" | "certificate" | "ca" | "crt-list";
  /** In words: which object, and what of it; a map's key, never its value. */
  readonly text: string;
}

/** What operations were to leave in the worker; later ones win. */
interface Expected {
  readonly servers: Map<string, ExpectedServer>;
  readonly entries: Map<string, { path: string; key: string; value: string | undefined }>;
  readonly backends: Map<string, boolean>;
  /** Maps that were replaced, and files that were loaded or unloaded, by path. */
  readonly maps: Set<string>;
  readonly files: Map<string, { readonly noun: "cert" | "ca-file"; readonly held: boolean }>;
  readonly listed: Map<string, { path: string; cert: string; held: boolean }>;
}

/** The first difference; undefined when there is none. */
export async function differsFrom(holding: Holding, ops: readonly Op[]): Promise<Difference | undefined> {
  const session = holding.session;
  if (session === undefined) throw new RuntimeError("HAProxy is not there");
  const expected: Expected = {
    servers: new Map(),
    entries: new Map(),
    backends: new Map(),
    maps: new Set(),
    files: new Map(),
    listed: new Map(),
  };
  for (const op of ops) expect(op, expected);
  return (
    (await backendDifference(session, holding, expected)) ??
    (await serverDifference(session, expected)) ??
    (await mapDifference(session, holding, expected)) ??
    (await fileDifference(session, holding, expected.files)) ??
    (await listDifference(session, holding, expected.listed))
  );
}

/** More than this is not looked at one by one: HAProxy has other things to do. */
const READ_OPS = 1_000;

/**
 * Is the worker what the operations since the last look were to make of it? True when it is not: a reload is owed then. Where an
 * apply came between, nothing is concluded; the next look is at all of it.
 */
export async function readBack(holding: Holding): Promise<boolean> {
  const { operated, model } = holding;
  if (operated.length === 0) return false;
  const { generation } = model;
  const isMoving = (): boolean =>
    holding.isOperating ||
    holding.model.generation !== generation ||
    holding.model !== model ||
    // A worker was loaded meanwhile.
    holding.operated !== operated;
  if (model.owed !== null || !holding.sameWorker) {
    // The reload makes up for everything.
    holding.operated = [];
    return false;
  }
  if (isMoving()) return false;
  const difference = await differsFrom(holding, operated.slice(-READ_OPS));
  if (isMoving()) return false;
  holding.operated = [];
  if (difference === undefined) return false;
  holding.note({ what: "divergence", ...difference });
  holding.owe(`the worker was read back: ${difference.text}`);
  return true;
}

async function backendDifference(
  session: RuntimeSession,
  holding: Holding,
  { backends }: Expected,
): Promise<Difference | undefined> {
  if (backends.size === 0) return undefined;
  const shown = new Set((await session.command("show backend")).text.split("\n"));
  for (const [name, isWanted] of backends) {
    // One that is to go may wait for its removal.
    if (shown.has(name) === isWanted || (!isWanted && holding.model.pendingBackends.has(name))) continue;
    return { object: "backend", text: `backend ${name} is ${isWanted ? "not there" : "there"}` };
  }
  return undefined;
}

async function serverDifference(session: RuntimeSession, { servers }: Expected): Promise<Difference | undefined> {
  const backends = new Map<string, Map<string, ServerRow> | undefined>();
  for (const [name, expected] of servers) {
    const [backend = "", server = ""] = name.split("/");
    if (!backends.has(backend)) backends.set(backend, await readServers(session, backend));
    const text = compareServer(name, expected, backends.get(backend)?.get(server));
    if (text !== undefined) return { object: "server", text };
  }
  return undefined;
}

async function mapDifference(
  session: RuntimeSession,
  holding: Holding,
  { entries, maps }: Expected,
): Promise<Difference | undefined> {
  for (const { path, key, value } of entries.values()) {
    const held = await getEntry(session, holding.nameOf(path), key);
    if (held === value) continue;
    const how = held === undefined ? "is absent" : value === undefined ? "is still there" : "has another value";
    return { object: "map", text: `map ${path}: ${shortened(key)} ${how}` };
  }
  if (maps.size === 0) return undefined;
  const lines = (await session.command("show map")).text.split("\n");
  for (const path of maps) {
    const content = await holding.contentOf(path);
    if (content === undefined) continue;
    const wanted = parseMapFile(content.toString("utf8")).length;
    const name = holding.nameOf(path);
    const line = lines.find((each) => each.includes(`(${name})`));
    const count = Number(/entry_cnt=(\d+)/.exec(line ?? "")?.[1]);
    if (count !== wanted) return { object: "map", text: `map ${path} has ${count} entries, not ${wanted}` };
  }
  return undefined;
}

async function fileDifference(
  session: RuntimeSession,
  holding: Holding,
  files: Expected["files"],
): Promise<Difference | undefined> {
  for (const [path, { noun, held }] of files) {
    // What is to go may be in use still.
    if (!held) continue;
    const object = noun === "cert" ? ("certificate" as const) : ("ca" as const);
    const shown = (await session.command(`show ssl ${noun} ${holding.nameOf(path)}`)).text;
    if (!/^Filename: /m.test(shown)) return { object, text: `${path} is not loaded` };
    const content = await holding.contentOf(path);
    const wanted = content === undefined ? [] : fingerprints(content);
    const missing = (noun === "cert" ? wanted.slice(0, 1) : wanted).find((print) => !shown.includes(print));
    if (missing !== undefined) return { object, text: `${path} has other certificates than its file` };
  }
  return undefined;
}

async function listDifference(
  session: RuntimeSession,
  holding: Holding,
  listed: Expected["listed"],
): Promise<Difference | undefined> {
  const lists = new Map<string, Set<string>>();
  for (const { path, cert, held } of listed.values()) {
    if (!lists.has(path)) {
      const { text } = await session.command(`show ssl crt-list ${holding.nameOf(path)}`);
      lists.set(path, new Set(text.split("\n").map((line) => line.split(" ", 1)[0] ?? "")));
    }
    if (lists.get(path)!.has(holding.nameOf(cert)) !== held)
      return { object: "crt-list", text: `crt-list ${path} ${held ? "lacks" : "still has"} ${cert}` };
  }
  return undefined;
}

const LONGEST_KEY = 120;

const shortened = (key: string): string => (key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key);

/** SHA-1 of each certificate as HAProxy shows it. */
function fingerprints(pem: Buffer): string[] {
  try {
    return pemBlocks(pem)
      .filter(({ label }) => label === "CERTIFICATE")
      .map(({ text }) => new X509Certificate(text).fingerprint.replaceAll(":", ""));
  } catch {
    return [];
  }
}

function expect(op: Op, { servers, entries, backends, maps, files, listed }: Expected): void {
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
    case "backend_add":
      backends.set(String(op.backend), true);
      break;
    case "backend_del":
      backends.set(String(op.backend), false);
      for (const known of servers.keys()) if (known.startsWith(`${op.backend}/`)) servers.delete(known);
      break;
    case "map_add":
    case "map_set":
      entries.set(`${op.path}\n${op.key}`, { path: op.path!, key: op.key!, value: op.value });
      break;
    case "map_del":
      entries.set(`${op.path}\n${op.key}`, { path: op.path!, key: op.key!, value: undefined });
      break;
    case "map_replace":
      for (const known of entries.keys()) if (known.startsWith(`${op.path}\n`)) entries.delete(known);
      maps.add(op.path!);
      break;
    case "cert_set":
    case "cert_new":
    case "cert_del":
      files.set(op.path!, { noun: "cert", held: op.kind !== "cert_del" });
      break;
    case "ca_set":
    case "ca_new":
    case "ca_del":
      files.set(op.path!, { noun: "ca-file", held: op.kind !== "ca_del" });
      break;
    case "crtlist_add":
    case "crtlist_set":
    case "crtlist_del":
      listed.set(`${op.path}\n${op.cert}`, { path: op.path!, cert: op.cert!, held: op.kind !== "crtlist_del" });
      break;
    default:
  }
}

function compareServer(name: string, expected: ExpectedServer, row: ServerRow | undefined): string | undefined {
  if (!expected.present) return row === undefined || row.maint ? undefined : `server ${name} still takes traffic`;
  if (row === undefined) return `server ${name} is not there`;
  if (expected.address !== undefined && canonical(row.address) !== canonical(expected.address))
    return `server ${name} has the address ${row.address}, not ${expected.address}`;
  if (expected.port !== undefined && row.port !== expected.port)
    return `server ${name} has the port ${row.port}, not ${expected.port}`;
  if (row.hasAgent) return undefined;
  if (expected.weight !== undefined && row.weight !== expected.weight)
    return `server ${name} has the weight ${row.weight}, not ${expected.weight}`;
  if (expected.maint !== undefined && row.maint !== expected.maint)
    return `server ${name} is ${row.maint ? "" : "not "}in maintenance`;
  return undefined;
}

/** IPv6 addresses have many spellings. */
function canonical(address: string): string {
  return isIP(address) === 6 ? (URL.parse(`http://[${address}]`)?.hostname ?? address) : address;
}
