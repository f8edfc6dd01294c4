/** What changed backends ask of a running HAProxy. */
import type { Ledger } from "./ledger.ts";
import { backendDigest } from "./plan.ts";
import { treeDifferences } from "./keyed-tree.ts";
import type { Op } from "./ops.ts";
import { HINTS } from "./reasons.ts";
import { loadServerFiles } from "./server-files.ts";
import {
  addressObstacle,
  addServerOps,
  directiveLines,
  isPlainName,
  type Obstacle,
  removeServerOps,
  type ServerOps,
  balanceObstacle,
} from "./servers.ts";
import type { BackendRecord, PlanBackend, RenderPlan, ServerRecord } from "./types.ts";

/** First version with dynamic backends. */
const DYNAMIC_BACKENDS = 3004;

export function diffBackends(next: RenderPlan, baseline: RenderPlan, ledger: Ledger): void {
  for (const { key, before, after } of treeDifferences(baseline.backends, next.backends, backendDigest)) {
    const notes = new BackendNotes(key, after?.origin ?? before?.origin ?? "", ledger);
    if (before === undefined) added((after as PlanBackend).record, next, baseline, notes);
    else if (after === undefined) removed(before.record, notes);
    else changed(before, after, next, notes);
  }
}

/** The ledger, speaking of one backend. */
class BackendNotes {
  readonly ledger: Ledger;
  readonly section: string;
  readonly #object: string;

  constructor(name: string, object: string, ledger: Ledger) {
    this.ledger = ledger;
    this.section = `backend ${name}`;
    this.#object = object;
  }

  reload(text: string, hint: string, field = ""): void {
    this.ledger.reload(`${this.section}${text}`, { section: this.section, object: this.#object, field, hint });
  }

  /** A reason why a server cannot have what is asked for. */
  refuse(lead: string, server: string, { what, hint }: Obstacle): void {
    this.reload(`${lead}server ${server}: ${what}`, hint, `servers.${server}`);
  }
}

/** Operations for a new server, its files loaded before, or why it needs a reload. */
function newServer(
  record: BackendRecord,
  server: ServerRecord,
  profileText: string,
  next: RenderPlan,
  ledger: Ledger,
): ServerOps {
  const ops = addServerOps(record, server, profileText, ledger.version);
  if (!Array.isArray(ops)) return ops;
  return loadServerFiles(ops, next, ledger) ?? ops;
}

function added(record: BackendRecord, next: RenderPlan, baseline: RenderPlan, notes: BackendNotes): void {
  const { ledger } = notes;
  const profile = record.profile === undefined ? undefined : next.profiles.get(record.profile);
  const known = record.profile === undefined ? undefined : baseline.profiles.get(record.profile);
  if (ledger.version < DYNAMIC_BACKENDS)
    return notes.reload(" is new, which HAProxy before 3.4 takes at a reload only", HINTS.oldVersion);
  if (record.shape !== "dynamic") {
    const why = record.shapeReason === undefined ? "" : ` (${record.shapeReason})`;
    return notes.reload(` is new and structural${why}`, HINTS.structural, "shape");
  }
  if (profile === undefined || known?.digest !== profile.digest) {
    return notes.reload(
      ` is new and its profile ${record.profile ?? "(none)"} is not loaded`,
      HINTS.unloadedProfile,
      "profile",
    );
  }
  if (!isPlainName(record.name)) return notes.reload(" is new and its name cannot be used at run time", HINTS.name);
  const add: Op = { kind: "backend_add", backend: record.name, profile: profile.name };
  if (record.mode !== undefined) add.mode = record.mode;
  if (record.guid !== undefined) add.guid = record.guid;
  const ops: Op[] = [add];
  for (const server of record.servers) {
    const result = newServer(record, server, profile.text, next, ledger);
    if (!Array.isArray(result)) return notes.refuse(" is new, ", server.name, result);
    ops.push(...result);
  }
  ops.push({ kind: "backend_publish", backend: record.name });
  ledger.backendChanges++;
  ledger.add("create", ops);
}

function removed(record: BackendRecord, notes: BackendNotes): void {
  const { ledger } = notes;
  if (ledger.version < DYNAMIC_BACKENDS)
    return notes.reload(" is gone, which HAProxy before 3.4 takes at a reload only", HINTS.oldVersion);
  if (record.shape !== "dynamic" || !isPlainName(record.name))
    return notes.reload(" is gone and was structural", HINTS.structural, "shape");
  const ops: Op[] = [{ kind: "backend_unpublish", backend: record.name }];
  for (const server of record.servers) ops.push(...removeServerOps(record.name, server.name, ledger.waitMs));
  ops.push(
    { kind: "wait_be_removable", backend: record.name, timeout_ms: ledger.waitMs },
    { kind: "backend_del", backend: record.name },
  );
  ledger.backendChanges++;
  ledger.add("remove", ops);
}

/** Fields that HAProxy reads at a load only, and what is out of the way of each. */
const FIXED = {
  profile: HINTS.backendProfile,
  mode: HINTS.backendField,
  balance: HINTS.backendField,
  hashType: HINTS.backendField,
  guid: HINTS.backendGuid,
  defaultServer: HINTS.backendServers,
  body: HINTS.text,
} as const;
const FIELDS = Object.keys(FIXED) as readonly (keyof typeof FIXED)[];

function changed(before: PlanBackend, after: PlanBackend, next: RenderPlan, notes: BackendNotes): void {
  const { ledger } = notes;
  const fields = FIELDS.filter((field) => before.record[field] !== after.record[field]);
  const [first] = fields;
  if (first !== undefined) return notes.reload(` changed its ${fields.join(", ")}`, FIXED[first], fields.join(", "));
  if (before.residueDigest !== after.residueDigest)
    return notes.reload(" changed text outside its servers", HINTS.text, "text");
  if (before.digest === after.digest)
    return notes.reload(" changed text that its record does not account for", HINTS.record, "text");
  const profile = after.record.profile === undefined ? undefined : next.profiles.get(after.record.profile);
  // What the section says itself stands after what it inherits, and counts.
  const profileText = `${profile?.text ?? ""}\n${after.record.body ?? ""}`;
  const old = new Map(before.record.servers.map((server) => [server.name, server]));
  for (const server of after.record.servers) {
    const was = old.get(server.name);
    old.delete(server.name);
    if (was === undefined) {
      const ops = newServer(after.record, server, profileText, next, ledger);
      if (!Array.isArray(ops)) notes.refuse(", new ", server.name, ops);
      else ledger.add("servers", ops);
    } else {
      changedServer(after.record, was, server, profileText, notes);
    }
  }
  for (const gone of old.keys()) {
    if (isPlainName(gone)) {
      ledger.add("remove", removeServerOps(after.record.name, gone, ledger.waitMs));
      ledger.stopInPlace(after.record.name, gone);
    } else {
      notes.reload(
        `, server ${JSON.stringify(gone)} is gone and its name cannot be used at run time`,
        HINTS.name,
        "servers",
      );
    }
  }
}

function changedServer(
  record: BackendRecord,
  was: ServerRecord,
  now: ServerRecord,
  profileText: string,
  notes: BackendNotes,
): void {
  const { ledger } = notes;
  const refuse = (text: string, hint: string, key: string): void =>
    notes.reload(`, server ${now.name}${text}`, hint, `servers.${now.name}.${key}`);
  const target = { backend: record.name, server: now.name };
  if (was.guid !== now.guid) return refuse(" changed its guid", HINTS.serverGuid, "guid");
  if ((was.extra ?? "").trim() !== (now.extra ?? "").trim())
    return refuse(" changed its keywords", HINTS.serverKeywords, "extra");
  const ops: Op[] = [];
  const stops: Op[] = [];
  if (was.address !== now.address || was.port !== now.port) {
    const obstacle = addressObstacle(now);
    if (obstacle !== undefined) return refuse(`: ${obstacle.what}`, obstacle.hint, "address");
    ops.push({ kind: "server_set_addr", ...target, address: now.address, port: now.port });
  }
  if (was.weight !== now.weight) {
    const obstacle = balanceObstacle(record, profileText, "weight");
    if (obstacle !== undefined) return refuse(`: ${obstacle.what}`, obstacle.hint, "weight");
    const weight = now.weight ?? defaultWeight(record, profileText);
    ops.push({ kind: "server_set_weight", ...target, weight });
  }
  if ((was.disabled === true) !== (now.disabled === true)) {
    // A server that was added disabled has its checks off until it is enabled for the first time.
    const health = /(^|\s)check(\s|$)/.test([profileText, record.defaultServer ?? "", now.extra ?? ""].join("\n"));
    if (now.disabled === true) stops.push({ kind: "server_set_state", ...target, state: "maint" });
    else if (health) ops.push({ kind: "server_enable", ...target, health });
    else ops.push({ kind: "server_set_state", ...target, state: "ready" });
  }
  if (ops.length + stops.length > 0 && !isPlainName(now.name))
    return refuse(": its name cannot be used at run time", HINTS.name, "name");
  ledger.add("servers", ops);
  ledger.add("stop", stops);
}

/** The weight of a server that names none: its default-server's, else 1. */
function defaultWeight(record: BackendRecord, profileText: string): number {
  const lines = [...directiveLines(profileText, "default-server"), record.defaultServer ?? ""].join(" ");
  return Number([...lines.matchAll(/\bweight\s+(\d+)/g)].at(-1)?.[1] ?? 1);
}
