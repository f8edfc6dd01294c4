/** From a manifest and its parts to verified changes: every digest of what is new, and every file's root. */
import { readFile } from "node:fs/promises";
import { AgentRequestError } from "../errors.ts";
import { totalSize } from "../plan/index.ts";
import type { BlockRef, Manifest, ManifestFile } from "./api.ts";
import { rootDigest, sha256 } from "./blocks.ts";
import type { JournalFile } from "./journal.ts";
import { spliceBlocks, type HeldBlock, type HeldFile } from "./model.ts";
import { checkPathSet } from "./paths.ts";

/** A body part: in memory when small, else a staged file. */
export type Part = { readonly size: number; readonly bytes: Buffer } | { readonly size: number; readonly path: string };

export interface StagedSet {
  /** New or changed files; null = removed. */
  readonly changes: Map<string, HeldFile | null>;
  readonly journal: JournalFile[];
  /** The bytes for the journal, in its order. */
  readonly blocks: Uint8Array[];
  readonly removed: string[];
  /** Some content lies in staged files, or is too much for the journal: fold before anything is operated. */
  readonly large: boolean;
}

export type StagingOutcome =
  | { readonly ok: true; readonly set: StagedSet }
  | { readonly ok: false; readonly missing: string[] };

/** More than this goes to the files at once instead of through the journal, in bytes. */
const JOURNAL_LIMIT = 1024 * 1024;

/** @throws AgentRequestError when a digest or size is not what the manifest says. */
export async function stage(
  files: ReadonlyMap<string, HeldFile>,
  manifest: Manifest,
  parts: ReadonlyMap<string, Part>,
): Promise<StagingOutcome> {
  const changes = new Map<string, HeldFile | null>();
  const journal: JournalFile[] = [];
  const blocks: Uint8Array[] = [];
  const missing: string[] = [];
  let large = false;
  for (const wanted of manifest.files ?? manifest.changed ?? []) {
    const held = files.get(wanted.path);
    const part = parts.get(wanted.path);
    if (held?.digest === wanted.digest && held.size === wanted.size) {
      if (held.kind !== wanted.kind || held.reload_on_change !== wanted.reload_on_change) {
        changes.set(wanted.path, { ...held, kind: wanted.kind, reload_on_change: wanted.reload_on_change });
        journal.push(journalFile(wanted, held.digest, []));
      }
      continue;
    }
    const staged = await stageFile(held, wanted, part);
    if (staged === undefined) {
      missing.push(wanted.path);
      continue;
    }
    changes.set(wanted.path, staged.file);
    journal.push(staged.journal);
    blocks.push(...staged.blocks);
    large ||= staged.file.staged !== undefined;
  }
  if (missing.length > 0) return { ok: false, missing };
  const removed = removals(files, manifest);
  for (const path of removed) changes.set(path, null);
  // The manifest's own paths were judged together; those of a difference have to fit the held ones too.
  if (manifest.files === undefined && [...changes.keys()].some((path) => !files.has(path)))
    checkPathSet([...files.keys(), ...changes.keys()].filter((path) => changes.get(path) !== null));
  large ||= blocks.reduce((sum, block) => sum + block.length, 0) > JOURNAL_LIMIT;
  return { ok: true, set: { changes, journal, blocks, removed, large } };
}

function removals(files: ReadonlyMap<string, HeldFile>, manifest: Manifest): string[] {
  if (manifest.files === undefined) return (manifest.removed ?? []).filter((path) => files.has(path));
  const wanted = new Set(manifest.files.map((file) => file.path));
  return [...files.keys()].filter((path) => !wanted.has(path));
}

interface StagedFile {
  readonly file: HeldFile;
  readonly journal: JournalFile;
  readonly blocks: Uint8Array[];
}

async function stageFile(
  held: HeldFile | undefined,
  wanted: ManifestFile,
  part: Part | undefined,
): Promise<StagedFile | undefined> {
  if (wanted.patch !== undefined) {
    if (held === undefined || held.digest !== wanted.patch.base_digest || part === undefined) return undefined;
    return patchFile(held, wanted, wanted.patch.splices, await bytesOf(part));
  }
  if (part === undefined) return undefined;
  const refs = wanted.blocks ?? [{ digest: sha256(await bytesOf(part)), size: part.size }];
  checkRoot(wanted, refs);
  const bytes = await bytesOf(part);
  const inserted = cut(wanted.path, bytes, refs);
  const keep = "bytes" in part;
  const blocks = refs.map((ref, i): HeldBlock =>
    keep ? { ...ref, bytes: inserted[i]! } : { digest: ref.digest, size: ref.size },
  );
  const file = heldFile(wanted, blocks);
  if (!keep) file.staged = part.path;
  const splices = [{ index: 0, remove: held?.blocks.length ?? 0, insert: refs.map(pair) }];
  return { file, journal: journalFile(wanted, held?.digest ?? "", splices), blocks: keep ? inserted : [] };
}

function patchFile(
  held: HeldFile,
  wanted: ManifestFile,
  splices: NonNullable<ManifestFile["patch"]>["splices"],
  bytes: Buffer,
): StagedFile {
  const refs = splices.flatMap((splice) => splice.insert);
  const inserted = cut(wanted.path, bytes, refs);
  const content = inserted.values();
  const next = spliceBlocks<HeldBlock>(
    held.blocks,
    splices.map((splice) => ({
      ...splice,
      insert: splice.insert.map((ref) => ({ digest: ref.digest, size: ref.size, bytes: content.next().value! })),
    })),
  );
  if (next === undefined)
    throw new AgentRequestError(
      `patch of ${wanted.path}: its splices do not fit the base's ${held.blocks.length} blocks`,
    );
  checkRoot(wanted, next, held.blocks);
  const file = heldFile(wanted, next);
  const journalSplices = splices.map((splice) => ({
    index: splice.index,
    remove: splice.remove,
    insert: splice.insert.map(pair),
  }));
  return { file, journal: journalFile(wanted, held.digest, journalSplices), blocks: inserted };
}

function heldFile(wanted: ManifestFile, blocks: readonly HeldBlock[]): HeldFile {
  return {
    path: wanted.path,
    kind: wanted.kind,
    reload_on_change: wanted.reload_on_change,
    digest: wanted.digest,
    size: wanted.size,
    blocks,
  };
}

function journalFile(wanted: ManifestFile, prev: string, splices: JournalFile["splices"]): JournalFile {
  return {
    path: wanted.path,
    kind: wanted.kind,
    reload_on_change: wanted.reload_on_change,
    digest: wanted.digest,
    prev,
    splices,
  };
}

const pair = (ref: BlockRef): readonly [string, number] => [ref.digest, ref.size];

function checkRoot(wanted: ManifestFile, blocks: readonly BlockRef[], before: readonly BlockRef[] = []): void {
  if (rootDigest(blocks, before) !== wanted.digest)
    throw new AgentRequestError(`${wanted.path}: its blocks do not have the digest ${wanted.digest}`);
  if (totalSize(blocks) !== wanted.size)
    throw new AgentRequestError(`${wanted.path}: its blocks are not ${wanted.size} bytes`);
}

/** Cuts a part into its blocks and verifies each. */
function cut(path: string, bytes: Buffer, refs: readonly BlockRef[]): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  let at = 0;
  for (const ref of refs) {
    const block = bytes.subarray(at, at + ref.size);
    if (block.length !== ref.size) throw new AgentRequestError(`${path}: its part is shorter than its blocks`);
    if (sha256(block) !== ref.digest)
      throw new AgentRequestError(`${path}: a block does not have the digest ${ref.digest}`);
    blocks.push(block);
    at += ref.size;
  }
  if (at !== bytes.length) throw new AgentRequestError(`${path}: its part is longer than its blocks`);
  return blocks;
}

function bytesOf(part: Part): Buffer | Promise<Buffer> {
  return "bytes" in part ? part.bytes : readFile(part.path);
}
