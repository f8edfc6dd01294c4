/** The load of a traffic proof on all pods: every kind of request, from our own client and, in bulk, from h2load and wrk. */
import { type Lane, type LanePlan, startLane } from "../../../src/devcluster/load/index.ts";
import { type BulkPlan, type BulkReport, runBulk } from "./bulk.ts";
import type { Cluster } from "./cluster.ts";

const HTTP_PORT = 8080;
const HTTPS_PORT = 8443;
const BODY = Buffer.alloc(300, "b");

export interface LoadPlan {
  readonly host: string;
  /** Through which pods; default all. */
  readonly pods?: readonly number[];
  /** Workers wait so long between their requests; default 10 ms. */
  readonly pauseMs?: number;
  /** The bulk's requests a second and seconds; absent = our own client alone. */
  readonly bulk?: {
    readonly rate: number;
    readonly seconds: number;
    /** While HAProxy reloads: h2load neither repeats a refused stream nor goes on after `Connection: close`. */
    readonly repeats?: boolean;
  };
  /** Load of another kind on a pod. */
  readonly more?: (pod: string, address: string) => MoreLoad;
}

/** Load that runs from its making on. */
export interface MoreLoad {
  stop(): Promise<BulkReport>;
}

export interface LoadReport {
  readonly requests: number;
  readonly failed: number;
  /** Refusals that were repeated and answered. */
  readonly repeated: number;
  readonly failures: readonly string[];
  readonly parts: readonly string[];
}

export interface Load {
  /** The bulk has ended (at once without one). */
  readonly bulkDone: Promise<unknown>;
  /** Of our own client. */
  requests(): number;
  /** Ends our own client, waits for the bulk. */
  end(): Promise<LoadReport>;
}

type Kind = Pick<LanePlan, "protocol" | "connection" | "method" | "workers"> & { readonly tls: boolean };

const KINDS: readonly Kind[] = [
  { protocol: "http/1.1", connection: "keep-alive", method: "GET", workers: 2, tls: false },
  { protocol: "http/1.1", connection: "keep-alive", method: "POST", workers: 2, tls: false },
  { protocol: "http/1.1", connection: "one-shot", method: "GET", workers: 1, tls: false },
  { protocol: "http/1.1", connection: "one-shot", method: "POST", workers: 1, tls: false },
  { protocol: "http/1.1", connection: "keep-alive", method: "POST", workers: 1, tls: true },
  { protocol: "http/1.1", connection: "one-shot", method: "GET", workers: 1, tls: true },
  { protocol: "h2", connection: "keep-alive", method: "GET", workers: 2, tls: true },
  { protocol: "h2", connection: "keep-alive", method: "POST", workers: 2, tls: true },
];

/** Shares of the bulk's rate, and connections. */
const BULK: readonly (Pick<BulkPlan, "protocol" | "method" | "clients"> & { readonly share: number })[] = [
  { protocol: "h1", method: "GET", clients: 8, share: 0.35 },
  { protocol: "h1", method: "POST", clients: 8, share: 0.2 },
  { protocol: "h2", method: "GET", clients: 4, share: 0.25 },
  { protocol: "h2", method: "POST", clients: 4, share: 0.1 },
  { protocol: "h1-one-shot", method: "GET", clients: 2, share: 0.05 },
  { protocol: "h1-one-shot", method: "POST", clients: 2, share: 0.05 },
];

/** Load while something happens; it also ends when that fails. */
export async function underLoad(
  cluster: Cluster,
  plan: LoadPlan,
  happens: (load: Load) => Promise<void>,
): Promise<LoadReport> {
  const load = startLoad(cluster, plan);
  try {
    await happens(load);
  } catch (error) {
    const { failures } = await load.end();
    throw new Error(`${error instanceof Error ? error.stack : String(error)}\n${failures.join("\n")}`, {
      cause: error,
    });
  }
  return load.end();
}

function startLoad(cluster: Cluster, plan: LoadPlan): Load {
  const lanes: Lane[] = [];
  const bulks: BulkPlan[] = [];
  const others: MoreLoad[] = [];
  const { host, pauseMs = 10, bulk, more } = plan;
  const pods = cluster.pods.filter((_, index) => plan.pods?.includes(index) ?? true);
  for (const { pod } of pods) {
    const { name, address } = pod.spec;
    for (const { tls, ...kind } of KINDS) {
      lanes.push(
        startLane({
          ...kind,
          name: `${name} ${kind.protocol} ${tls ? "tls " : ""}${kind.connection} ${kind.method}`,
          target: {
            address,
            port: tls ? HTTPS_PORT : HTTP_PORT,
            ...(tls && { tls: { servername: host, ca: cluster.authority.certificate } }),
          },
          host,
          path: "/lane",
          ...(kind.method === "POST" && { body: BODY }),
          pauseMs,
        }),
      );
    }
    if (more !== undefined) others.push(more(name, address));
    if (bulk === undefined) continue;
    for (const { share, protocol, method, clients } of BULK) {
      bulks.push({
        name: `bulk-${name}-${protocol}-${method}`,
        host,
        address,
        port: protocol === "h2" ? HTTPS_PORT : HTTP_PORT,
        protocol,
        method,
        clients,
        rate: (bulk.rate * share) / pods.length,
        seconds: bulk.seconds,
        ...(bulk.repeats && protocol !== "h1-one-shot" && { repeats: true }),
      });
    }
  }
  const bulkDone = bulks.length === 0 ? Promise.resolve([]) : runBulk(bulks);
  return {
    bulkDone,
    requests: () => lanes.reduce((sum, lane) => sum + lane.report().requests, 0),
    async end() {
      const bulkReports = await bulkDone;
      const laneReports = await Promise.all([...lanes, ...others].map((lane) => lane.stop()));
      return summary([...laneReports, ...bulkReports]);
    },
  };
}

function summary(all: readonly BulkReport[]): LoadReport {
  const total = (of: (one: BulkReport) => number): number => all.reduce((sum, one) => sum + of(one), 0);
  return {
    requests: total((one) => one.requests),
    failed: total((one) => one.failed),
    repeated: total((one) => one.repeated),
    failures: all.flatMap((one) => one.failures.map((failure) => `${one.name}: ${failure}`)),
    parts: all.map((one) => `${one.name}: ${one.requests}, failed ${one.failed}, repeated ${one.repeated}`),
  };
}
