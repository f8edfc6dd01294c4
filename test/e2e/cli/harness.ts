/** Runs the `haptic` command as a user does, in a folder with the files of a test. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../../..");

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "haptic-cli-"));

  write(files: Readonly<Record<string, string>>): this {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
    return this;
  }

  /** `haptic ARGUMENTS` with this folder as the working directory. */
  haptic(args: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return new Promise((done, fail) => {
      const child = spawn(process.execPath, [join(root, "bin/haptic.mjs"), ...args], {
        cwd: this.path,
        env: { ...process.env, ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
      let [out, err] = ["", ""];
      child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
      child.on("error", fail);
      child.on("close", (code) => done({ code, out, err }));
      child.stdin.end(input);
    });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
