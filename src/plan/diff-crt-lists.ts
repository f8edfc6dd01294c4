/** What a changed crt-list asks of a running HAProxy: entries that come and go. */
import { X509Certificate } from "node:crypto";
import { joinBlocks } from "./chunks.ts";
import { type CrtListEntry, parseCrtList } from "./crt-list.ts";
import type { Ledger } from "./ledger.ts";
import type { Op } from "./ops.ts";
import { isTooLong } from "./payloads.ts";
import { changeOf } from "./reasons.ts";
import type { ReloadRuleName } from "./reload-rules.ts";
import type { PlanFile, RenderPlan } from "./types.ts";

interface ListContext {
  readonly next: RenderPlan;
  readonly ledger: Ledger;
  /** Who made the list. */
  readonly object: () => string;
}

/**
 * Entries that come and go at run time. An added entry lands at the end of the list; that is the same as its place in the
 * file when no entry after it could answer for the same names. The first entry is the default certificate and stays, unless the list
 * is declared to have none (strict-sni).
 */
export function changedCrtList(before: PlanFile, after: PlanFile, { next, ledger, object }: ListContext): void {
  const refuse = (rule: ReloadRuleName, what: string, field = "entries", change = ""): void =>
    ledger.reload(rule, `crt-list ${after.path}${what}`, () => ({
      section: after.path,
      field,
      change,
      object: object(),
    }));
  if (ledger.holds("crtLists", after.path) === false) return;
  const readable = before.blocks.every((block) => block.bytes.length === block.size);
  const old = readable ? parseCrtList(joinBlocks(before.blocks).toString("utf8")) : undefined;
  const now = parseCrtList(joinBlocks(after.blocks).toString("utf8"));
  if (old === undefined || now === undefined)
    return refuse("crt-list-lines", " changed in a way that cannot be compared");
  const grown = grownEntries(old, now);
  // An entry that only gained names counts as kept; the gain is added as one more entry of its certificate.
  const lineOf = (entry: CrtListEntry): string => grown.get(entry)?.line ?? entry.line;
  const oldLines = new Set(old.map((entry) => entry.line));
  const newLines = new Set(now.map(lineOf));
  const gone = old.filter((entry) => !newLines.has(entry.line));
  const added = now.filter((entry) => !oldLines.has(lineOf(entry)));
  const unchanged = old.length === now.length && old.every((entry, i) => entry.line === now[i]?.line);
  if (unchanged) return;
  const firstStays = old[0] !== undefined && now[0] !== undefined && old[0].line === lineOf(now[0]);
  if (!firstStays && (before.defaultFirst !== false || after.defaultFirst !== false))
    return refuse("crt-list-first", " changed its first entry", "entries[0]", changeOf(old[0]?.cert, now[0]?.cert));
  const keptOld = old.filter((entry) => newLines.has(entry.line));
  const keptNew = now.filter((entry) => oldLines.has(lineOf(entry)));
  if (
    keptOld.length !== keptNew.length ||
    keptOld.some((entry, i) => entry.line !== lineOf(keptNew[i] as CrtListEntry))
  ) {
    const moved = keptOld.findIndex((entry, i) => entry.line !== (keptNew[i] && lineOf(keptNew[i])));
    return refuse("crt-list-order", " changed its order", `entries, from ${keptOld[moved]?.cert ?? "the first"} on`);
  }
  const repeated = repeatedCerts(old);
  const certs = new Set(keptOld.map((entry) => entry.cert));
  const twice = repeatedCerts(now);
  const left = new Set(gone.map((entry) => entry.cert));
  for (const entry of [...gone, ...added]) {
    if (repeated.has(entry.cert) || certs.has(entry.cert) || (left.has(entry.cert) && twice.has(entry.cert)))
      return refuse(
        "crt-list-lines",
        ` changed an entry of ${entry.cert}, which it names several times`,
        `entry ${entry.cert}`,
      );
  }
  const obstacle = orderObstacle(now, new Set(added), grown, next);
  if (obstacle !== undefined) return refuse("crt-list-order", `: ${obstacle}`);
  for (const { cert } of added) {
    // Nothing named it when HAProxy started.
    if (ledger.holds("certs", cert) !== false) continue;
    if (next.files.get(cert)?.kind === "cert") ledger.load("cert", cert);
    else return refuse("crt-list-file", `: it names ${cert}, which HAProxy has not loaded`, `entry ${cert}`);
  }
  const long = [...added, ...grown.keys()].find((entry) => isTooLong(entry.line));
  if (long !== undefined)
    return refuse("entry-size", `: the entry of ${long.cert} has 12 KiB or more`, `entry ${long.cert}`);
  const add = (entry: CrtListEntry, filters: readonly string[]): Op => ({
    // Other options, or fewer names, of an entry that stays.
    kind: left.has(entry.cert) ? "crtlist_set" : "crtlist_add",
    path: after.path,
    cert: entry.cert,
    options: entry.options.map((option) => ({ name: option.name, args: [...option.args] })),
    sni_filters: [...filters],
  });
  const gains = [...grown].map(([entry, was]) => add(entry, gainedNames(entry, was)));
  ledger.add("crtAdd", [...gains, ...added.map((entry) => add(entry, entry.filters))]);
  ledger.add(
    "crtDel",
    gone
      .filter(({ cert }) => !added.some((entry) => entry.cert === cert))
      .map((entry): Op => ({ kind: "crtlist_del", path: after.path, cert: entry.cert })),
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
