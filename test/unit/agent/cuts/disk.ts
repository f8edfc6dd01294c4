/**
 * A disk that ends or fails at a chosen call: stands between the agent's write layer and node:fs. A cut is what a kill or a
 * loss of power is to the files: the call under way is done, half done or not begun, and none comes after it. An error is
 * what a full, broken or read-only file system answers, to one call or to all for a while.
 */
import fs, { type MakeDirectoryOptions, type RmOptions } from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { whole } from "../../../support/random.ts";

export type ErrorCode = "ENOSPC" | "EIO" | "EROFS";

export type Plan =
  | { readonly kind: "cut"; readonly at: number }
  | {
      readonly kind: "error";
      readonly at: number;
      readonly code: ErrorCode;
      /** So many calls fail. */
      readonly count: number;
      /** Only calls of this name count and fail (`rename`). */
      readonly only?: string;
    };

/** What a call throws after the cut: nobody is there any more who could catch it. */
class Cut extends Error {}

const original = { ...fs };
const originalPromises = { ...promises };

export class Disk {
  /** Changing calls since the last plan. */
  calls = 0;
  /** A planned fault has happened. */
  struck = false;
  readonly #random: () => number;
  #plan: Plan | undefined;
  #dead = false;
  #failing = 0;
  #replaced: { sync: string[]; async: string[] } = { sync: [], async: [] };

  constructor(random: () => number) {
    this.#random = random;
    this.#install();
  }

  plan(plan: Plan | undefined): void {
    this.#plan = plan;
    this.calls = 0;
    this.struck = false;
    this.#dead = false;
    this.#failing = 0;
  }

  remove(): void {
    for (const name of this.#replaced.sync) Object.assign(fs, { [name]: original[name as keyof typeof original] });
    for (const name of this.#replaced.async)
      Object.assign(promises, { [name]: originalPromises[name as keyof typeof originalPromises] });
    syncBuiltinESMExports();
  }

  /** `half` does a part of the call; undefined = it is done or not. Returns whether the call shall go on. */
  #before(name: string, half?: () => void): void {
    if (this.#dead) throw new Cut("the process is gone");
    const plan = this.#plan;
    if (plan === undefined || (plan.kind === "error" && plan.only !== undefined && plan.only !== name)) return;
    this.calls += 1;
    if (plan.kind === "error") {
      if (this.calls === plan.at) this.#failing = plan.count;
      if (this.#failing === 0 || !hits(plan.code, name)) return;
      this.#failing -= 1;
      this.struck = true;
      // A write may have got a part of its way.
      if (plan.code !== "EROFS" && this.#random() < 0.5) half?.();
      throw Object.assign(new Error(`${plan.code}: injected, ${name}`), { code: plan.code });
    }
    if (this.calls !== plan.at) return;
    this.#dead = true;
    this.struck = true;
    half?.();
    throw new Cut(`cut at ${name}`);
  }

  /** A call that is done as a whole or not at all. */
  #atomic<T>(name: string, call: () => T): T {
    this.#before(name, this.#random() < 0.5 ? () => void call() : undefined);
    return call();
  }

  #part(length: number): number {
    return whole(this.#random, length + 1);
  }

  #install(): void {
    const sync = {
      linkSync: (from: string, to: string) => this.#atomic("link", () => original.linkSync(from, to)),
      symlinkSync: (to: string, path: string) => this.#atomic("symlink", () => original.symlinkSync(to, path)),
      renameSync: (from: string, to: string) => this.#atomic("rename", () => original.renameSync(from, to)),
      ftruncateSync: (fd: number, length: number) => this.#atomic("truncate", () => original.ftruncateSync(fd, length)),
      mkdirSync: (path: string, options: MakeDirectoryOptions) =>
        this.#atomic("mkdir", () => original.mkdirSync(path, options)),
      openSync: (path: string, flags: string, mode: number) =>
        this.#atomic("open", () => original.openSync(path, flags, mode)),
      writeSync: (fd: number, bytes: Buffer, at: number) => {
        const half = (): void => void original.writeSync(fd, bytes, at, this.#part(bytes.length - at));
        this.#before("write", half);
        return original.writeSync(fd, bytes, at);
      },
      rmSync: (path: string, options: RmOptions) => {
        this.#before("rm", () => this.#removeSome(path));
        original.rmSync(path, options);
      },
    };
    const async = {
      rename: async (from: string, to: string) => this.#atomic("rename", () => original.renameSync(from, to)),
      writeFile: async (path: string, data: string | Uint8Array, options: { mode: number }) => {
        const bytes = Buffer.from(data as Uint8Array);
        const half = (): void => original.writeFileSync(path, bytes.subarray(0, this.#part(bytes.length)), options);
        this.#before("write", half);
        original.writeFileSync(path, bytes, options);
      },
      rm: async (path: string, options: RmOptions) => {
        this.#before("rm", () => this.#removeSome(path));
        original.rmSync(path, options);
      },
      open: async (path: string, flags?: string, mode?: number) => {
        if (flags === undefined) return originalPromises.open(path);
        this.#before("open", this.#random() < 0.5 ? () => original.writeFileSync(path, "", { mode }) : undefined);
        const handle = await originalPromises.open(path, flags, mode);
        return this.#guarded(handle);
      },
    };
    this.#replaced = { sync: Object.keys(sync), async: Object.keys(async) };
    Object.assign(fs, sync);
    Object.assign(promises, async);
    syncBuiltinESMExports();
  }

  #guarded(handle: FileHandle): FileHandle {
    const write = handle.write.bind(handle) as (b: Uint8Array, at: number, size: number) => Promise<unknown>;
    const guarded = async (bytes: Uint8Array, at = 0, size = bytes.length - at): Promise<unknown> => {
      this.#before("write", () => void original.writeSync(handle.fd, bytes, at, this.#part(size)));
      return write(bytes, at, size);
    };
    return Object.assign(handle, { write: guarded });
  }

  /** A part of a folder's removal. */
  #removeSome(path: string): void {
    const stat = original.lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (!stat.isDirectory()) {
      if (this.#random() < 0.5) original.rmSync(path);
      return;
    }
    const names = original.readdirSync(path, { recursive: true }) as string[];
    for (const name of names.slice(0, this.#part(names.length)))
      original.rmSync(join(path, name), { recursive: true, force: true });
  }
}

/** Which calls an error code can be the answer of: a full disk still lets go. */
function hits(code: ErrorCode, name: string): boolean {
  return code !== "ENOSPC" || !["rm", "truncate"].includes(name);
}
