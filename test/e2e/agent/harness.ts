/** A pod for tests: a real HAProxy started as the start wrapper does, an agent beside it, certificates, a client. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, createWriteStream } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import type { Manifest, ManifestFile, Token } from "../../../src/agent/api.ts";
import { createAgentClient, type AgentClient, type BasicCredentials } from "../../../src/agent/client.ts";
import { agentPaths, prepareStart, runAgent, type AgentOptions, type RunningAgent } from "../../../src/agent/index.ts";
import { createAuthority, writeIdentity, type Authority } from "../../../src/devcluster/certificates.ts";
import { RuntimeSession } from "../../../src/haproxy/runtime.ts";
import { blockOf, cutBytes, rootDigest, splices, totalSize } from "../../../src/plan/chunks.ts";
import type { Op } from "../../../src/plan/ops.ts";
import type { Block, FileKind } from "../../../src/plan/types.ts";

export const CLIENT_NAME = "haptic-controller-tls.haptic.svc";
export const SERVER_NAME = "haptic-agent.haptic.svc";

export interface Identities {
  readonly root: string;
  readonly authority: Authority;
  readonly agentDir: string;
  readonly controllerDir: string;
}

/** On tmpfs, where the agent's tree belongs. */
export function scratch(name: string): string {
  return mkdtempSync(join("/dev/shm", `haptic-${name}-`));
}

export async function makeIdentities(root: string): Promise<Identities> {
  const authority = await createAuthority("haptic test", new Date());
  const agentDir = join(root, "agent-tls");
  const controllerDir = join(root, "controller-tls");
  writeIdentity(agentDir, await authority.issue([SERVER_NAME], "server"), authority);
  writeIdentity(controllerDir, await authority.issue([CLIENT_NAME], "client"), authority);
  return { root, authority, agentDir, controllerDir };
}

export interface Pod {
  readonly baseDir: string;
  readonly address: string;
  readonly client: AgentClient;
  readonly agent: () => RunningAgent;
  readonly haproxy: () => ChildProcess;
  /** A one-shot runtime command on a connection of its own. */
  runtime(line: string): Promise<string>;
  startHaproxy(): Promise<void>;
  startAgent(): Promise<void>;
  /** Kills master and worker. */
  killHaproxy(): Promise<void>;
  close(): Promise<void>;
}

export interface PodOptions {
  readonly binary: string;
  readonly address: string;
  readonly identities: Identities;
  readonly name: string;
  readonly reloadIntervalMs?: number;
  readonly removalGraceMs?: number;
  readonly pacing?: AgentOptions["pacing"];
  readonly bodyTimes?: AgentOptions["bodyTimes"];
  readonly stateFile?: string;
  /** In place of certificates, without TLS. */
  readonly basic?: BasicCredentials;
  /** Of the pod's address; absent = no metrics. */
  readonly metricsPort?: number;
  /** Without the agent: a test starts its own. */
  readonly withoutAgent?: boolean;
  readonly port?: number;
}

export async function startPod(options: PodOptions): Promise<Pod> {
  const baseDir = join(options.identities.root, options.name);
  mkdirSync(baseDir, { recursive: true });
  const paths = agentPaths({ baseDir });
  const log = createWriteStream(join(options.identities.root, `${options.name}.log`), { flags: "a" });
  let master: ChildProcess | undefined;
  let agent: RunningAgent | undefined;
  const listen = `${options.address}:${options.port ?? 5555}`;
  const { basic } = options;
  const client = createAgentClient(
    basic === undefined
      ? { url: `https://${listen}`, tls: { dir: options.identities.controllerDir, serverName: SERVER_NAME } }
      : { url: `http://${listen}`, basic: () => basic },
  );
  const pod: Pod = {
    baseDir,
    address: options.address,
    client,
    agent: () => agent!,
    haproxy: () => master!,
    async runtime(line) {
      const session = await RuntimeSession.connect(paths.workerSocket);
      try {
        return (await session.command(line)).text;
      } finally {
        session.close();
      }
    },
    async startHaproxy() {
      const prepared = await prepareStart({
        ...paths,
        haproxy: options.binary,
        now: () => performance.timeOrigin + performance.now(),
      });
      master = spawn(
        options.binary,
        ["-C", baseDir, "-W", "-db", "-S", `${paths.masterSocket},level,admin`, "-f", prepared.configPath],
        {
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...process.env, HAPTIC_BIND_ADDRESS: options.address, HAPTIC_BASE: baseDir },
        },
      );
      master.stdout!.pipe(log, { end: false });
      master.stderr!.pipe(log, { end: false });
    },
    async startAgent() {
      agent = await runAgent({
        baseDir,
        listen,
        ...(basic === undefined ? { tlsDir: options.identities.agentDir, tlsClientName: CLIENT_NAME } : { basic }),
        ...(options.bodyTimes !== undefined && { bodyTimes: options.bodyTimes }),
        ...(options.stateFile !== undefined && { stateFile: options.stateFile }),
        reloadIntervalMs: options.reloadIntervalMs ?? 0,
        ...(options.removalGraceMs !== undefined && { removalGraceMs: options.removalGraceMs }),
        ...(options.pacing !== undefined && { pacing: options.pacing }),
        ...(options.metricsPort !== undefined && { metricsListen: `${options.address}:${options.metricsPort}` }),
        log: pino({ level: "debug" }, log),
        now: () => performance.timeOrigin + performance.now(),
        monotonic: () => performance.now(),
      });
      await until("the agent is ready", () => agent!.isReady());
    },
    async killHaproxy() {
      if (master === undefined || master.exitCode !== null || master.signalCode !== null) return;
      const gone = once(master, "exit");
      master.kill("SIGTERM");
      await gone;
    },
    async close() {
      await client.close().catch(() => undefined);
      await agent?.close();
      await pod.killHaproxy();
      // An old worker may have something to say still.
      for (const stream of [master?.stdout, master?.stderr]) stream?.unpipe(log).destroy();
      log.end();
    },
  };
  await pod.startHaproxy();
  if (options.withoutAgent !== true) await pod.startAgent();
  return pod;
}

export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  // A process that was stopped for a while finds its time over: it looks a few times more.
  const looks = timeoutMs / 50;
  for (let look = 0; ; look++) {
    if (await condition()) return;
    if (look > looks && performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(10);
  }
}

/** A set of files as a controller holds it. */
export interface TestFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly blocks: readonly Block[];
}

export type TestSet = ReadonlyMap<string, TestFile>;

const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/\.cfg$/, "config"],
  [/\.map$/, "map"],
  [/^ca\//, "ca"],
  [/\.pem$/, "cert"],
  [/list/, "crtlist"],
];

export function setOf(files: Readonly<Record<string, string>>): TestSet {
  const set = new Map<string, TestFile>();
  for (const [path, text] of Object.entries(files)) {
    const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "general";
    const bytes = Buffer.from(text);
    set.set(path, { path, kind, blocks: kind === "config" || kind === "map" ? cutBytes(bytes) : [blockOf(bytes)] });
  }
  return set;
}

function describe(file: TestFile): ManifestFile {
  return {
    path: file.path,
    kind: file.kind,
    digest: rootDigest(file.blocks),
    size: totalSize(file.blocks),
    reload_on_change: false,
  };
}

export interface Shipment {
  readonly manifest: Manifest;
  readonly parts: Map<string, Uint8Array[]>;
}

interface ShipmentOptions {
  readonly planId: string;
  readonly prev: string;
  readonly token: Token;
  readonly mode?: Manifest["mode"];
  readonly ops?: Op[];
  readonly inPlaceOps?: Op[];
  readonly extra?: Partial<Manifest>;
}

function base(options: ShipmentOptions): Manifest {
  return {
    identity_version: 1,
    plan_id: options.planId,
    plan_schema_version: 1,
    token: options.token,
    expected_prev_plan_id: options.prev,
    ops: options.ops ?? [],
    in_place_ops: options.inPlaceOps ?? [],
    mode: options.mode ?? "auto",
    ...options.extra,
  };
}

/** Everything, with content. */
export function fullShipment(set: TestSet, options: ShipmentOptions): Shipment {
  const files = [...set.values()].map((file): ManifestFile =>
    Object.assign(describe(file), { blocks: file.blocks.map(({ digest, size }) => ({ digest, size })) }),
  );
  return {
    manifest: { ...base(options), files },
    parts: new Map([...set.values()].map((file) => [file.path, file.blocks.map((block) => block.bytes)])),
  };
}

/** Only what changed, as patches. */
export function deltaShipment(from: TestSet, to: TestSet, options: ShipmentOptions): Shipment {
  const changed: ManifestFile[] = [];
  const parts = new Map<string, Uint8Array[]>();
  for (const file of to.values()) {
    const before = from.get(file.path);
    if (before === undefined) {
      changed.push({ ...describe(file), blocks: file.blocks.map(({ digest, size }) => ({ digest, size })) });
      parts.set(
        file.path,
        file.blocks.map((block) => block.bytes),
      );
      continue;
    }
    if (rootDigest(before.blocks) === rootDigest(file.blocks)) continue;
    const found = splices(before.blocks, file.blocks);
    changed.push({
      ...describe(file),
      patch: {
        base_digest: rootDigest(before.blocks),
        splices: found.map((splice) => ({
          index: splice.index,
          remove: splice.remove,
          insert: splice.insert.map(({ digest, size }) => ({ digest, size })),
        })),
      },
    });
    parts.set(
      file.path,
      found.flatMap((splice) => splice.insert.map((block) => block.bytes)),
    );
  }
  const removed = [...from.keys()].filter((path) => !to.has(path));
  return { manifest: { ...base(options), changed, removed }, parts };
}

/** HTTP servers that answer with their name. */
export async function startServers(
  address: string,
  ports: readonly number[],
  delayMs = 0,
): Promise<{ close(): Promise<void> }> {
  const servers: Server[] = [];
  for (const port of ports) {
    const server = createServer((_, response) => {
      setTimeout(() => response.end(String(port)), delayMs);
    });
    server.listen(port, address);
    await once(server, "listening");
    servers.push(server);
  }
  return {
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

/** One request on a connection of its own. */
export function get(address: string, host: string, port = 8080): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: address, port, headers: { host }, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

export interface ConfigOptions {
  readonly backends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly extra?: string;
  readonly tls?: boolean;
  readonly upstream: string;
}

/** Such a configuration with the map of its hosts: `NAME.example` for each backend. */
export function hostFiles(options: ConfigOptions): Record<string, string> {
  return {
    "haproxy.cfg": configText(options),
    "maps/host.map": Object.keys(options.backends)
      .map((name) => `${name}.example ${name}\n`)
      .join(""),
  };
}

/** A small configuration in the form that the renderer gives. */
export function configText(options: ConfigOptions): string {
  const lines = [
    "global",
    "    default-path config",
    '    stats socket "${HAPTIC_BASE}/haproxy-worker.sock" mode 600 level admin',
    "    hard-stop-after 5s",
    "defaults",
    "    mode http",
    "    timeout connect 2s",
    "    timeout client 10s",
    "    timeout server 10s",
    "    option idle-close-on-response",
    "defaults haptic-be",
    "    mode http",
    "    balance roundrobin",
    "    timeout connect 2s",
    "    timeout client 10s",
    "    timeout server 10s",
    "frontend http",
    "    mode http",
    "    timeout client 10s",
    '    bind "${HAPTIC_BIND_ADDRESS}:8080"',
    ...(options.tls === true ? ['    bind "${HAPTIC_BIND_ADDRESS}:8443" ssl crt-list general/list.txt'] : []),
    ...(options.extra === undefined ? [] : [`    ${options.extra}`]),
    "    use_backend %[req.hdr(host),map(maps/host.map,none)]",
  ];
  for (const [name, servers] of Object.entries(options.backends)) {
    lines.push(`backend ${name} from haptic-be`);
    for (const [server, port] of Object.entries(servers))
      lines.push(`    server ${server} ${options.upstream}:${port}`);
  }
  return `${lines.join("\n")}\n`;
}

export function removeScratch(root: string): void {
  rmSync(root, { recursive: true, force: true });
}
