/** What changed backends ask of a running HAProxy. */
import type { Ledger } from "./ledger.ts";
import { backendDigest } from "./plan.ts";
import { treeDifferences } from "./keyed-tree.ts";
import type { Op } from "./ops.ts";
import { addServerOps, addressObstacle, directiveLines, isPlainName, removeServerOps } from "./servers.ts";
import type { BackendRecord, PlanBackend, RenderPlan, ServerRecord } from "./types.ts";

/** First version with dynamic backends. */
const DYNAMIC_BACKENDS = 3004;

export function diffBackends(next: RenderPlan, baseline: RenderPlan, ledger: Ledger): void {
  for (const { key, before, after } of treeDifferences(baseline.backends, next.backends, backendDigest)) {
    if (before === undefined) added((after as PlanBackend).record, next, baseline, ledger);
    else if (after === undefined) removed(before.record, key, ledger);
    else changed(before, after, next, ledger);
  }
}

function added(record: BackendRecord, next: RenderPlan, baseline: RenderPlan, ledger: Ledger): void {
  const name = `backend ${record.name}`;
  const profile = record.profile === undefined ? undefined : next.profiles.get(record.profile);
  const known = record.profile === undefined ? undefined : baseline.profiles.get(record.profile);
  if (ledger.version < DYNAMIC_BACKENDS)
    return ledger.reload(`${name} is new, which HAProxy before 3.4 takes at a reload only`);
  if (record.shape !== "dynamic") {
    return ledger.reload(
      `${name} is new and structural${record.shapeReason === undefined ? "" : ` (${record.shapeReason})`}`,
    );
  }
  if (profile === undefined || known?.digest !== profile.digest) {
    return ledger.reload(`${name} is new and its profile ${record.profile ?? "(none)"} is not loaded`);
  }
  if (!isPlainName(record.name)) return ledger.reload(`${name} is new and its name cannot be used at run time`);
  const add: Op = { kind: "backend_add", backend: record.name, profile: profile.name };
  if (record.mode !== undefined) add.mode = record.mode;
  if (record.guid !== undefined) add.guid = record.guid;
  const ops: Op[] = [add];
  for (const server of record.servers) {
    const result = addServerOps(record, server, profile.text, ledger.version);
    if (typeof result === "string") return ledger.reload(`${name} is new, server ${server.name}: ${result}`);
    ops.push(...result);
  }
  ops.push({ kind: "backend_publish", backend: record.name });
  ledger.backendChanges++;
  ledger.add("create", ops);
}

function removed(record: BackendRecord, key: string, ledger: Ledger): void {
  const name = `backend ${key}`;
  if (ledger.version < DYNAMIC_BACKENDS)
    return ledger.reload(`${name} is gone, which HAProxy before 3.4 takes at a reload only`);
  if (record.shape !== "dynamic" || !isPlainName(record.name))
    return ledger.reload(`${name} is gone and was structural`);
  const ops: Op[] = [{ kind: "backend_unpublish", backend: record.name }];
  for (const server of record.servers) ops.push(...removeServerOps(record.name, server.name, ledger.waitMs));
  ops.push(
    { kind: "wait_be_removable", backend: record.name, timeout_ms: ledger.waitMs },
    { kind: "backend_del", backend: record.name },
  );
  ledger.backendChanges++;
  ledger.add("remove", ops);
}

/** Fields that HAProxy reads at a load only. */
const FIXED = ["profile", "mode", "balance", "hashType", "guid", "defaultServer", "body"] as const;

function changed(before: PlanBackend, after: PlanBackend, next: RenderPlan, ledger: Ledger): void {
  const name = `backend ${after.record.name}`;
  const fields = FIXED.filter((field) => before.record[field] !== after.record[field]);
  if (fields.length > 0) return ledger.reload(`${name} changed its ${fields.join(", ")}`);
  if (before.residueDigest !== after.residueDigest) return ledger.reload(`${name} changed text outside its servers`);
  if (before.digest === after.digest) {
    return ledger.reload(`${name} changed text that its record does not account for`);
  }
  const profile = after.record.profile === undefined ? undefined : next.profiles.get(after.record.profile);
  // What the section says itself stands after what it inherits, and counts.
  const profileText = `${profile?.text ?? ""}\n${after.record.body ?? ""}`;
  const old = new Map(before.record.servers.map((server) => [server.name, server]));
  for (const server of after.record.servers) {
    const was = old.get(server.name);
    old.delete(server.name);
    if (was === undefined) {
      const ops = addServerOps(after.record, server, profileText, ledger.version);
      if (typeof ops === "string") ledger.reload(`${name}, new server ${server.name}: ${ops}`);
      else ledger.add("servers", ops);
    } else {
      changedServer(after.record, was, server, profileText, ledger);
    }
  }
  for (const gone of old.keys()) {
    if (isPlainName(gone)) {
      ledger.add("remove", removeServerOps(after.record.name, gone, ledger.waitMs));
      ledger.stopInPlace(after.record.name, gone);
    } else ledger.reload(`${name}, server ${JSON.stringify(gone)} is gone and its name cannot be used at run time`);
  }
}

function changedServer(
  record: BackendRecord,
  was: ServerRecord,
  now: ServerRecord,
  profileText: string,
  ledger: Ledger,
): void {
  const where = `backend ${record.name}, server ${now.name}`;
  const target = { backend: record.name, server: now.name };
  if (was.guid !== now.guid) return ledger.reload(`${where} changed its guid`);
  if ((was.extra ?? "").trim() !== (now.extra ?? "").trim()) return ledger.reload(`${where} changed its keywords`);
  const ops: Op[] = [];
  const stops: Op[] = [];
  if (was.address !== now.address || was.port !== now.port) {
    const obstacle = addressObstacle(now);
    if (obstacle !== undefined) return ledger.reload(`${where}: ${obstacle}`);
    ops.push({ kind: "server_set_addr", ...target, address: now.address, port: now.port });
  }
  if (was.weight !== now.weight) {
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
    return ledger.reload(`${where}: its name cannot be used at run time`);
  ledger.add("servers", ops);
  ledger.add("stop", stops);
}

/** The weight of a server that names none: its default-server's, else 1. */
function defaultWeight(record: BackendRecord, profileText: string): number {
  const lines = [...directiveLines(profileText, "default-server"), record.defaultServer ?? ""].join(" ");
  return Number([...lines.matchAll(/\bweight\s+(\d+)/g)].at(-1)?.[1] ?? 1);
}
