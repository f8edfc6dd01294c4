/** Clocks that can be stepped for one process: a small library, preloaded, adds what a file says to the wall clock. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface Clocks {
  /** For the processes whose clocks shall be steppable. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the process's wall clock is off by so many seconds. */
  step(pid: number, seconds: number): void;
}

/** undefined where there is no C compiler. */
export function makeClocks(folder: string): Clocks | undefined {
  const library = join(folder, "clock.so");
  mkdirSync(folder, { recursive: true });
  const source = join(import.meta.dirname, "clock.c");
  if (spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source]).status !== 0) return undefined;
  return {
    environment: { LD_PRELOAD: library, HAPTIC_CLOCKS: folder },
    step(pid, seconds) {
      // A worker reads its master's file: it was forked, not started.
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1];
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds));
      for (const id of [pid, Number(parent)]) {
        let fd: number;
        try {
          fd = openSync(join(folder, String(id)), "r+");
        } catch {
          continue;
        }
        writeSync(fd, bytes);
        closeSync(fd);
      }
    },
  };
}
