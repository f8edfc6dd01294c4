/** Records that templates hand to planRegistry, checked key by key: an unknown key is a mistake, not something to ignore. */
import type { BackendRecord, ServerRecord } from "../plan/types.ts";
import { TemplateFault } from "../templating/index.ts";

type Plain = Readonly<Record<string, unknown>>;

const BACKEND_KEYS = new Set([
  "name",
  "guid",
  "mode",
  "balance",
  "hashType",
  "profile",
  "defaultServer",
  "body",
  "servers",
  "comments",
  "shape",
  "shapeReason",
]);
const SERVER_KEYS = new Set(["name", "address", "port", "weight", "disabled", "guid", "comment", "extra"]);
const PROFILE_KEYS = new Set(["mode", "balance", "hashType", "defaultServer", "body", "backend", "settings"]);

export interface ProfileRecord {
  readonly mode: string;
  readonly balance?: string;
  readonly hashType?: string;
  readonly defaultServer?: string;
  readonly body: string;
  /** The backend that the settings are those of. */
  readonly backend?: string;
  /** As the template gives them. */
  readonly settings: unknown;
}

export function backendRecord(value: unknown): BackendRecord {
  const record = plainObject(value, "planRegistry.Backend");
  const name = required(record, "name", "a backend");
  const where = `backend ${name}`;
  refuseUnknown(record, BACKEND_KEYS, where);
  const shape = text(record, "shape", where) ?? "structural";
  if (shape !== "dynamic" && shape !== "structural")
    throw new TemplateFault(`${where}: shape is ${JSON.stringify(shape)}`, "it is dynamic or structural");
  const servers = list(record["servers"], `${where}: servers`).map((server) => serverRecord(server, where));
  const names = new Set<string>();
  for (const server of servers) {
    if (names.has(server.name)) throw new TemplateFault(`${where} has two servers named ${server.name}`);
    names.add(server.name);
  }
  return {
    name,
    ...texts(record, ["guid", "mode", "balance", "hashType", "profile", "defaultServer", "body", "shapeReason"], where),
    ...(record["comments"] === undefined || record["comments"] === null
      ? {}
      : { comments: list(record["comments"], `${where}: comments`).map(String) }),
    servers,
    shape,
  };
}

function serverRecord(value: unknown, backend: string): ServerRecord {
  const record = plainObject(value, `${backend}: a server`);
  const name = required(record, "name", `a server of ${backend}`);
  const where = `${backend}, server ${name}`;
  refuseUnknown(record, SERVER_KEYS, where);
  const disabled = record["disabled"];
  if (disabled !== undefined && disabled !== null && typeof disabled !== "boolean")
    throw new TemplateFault(`${where}: disabled is not true or false`);
  const weight = integer(record["weight"], `${where}: weight`, 0, 256);
  const port = integer(record["port"], `${where}: port`, 0, 65_535);
  if (port === undefined) throw new TemplateFault(`${where} has no port`);
  return {
    name,
    address: required(record, "address", where),
    port,
    ...(weight === undefined ? {} : { weight }),
    ...(disabled === true ? { disabled } : {}),
    ...texts(record, ["guid", "comment", "extra"], where),
  };
}

export function profileRecord(value: unknown): ProfileRecord {
  const record = plainObject(value, "planRegistry.Profile");
  refuseUnknown(record, PROFILE_KEYS, "a profile");
  const body = (text(record, "body", "a profile") ?? "").replace(/\n+$/, "");
  const mode = text(record, "mode", "a profile") ?? "http";
  const settings = record["settings"];
  return { mode, body, settings, ...texts(record, ["balance", "hashType", "defaultServer", "backend"], "a profile") };
}

function plainObject(value: unknown, what: string): Plain {
  if (value instanceof Map) return Object.fromEntries(value as Map<string, unknown>);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TemplateFault(`${what} wants a map`);
  return value as Plain;
}

function list(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TemplateFault(`${what} is not a list`);
  return value;
}

function refuseUnknown(record: Plain, known: ReadonlySet<string>, where: string): void {
  for (const key of Object.keys(record)) {
    if (!known.has(key))
      throw new TemplateFault(`${where}: key ${JSON.stringify(key)} is unknown`, `known are ${[...known].join(", ")}`);
  }
}

function required(record: Plain, key: string, where: string): string {
  const value = text(record, key, where);
  if (value === undefined) throw new TemplateFault(`${where} has no ${key}`);
  if (key === "name" && !/^[A-Za-z0-9_.:-]+$/.test(value)) {
    throw new TemplateFault(
      `${where} has the name ${JSON.stringify(value)}`,
      "names hold letters, digits, dots, colons, dashes and underscores",
    );
  }
  return value;
}

/** "" counts as absent: that is what an unset variable of a template holds. */
function text(record: Plain, key: string, where: string): string | undefined {
  const value = record[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw new TemplateFault(`${where}: ${key} is not a string`);
  return value;
}

function texts<K extends string>(record: Plain, keys: readonly K[], where: string): Partial<Record<K, string>> {
  const found: Partial<Record<K, string>> = {};
  for (const key of keys) {
    const value = text(record, key, where);
    if (value !== undefined) found[key] = value;
  }
  return found;
}

function integer(value: unknown, what: string, min: number, max: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < min || number > max) {
    throw new TemplateFault(`${what} is not a whole number from ${min} to ${max}`);
  }
  return number;
}
