/**
 * The worker's judge in the kill tests. It knows nothing of the agent's code: it asks HAProxy over its socket, and compares with
 * the sets that the test has shipped. Of the files a program of its own judges (test/unit/agent/cuts).
 */

export interface KnownSet {
  readonly planId: string;
  readonly files: Readonly<Record<string, string>>;
  /** Backend → server → port. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly entries: Readonly<Record<string, string>>;
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
