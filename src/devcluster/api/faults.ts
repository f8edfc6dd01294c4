/** Faults that tests switch on: what an API server does on a bad day. */
import type { Database } from "./storage/database.ts";
import type { Watches } from "./http/watch.ts";
import { StatusError } from "./status.ts";

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

interface PendingFailure {
  readonly rule: FailureRule;
  left: number;
}

/** A failure to answer a request with. */
export type Failure = StatusError | "cut";

export class Faults {
  readonly #watches: Watches;
  readonly #database: Database;
  readonly #failures: PendingFailure[] = [];
  #delayMs = 0;
  #delayMatch: RegExp | string | undefined;

  constructor(watches: Watches, database: Database) {
    this.#watches = watches;
    this.#database = database;
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
    this.#failures.push({ rule, left: rule.count ?? 1 });
  }

  /** Each (matching) answer waits so long; 0 = none. */
  slow(ms: number, match?: RegExp | string): void {
    this.#delayMs = ms;
    this.#delayMatch = match;
  }

  /** Ends every fault that still waits. */
  clear(): void {
    this.#failures.length = 0;
    this.#delayMs = 0;
    this.stallWatches(false);
  }

  delayOf(request: string): number {
    return this.#delayMs > 0 && matches(this.#delayMatch, request) ? this.#delayMs : 0;
  }

  /** The failure that is due for a request (`METHOD /path?query`), counted down. */
  take(request: string): Failure | undefined {
    const index = this.#failures.findIndex(({ rule }) => matches(rule.match, request));
    const pending = this.#failures[index];
    if (pending === undefined) return undefined;
    if (--pending.left <= 0) this.#failures.splice(index, 1);
    const { status, reason = "", message = `injected failure ${status}`, retryAfter } = pending.rule;
    if (status === 0) return "cut";
    return new StatusError(
      status,
      reason,
      message,
      retryAfter === undefined ? undefined : { retryAfterSeconds: retryAfter },
    );
  }
}

const matches = (match: RegExp | string | undefined, text: string): boolean =>
  match === undefined || (typeof match === "string" ? text.includes(match) : match.test(text));
