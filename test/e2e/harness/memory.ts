/** Memory of a HAProxy pod: its agent and HAProxy with every worker, old ones too. */
import { readFileSync, readdirSync } from "node:fs";
import type { PodKeeper } from "./pods.ts";

export interface PodMemory {
  /** Bytes; shared pages count in each process. */
  readonly rss: number;
  /** Bytes; a shared page counts once among those who share it. What a container's limit counts lies between, nearer to this. */
  readonly pss: number;
  readonly agentRss: number;
  /** HAProxy's processes, the master first; bytes. */
  readonly haproxyRss: readonly number[];
}

function descendants(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap((child) => descendants(child))];
  } catch {
    return [];
  }
}

/** Kilobytes of a field of the process's totals; 0 when it has just ended. */
function read(pid: number, field: "Rss" | "Pss"): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

export function podMemory({ pod }: PodKeeper): PodMemory {
  const agent = descendants(pod.pid("agent") ?? 0);
  const haproxy = descendants(pod.pid("haproxy") ?? 0);
  const rss = (pid: number): number => read(pid, "Rss");
  return {
    rss: sum([...agent, ...haproxy].map(rss)),
    pss: sum([...agent, ...haproxy].map((pid) => read(pid, "Pss"))),
    agentRss: sum(agent.map(rss)),
    haproxyRss: haproxy.map(rss),
  };
}
