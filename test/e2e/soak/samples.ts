/** What a soak has measured, and the judgement of it: pure. */
import type { Turn } from "./probe.ts";

export interface Sample {
  /** Seconds since the churn began. */
  readonly at: number;
  /** By process (`controller`, `haproxy-1/agent`); bytes. */
  readonly memory: Readonly<Record<string, { readonly rss: number; readonly heapUsed: number }>>;
}

export interface Trend {
  readonly process: string;
  readonly first: number;
  readonly last: number;
  readonly least: number;
  readonly most: number;
  /** last / first - 1: what the process has grown by. */
  readonly growth: number;
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)]!;
};

/** Growth from the first third of what follows the warm-up to the last third, by medians: one sample tells of chance. */
export function trends(
  samples: readonly Sample[],
  warmUpSeconds: number,
  of: (memory: { rss: number; heapUsed: number }) => number,
): Trend[] {
  const warm = samples.filter(({ at }) => at >= warmUpSeconds);
  const third = Math.max(1, Math.floor(warm.length / 3));
  return Object.keys(warm[0]?.memory ?? {}).map((process) => {
    const values = warm.map(({ memory }) => of(memory[process]!));
    const [first, last] = [median(values.slice(0, third)), median(values.slice(-third))];
    return {
      process,
      first,
      last,
      least: Math.min(...values),
      most: Math.max(...values),
      growth: last / first - 1,
    };
  });
}

/** Lines of the product at level `warn` and above, by source, level and message. */
export function complaints(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const [, source = "", text = ""] = /^\d+ (\S+) (.*)$/s.exec(line) ?? [];
    const complaint = complaintOf(text);
    if (complaint === undefined) continue;
    const key = `${source} ${complaint}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const WARN = 40;

function complaintOf(text: string): string | undefined {
  let parsed: { level?: number; msg?: string; reason?: string; what?: string; err?: { message?: string } };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    // What HAProxy says of what is wrong.
    return /^\[(WARNING|ALERT)\]/.test(text) ? text.replaceAll(/\d+/g, "N") : undefined;
  }
  const { level = 0, msg = "", reason, what, err } = parsed;
  if (level < WARN) return undefined;
  const details = [reason, what, err?.message].filter((detail) => detail !== undefined);
  return `${level > WARN ? "error" : "warn"} ${[msg, ...details].join(": ")}`;
}

export const longestOf = (turns: readonly Turn[]): Turn[] => turns.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, 10);

/** A while in which this process wanted to run and was not let: the machine was busy with others, or stood still. */
export interface Pause {
  /** Milliseconds since the load began. */
  readonly at: number;
  readonly ms: number;
}

/** So long after a pause a failure may still be its doing: what was removed in it is told only when it is over. */
const AFTERMATH_MS = 1_000;

/** Splits failures (`NAME: +MS ms: what`) into the product's and those of a machine that stood still. */
export function blame(
  failures: readonly string[],
  pauses: readonly Pause[],
): { readonly product: readonly string[]; readonly machine: readonly string[] } {
  const isMachines = (failure: string): boolean => {
    const at = Number(/: \+(\d+) ms/.exec(failure)?.[1]);
    return pauses.some((pause) => at >= pause.at && at <= pause.at + pause.ms + AFTERMATH_MS);
  };
  return {
    product: failures.filter((failure) => !isMachines(failure)),
    machine: failures.filter((failure) => isMachines(failure)),
  };
}
