/**
 * A load client that counts as a client would: a lane is a number of workers that send one kind of request to one
 * address, one after the other. It honours `Connection: close` and GOAWAY, repeats the h2 streams that were refused
 * before they were processed (RFC 9113 section 8.7), and counts as failed only what a user would have seen.
 */
import { http1Client } from "./http1.ts";
import { http2Client } from "./http2.ts";

export interface Target {
  readonly address: string;
  readonly port: number;
  /** TLS with this server name; without `ca` the certificate is not judged (the lane measures traffic, not trust). */
  readonly tls?: { readonly servername: string; readonly ca?: string };
}

export interface LanePlan {
  readonly name: string;
  readonly target: Target;
  readonly protocol: "http/1.1" | "h2";
  /** "one-shot" opens a connection for each request and asks for its closing; h2 lanes are always "keep-alive". */
  readonly connection: "keep-alive" | "one-shot";
  readonly method: "GET" | "POST";
  /** The Host (:authority) of the requests. */
  readonly host: string;
  readonly path: string;
  /** Body of a POST; its length is announced. */
  readonly body?: Buffer;
  /** Requests in flight at once. */
  readonly workers: number;
  /** Pause of each worker between its requests; 0 = as fast as they are answered. */
  readonly pauseMs?: number;
  /** The lane ends by itself after so many requests. */
  readonly limit?: number;
  /** A request that is not answered within this time has failed; default 10 s. */
  readonly timeoutMs?: number;
  /** Statuses that are no failure; default 200 alone. */
  readonly expect?: readonly number[];
  readonly onAnswer?: (answer: Answer) => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What one try came to: an answer, a refusal that may be repeated, or a failure. */
export type Attempt =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
    }
  | { readonly kind: "refused" }
  | { readonly kind: "failure"; readonly reason: string };

export interface Client {
  request(): Promise<Attempt>;
  close(): void;
}

export interface LaneReport {
  readonly name: string;
  /** Requests that came to an end, failed ones included. */
  readonly requests: number;
  readonly failed: number;
  /** h2 streams refused unprocessed and repeated; each was then answered, or is among `failed`. */
  readonly repeated: number;
  /** The first failures, with the time since the lane's start. */
  readonly failures: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds; 0 without answers. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number };
}

export interface Lane {
  report(): LaneReport;
  /** Resolves when the lane's limit is reached, or after stop(). */
  readonly done: Promise<LaneReport>;
  /** Lets the requests in flight end; then resolves. */
  stop(): Promise<LaneReport>;
}

const REPEATS = 5;
const FAILURES_KEPT = 20;

function percentiles(latencies: Float64Array): LaneReport["latency"] {
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: latencies.at(-1) ?? 0 };
}

/** Starts a lane at once. */
export function startLane(plan: LanePlan): Lane {
  const began = performance.now();
  const expected = new Set(plan.expect ?? [200]);
  const latencies: number[] = [];
  const failures: string[] = [];
  const statuses: Record<string, number> = {};
  let [requests, failed, repeated, started, stopping] = [0, 0, 0, 0, false];

  const fail = (reason: string): void => {
    failed += 1;
    if (failures.length < FAILURES_KEPT) failures.push(`+${Math.round(performance.now() - began)} ms: ${reason}`);
  };

  const one = async (client: Client): Promise<void> => {
    const startedAt = performance.now();
    let attempt = await client.request();
    for (let repeat = 0; attempt.kind === "refused" && repeat < REPEATS; repeat++) {
      repeated += 1;
      attempt = await client.request();
    }
    const endedAt = performance.now();
    requests += 1;
    if (attempt.kind === "refused") return fail(`refused ${REPEATS} times`);
    if (attempt.kind === "failure") return fail(attempt.reason);
    latencies.push(endedAt - startedAt);
    statuses[attempt.status] = (statuses[attempt.status] ?? 0) + 1;
    if (!expected.has(attempt.status)) fail(`status ${attempt.status}`);
    plan.onAnswer?.({ status: attempt.status, headers: attempt.headers, body: attempt.body, startedAt, endedAt });
  };

  const work = async (): Promise<void> => {
    const client = plan.protocol === "h2" ? http2Client(plan) : http1Client(plan);
    while (!stopping && started < (plan.limit ?? Infinity)) {
      started += 1;
      await one(client);
      if ((plan.pauseMs ?? 0) > 0) await new Promise((wake) => setTimeout(wake, plan.pauseMs));
    }
    client.close();
  };

  const report = (): LaneReport => ({
    name: plan.name,
    requests,
    failed,
    repeated,
    failures: [...failures],
    statuses: { ...statuses },
    latency: percentiles(Float64Array.from(latencies).sort()),
  });
  const done = Promise.all(Array.from({ length: plan.workers }, work)).then(report);
  return {
    report,
    done,
    stop: () => {
      stopping = true;
      return done;
    },
  };
}

/** Adds reports up; the latencies are the worst of each. */
export function sumOf(
  reports: readonly LaneReport[],
): Pick<LaneReport, "requests" | "failed" | "repeated" | "failures"> {
  const total = (key: "requests" | "failed" | "repeated"): number => reports.reduce((sum, one) => sum + one[key], 0);
  return {
    requests: total("requests"),
    failed: total("failed"),
    repeated: total("repeated"),
    failures: reports.flatMap((one) => one.failures.map((failure) => `${one.name} ${failure}`)),
  };
}
