/**
 * A folder that holds a plan's files as a pod would, for `haproxy -c`. It is kept between checks and only files that
 * differ are written again. On tmpfs where there is one, since it holds keys.
 */
import { accessSync, constants } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import type { Block, PlanFile } from "../plan/types.ts";
import { claimScratch } from "./scratch.ts";

const CONFIG = "haproxy.cfg";

/** `default-path origin DIR` of the global section, with its blanks. */
const ORIGIN = /^([ \t]*default-path[ \t]+origin[ \t]+)(\S+)/m;

export interface Mirror {
  readonly directory: string;
  readonly config: string;
  /** Makes the folder hold exactly these files. */
  update(files: Iterable<PlanFile>): Promise<void>;
  close(): Promise<void>;
}

/** Makes an empty mirror. `parent` = where (default: /dev/shm if it can be written, else the system's temporary folder). */
export async function createMirror(parent: string = defaultParent()): Promise<Mirror> {
  const scratch = await claimScratch(parent, "haptic-check-");
  const { directory } = scratch;
  const held = new Map<string, string>();

  const update = async (files: Iterable<PlanFile>): Promise<void> => {
    const wanted = new Set<string>();
    for (const file of files) {
      wanted.add(file.path);
      if (held.get(file.path) === file.digest) continue;
      held.delete(file.path);
      await write(directory, file);
      held.set(file.path, file.digest);
    }
    for (const path of held.keys()) {
      if (wanted.has(path)) continue;
      held.delete(path);
      await rm(inside(directory, path), { force: true });
    }
  };

  return {
    directory,
    config: join(directory, CONFIG),
    update,
    close: () => scratch.close(),
  };
}

function defaultParent(): string {
  try {
    accessSync("/dev/shm", constants.W_OK | constants.X_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

function inside(directory: string, path: string): string {
  const full = normalize(join(directory, path));
  if (!full.startsWith(`${directory}/`)) throw new Error(`path ${JSON.stringify(path)} leaves the folder`);
  return full;
}

async function write(directory: string, file: PlanFile): Promise<void> {
  const path = inside(directory, file.path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "w", 0o600);
  try {
    // At most 512 blocks a call: IOV_MAX is 1,024.
    const parts =
      file.path === CONFIG
        ? file.blocks.map((block) => rewriteOrigin(block, directory))
        : file.blocks.map((block) => block.bytes);
    for (let i = 0; i < parts.length; i += 512) {
      const batch = parts.slice(i, i + 512);
      const size = batch.reduce((sum, part) => sum + part.length, 0);
      const { bytesWritten } = await handle.writev(batch);
      if (bytesWritten !== size) throw new Error(`short write to ${path}`);
    }
  } finally {
    await handle.close();
  }
}

/** Blocks without the directive. A changed file has most of its blocks from before: only the others are searched. */
const plain = new WeakSet<Block>();

/** Points `default-path origin` at the mirror. Blocks end at line ends, so the line is never cut in two. */
function rewriteOrigin(block: Block, directory: string): Uint8Array {
  const { bytes } = block;
  if (plain.has(block)) return bytes;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.includes("default-path"))
    return Buffer.from(buffer.toString("utf8").replace(ORIGIN, (_all, head: string) => head + directory));
  plain.add(block);
  return bytes;
}
