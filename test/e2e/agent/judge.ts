/**
 * The judge of the kill tests. It knows nothing of the agent's code: it reads the files below `current`, asks HAProxy
 * over its socket, and compares both with the sets that the test has shipped.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface KnownSet {
  readonly planId: string;
  readonly files: Readonly<Record<string, string>>;
  /** Backend → server → port. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly entries: Readonly<Record<string, string>>;
}

/** Which of the sets the tree below `current` is; undefined = none: a mixture. */
export function treeIs(baseDir: string, sets: readonly KnownSet[]): string | undefined {
  const root = join(baseDir, "current");
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || entry.name === ".haptic-agent.json") continue;
    const path = join(entry.parentPath, entry.name);
    found[path.slice(root.length + 1)] = readFileSync(path, "utf8");
  }
  return sets.find((set) => same(set.files, found))?.planId;
}

function same(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** How the worker differs from a set; [] = it is that set. */
export async function workerDiffers(runtime: (line: string) => Promise<string>, set: KnownSet): Promise<string[]> {
  const differences: string[] = [];
  for (const [backend, servers] of Object.entries(set.servers)) {
    const held: Record<string, number> = {};
    for (const line of (await runtime(`show servers state ${backend}`)).split("\n")) {
      const words = line.split(" ");
      // In maintenance = taken out already, its removal is under way.
      if (!line.startsWith("#") && words.length > 18 && (Number(words[6]) & 1) === 0)
        held[words[3]!] = Number(words[18]);
    }
    if (JSON.stringify(Object.entries(held).toSorted()) !== JSON.stringify(Object.entries(servers).toSorted())) {
      differences.push(`${backend}: ${JSON.stringify(held)} instead of ${JSON.stringify(servers)}`);
    }
  }
  const shown = (await runtime("show map maps/host.map")).split("\n").filter((line) => line.startsWith("0x"));
  const entries = shown.map((line) => line.split(" ").slice(1).join(" ")).toSorted();
  const wanted = Object.entries(set.entries)
    .map(([key, value]) => `${key} ${value}`)
    .toSorted();
  if (JSON.stringify(entries) !== JSON.stringify(wanted))
    differences.push(`map: ${entries.length} entries instead of ${wanted.length}, or others`);
  return differences;
}
