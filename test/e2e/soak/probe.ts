/**
 * Loaded into controller and agents by the soak (`NODE_OPTIONS=--import`), not part of the product: answers on a unix socket
 * named after the process how much memory is left after a forced garbage collection, and how long the turns of its event
 * loop were, in processor time of their thread, so that other work on the machine does not count.
 */
import { createServer } from "node:net";
import { join } from "node:path";
import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Turn {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

export interface ProbeReport {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** The longest turns since the last report, longest first. */
  readonly longest: readonly Turn[];
}

const TICK_MS = 1;
/** Turns that are told, and the least processor time of one that is worth telling. */
const KEPT = 20;
const WORTH_MS = 5;

const folder = process.env["HAPTIC_SOAK_PROBES"];
if (folder !== undefined) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let longest: Turn[] = [];
  const cpuNow = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let cpuAt = cpuNow();
  let wallAt = performance.now();
  // A timer fires once in each turn at most: what the thread has worked since the last one is one long turn, or a few short ones.
  const ticks = setInterval(() => {
    const wall = performance.now();
    const cpu = cpuNow();
    const cpuMs = cpu - cpuAt;
    if (cpuMs >= WORTH_MS) {
      longest.push({ at: Date.now(), cpuMs, wallMs: wall - wallAt });
      if (longest.length > 4 * KEPT) longest = best();
    }
    wallAt = wall;
    cpuAt = cpu;
  }, TICK_MS);
  ticks.unref();
  const best = (): Turn[] => longest.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, KEPT);
  const report = (): ProbeReport => {
    const told = best();
    // The second collection takes what the finalizers of the first have let go.
    collect();
    collect();
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
    longest = [];
    // What this took is not the product's work.
    cpuAt = cpuNow();
    wallAt = performance.now();
    return { rss, heapUsed, external, arrayBuffers, longest: told };
  };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").once("data", (snapshot: string) => {
      const told = report();
      // A file name, where the heap itself is asked for.
      if (snapshot.startsWith("/")) writeHeapSnapshot(snapshot.trim());
      cpuAt = cpuNow();
      wallAt = performance.now();
      socket.end(JSON.stringify(told));
    });
  });
  server.listen(join(folder, `${process.pid}.sock`));
  server.unref();
}
