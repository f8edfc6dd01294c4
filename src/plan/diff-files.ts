/** What changed files ask of a running HAProxy: map entries, certificates, crt-list entries. */
import { deafTo } from "./authorities.ts";
import { splices } from "./chunks.ts";
import { changedCrtList } from "./diff-crt-lists.ts";
import { treeDifferences } from "./keyed-tree.ts";
import type { Ledger, Stage } from "./ledger.ts";
import {
  type BlockIndex,
  blockIndex,
  countKeys,
  isLineSafe,
  isPayloadSafe,
  ownEntries,
  parseMapText,
  textOf,
  valuesIn,
  valuesOf,
} from "./maps.ts";
import type { Op } from "./ops.ts";
import { fileDigest } from "./plan.ts";
import type { Makers } from "./makers.ts";
import { changeOf, type ReasonDetails } from "./reasons.ts";
import { hasLongLine, isTooLong, oversized } from "./payloads.ts";
import { namedByServers } from "./server-files.ts";
import { isSettingsMap } from "./settings.ts";
import type { PlanFile, RenderPlan } from "./types.ts";

/** Single entries are changed up to this many; above, the whole map is replaced when that is the smaller part of it. */
const ENTRY_OPS = 500;

/** First version that takes the new content of a CA file at run time. */
const AUTHORITIES = 3002;

export interface FileChanges {
  readonly changed: readonly PlanFile[];
  readonly removed: readonly string[];
}

export function diffFiles(next: RenderPlan, baseline: RenderPlan, makers: Makers, ledger: Ledger): FileChanges {
  const changed: PlanFile[] = [];
  const removed: string[] = [];
  const unloaded: PlanFile[] = [];
  for (const { key, before, after } of treeDifferences(baseline.files, next.files, fileDigest)) {
    if (after === undefined) removed.push(key);
    else changed.push(after);
    if (before !== undefined && before.kind !== after?.kind) {
      removedFile(before, makers, ledger);
      if (before.kind === "cert" || before.kind === "ca") unloaded.push(before);
    }
    if (after === undefined) continue;
    if (before === undefined || before.kind !== after.kind) newFile(after, makers, ledger);
    else if (before.digest !== after.digest) changedFile(before, after, { next, makers, ledger });
  }
  unload(unloaded, next, baseline, ledger);
  return { changed, removed };
}

/** What is told of a file: its path, who registered it, and how its size changed; never content. */
const fileReason =
  (file: PlanFile, makers: Makers, field = "content", before?: PlanFile) =>
  (): ReasonDetails => ({
    section: file.path,
    field,
    object: makers.of(`file ${file.path}`),
    change: before === undefined || before.size === file.size ? "" : changeOf(`${before.size} bytes`, `${file.size}`),
  });

function removedFile(file: PlanFile, makers: Makers, ledger: Ledger): void {
  if (file.kind === "crtlist")
    ledger.reload("crt-list-gone", `crt-list ${file.path} is gone`, fileReason(file, makers, ""));
  if (file.kind === "general" && file.reloadOnChange)
    ledger.reload("file", `file ${file.path} is gone`, fileReason(file, makers, "reloadOnPush"));
}

/**
 * Certificates and CA files that are gone from the set go from the worker, too, where it has them and the agent can. HAProxy gives a
 * CA file up although a server uses it, so one that any server names stays until the next reload.
 */
function unload(files: readonly PlanFile[], next: RenderPlan, baseline: RenderPlan, ledger: Ledger): void {
  let named: ReadonlySet<string> | undefined;
  for (const { kind, path } of files) {
    const [op, list] = kind === "cert" ? (["cert_del", "certs"] as const) : (["ca_del", "caFiles"] as const);
    if (!ledger.supports(op) || ledger.holds(list, path) !== true) continue;
    named ??= new Set([...namedByServers(baseline), ...namedByServers(next)]);
    if (!named.has(path)) ledger.add("certDel", [{ kind: op, path }]);
  }
}

function newFile(file: PlanFile, makers: Makers, ledger: Ledger): void {
  switch (file.kind) {
    case "cert":
    case "ca":
      return tooLarge(file, makers, ledger) ? undefined : ledger.load(file.kind, file.path);
    case "crtlist":
      return ledger.reload("crt-list-new", `crt-list ${file.path} is new`, fileReason(file, makers, ""));
    case "general":
      return file.reloadOnChange
        ? ledger.reload("file", `file ${file.path} is new`, fileReason(file, makers, "reloadOnPush"))
        : undefined;
    // A new map is read when a section that names it is loaded; the configuration is judged by its structure.
    default:
      return undefined;
  }
}

/** HAProxy's commands cannot carry it. */
function tooLarge(file: PlanFile, makers: Makers, ledger: Ledger): boolean {
  const what = oversized(file);
  if (what === undefined) return false;
  const noun = file.kind === "ca" ? "CA file" : "certificate";
  ledger.reload("certificate-size", `${noun} ${file.path}: ${what}`, fileReason(file, makers));
  return true;
}

interface FileContext {
  readonly next: RenderPlan;
  readonly makers: Makers;
  readonly ledger: Ledger;
}

function changedFile(before: PlanFile, after: PlanFile, { next, makers, ledger }: FileContext): void {
  const details = fileReason(after, makers, "content", before);
  switch (after.kind) {
    case "map":
      if (ledger.holds("maps", after.path) === false) return;
      return changedMap(before, after, next.maps.get(after.path)?.ordered ?? true, ledger, details);
    case "cert":
      if (ledger.holds("certs", after.path) === false || tooLarge(after, makers, ledger)) return;
      return ledger.add("certs", [{ kind: "cert_set", path: after.path }]);
    case "ca": {
      if (ledger.holds("caFiles", after.path) === false) return;
      // HAProxy 3.0 loses the certificates of a bind whose CA file changes: they serve on, but take no new content.
      if (ledger.version < AUTHORITIES)
        return ledger.reload(
          "ca-version",
          `CA file ${after.path} changed, which HAProxy before 3.2 takes at a reload only`,
          details,
        );
      const deaf = deafTo(after.path, next);
      if (deaf !== undefined)
        return ledger.reload(
          "ca-servers",
          `CA file ${after.path} changed, of which servers hear at a reload only`,
          details,
        );
      if (tooLarge(after, makers, ledger)) return;
      return ledger.add("certs", [{ kind: "ca_set", path: after.path }]);
    }
    case "crtlist":
      return changedCrtList(before, after, { next, ledger, object: () => makers.of(`file ${after.path}`) });
    case "general":
      return after.reloadOnChange ? ledger.reload("file", `file ${after.path} changed`, details) : undefined;
    case "config":
      return undefined;
  }
}

/** What a backend's rules read is there before the backend, and goes after it. */
const SETTINGS_STAGES = { add: "settings", del: "settingsDel" } as const;
const MAP_STAGES = { add: "mapAdd", del: "mapDel" } as const;

function changedMap(
  before: PlanFile,
  after: PlanFile,
  ordered: boolean,
  ledger: Ledger,
  details: () => ReasonDetails,
): void {
  const stages = isSettingsMap(after.path) ? SETTINGS_STAGES : MAP_STAGES;
  const reload = (): void => ledger.reload("entry-size", `map ${after.path} has an entry of 12 KiB or more`, details);
  const replace = (): void =>
    hasLongLine(after) ? reload() : ledger.add(stages.add, [{ kind: "map_replace", path: after.path }]);
  const old = before.blocks;
  const now = after.blocks;
  if (old.some((block) => block.bytes.length !== block.size)) return replace();
  const keys = new Set<string>();
  const [oldOnly, nowOnly]: [BlockIndex[], BlockIndex[]] = [[], []];
  for (const splice of splices(old, now)) {
    const gone = old.slice(splice.index, splice.index + splice.remove);
    const atEnd = splice.index + splice.remove === old.length;
    if (ordered && !keepsOrder(gone, splice.insert, atEnd, old)) return replace();
    const [lost, come] = ownEntries(gone, splice.insert);
    differingKeys(lost, come, keys);
    oldOnly.push(...lost);
    nowOnly.push(...come);
  }
  const counts = countKeys(old, now, oldOnly, nowOnly, keys);
  const edits: [Stage, Op][] = [];
  for (const key of keys) {
    let [was, is] = [valuesIn(oldOnly, key), valuesIn(nowOnly, key)];
    // Blocks that both have are looked at where they hold the key, which is seldom.
    if ((counts.get(key) ?? 0) > is.length) [was, is] = [valuesOf(old, key), valuesOf(now, key)];
    if (was.length === is.length && was.every((value, index) => value === is[index])) continue;
    // Duplicates have an order, and a single-entry command may touch the wrong one of them.
    if (was.length > 1 || is.length > 1 || !isLineSafe(key)) return replace();
    const value = is[0];
    if (isTooLong(`${key} ${value ?? ""}`)) return reload();
    if (value === undefined) edits.push([stages.del, { kind: "map_del", path: after.path, key }]);
    else if (was.length === 0 && isPayloadSafe(value))
      edits.push([stages.add, { kind: "map_add", path: after.path, key, value }]);
    else if (was.length === 1 && isLineSafe(value))
      edits.push([stages.add, { kind: "map_set", path: after.path, key, value }]);
    else return replace();
  }
  if (edits.length > ENTRY_OPS && edits.length * 3 > entryCount(after)) return replace();
  for (const [stage, op] of edits) ledger.add(stage, [op]);
}

/** Keys that do not have the same values in both. */
function differingKeys(gone: readonly BlockIndex[], come: readonly BlockIndex[], into: Set<string>): void {
  const single = gone.length === 1 && come.length === 1 ? come[0] : undefined;
  for (const index of gone) {
    for (const [key, values] of index) {
      const others = single?.get(key);
      if (others === undefined || others.length !== values.length || values.some((value, i) => value !== others[i]))
        into.add(key);
    }
  }
  for (const index of come)
    for (const key of index.keys()) if (!into.has(key) && !gone.some((each) => each.has(key))) into.add(key);
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
  return blocks.flatMap((block) => parseMapText(textOf(block)).map((entry) => entry.key));
}

function entryCount(file: PlanFile): number {
  let count = 0;
  for (const block of file.blocks) count += blockIndex(block).size;
  return count;
}
