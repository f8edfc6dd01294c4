/** What `haproxy -v` says. */
import { HaproxyBinaryError } from "../errors.ts";
import type { Spawner } from "./spawner.ts";

export interface HaproxyVersion {
  /** `3.4.7`. */
  readonly version: string;
  /** `3.4.7-1~bpo12+1`, as the binary prints it. */
  readonly fullVersion: string;
  readonly major: number;
  readonly minor: number;
}

/** Parses the first line of `haproxy -v`, e.g. `HAProxy version 3.4.7-1 2026/11/12 - https://haproxy.org/`. */
export function parseHaproxyVersion(output: string): HaproxyVersion | undefined {
  const match = /^HA-?Proxy version ((\d+)\.(\d+)(?:\.\d+|-dev\d+)?)(\S*)/m.exec(output);
  if (match === null) return undefined;
  return {
    version: match[1] as string,
    fullVersion: `${match[1]}${match[4]}`,
    major: Number(match[2]),
    minor: Number(match[3]),
  };
}

/** Asks a binary for its version. Throws HaproxyBinaryError. */
export async function haproxyVersion(binary: string, spawner: Spawner, signal: AbortSignal): Promise<HaproxyVersion> {
  const { code, output } = await spawner.run({ command: [binary, "-v"], cwd: "/", signal });
  const version = parseHaproxyVersion(output);
  if (code !== 0 || version === undefined) {
    throw new HaproxyBinaryError(`${binary} -v ended with ${code} and said ${JSON.stringify(output.slice(0, 200))}`);
  }
  return version;
}

/** Compares `major.minor.patch`; missing parts count as 0. */
export function compareVersions(a: string, b: string): number {
  const left = a.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  const right = b.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The lowest of a fleet; undefined for an empty one. */
export function lowestVersion(versions: Iterable<string>): string | undefined {
  let lowest: string | undefined;
  for (const version of versions) if (lowest === undefined || compareVersions(version, lowest) < 0) lowest = version;
  return lowest;
}
