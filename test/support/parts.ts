/** Brings the real parts that tests need (HAProxy, a Kubernetes control plane) into the user's cache folder. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where parts are kept between runs, by version: `$XDG_CACHE_HOME/haptic` or `~/.cache/haptic`. */
export const cacheFolder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "haptic");

/** HAProxy versions the product supports; the first one is the default. */
export const haproxyVersions = ["3.4", "3.2", "3.0"] as const;

/** Path of a HAProxy binary for tests, or undefined where it could not be installed. */
export function testHaproxy(version: (typeof haproxyVersions)[number]): string | undefined {
  const binary = join(cacheFolder, `haproxy-${version}`, "sbin", "haproxy");
  return existsSync(binary) ? binary : undefined;
}

/** Layers whose tests use HAProxy. */
const withHaproxy: ReadonlySet<string> = new Set(["unit", "cluster", "e2e", "bench"]);

/** Installs what the layers need and the cache lacks; the lines say what was done or could not be. */
export function provideParts(layers: ReadonlySet<string>): Promise<string[]> {
  const lines: string[] = [];
  if ([...layers].some((layer) => withHaproxy.has(layer))) {
    for (const version of haproxyVersions) {
      if (testHaproxy(version) !== undefined) continue;
      const script = join(import.meta.dirname, "..", "..", "bin", "install-haproxy.sh");
      const { status, stderr } = spawnSync("bash", [script, version, join(cacheFolder, `haproxy-${version}`)], {
        encoding: "utf8",
      });
      lines.push(
        status === 0
          ? `installed HAProxy ${version}`
          : `HAProxy ${version} could not be installed: ${stderr.trim().split("\n").at(-1)}`,
      );
    }
  }
  return Promise.resolve(lines);
}
