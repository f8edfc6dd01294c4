/**
 * The switchboard: what an API server does on a bad day, on demand. Rules (rules.ts) hit requests as they come; the rest acts on
 * what is open or stored at once. Tests in the same process use this handle, others the HTTP side of it (http/switchboard.ts).
 */
import type { Watches } from "../http/watch.ts";
import type { Database } from "../storage/database.ts";
import type { StatusError } from "../status.ts";
import { concerns, statusError } from "./rules.ts";
import type { ActiveRule, Fault, FaultRule, Subject } from "./rules.ts";

export type { FaultRule } from "./rules.ts";

/** A rule in short: a number of failures. */
export interface FailureRule {
  /** HTTP status of the answer; 0 = the connection is cut. */
  readonly status: number;
  /** Only requests whose `METHOD /path?query` matches; default: all. */
  readonly match?: RegExp | string;
  /** How many requests; default 1. */
  readonly count?: number;
  readonly reason?: string;
  readonly message?: string;
  /** Seconds of `Retry-After`. */
  readonly retryAfter?: number;
}

/** What is to go wrong with one request. */
export interface Mishaps {
  readonly delayMs: number;
  /** Instead of an answer; nothing is done. */
  readonly failure: StatusError | "cut" | undefined;
  /** Everything is done, no answer is sent. */
  readonly lost: boolean;
  /** Revisions that a read lags behind. */
  readonly behind: number;
  /** The rule that keeps everything from the watch. */
  readonly stalledBy: number | undefined;
  readonly dropAfterMs: number | undefined;
}

/** A good day. */
export const noMishaps: Mishaps = {
  delayMs: 0,
  failure: undefined,
  lost: false,
  behind: 0,
  stalledBy: undefined,
  dropAfterMs: undefined,
};

/** A rule that is on, as it is listed. */
export interface ListedRule extends FaultRule {
  readonly id: number;
  readonly hits: number;
}

export class Faults {
  readonly #watches: Watches;
  readonly #database: Database;
  #rules: ActiveRule[] = [];
  #next = 1;
  #slow: number | undefined;
  #state = 1;

  constructor(watches: Watches, database: Database) {
    this.#watches = watches;
    this.#database = database;
  }

  /** Turns a rule on; its number is for remove(). */
  add(rule: FaultRule): number {
    const id = this.#next++;
    this.#rules.push({ id, rule, hits: 0 });
    return id;
  }

  /** Turns a rule off; false when it is not there (any more). */
  remove(id: number): boolean {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((active) => active.id !== id);
    this.#watches.release(id);
    return this.#rules.length < before;
  }

  /** The rules that are on, oldest first, with how often they hit. */
  list(): readonly ListedRule[] {
    return this.#rules.map(({ id, rule, hits }) => ({ id, hits, ...rule }));
  }

  /** What follows of `probability` is the same for the same seed and the same requests. */
  seed(seed: number): void {
    this.#state = seed | 0 || 1;
  }

  /** Cuts all watches in mid-stream. */
  dropWatches(): void {
    this.#watches.drop();
  }

  /** Forgets the history: resuming a watch or a continue token from before gets 410. */
  expireHistory(): void {
    this.#database.expireHistory();
  }

  /** Holds all watch events (bookmarks too) back while on; the connections stay open. */
  stallWatches(on: boolean): void {
    this.#watches.stall(on);
  }

  /** The next matching requests fail. */
  failNext(rule: FailureRule): void {
    const { status, match, count = 1, reason = "", message = `injected failure ${status}`, retryAfter } = rule;
    const fault: Fault =
      status === 0
        ? { type: "cut" }
        : { type: "status", code: status, reason, message, ...(retryAfter === undefined ? {} : { retryAfter }) };
    this.add({ fault, count, ...(match === undefined ? {} : { match }) });
  }

  /** Each (matching) answer waits so long; 0 = none. */
  slow(ms: number, match?: RegExp | string): void {
    if (this.#slow !== undefined) this.remove(this.#slow);
    this.#slow =
      ms > 0 ? this.add({ fault: { type: "slow", ms }, ...(match === undefined ? {} : { match }) }) : undefined;
  }

  /** Ends every fault: all rules are off, watches that were held get what they missed. */
  clear(): void {
    for (const { id } of this.#rules) this.#watches.release(id);
    this.#rules = [];
    this.#slow = undefined;
    this.stallWatches(false);
  }

  /** What is due for a request; counts it. Of several failures the oldest rule's comes; delays add up. */
  due(describe: () => Subject): Mishaps {
    if (this.#rules.length === 0) return noMishaps;
    const subject = describe();
    const hits = this.#rules.filter(({ rule }) => concerns(rule, subject) && this.#chance(rule.probability));
    let delayMs = 0;
    let failure: Mishaps["failure"];
    let lost = false;
    let behind = 0;
    let stalledBy: number | undefined;
    let dropAfterMs: number | undefined;
    for (const active of hits) {
      const { fault } = active.rule;
      if (failure !== undefined && fault.type !== "slow") continue;
      if (fault.type === "slow") delayMs += fault.ms;
      else if (fault.type === "status") failure = statusError(fault, subject);
      else if (fault.type === "cut") failure = "cut";
      else if (fault.type === "lost") lost = true;
      else if (fault.type === "stale") behind = Math.max(behind, fault.behind);
      else if (fault.type === "stall") stalledBy = active.id;
      else dropAfterMs = fault.afterMs;
      active.hits++;
    }
    this.#rules = this.#rules.filter(({ rule, hits: done }) => done < (rule.count ?? Number.POSITIVE_INFINITY));
    return { delayMs, failure, lost, behind, stalledBy, dropAfterMs };
  }

  /** xorshift32: the same sequence for the same seed, wherever it runs. */
  #chance(probability: number | undefined): boolean {
    if (probability === undefined) return true;
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32 < probability;
  }
}
