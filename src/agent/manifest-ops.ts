/** Is an operation of a manifest of the right form? Whether HAProxy's command line takes its words is judged where they are written. */
import { AgentRequestError } from "../errors.ts";
import type { Op, OpKind } from "../plan/ops.ts";
import { LIMITS } from "./api.ts";
import { AGENT_OPS_34 } from "./capabilities.ts";
import { checkPath } from "./paths.ts";

type Field = keyof Op;

/** Fields without which an operation names nothing. */
const SERVER: readonly Field[] = ["backend", "server"];
const FILE: readonly Field[] = ["path"];
const NEEDED: Readonly<Partial<Record<OpKind, readonly Field[]>>> = {
  backend_add: ["backend", "profile"],
  backend_publish: ["backend"],
  backend_unpublish: ["backend"],
  backend_del: ["backend"],
  server_add: [...SERVER, "address"],
  server_enable: SERVER,
  server_disable: SERVER,
  server_set_addr: [...SERVER, "address"],
  server_set_weight: SERVER,
  server_set_state: [...SERVER, "state"],
  server_del: SERVER,
  map_add: ["path", "key", "value"],
  map_set: ["path", "key", "value"],
  map_del: ["path", "key"],
  map_replace: FILE,
  cert_set: FILE,
  cert_new: FILE,
  cert_del: FILE,
  ca_set: FILE,
  ca_new: FILE,
  ca_del: FILE,
  crtlist_add: ["path", "cert"],
  crtlist_set: ["path", "cert"],
  crtlist_del: ["path", "cert"],
};

const TEXTS: readonly Field[] = [
  "backend",
  "server",
  "profile",
  "mode",
  "guid",
  "address",
  "state",
  "path",
  "key",
  "value",
  "cert",
];

const isText = (value: unknown): value is string => typeof value === "string";
const isWhole = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
const isWords = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (word: { name?: unknown; args?: unknown } | null) =>
      typeof word === "object" &&
      word !== null &&
      isText(word.name) &&
      Array.isArray(word.args) &&
      word.args.every(isText),
  );

/** @throws AgentRequestError naming the operation and its field. */
export function checkOp(op: Op, reserved: ReadonlySet<string>): void {
  if (typeof op !== "object" || op === null || Array.isArray(op)) throw refusal("an operation is not an object");
  if (!AGENT_OPS_34.includes(op.kind)) throw refusal(`operation ${JSON.stringify(op.kind)} is not built here`);
  const need = (condition: boolean, field: Field, what: string): void => {
    if (!condition) throw refusal(`operation ${op.kind}: ${field} ${what}`);
  };
  for (const field of NEEDED[op.kind] ?? []) need(op[field] !== undefined, field, "is missing");
  for (const field of TEXTS) need(op[field] === undefined || isText(op[field]), field, "is not a text");
  need(op.port === undefined || isWhole(op.port, 65_535), "port", "is not a whole number to 65535");
  need(
    op.weight === undefined || op.weight === null || isWhole(op.weight, 256),
    "weight",
    "is not a whole number to 256",
  );
  need(op.health === undefined || typeof op.health === "boolean", "health", "is not a boolean");
  need(op.keywords === undefined || isWords(op.keywords), "keywords", "is not a list of name and args");
  need(op.options === undefined || isWords(op.options), "options", "is not a list of name and args");
  need(
    op.sni_filters === undefined || (Array.isArray(op.sni_filters) && op.sni_filters.every(isText)),
    "sni_filters",
    "is not a list of texts",
  );
  need(
    op.timeout_ms === undefined || isWhole(op.timeout_ms, LIMITS.waitBudgetMs),
    "timeout_ms",
    `is not a whole number to ${LIMITS.waitBudgetMs}`,
  );
  if (op.path !== undefined) checkPath(op.path, reserved);
  if (op.cert !== undefined) checkPath(op.cert, reserved);
}

const refusal = (message: string): AgentRequestError => new AgentRequestError(`manifest: ${message}`);
