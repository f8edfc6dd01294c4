/**
 * The files on disk. Each set is a folder of its own whose unchanged files are hard links; the link `current` names the
 * set in force, and turning it by one rename is the only way in which files change.
 *
 *     BASE/current -> .haptic/sets/12      BASE/haproxy.cfg, BASE/maps … -> current/…
 *     BASE/.haptic/{journal, lkg -> sets/9, sets/, staging/, plan}
 */
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { open, readFile, rm, writeFile, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentTreeError } from "../errors.ts";
import { sha256 } from "./blocks.ts";
import { decodeState, encodeState, snapshotOf, type HeldFile, type Model, type StateDocument } from "./model.ts";
import { discard, linkTarget, readLink, turnLink } from "./links.ts";
import { CURRENT_LINK, PRIVATE_DIR, STATE_FILE } from "./paths.ts";
import { proofOfFiles } from "./proofs.ts";

/** Links or small files made between two turns of the event loop. */
const SLICE = 128;
const COPY_BYTES = 512 * 1024;

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface TreeOptions {
  readonly baseDir: string;
  readonly now: () => number;
}

/** A set as it lies in its folder. */
export interface FoldedSet {
  /** Name below `sets/`. */
  readonly name: string;
  readonly seq: number;
  readonly planId: string;
  readonly foldedAt: number;
  readonly files: ReadonlyMap<string, HeldFile>;
}

export class Tree {
  readonly baseDir: string;
  readonly #now: () => number;
  #folded: FoldedSet | undefined;
  #lkg: { name: string; planId: string; proof: string } | undefined;
  /** Sets that were in force since HAProxy began to read; undefined while it does not. */
  #read: Set<string | undefined> | undefined;
  #counter = 0;
  #staged = 0;

  constructor(options: TreeOptions) {
    this.baseDir = options.baseDir;
    this.#now = options.now;
    for (const folder of ["sets", "staging"]) mkdirSync(this.#private(folder), { recursive: true, mode: 0o700 });
  }

  get folded(): FoldedSet | undefined {
    return this.#folded;
  }

  get lkgPlanId(): string {
    return this.#lkg?.planId ?? "";
  }

  get lkgProof(): string {
    return this.#lkg?.proof ?? "";
  }

  get lkgName(): string | undefined {
    return this.#lkg?.name;
  }

  get journalPath(): string {
    return this.#private("journal");
  }

  /** Where the opaque plan blob lies; its first line is the plan's id. */
  get planPath(): string {
    return this.#private("plan");
  }

  get currentDir(): string {
    return join(this.baseDir, CURRENT_LINK);
  }

  /** A fresh name in the same file system as the sets, for a body that streams to disk. */
  stagingPath(): string {
    this.#staged += 1;
    return this.#private("staging", String(this.#staged));
  }

  /**
   * Reads the set that `current` names, or the last known good one where that is gone, and hashes every block against the state
   * file. Returns undefined when there is none. `damaged` = paths whose files are not what the state file says. `strange` = the
   * files may be whole, but nobody knows of what time they are: a copied tree, or not the set that was in force.
   */
  async load(): Promise<{ model: Model; damaged: string[]; strange: boolean } | undefined> {
    rmSync(this.#private("staging"), { recursive: true, force: true });
    mkdirSync(this.#private("staging"), { recursive: true, mode: 0o700 });
    this.#counter = Math.max(0, ...readdirSync(this.#private("sets")).map((name) => Number(name) || 0));
    this.#lkg = undefined;
    const lkgName = readLink(this.#private("lkg"));
    if (lkgName !== undefined) {
      const document = readState(join(this.#private("sets"), lkgName));
      if (document !== undefined) this.#lkg = describeSet(lkgName, document.plan_id, decodeState(document).files);
    }
    let name = readLink(this.currentDir);
    let document = name === undefined ? undefined : readState(this.#setDir(name));
    const isLost = document === undefined && this.#lkg !== undefined;
    if (isLost) {
      name = this.#lkg!.name;
      document = readState(this.#setDir(name));
      turnLink(this.currentDir, join(PRIVATE_DIR, "sets", name));
    }
    if (name === undefined || document === undefined) return undefined;
    const model = decodeState(document);
    this.#folded = {
      name,
      seq: model.seq,
      planId: model.planId,
      foldedAt: document.folded_at,
      files: new Map(model.files),
    };
    this.#prune(model.former);
    const isCopied = document.folder !== undefined && document.folder !== statSync(this.#setDir(name)).ino;
    return { model, damaged: await this.damaged(), strange: isLost || isCopied };
  }

  /** Hashes the folded files; the paths of those that are not what the state file says. */
  async damaged(): Promise<string[]> {
    const folded = this.#folded;
    const found: string[] = [];
    for (const file of folded?.files.values() ?? []) {
      const bytes = await readFile(join(this.#setDir(folded!.name), file.path)).catch(() => undefined);
      if (bytes === undefined || !isContent(file, bytes)) found.push(file.path);
    }
    return found;
  }

  /** True when every folded block is what the state file says. */
  async verify(): Promise<boolean> {
    return this.#folded !== undefined && (await this.damaged()).length === 0;
  }

  /** These folded files are not what they were: none of their content is used again. */
  forget(paths: readonly string[]): void {
    if (this.#folded === undefined) return;
    const files = new Map(this.#folded.files);
    for (const path of paths) files.delete(path);
    this.#folded = { ...this.#folded, files };
  }

  /** Writes the model as a new set and turns `current` to it. The journal's records up to `model.seq` are then spare. */
  async fold(model: Model): Promise<FoldedSet> {
    const snapshot = snapshotOf(model);
    this.#counter += 1;
    const name = String(this.#counter);
    const foldedAt = Math.round(this.#now() * 1000);
    try {
      await this.#writeSet(name, snapshot, foldedAt);
      this.#linkTopLevel(snapshot.files.keys());
      turnLink(this.currentDir, join(PRIVATE_DIR, "sets", name));
    } catch (error) {
      // What a full disk left of it would take the room that the next attempt needs.
      if (this.#isSpare(name)) discard(this.#setDir(name));
      throw error;
    }
    this.#folded = { name, seq: snapshot.seq, planId: snapshot.planId, foldedAt, files: snapshot.files };
    this.#read?.add(name);
    for (const file of snapshot.files.values()) {
      for (const block of file.blocks) if (block.bytes !== undefined) delete block.bytes;
      if (file.staged !== undefined) {
        discard(file.staged);
        delete file.staged;
      }
    }
    // The set is in force: what follows is tidying, which the next fold does if this one cannot.
    try {
      this.#unlinkTopLevel(snapshot.files.keys());
      this.#prune(snapshot.former);
    } catch {
      // A file system that fails.
    }
    return this.#folded;
  }

  /** No link leads to the set: not even one that was turned although the file system said that it was not. */
  #isSpare(name: string): boolean {
    try {
      return ![this.currentDir, this.#private("lkg")].some((link) => linkTarget(link)?.split("/").at(-1) === name);
    } catch {
      return false;
    }
  }

  async #writeSet(name: string, snapshot: Model, foldedAt: number): Promise<void> {
    const base = this.#folded;
    const dir = this.#setDir(name);
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true, mode: 0o755 });
    const made = new Set<string>([dir]);
    let turn = 0;
    for (const file of snapshot.files.values()) {
      const target = join(dir, file.path);
      const folder = dirname(target);
      if (!made.has(folder)) {
        mkdirSync(folder, { recursive: true, mode: 0o755 });
        made.add(folder);
      }
      const before = base?.files.get(file.path);
      if (base !== undefined && before?.digest === file.digest && before.size === file.size) {
        linkSync(join(this.#setDir(base.name), file.path), target);
      } else if (file.staged !== undefined) {
        linkSync(file.staged, target);
      } else {
        await this.#compose(target, file, base, before);
      }
      turn += 1;
      if (turn % SLICE === 0) await breathe();
    }
    const text = encodeState(snapshot, foldedAt, statSync(dir).ino);
    await writeFile(join(dir, STATE_FILE), text, { mode: 0o600 });
  }

  /** The set of another folder as it was recorded there (for roll back and last known good). */
  readSet(name: string): { model: Model; source: string } {
    const document = readState(this.#setDir(name));
    if (document === undefined) throw new AgentTreeError(`the set ${name} cannot be read`);
    return { model: decodeState(document), source: this.#setDir(name) };
  }

  /** Files of another set, ready to be folded: their content is linked from its folder. */
  filesOf(name: string): Map<string, HeldFile> {
    const { model, source } = this.readSet(name);
    const files = new Map<string, HeldFile>();
    for (const [path, file] of model.files) {
      const same = this.#folded?.files.get(path);
      if (same?.digest === file.digest) {
        files.set(path, file);
        continue;
      }
      const staged = this.stagingPath();
      linkSync(join(source, path), staged);
      files.set(path, { ...file, staged });
    }
    return files;
  }

  /** The folded set becomes the last known good one. */
  promote(): void {
    if (this.#folded === undefined) throw new AgentTreeError("there is no set to promote");
    turnLink(this.#private("lkg"), join("sets", this.#folded.name));
    const { name, planId, files } = this.#folded;
    this.#lkg = describeSet(name, planId, files);
  }

  /** HAProxy reads the set in force while `work` runs: its folder stays until the next fold, whatever is folded meanwhile. */
  async whileRead<T>(work: () => Promise<T>): Promise<T> {
    this.#read = new Set([this.#folded?.name]);
    try {
      return await work();
    } finally {
      this.#read = undefined;
    }
  }

  /** The whole content of a held file, folded or not. A fold moves it: what was read across one is read again. */
  async content(file: HeldFile): Promise<Buffer> {
    for (;;) {
      const base = this.#folded;
      try {
        const content = await this.#contentIn(base, file);
        if (content !== undefined) return content;
      } catch (error) {
        if (this.#folded === base) throw error;
      }
    }
  }

  /** undefined = `base` is not in force any more. */
  async #contentIn(base: FoldedSet | undefined, file: HeldFile): Promise<Buffer | undefined> {
    if (file.staged !== undefined) return readFile(file.staged);
    if (file.blocks.every((block) => block.bytes !== undefined))
      return Buffer.concat(file.blocks.map((block) => block.bytes as Uint8Array));
    const bytes = base === undefined ? Buffer.alloc(0) : await readFile(join(this.#setDir(base.name), file.path));
    if (this.#folded !== base) return undefined;
    const offsets = offsetsOf(base?.files.get(file.path));
    return Buffer.concat(
      file.blocks.map((block) => {
        if (block.bytes !== undefined) return block.bytes;
        const start = offsetIn(offsets, block, file);
        return bytes.subarray(start, start + block.size);
      }),
    );
  }

  async #compose(
    target: string,
    file: HeldFile,
    base: FoldedSet | undefined,
    before: HeldFile | undefined,
  ): Promise<void> {
    const offsets = offsetsOf(before);
    const source =
      base !== undefined && before !== undefined && file.blocks.some((block) => block.bytes === undefined)
        ? await open(join(this.#setDir(base.name), file.path))
        : undefined;
    let out: FileHandle | undefined;
    try {
      out = await open(target, "w", file.kind === "cert" ? 0o600 : 0o644);
      for (let i = 0; i < file.blocks.length;) {
        const block = file.blocks[i]!;
        if (block.bytes !== undefined) {
          await writeAll(out, block.bytes);
          i += 1;
          continue;
        }
        if (source === undefined) throw new AgentTreeError(`the content of ${file.path} is lost`);
        const start = offsetIn(offsets, block, file);
        let size = 0;
        for (; i < file.blocks.length && size < COPY_BYTES; i++) {
          const next = file.blocks[i]!;
          if (next.bytes !== undefined || offsets.get(next.digest) !== start + size) break;
          size += next.size;
        }
        // Two equal blocks have one offset: the run above may end at its first block.
        if (size === 0) {
          size = block.size;
          i += 1;
        }
        const buffer = Buffer.allocUnsafe(size);
        const { bytesRead } = await source.read(buffer, 0, size, start);
        if (bytesRead !== size) throw new AgentTreeError(`${file.path} is shorter than it was`);
        await writeAll(out, buffer);
      }
    } finally {
      await source?.close();
      await out?.close();
    }
  }

  /** `BASE/haproxy.cfg`, `BASE/maps` and so on lead into the current set, for configurations with absolute paths. */
  #linkTopLevel(paths: Iterable<string>): void {
    for (const name of topLevel(paths)) {
      const place = join(this.baseDir, name);
      const stat = lstatSync(place, { throwIfNoEntry: false });
      if (stat === undefined) symlinkSync(join(CURRENT_LINK, name), place);
    }
  }

  #unlinkTopLevel(paths: Iterable<string>): void {
    const wanted = topLevel(paths);
    for (const entry of readdirSync(this.baseDir, { withFileTypes: true })) {
      if (!entry.isSymbolicLink() || wanted.has(entry.name) || entry.name === STATE_FILE) continue;
      const place = join(this.baseDir, entry.name);
      if (readlinkSync(place) === join(CURRENT_LINK, entry.name)) rmSync(place, { force: true });
    }
  }

  /** Deletes the sets that are neither in force, nor last known good, nor what an owed reload may return to, nor being read. */
  #prune(former: string | null): void {
    const keep = new Set([this.#folded?.name, this.#lkg?.name, former, ...(this.#read ?? [])]);
    for (const name of readdirSync(this.#private("sets"))) {
      if (!keep.has(name)) void rm(this.#setDir(name), { recursive: true, force: true }).catch(() => undefined);
    }
  }

  #setDir(name: string): string {
    return this.#private("sets", name);
  }

  #private(...parts: string[]): string {
    return join(this.baseDir, PRIVATE_DIR, ...parts);
  }
}

function describeSet(
  name: string,
  planId: string,
  files: ReadonlyMap<string, HeldFile>,
): { name: string; planId: string; proof: string } {
  return { name, planId, proof: proofOfFiles(files.values()) };
}

/** First components of paths. */
function topLevel(paths: Iterable<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const path of paths) names.add(path.split("/", 1)[0]!);
  return names;
}

/** One write may take a part only, as where the disk is nearly full; the next one then says why. */
async function writeAll(out: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await out.write(bytes, at, bytes.length - at)).bytesWritten;
}

function isContent(file: HeldFile, bytes: Uint8Array): boolean {
  if (bytes.length !== file.size) return false;
  let at = 0;
  return file.blocks.every((block) => {
    at += block.size;
    return sha256(bytes.subarray(at - block.size, at)) === block.digest;
  });
}

function offsetsOf(file: HeldFile | undefined): Map<string, number> {
  const offsets = new Map<string, number>();
  let at = 0;
  for (const block of file?.blocks ?? []) {
    if (!offsets.has(block.digest)) offsets.set(block.digest, at);
    at += block.size;
  }
  return offsets;
}

function offsetIn(offsets: ReadonlyMap<string, number>, block: { digest: string }, file: HeldFile): number {
  const offset = offsets.get(block.digest);
  if (offset === undefined) throw new AgentTreeError(`a block of ${file.path} is lost`);
  return offset;
}

function readState(dir: string): StateDocument | undefined {
  try {
    const document = JSON.parse(readFileSync(join(dir, STATE_FILE), "utf8")) as StateDocument;
    return document.format === 1 ? document : undefined;
  } catch {
    return undefined;
  }
}
