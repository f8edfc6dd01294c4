/** An HTTP/3 client for tests: Python's aioquic, in an environment of its own in the user's cache folder. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "./index.ts";

const run = promisify(execFile);
const VERSION = "1.7.2";
const LIMIT_MS = 120_000;

/** The interpreter that has it, or undefined where it could not be installed. */
export function aioquicPython(): string | undefined {
  const python = join(cacheFolder("aioquic", VERSION), "bin", "python");
  return existsSync(python) ? python : undefined;
}

/** Why tests that need it are skipped, or undefined where it is there. */
export const missingAioquic = (): string | undefined =>
  aioquicPython() === undefined ? "needs Python 3.10 or newer with venv, and its package aioquic" : undefined;

/** Installs it unless it is there; says why it could not. */
export async function provideAioquic(say: (line: string) => void): Promise<void> {
  if (aioquicPython() !== undefined) return;
  const folder = cacheFolder("aioquic", VERSION);
  const making = `${folder}.${process.pid}`;
  try {
    await run("python3", ["-m", "venv", making], { timeout: LIMIT_MS });
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `aioquic==${VERSION}`];
    await run(join(making, "bin", "python"), install, { timeout: LIMIT_MS });
    // The interpreter is found by its own path: nothing in it but its scripts names the folder.
    await rename(making, folder);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    say(`tests with HTTP/3 are skipped: ${reason}`);
  }
}
