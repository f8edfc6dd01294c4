/** Brings the real parts that tests need (HAProxy, a Kubernetes control plane) into the user's cache folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, installableVersions, locateHaproxy } from "../../src/haproxy/index.ts";
import { provideAioquic } from "../parts/aioquic.ts";
import { realKubectl } from "../parts/index.ts";
import { provideNode } from "../parts/real-node.ts";
import { missingRoot } from "./skip.ts";

export type HaproxyVersion = (typeof installableVersions)[number];

/** Path of a HAProxy binary for tests, or undefined where it could not be installed (`needing` says so). */
export function testHaproxy(version: HaproxyVersion): string | undefined {
  const binary = join(cacheFolder(process.env), `haproxy-${version}`, "sbin", "haproxy");
  return existsSync(binary) ? binary : undefined;
}

/** Why tests with that HAProxy are skipped, or undefined where it is there. */
export const missingHaproxy = (version: HaproxyVersion): string | undefined =>
  testHaproxy(version) === undefined ? `needs HAProxy ${version}, which could not be installed here` : undefined;

/** Layers whose tests use HAProxy, and those that use a real Kubernetes control plane. */
const withHaproxy: ReadonlySet<string> = new Set(["unit", "cluster", "e2e", "bench", "browser"]);
const withKubernetes: ReadonlySet<string> = new Set(["cluster", "e2e"]);

/** Brings what the layers need and the cache lacks; `say` hears what is done or could not be. */
export async function provideParts(layers: ReadonlySet<string>, say: (line: string) => void): Promise<void> {
  if ([...layers].some((layer) => withHaproxy.has(layer))) await provideHaproxy(say);
  // A plane of one's own needs a network namespace; without root nothing would use what takes minutes to build.
  if ([...layers].some((layer) => withKubernetes.has(layer)) && missingRoot() === undefined) {
    const kubectl = await realKubectl();
    if (typeof kubectl !== "string") say(`tests with a real API server are skipped: ${kubectl.reason}`);
  }
  // The install tests say themselves why they are skipped.
  if (layers.has("e2e")) await provideNode();
  if (layers.has("e2e")) await provideAioquic(say);
}

async function provideHaproxy(say: (line: string) => void): Promise<void> {
  for (const version of installableVersions) {
    if (testHaproxy(version) !== undefined) continue;
    try {
      await locateHaproxy({ wanted: version, environment: process.env, say });
    } catch (error) {
      say(`tests with HAProxy ${version} are skipped: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
