/** What changed files ask of a running HAProxy: map entries, certificates, crt-list entries. */
import { X509Certificate } from "node:crypto";
import { joinBlocks, splices } from "./chunks.ts";
import { type CrtListEntry, parseCrtList } from "./crt-list.ts";
import { treeDifferences } from "./keyed-tree.ts";
import type { Ledger, Stage } from "./ledger.ts";
import { blockIndex, isLineSafe, isPayloadSafe, parseMapText, valuesOf } from "./maps.ts";
import type { Op } from "./ops.ts";
import { fileDigest } from "./plan.ts";
import type { Block, PlanFile, RenderPlan } from "./types.ts";

/** Single entries are changed up to this many; above, the whole map is replaced when that is the smaller part of it. */
const ENTRY_OPS = 500;

export interface FileChanges {
  readonly changed: readonly PlanFile[];
  readonly removed: readonly string[];
}

export function diffFiles(next: RenderPlan, baseline: RenderPlan, ledger: Ledger): FileChanges {
  const changed: PlanFile[] = [];
  const removed: string[] = [];
  for (const { key, before, after } of treeDifferences(baseline.files, next.files, fileDigest)) {
    if (after === undefined) {
      removed.push(key);
      removedFile(before as PlanFile, ledger);
      continue;
    }
    changed.push(after);
    if (before === undefined || before.kind !== after.kind) newFile(after, ledger);
    else if (before.digest !== after.digest) changedFile(before, after, next, ledger);
  }
  return { changed, removed };
}

function removedFile(file: PlanFile, ledger: Ledger): void {
  if (file.kind === "crtlist") ledger.reload(`crt-list ${file.path} is gone`);
  if (file.kind === "general" && file.reloadOnChange) ledger.reload(`file ${file.path} is gone`);
}

function newFile(file: PlanFile, ledger: Ledger): void {
  switch (file.kind) {
    case "cert":
      return ledger.add("certs", [
        { kind: ledger.loaded?.certs.has(file.path) === true ? "cert_set" : "cert_new", path: file.path },
      ]);
    case "ca":
      return ledger.add("certs", [
        { kind: ledger.loaded?.caFiles.has(file.path) === true ? "ca_set" : "ca_new", path: file.path },
      ]);
    case "crtlist":
      return ledger.reload(`crt-list ${file.path} is new`);
    case "general":
      return file.reloadOnChange ? ledger.reload(`file ${file.path} is new`) : undefined;
    // A new map is read when a section that names it is loaded; the configuration is judged by its structure.
    default:
      return undefined;
  }
}

function changedFile(before: PlanFile, after: PlanFile, next: RenderPlan, ledger: Ledger): void {
  switch (after.kind) {
    case "map":
      if (ledger.loaded !== undefined && !ledger.loaded.maps.has(after.path)) return;
      return changedMap(before, after, next.maps.get(after.path)?.ordered ?? true, ledger);
    case "cert":
      if (ledger.loaded !== undefined && !ledger.loaded.certs.has(after.path)) return;
      return ledger.add("certs", [{ kind: "cert_set", path: after.path }]);
    case "ca":
      if (ledger.loaded !== undefined && !ledger.loaded.caFiles.has(after.path)) return;
      return ledger.add("certs", [{ kind: "ca_set", path: after.path }]);
    case "crtlist":
      return changedCrtList(before, after, next, ledger);
    case "general":
      return after.reloadOnChange ? ledger.reload(`file ${after.path} changed`) : undefined;
    case "config":
      return undefined;
  }
}

function changedMap(before: PlanFile, after: PlanFile, ordered: boolean, ledger: Ledger): void {
  const replace = (): void => ledger.add("mapAdd", [{ kind: "map_replace", path: after.path }]);
  const old = before.blocks;
  const now = after.blocks;
  if (old.some((block) => block.bytes.length !== block.size)) return replace();
  const keys = new Set<string>();
  for (const splice of splices(old, now)) {
    const gone = old.slice(splice.index, splice.index + splice.remove);
    const atEnd = splice.index + splice.remove === old.length;
    if (ordered && !keepsOrder(gone, splice.insert, atEnd, old)) return replace();
    differingKeys(gone, splice.insert, keys);
  }
  const edits: [Stage, Op][] = [];
  for (const key of keys) {
    const was = valuesOf(old, key);
    const is = valuesOf(now, key);
    if (was.length === is.length && was.every((value, index) => value === is[index])) continue;
    // Duplicates have an order, and a single-entry command may touch the wrong one of them.
    if (was.length > 1 || is.length > 1 || !isLineSafe(key)) return replace();
    const value = is[0];
    if (value === undefined) edits.push(["mapDel", { kind: "map_del", path: after.path, key }]);
    else if (was.length === 0 && isPayloadSafe(value))
      edits.push(["mapAdd", { kind: "map_add", path: after.path, key, value }]);
    else if (was.length === 1 && isLineSafe(value))
      edits.push(["mapAdd", { kind: "map_set", path: after.path, key, value }]);
    else return replace();
  }
  if (edits.length > ENTRY_OPS && edits.length * 3 > entryCount(after)) return replace();
  for (const [stage, op] of edits) ledger.add(stage, [op]);
}

/** Keys that do not have the same values in both lists of blocks. */
function differingKeys(gone: PlanFile["blocks"], inserted: PlanFile["blocks"], into: Set<string>): void {
  const single = gone.length === 1 && inserted.length === 1 ? blockIndex(inserted[0] as Block) : undefined;
  for (const block of gone) {
    for (const [key, values] of blockIndex(block)) {
      const others = single?.get(key);
      if (others === undefined || others.length !== values.length || values.some((value, i) => value !== others[i]))
        into.add(key);
    }
  }
  for (const block of inserted) {
    for (const key of blockIndex(block).keys()) {
      if (!into.has(key) && !gone.some((each) => blockIndex(each).has(key))) into.add(key);
    }
  }
}

/**
 * Whether single entries can turn the one list into the other although their order matters: what stays keeps its order,
 * and what is new comes last in the file, where the runtime puts it.
 */
function keepsOrder(
  gone: PlanFile["blocks"],
  inserted: PlanFile["blocks"],
  atEnd: boolean,
  old: PlanFile["blocks"],
): boolean {
  const before = entryKeys(gone);
  const after = entryKeys(inserted);
  const was = new Set(before);
  const is = new Set(after);
  if (was.size !== before.length || is.size !== after.length) return before.join("\n") === after.join("\n");
  const kept = after.filter((key) => was.has(key));
  const fresh = after.slice(kept.length);
  if (kept.some((key, i) => key !== after[i])) return false;
  if (before.filter((key) => is.has(key)).some((key, i) => key !== kept[i])) return false;
  return fresh.length === 0 || (atEnd && fresh.every((key) => valuesOf(old, key).length === 0));
}

function entryKeys(blocks: PlanFile["blocks"]): string[] {
  return blocks.flatMap((block) => parseMapText(Buffer.from(block.bytes).toString("utf8")).map((entry) => entry.key));
}

function entryCount(file: PlanFile): number {
  let count = 0;
  for (const block of file.blocks) count += blockIndex(block).size;
  return count;
}

/**
 * Entries that come and go at run time. An added entry lands at the end of the list; that is the same as its place in the
 * file when no entry after it could answer for the same names. The first entry is the default certificate and stays.
 */
function changedCrtList(before: PlanFile, after: PlanFile, next: RenderPlan, ledger: Ledger): void {
  const name = `crt-list ${after.path}`;
  if (ledger.loaded !== undefined && !ledger.loaded.crtLists.has(after.path)) return;
  const readable = before.blocks.every((block) => block.bytes.length === block.size);
  const old = readable ? parseCrtList(joinBlocks(before.blocks).toString("utf8")) : undefined;
  const now = parseCrtList(joinBlocks(after.blocks).toString("utf8"));
  if (old === undefined || now === undefined) return ledger.reload(`${name} changed in a way that cannot be compared`);
  const grown = grownEntries(old, now);
  // An entry that only gained names counts as kept; the gain is added as one more entry of its certificate.
  const lineOf = (entry: CrtListEntry): string => grown.get(entry)?.line ?? entry.line;
  const oldLines = new Set(old.map((entry) => entry.line));
  const newLines = new Set(now.map(lineOf));
  const gone = old.filter((entry) => !newLines.has(entry.line));
  const added = now.filter((entry) => !oldLines.has(lineOf(entry)));
  const unchanged = old.length === now.length && old.every((entry, i) => entry.line === now[i]?.line);
  if (unchanged) return;
  if (old.length === 0 || now.length === 0 || old[0]?.line !== lineOf(now[0] as CrtListEntry))
    return ledger.reload(`${name} changed its first entry`);
  const keptOld = old.filter((entry) => newLines.has(entry.line));
  const keptNew = now.filter((entry) => oldLines.has(lineOf(entry)));
  if (
    keptOld.length !== keptNew.length ||
    keptOld.some((entry, i) => entry.line !== lineOf(keptNew[i] as CrtListEntry))
  ) {
    return ledger.reload(`${name} changed its order`);
  }
  const repeated = repeatedCerts(old);
  const certs = new Set(keptOld.map((entry) => entry.cert));
  for (const entry of [...gone, ...added]) {
    if (repeated.has(entry.cert) || certs.has(entry.cert))
      return ledger.reload(`${name} changed an entry of ${entry.cert}, which it names several times`);
  }
  if (gone.some((entry) => added.some((other) => other.cert === entry.cert)))
    return ledger.reload(`${name} changed options or names of an entry`);
  const obstacle = orderObstacle(now, new Set(added), grown, next);
  if (obstacle !== undefined) return ledger.reload(`${name}: ${obstacle}`);
  const add = (entry: CrtListEntry, filters: readonly string[]): Op => ({
    kind: "crtlist_add",
    path: after.path,
    cert: entry.cert,
    options: entry.options.map((option) => ({ name: option.name, args: [...option.args] })),
    sni_filters: [...filters],
  });
  const gains = [...grown].map(([entry, was]) => add(entry, gainedNames(entry, was)));
  ledger.add("crtAdd", [...gains, ...added.map((entry) => add(entry, entry.filters))]);
  ledger.add(
    "crtDel",
    gone.map((entry): Op => ({ kind: "crtlist_del", path: after.path, cert: entry.cert })),
  );
}

/** Entries that kept certificate, options and all names, and gained names; with what they were. */
function grownEntries(old: readonly CrtListEntry[], now: readonly CrtListEntry[]): Map<CrtListEntry, CrtListEntry> {
  const byCert = new Map(old.map((entry) => [entry.cert, entry]));
  const repeated = new Set([...repeatedCerts(old), ...repeatedCerts(now)]);
  const grown = new Map<CrtListEntry, CrtListEntry>();
  for (const entry of now) {
    const was = byCert.get(entry.cert);
    if (was === undefined || repeated.has(entry.cert) || was.line === entry.line || was.filters.length === 0) continue;
    if (JSON.stringify(was.options) !== JSON.stringify(entry.options)) continue;
    if ([...was.filters, ...entry.filters].some((filter) => filter.startsWith("!"))) continue;
    if (was.filters.every((filter) => entry.filters.includes(filter)) && entry.filters.length > was.filters.length)
      grown.set(entry, was);
  }
  return grown;
}

function gainedNames(entry: CrtListEntry, was: CrtListEntry): readonly string[] {
  return entry.filters.filter((filter) => !was.filters.includes(filter));
}

function repeatedCerts(entries: readonly CrtListEntry[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { cert } of entries) {
    if (seen.has(cert)) repeated.add(cert);
    seen.add(cert);
  }
  return repeated;
}

/** Why an entry at the end of the list is not the same as where the file has it; undefined when it is. */
function orderObstacle(
  now: readonly CrtListEntry[],
  added: ReadonlySet<CrtListEntry>,
  grown: ReadonlyMap<CrtListEntry, CrtListEntry>,
  next: RenderPlan,
): string | undefined {
  const isNew = (entry: CrtListEntry): boolean => added.has(entry) || grown.has(entry);
  const first = now.findIndex(isNew);
  const later = new Set<string>();
  for (let i = now.length - 1; i >= 0 && i >= first; i--) {
    const entry = now[i] as CrtListEntry;
    const was = grown.get(entry);
    const own = was !== undefined ? gainedNames(entry, was) : isNew(entry) || i > first ? names(entry, next) : [];
    if (
      isNew(entry) &&
      later.size > 0 &&
      (own === undefined || later.has("*") || own.some((name) => later.has(name)))
    ) {
      return `the new names of ${entry.cert} are answered for by a later entry too`;
    }
    if (!isNew(entry)) for (const name of own ?? ["*"]) later.add(name);
    else if (was !== undefined) for (const name of was.filters) later.add(name);
  }
  return undefined;
}

/** Names an entry answers for: its filters, else the names in the certificate; undefined when they cannot be told. */
function names(entry: CrtListEntry, next: RenderPlan): readonly string[] | undefined {
  if (entry.filters.length > 0)
    return entry.filters.some((filter) => filter.startsWith("!"))
      ? undefined
      : entry.filters.map((filter) => filter.toLowerCase());
  const file = next.files.get(entry.cert);
  if (file === undefined) return undefined;
  try {
    const certificate = new X509Certificate(joinBlocks(file.blocks));
    const alternative = [...(certificate.subjectAltName ?? "").matchAll(/DNS:([^,\s]+)/g)].map((match) =>
      (match[1] as string).toLowerCase(),
    );
    const common = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
    return common === undefined ? alternative : [...alternative, common.toLowerCase()];
  } catch {
    return undefined;
  }
}
