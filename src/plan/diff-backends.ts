/** What changed backends ask of a running HAProxy. */
import type { Ledger } from "./ledger.ts";
import { backendDigest } from "./plan.ts";
import { treeDifferences, type TreeDifference } from "./keyed-tree.ts";
import type { Op } from "./ops.ts";
import type { Makers } from "./makers.ts";
import { changeOf } from "./reasons.ts";
import type { ReloadRuleName } from "./reload-rules.ts";
import { loadServerFiles } from "./server-files.ts";
import { changedKeywords } from "./server-keywords.ts";
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

export function diffBackends(next: RenderPlan, baseline: RenderPlan, makers: Makers, ledger: Ledger): void {
  const differences = [...treeDifferences(baseline.backends, next.backends, backendDigest)];
  const guids = heldGuids(differences);
  for (const { key, before, after } of differences) {
    const origin = after?.origin ?? before?.origin;
    const notes = new BackendNotes(key, () => makers.of(`backend ${key}`, origin), ledger);
    if (before === undefined) added((after as PlanBackend).record, { next, baseline, notes, guids });
    else if (after === undefined) removed(before.record, notes);
    else changed(before, after, { next, baseline, notes, guids });
  }
}

/** What a change of one backend is judged by. */
interface Scene {
  readonly next: RenderPlan;
  readonly baseline: RenderPlan;
  readonly notes: BackendNotes;
  readonly guids: ReadonlyMap<string, string>;
}

/** Guids of what changes, with their owners: HAProxy has them until the owner is deleted, which waits for its last request. */
function heldGuids(differences: readonly TreeDifference<PlanBackend>[]): ReadonlyMap<string, string> {
  const guids = new Map<string, string>();
  for (const { key, before } of differences) {
    if (before?.record.guid !== undefined) guids.set(before.record.guid, `backend ${key}`);
    for (const { name, guid } of before?.record.servers ?? [])
      if (guid !== undefined) guids.set(guid, `server ${key}/${name}`);
  }
  return guids;
}

/** The ledger, speaking of one backend. */
class BackendNotes {
  readonly ledger: Ledger;
  readonly section: string;
  readonly #object: () => string;

  constructor(name: string, object: () => string, ledger: Ledger) {
    this.ledger = ledger;
    this.section = `backend ${name}`;
    this.#object = object;
  }

  reload(rule: ReloadRuleName, text: string, field: string, change = ""): void {
    const { section } = this;
    this.ledger.reload(rule, `${section}${text}`, () => ({ section, object: this.#object(), field, change }));
  }

  /** A reason why a server cannot have what is asked for. */
  refuse(lead: string, server: string, { what, rule, key }: Obstacle): void {
    this.reload(rule, `${lead}server ${server}: ${what}`, `servers.${server}.${key}`);
  }
}

/** Operations for a new server, its files loaded before, or why it needs a reload. */
function newServer(
  record: BackendRecord,
  server: ServerRecord,
  profileText: string,
  { next, notes, guids }: Scene,
): ServerOps {
  const { ledger } = notes;
  const owner = server.guid === undefined ? undefined : guids.get(server.guid);
  if (owner !== undefined)
    return { what: `its guid ${server.guid} is still that of ${owner}`, rule: "server-guid", key: "guid" };
  const ops = addServerOps(record, server, profileText, ledger.version);
  if (!Array.isArray(ops)) return ops;
  return loadServerFiles(ops, next, ledger) ?? ops;
}

function added(record: BackendRecord, scene: Scene): void {
  const { next, baseline, notes, guids } = scene;
  const { ledger } = notes;
  const profile = record.profile === undefined ? undefined : next.profiles.get(record.profile);
  const known = record.profile === undefined ? undefined : baseline.profiles.get(record.profile);
  if (ledger.version < DYNAMIC_BACKENDS)
    return notes.reload("backend-version", " is new, which HAProxy before 3.4 takes at a reload only", "");
  if (record.shape !== "dynamic") {
    const why = record.shapeReason === undefined ? "" : ` (${record.shapeReason})`;
    return notes.reload("backend-structural", ` is new and structural${why}`, "shape");
  }
  if (profile === undefined || known?.digest !== profile.digest) {
    return notes.reload(
      "backend-profile-unloaded",
      ` is new and its profile ${record.profile ?? "(none)"} is not loaded`,
      "profile",
    );
  }
  if (!isPlainName(record.name))
    return notes.reload("backend-name", " is new and its name cannot be used at run time", "name");
  const owner = record.guid === undefined ? undefined : guids.get(record.guid);
  if (owner !== undefined)
    return notes.reload("backend-guid", ` is new and its guid ${record.guid} is still that of ${owner}`, "guid");
  const add: Op = { kind: "backend_add", backend: record.name, profile: profile.name };
  if (record.mode !== undefined) add.mode = record.mode;
  if (record.guid !== undefined) add.guid = record.guid;
  const ops: Op[] = [add];
  for (const server of record.servers) {
    const result = newServer(record, server, profile.text, scene);
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
    return notes.reload("backend-version", " is gone, which HAProxy before 3.4 takes at a reload only", "");
  if (record.shape !== "dynamic") return notes.reload("backend-structural", " is gone and was structural", "shape");
  if (!isPlainName(record.name))
    return notes.reload("backend-name", " is gone and its name cannot be used at run time", "name");
  const ops: Op[] = [{ kind: "backend_unpublish", backend: record.name }];
  for (const server of record.servers) ops.push(...removeServerOps(record.name, server.name, ledger.waitMs));
  ops.push(
    { kind: "wait_be_removable", backend: record.name, timeout_ms: ledger.waitMs },
    { kind: "backend_del", backend: record.name },
  );
  ledger.backendChanges++;
  ledger.add("remove", ops);
}

/** Fields that HAProxy reads at a load only, and the rule of each. */
const FIXED = {
  profile: "backend-profile",
  mode: "backend-field",
  balance: "backend-field",
  hashType: "backend-field",
  guid: "backend-guid",
  defaultServer: "backend-default-server",
  body: "backend-text",
} as const;
type FixedField = keyof typeof FIXED;
const FIELDS = Object.keys(FIXED) as readonly FixedField[];

/** Values of fields that are no free text. */
const changesOf = (fields: readonly FixedField[], was: BackendRecord, is: BackendRecord): string =>
  fields
    .flatMap((field) =>
      field === "body"
        ? []
        : field === "defaultServer"
          ? [changedKeywords(was.defaultServer, is.defaultServer)]
          : [changeOf(was[field], is[field])],
    )
    .join(", ");

function changed(before: PlanBackend, after: PlanBackend, scene: Scene): void {
  const { next, notes } = scene;
  const { ledger } = notes;
  const fields = FIELDS.filter((field) => before.record[field] !== after.record[field]);
  const [first] = fields;
  if (first !== undefined) {
    const change = changesOf(fields, before.record, after.record);
    return notes.reload(FIXED[first], ` changed its ${fields.join(", ")}`, fields.join(", "), change);
  }
  if (before.residueDigest !== after.residueDigest)
    return notes.reload("backend-text", " changed text outside its servers", "text");
  if (before.digest === after.digest)
    return notes.reload("backend-record", " changed text that its record does not account for", "text");
  const profile = after.record.profile === undefined ? undefined : next.profiles.get(after.record.profile);
  // What the section says itself stands after what it inherits, and counts.
  const profileText = `${profile?.text ?? ""}\n${after.record.body ?? ""}`;
  const old = new Map(before.record.servers.map((server) => [server.name, server]));
  for (const server of after.record.servers) {
    const was = old.get(server.name);
    old.delete(server.name);
    if (was === undefined) {
      const ops = newServer(after.record, server, profileText, scene);
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
        "backend-name",
        `, server ${JSON.stringify(gone)} is gone and its name cannot be used at run time`,
        `servers.${gone}.name`,
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
  const refuse = (rule: ReloadRuleName, text: string, key: string, change = ""): void =>
    notes.reload(rule, `, server ${now.name}${text}`, `servers.${now.name}.${key}`, change);
  const obstructed = ({ rule, what, key }: Obstacle): void => refuse(rule, `: ${what}`, key);
  const target = { backend: record.name, server: now.name };
  if (was.guid !== now.guid) return refuse("server-guid", " changed its guid", "guid", changeOf(was.guid, now.guid));
  if ((was.extra ?? "").trim() !== (now.extra ?? "").trim())
    return refuse("server-extra", " changed its keywords", "extra", changedKeywords(was.extra, now.extra));
  const ops: Op[] = [];
  const stops: Op[] = [];
  if (was.address !== now.address || was.port !== now.port) {
    const obstacle = addressObstacle(now);
    if (obstacle !== undefined) return obstructed(obstacle);
    ops.push({ kind: "server_set_addr", ...target, address: now.address, port: now.port });
  }
  if (was.weight !== now.weight) {
    const obstacle = balanceObstacle(record, profileText, "weight");
    if (obstacle !== undefined) return obstructed(obstacle);
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
    return refuse("backend-name", ": its name cannot be used at run time", "name");
  ledger.add("servers", ops);
  ledger.add("stop", stops);
}

/** The weight of a server that names none: its default-server's, else 1. */
function defaultWeight(record: BackendRecord, profileText: string): number {
  const lines = [...directiveLines(profileText, "default-server"), record.defaultServer ?? ""].join(" ");
  return Number([...lines.matchAll(/\bweight\s+(\d+)/g)].at(-1)?.[1] ?? 1);
}
