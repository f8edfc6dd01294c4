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

type Runtime = (line: string) => Promise<string>;
const ordered = (names: Readonly<Record<string, unknown>>): string => JSON.stringify(Object.entries(names).toSorted());

/** Servers of a backend that are not in maintenance: those are taken out already, their removal is under way. */
async function serversHeld<T>(
  runtime: Runtime,
  backend: string,
  of: (address: string, port: string) => T,
): Promise<Readonly<Record<string, T>>> {
  const held: Record<string, T> = {};
  for (const line of (await runtime(`show servers state ${backend}`)).split("\n")) {
    const words = line.split(" ");
    if (!line.startsWith("#") && words.length > 18 && (Number(words[6]) & 1) === 0)
      held[words[3]!] = of(words[4]!, words[18]!);
  }
  return held;
}

async function mapHeld(runtime: Runtime, path: string): Promise<readonly string[]> {
  const shown = (await runtime(`show map ${path}`)).split("\n").filter((line) => line.startsWith("0x"));
  return shown.map((line) => line.split(" ").slice(1).join(" ")).toSorted();
}

/** How the worker differs from a set; [] = it is that set. */
export async function workerDiffers(runtime: Runtime, set: KnownSet): Promise<string[]> {
  const differences: string[] = [];
  for (const [backend, servers] of Object.entries(set.servers)) {
    const held = await serversHeld(runtime, backend, (_, port) => Number(port));
    if (ordered(held) !== ordered(servers))
      differences.push(`${backend}: ${JSON.stringify(held)} instead of ${JSON.stringify(servers)}`);
  }
  const entries = await mapHeld(runtime, "maps/host.map");
  const wanted = Object.entries(set.entries)
    .map(([key, value]) => `${key} ${value}`)
    .toSorted();
  if (JSON.stringify(entries) !== JSON.stringify(wanted))
    differences.push(`map: ${entries.length} entries instead of ${wanted.length}, or others`);
  return differences;
}

/** How the worker differs from the files of a set, whoever has made them: its servers and the entries of its maps; [] = it runs them. */
export async function workerDiffersFromFiles(
  runtime: Runtime,
  files: Readonly<Record<string, string>>,
): Promise<string[]> {
  const differences: string[] = [];
  const backends = new Map<string, Record<string, string>>();
  let servers: Record<string, string> | undefined;
  for (const line of (files["haproxy.cfg"] ?? "").split("\n")) {
    const [word = "", name = "", address = ""] = line.trim().split(/\s+/);
    if (/^\S/.test(line)) {
      servers = word === "backend" ? {} : undefined;
      if (servers !== undefined) backends.set(name, servers);
    } else if (word === "server" && servers !== undefined && !/ disabled( |$)/.test(line)) servers[name] = address;
  }
  for (const [backend, wanted] of backends) {
    const held = await serversHeld(runtime, backend, (address, port) => `${address}:${port}`);
    if (ordered(held) !== ordered(wanted))
      differences.push(`${backend}: ${JSON.stringify(held)} instead of ${JSON.stringify(wanted)}`);
  }
  for (const [path, content] of Object.entries(files)) {
    if (!path.startsWith("maps/")) continue;
    const entries = await mapHeld(runtime, path);
    const wanted = content
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .toSorted();
    if (JSON.stringify(entries) !== JSON.stringify(wanted))
      differences.push(`${path}: ${JSON.stringify(entries)} instead of ${JSON.stringify(wanted)}`);
  }
  return differences;
}
