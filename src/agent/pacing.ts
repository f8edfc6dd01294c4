/**
 * How long reloads wait for one another. Each reload leaves a worker behind that lives until its last connection ends (or
 * `hard-stop-after`): many reloads under long connections would fill the pod with workers.
 */
import { readFile } from "node:fs/promises";
import { masterProcesses } from "../haproxy/index.ts";

export interface PacingRules {
  /** Between two reloads where no old worker lives, in milliseconds; 0 = reloads are not paced at all. */
  readonly leastMs: number;
  /** However many old workers live. */
  readonly mostMs: number;
  /** What old workers may hold together: where one more would go beyond it, the interval is `mostMs` at once. */
  readonly memoryBytes: number;
}

export const pacingDefaults: PacingRules = { leastMs: 5_000, mostMs: 600_000, memoryBytes: 512 * 1024 * 1024 };

export interface OldWorkers {
  readonly count: number;
  /** What they hold for themselves; undefined where their processes cannot be seen. */
  readonly bytes: number | undefined;
}

/** So many parts of the allowed memory count as one old worker each. */
const PARTS = 4;

/**
 * Milliseconds from one reload to the next: doubled by every old worker that still lives. Where their memory can be seen, what
 * is small counts less: each quarter of the allowed memory doubles. A reload leaves one more of their size behind; where that
 * would not fit any more, it waits.
 */
export function reloadInterval({ leastMs, mostMs, memoryBytes }: PacingRules, old: OldWorkers): number {
  if (leastMs === 0) return 0;
  const most = Math.max(leastMs, mostMs);
  if (old.bytes === undefined) return Math.min(most, leastMs * 2 ** old.count);
  const oneMore = old.count === 0 ? 0 : old.bytes / old.count;
  if (old.bytes + oneMore > memoryBytes) return most;
  return Math.min(most, leastMs * 2 ** Math.min(old.count, (PARTS * old.bytes) / memoryBytes));
}

/**
 * The workers that only end what they have begun. `serving` = process id of the worker in use: after a reload that failed,
 * HAProxy lists it among the old ones.
 * @throws MasterError when the master does not answer.
 */
export async function readOldWorkers(masterSocket: string, serving: number | undefined): Promise<OldWorkers> {
  const processes = await masterProcesses(masterSocket, 2_000);
  const old = processes.filter(({ type, pid }) => type === "old-worker" && pid !== serving);
  const sizes = await Promise.all(old.map(({ pid }) => ownMemory(pid)));
  return {
    count: old.length,
    bytes: sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + size!, 0),
  };
}

/** A process of that number may be another one here, where HAProxy's container has process ids of its own. */
async function ownMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return anonymousMemory(status);
}

/** Bytes that a process has for itself alone, from its `/proc/PID/status`; undefined when it is no HAProxy. */
export function anonymousMemory(status: string): number | undefined {
  if (!/^Name:\s*haproxy/.test(status)) return undefined;
  const kib = /^RssAnon:\s*(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

/** When the last reload began, and what the interval is since old workers were counted last. */
export class Pacer {
  readonly #rules: PacingRules;
  readonly #monotonic: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #intervalMs: number;

  constructor(rules: PacingRules, monotonic: () => number) {
    this.#rules = rules;
    this.#monotonic = monotonic;
    this.#intervalMs = rules.leastMs;
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** Milliseconds until a reload may begin. */
  get restMs(): number {
    return Math.max(0, this.#lastMs + this.#intervalMs - this.#monotonic());
  }

  reloadBegins(): void {
    this.#lastMs = this.#monotonic();
    this.#intervalMs = this.#rules.leastMs;
  }

  /** Returns `restMs`. */
  weigh(old: OldWorkers): number {
    this.#intervalMs = reloadInterval(this.#rules, old);
    return this.restMs;
  }
}
