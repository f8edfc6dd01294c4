/**
 * Finds the HAProxy binary to work with, and brings one where none is there: `--haproxy`, `HAPTIC_HAPROXY`, PATH, the
 * user's cache folder, else bin/install-haproxy.sh into that folder (which changes nothing on the system).
 */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { HaproxyNotFoundError } from "../errors.ts";

export type HaproxySource = "flag" | "environment" | "path" | "cache" | "installed";

export interface LocatedHaproxy {
  /** Absolute path of the binary. */
  readonly path: string;
  /** As HAProxy says it: `3.4.7-1`. */
  readonly version: string;
  readonly source: HaproxySource;
}

export interface LocateOptions {
  /** Value of `--haproxy`: a path, or a version ("3.2") to take from the cache or install. */
  readonly wanted?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** False: only what is here is looked for, nothing is installed. Default true. */
  readonly install?: boolean;
  /** Hears one line before something slow is done. */
  readonly say: (line: string) => void;
}

/** Versions that the installer knows; the first is what HAPTIC prefers. */
export const installableVersions = ["3.4", "3.2", "3.0"] as const;
const OLDEST = [3, 0] as const;

/** `$XDG_CACHE_HOME/haptic` or `~/.cache/haptic`. */
export function cacheFolder(environment: LocateOptions["environment"]): string {
  return join(environment["XDG_CACHE_HOME"] ?? join(environment["HOME"] ?? homedir(), ".cache"), "haptic");
}

/** What `haproxy -v` says, or undefined when the file is no HAProxy that runs here. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["-v"], { timeout: 10_000 });
    return /^HAProxy version (\S+)/m.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The folder that holds bin/ and package.json: above src/haproxy in the repository, above dist in the package. */
function productFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

const notePrefix = "install-haproxy: note: ";

/** Runs the installer; gives what it failed of, and says its notes. */
function install(version: string, prefix: string, options: LocateOptions): Promise<string | undefined> {
  return new Promise((done) => {
    const script = join(productFolder(), "bin", "install-haproxy.sh");
    const child = spawn("bash", [script, version, prefix], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...options.environment },
    });
    const words: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => words.push(chunk));
    child.on("error", (error) => done(error.message));
    child.on("close", (code) => {
      const lines = Buffer.concat(words).toString("utf8").trim().split("\n");
      for (const line of lines) if (line.startsWith(notePrefix)) options.say(line.slice(notePrefix.length));
      done(code === 0 ? undefined : lines.at(-1) || `exit code ${code}`);
    });
  });
}

/** A version from the cache folder, installed there first where it is missing. */
async function fromCache(version: string, options: LocateOptions): Promise<LocatedHaproxy> {
  const prefix = join(cacheFolder(options.environment), `haproxy-${version}`);
  const path = join(prefix, "sbin", "haproxy");
  const cached = await versionOf(path);
  if (cached !== undefined) return { path, version: cached, source: "cache" };
  if (options.install === false)
    throw new HaproxyNotFoundError("there is no HAProxy on this machine", "name one with --haproxy or HAPTIC_HAPROXY");
  options.say(`no HAProxy ${version} here yet: installing it into ${prefix} (nothing else on the system changes)`);
  const problem = await install(version, prefix, options);
  const installed = await versionOf(path);
  if (installed !== undefined) return { path, version: installed, source: "installed" };
  throw new HaproxyNotFoundError(
    `HAProxy ${version} is not here and could not be installed: ${problem ?? `${path} does not run`}`,
    "install HAProxy 3.0 or newer and name it with --haproxy or HAPTIC_HAPROXY",
  );
}

async function named(path: string, source: "flag" | "environment", spelling: string): Promise<LocatedHaproxy> {
  const version = await versionOf(path);
  if (version === undefined) {
    throw new HaproxyNotFoundError(
      `${spelling}: ${path} is no HAProxy that runs here`,
      `name a binary${source === "flag" ? `, or one of the versions ${installableVersions.join(", ")}` : ""}`,
    );
  }
  if (!isSupported(version)) {
    throw new HaproxyNotFoundError(
      `${spelling}: ${path} is HAProxy ${version}`,
      "HAPTIC works with HAProxy 3.0 and newer",
    );
  }
  return { path, version, source };
}

/** Finds or installs HAProxy; a HaproxyNotFoundError says what was tried and what to do. */
export async function locateHaproxy(options: LocateOptions): Promise<LocatedHaproxy> {
  const { wanted, environment } = options;
  if (wanted !== undefined) {
    return (installableVersions as readonly string[]).includes(wanted)
      ? fromCache(wanted, options)
      : named(wanted, "flag", "--haproxy");
  }
  const fromEnvironment = environment["HAPTIC_HAPROXY"];
  if (fromEnvironment !== undefined && fromEnvironment !== "")
    return named(fromEnvironment, "environment", "HAPTIC_HAPROXY");
  for (const folder of (environment["PATH"] ?? "").split(delimiter)) {
    const path = join(folder || ".", "haproxy");
    const version = existsSync(path) ? await versionOf(path) : undefined;
    if (version !== undefined && isSupported(version)) return { path, version, source: "path" };
    if (version !== undefined) options.say(`${path} is HAProxy ${version}, older than 3.0: not used`);
  }
  return fromCache(installableVersions[0], options);
}
