/**
 * What HAProxy lets the runtime do with servers: keywords that `add server` takes, by version, and load-balancing
 * algorithms that take dynamic servers (management manual, `add server`; measured on 3.0, 3.2 and 3.4).
 */
import { isIP } from "node:net";
import { isLineSafe } from "./maps.ts";
import type { Op } from "./ops.ts";
import type { ReloadRuleName } from "./reload-rules.ts";
import type { BackendRecord, ServerRecord } from "./types.ts";

export type Keyword = { name: string; args: string[] };

/** What stands in the way of doing it at run time. */
export interface Obstacle {
  readonly what: string;
  readonly rule: ReloadRuleName;
  /** Key of the server's record. */
  readonly key: string;
}

export type ServerOps = Op[] | Obstacle;

/** `major.minor` as a number that compares: 3.4 → 3004. */
export type VersionNumber = number;

export function versionNumber(version: string): VersionNumber {
  const match = /^(\d+)\.(\d+)/.exec(version);
  return match === null ? 0 : Number(match[1]) * 1000 + Number(match[2]);
}

const words = (text: string): string[] => text.split(" ");

/** Keywords without argument that a dynamic server takes since 3.0. */
const FLAGS = new Set(
  words(
    "allow-0rtt agent-check backup check check-send-proxy check-ssl disabled force-sslv3 force-tlsv10 force-tlsv11 " +
      "force-tlsv12 force-tlsv13 no-backup no-send-proxy no-send-proxy-v2 no-ssl-reuse no-sslv3 no-tfo no-tls-tickets " +
      "no-tlsv10 no-tlsv11 no-tlsv12 no-tlsv13 send-proxy send-proxy-v2 send-proxy-v2-ssl send-proxy-v2-ssl-cn ssl tfo tls-tickets",
  ),
);

/** Keywords with one argument that a dynamic server takes since 3.0. */
const VALUES = new Set(
  words(
    "addr agent-addr agent-inter agent-port agent-send alpn ca-file check-alpn check-proto check-sni ciphers ciphersuites " +
      "client-sigalgs cookie crl-file crt curves downinter error-limit fall fastinter hash-key id inter maxconn maxqueue minconn " +
      "npn observe on-error on-marked-down on-marked-up pool-low-conn pool-max-conn pool-purge-delay port proto " +
      "proxy-v2-options rise shard sigalgs slowstart sni ssl-max-ver ssl-min-ver track verify verifyhost ws",
  ),
);

/** Keywords of later versions: argument count and first version. */
const LATER: Readonly<Record<string, { readonly args: 0 | 1; readonly since: VersionNumber }>> = {
  "init-state": { args: 1, since: 3002 },
  "idle-ping": { args: 1, since: 3002 },
  "strict-maxconn": { args: 0, since: 3002 },
  "pool-conn-name": { args: 1, since: 3002 },
  healthcheck: { args: 1, since: 3004 },
  "no-sni-auto": { args: 0, since: 3004 },
  "no-check-sni-auto": { args: 0, since: 3004 },
  renegotiate: { args: 0, since: 3004 },
  "no-renegotiate": { args: 0, since: 3004 },
};

/** Keywords in order, or what stands in the way. Quotes, escapes and variables are not looked into. */
export function parseKeywords(text: string, version: VersionNumber): Keyword[] | string {
  if (/["'\\$#]/.test(text)) return "keywords with quotes, escapes or variables";
  const tokens = text.split(/\s+/).filter((token) => token !== "");
  const keywords: Keyword[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const name = tokens[i] as string;
    const later = LATER[name];
    const args = FLAGS.has(name)
      ? 0
      : VALUES.has(name)
        ? 1
        : later !== undefined && later.since <= version
          ? later.args
          : undefined;
    if (args === undefined) return `keyword ${name}, which HAProxy does not take at run time`;
    const value = args === 1 ? tokens[++i] : undefined;
    if (args === 1 && value === undefined) return `keyword ${name} without a value`;
    if (value !== undefined && !isLineSafe(value))
      return `a value of keyword ${name} that the runtime CLI cannot carry`;
    keywords.push({ name, args: value === undefined ? [] : [value] });
  }
  return keywords;
}

/** What the last texts said: each of thousands of servers asks the same few profiles the same. */
const directives = new Map<string, Map<string, readonly string[]>>();
const MOST_TEXTS = 64;

/** Lines of a defaults section that begin with this directive, without it. */
export function directiveLines(text: string, directive: string): readonly string[] {
  let ofText = directives.get(text);
  if (ofText === undefined) {
    if (directives.size >= MOST_TEXTS) directives.clear();
    directives.set(text, (ofText = new Map()));
  }
  let lines = ofText.get(directive);
  if (lines === undefined) ofText.set(directive, (lines = readDirective(text, directive)));
  return lines;
}

function readDirective(text: string, directive: string): readonly string[] {
  const lines: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line.startsWith(directive) && /^\s/.test(line.slice(directive.length)))
      lines.push(line.slice(directive.length).trim());
  }
  return lines;
}

/** Why the backend's algorithm takes no new server, or no other weight, at run time; undefined when it does. */
export function balanceObstacle(
  record: BackendRecord,
  profileText: string,
  what: "server" | "weight" = "server",
): Obstacle | undefined {
  const balance = record.balance ?? directiveLines(profileText, "balance").at(-1) ?? "roundrobin";
  const algorithm = (balance.split(/[\s(]/)[0] ?? "").toLowerCase();
  if (["roundrobin", "leastconn", "random", "first", "sticky"].includes(algorithm)) return undefined;
  const hashType = record.hashType ?? directiveLines(profileText, "hash-type").at(-1) ?? "map-based";
  if (["source", "uri", "url_param", "hdr", "hash"].includes(algorithm) && /^consistent\b/.test(hashType))
    return undefined;
  const key = what === "weight" ? "weight" : "name";
  return { what: `balance ${balance} takes no ${what} at run time`, rule: "server-balance", key };
}

/** Why the address cannot be given to a running HAProxy; undefined when it can. */
export function addressObstacle(server: ServerRecord): Obstacle | undefined {
  const rule = "server-address";
  if (isIP(server.address) === 0)
    return { what: `address ${JSON.stringify(server.address)} is not a literal IP address`, rule, key: "address" };
  if (!Number.isInteger(server.port) || server.port < 1 || server.port > 65_535)
    return { what: `port ${server.port} is out of range`, rule, key: "port" };
  return undefined;
}

/** Names that the runtime CLI and every HAProxy version take. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_.:-]+$/.test(name);
}

/**
 * `server_add` and `server_enable` for a new server, or why it needs a reload. A dynamic server does not inherit
 * `default-server`, so the defaults' keywords are put before its own.
 */
export function addServerOps(
  record: BackendRecord,
  server: ServerRecord,
  profileText: string,
  version: VersionNumber,
): ServerOps {
  if (!isPlainName(server.name))
    return {
      what: `its name ${JSON.stringify(server.name)} cannot be used at run time`,
      rule: "backend-name",
      key: "name",
    };
  const obstacle = balanceObstacle(record, profileText) ?? addressObstacle(server);
  if (obstacle !== undefined) return obstacle;
  const defaults = [...directiveLines(profileText, "default-server"), record.defaultServer ?? ""];
  const keywords: Keyword[] = [];
  let weight = server.weight;
  for (const text of [...defaults, server.extra ?? ""]) {
    const parsed = parseKeywords(
      stripWeight(text, (value) => (weight = server.weight ?? value)),
      version,
    );
    if (typeof parsed === "string") return { what: parsed, rule: "server-keyword", key: "extra" };
    for (const keyword of parsed) {
      const at = keywords.findIndex((known) => known.name === keyword.name);
      if (at >= 0) keywords.splice(at, 1);
      keywords.push(keyword);
    }
  }
  keywords.push(...impliedByCheck(keywords));
  const disabled = server.disabled === true || keywords.some((keyword) => keyword.name === "disabled");
  const health = keywords.some((keyword) => keyword.name === "check");
  const add: Op = {
    kind: "server_add",
    backend: record.name,
    server: server.name,
    address: server.address,
    port: server.port,
  };
  if (weight !== undefined) add.weight = weight;
  if (server.guid !== undefined) add.guid = server.guid;
  add.keywords = keywords.filter((keyword) => keyword.name !== "disabled");
  if (disabled) return [add];
  return [add, { kind: "server_enable", backend: record.name, server: server.name, health }];
}

/**
 * Checks of a server in the file use TLS and PROXY as its traffic does, where they go to the same port; those of a dynamic server
 * only when told (configuration manual, `check-ssl`, `check-send-proxy`).
 */
function impliedByCheck(keywords: readonly Keyword[]): Keyword[] {
  const has = (...names: readonly string[]): boolean => keywords.some(({ name }) => names.includes(name));
  if (!has("check") || has("port", "addr")) return [];
  const implied: Keyword[] = [];
  if (has("ssl") && !has("check-ssl")) implied.push({ name: "check-ssl", args: [] });
  const proxies = has("send-proxy", "send-proxy-v2", "send-proxy-v2-ssl", "send-proxy-v2-ssl-cn");
  if (proxies && !has("check-send-proxy")) implied.push({ name: "check-send-proxy", args: [] });
  return implied;
}

/** Takes `weight N` out of a keyword list: it travels as a field of its own. */
function stripWeight(text: string, found: (weight: number) => void): string {
  return text.replace(/(^|\s)weight\s+(\d+)(?=\s|$)/g, (_all, lead: string, value: string) => {
    found(Number(value));
    return lead;
  });
}

/** Takes a server out: no new requests at once, then gone when its last one has ended. */
export function removeServerOps(backend: string, server: string, waitMs: number): Op[] {
  return [
    { kind: "server_disable", backend, server },
    { kind: "wait_srv_removable", backend, server, timeout_ms: waitMs },
    { kind: "server_del", backend, server },
  ];
}
