/**
 * `haptic dev --once`: the cluster proves itself. Traffic runs through every pod while the demo's service is scaled up and
 * down and a new host is created; what counts is what the clients saw.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DevClusterError } from "../errors.ts";
import type { DevCluster } from "./dev.ts";
import type { PodSpec } from "./pods.ts";
import type { DevSession } from "./session.ts";
import { type Answer, type Lane, type LaneReport, startLane, sumOf } from "./load/index.ts";

export interface Proof {
  readonly ok: boolean;
  /** Version, as HAProxy says it. */
  readonly haproxy: string;
  readonly requests: number;
  readonly failed: number;
  readonly reloads: number;
  /** From the stored object to the first answer that shows it, by the slowest pod. */
  readonly inForceMs: { readonly endpoint: number; readonly host: number };
  /** From the start of the process to live traffic. */
  readonly startMs: number;
  /** What kept `ok` from being true; absent when it is. */
  readonly problems?: readonly string[];
}

const LEAST_REQUESTS = 1_000;
const LIMIT_MS = { endpoint: 200, host: 300 } as const;
const STEP_LIMIT_MS = 10_000;
const HTTP_PORT = 8080;
const HTTPS_PORT = 8443;
const NEW_HOST = "once.localhost";

/** How one of the examples is asked for traffic and for a new host. */
interface Scenario {
  readonly host: string;
  readonly deployment: string;
  readonly tls: boolean;
  /** The object that brings `NEW_HOST` to the Service `once`. */
  readonly newHost: object;
}

const ingressScenario: Scenario = {
  host: "demo.localhost",
  deployment: "web",
  tls: true,
  newHost: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "once", namespace: "default" },
    spec: {
      rules: [
        {
          host: NEW_HOST,
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "once", port: { number: 80 } } } }],
          },
        },
      ],
    },
  },
};

const routeScenario: Scenario = {
  host: "shop.localhost",
  deployment: "shop",
  tls: false,
  newHost: {
    apiVersion: "demo.example.com/v1",
    kind: "Route",
    metadata: { name: "once", namespace: "default" },
    spec: { host: NEW_HOST, service: "once" },
  },
};

const newWorkload = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "once", namespace: "default" },
    spec: { selector: { app: "once" }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "once", namespace: "default" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "once" } },
      template: {
        metadata: { labels: { app: "once" } },
        spec: { containers: [{ name: "once", image: "sample", ports: [{ containerPort: 8080 }] }] },
      },
    },
  },
] as const;

interface EndpointSliceShape {
  readonly endpoints?: readonly {
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly name?: string };
  }[];
}

function scenarioOf({ session }: DevCluster): Scenario {
  const { objects } = session.api;
  const has = (apiVersion: string, kind: string, name: string): boolean =>
    objects.serves(apiVersion, kind) && objects.get({ apiVersion, kind, name, namespace: "default" }) !== undefined;
  if (has("networking.k8s.io/v1", "Ingress", "demo")) return ingressScenario;
  if (has("demo.example.com/v1", "Route", "shop")) return routeScenario;
  throw new DevClusterError(
    "--once knows the two examples, and these manifests are neither",
    "run it without --manifests",
  );
}

async function within<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = performance.now() + STEP_LIMIT_MS;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new DevClusterError(`not within ${STEP_LIMIT_MS / 1_000} s: ${what}`);
    await sleep(2);
  }
}

/** Runs the proof on a cluster that is live. Never rejects for what the proof is about: that is in `problems`. */
export async function proveOnce(cluster: DevCluster, startMs: number): Promise<Proof> {
  const { session } = cluster;
  const scenario = scenarioOf(cluster);
  const problems: string[] = [];
  const reports: LaneReport[] = [];
  const inForceMs = { endpoint: -1, host: -1 };
  let reloads = -1;
  const lanes: Lane[] = [];
  try {
    await Promise.all(session.pods.map(({ spec }) => firstAnswer(spec, scenario.host)));
    // The first set comes by a reload; it counts as applied only when every pod has acknowledged it.
    const before = await within("the first deployment's end", async () => {
      const { deployments, reloads: count } = await countersOf(session);
      return deployments > 0 ? count : undefined;
    });
    const seen = new FirstAnswers();
    for (const { spec } of session.pods) lanes.push(...startTraffic(spec.name, spec.address, scenario, seen));
    inForceMs.endpoint = await scaleUp(cluster, scenario, seen);
    scale(cluster, scenario, 1);
    inForceMs.host = await addHost(cluster, scenario, reports);
    await within(`${LEAST_REQUESTS} requests`, () =>
      sumOf(lanes.map((lane) => lane.report())).requests >= LEAST_REQUESTS ? true : undefined,
    );
    reloads = (await countersOf(session)).reloads - before;
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  reports.push(...(await Promise.all(lanes.map((lane) => lane.stop()))));
  const { requests, failed, failures } = sumOf(reports);
  if (failed > 0) problems.push(`${failed} of ${requests} requests failed: ${failures.slice(0, 5).join("; ")}`);
  const mayReload = /^3\.[0-3]\./.test(session.haproxy.version);
  if (reloads > 0 && !mayReload) problems.push(`${reloads} reloads`);
  for (const kind of ["endpoint", "host"] as const) {
    // Before 3.4 a new backend needs a reload, which takes its time.
    if (kind === "host" && mayReload) continue;
    if (inForceMs[kind] > LIMIT_MS[kind])
      problems.push(`the ${kind} took ${inForceMs[kind]} ms, more than ${LIMIT_MS[kind]}`);
  }
  return {
    ok: problems.length === 0,
    haproxy: session.haproxy.version,
    requests,
    failed,
    reloads,
    inForceMs,
    startMs: Math.round(startMs),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

/** When each HAProxy pod first gave an answer of each backend. */
class FirstAnswers {
  readonly #at = new Map<string, number>();

  note(pod: string, answer: Answer): void {
    const key = `${pod} ${answer.headers["x-served-by"] ?? ""}`;
    if (!this.#at.has(key)) this.#at.set(key, answer.endedAt);
  }

  of(pod: string, backend: string): number | undefined {
    return this.#at.get(`${pod} ${backend}`);
  }
}

function startTraffic(pod: string, address: string, { host, tls }: Scenario, seen: FirstAnswers): Lane[] {
  const common = { host, path: "/", workers: 2, pauseMs: 2, onAnswer: (answer: Answer) => seen.note(pod, answer) };
  const http = { address, port: HTTP_PORT };
  const kept = { ...common, target: http, protocol: "http/1.1", connection: "keep-alive", method: "GET" } as const;
  const shot = { ...common, target: http, protocol: "http/1.1", connection: "one-shot", method: "POST" } as const;
  const lanes = [
    startLane({ ...kept, name: `${pod} keep-alive` }),
    startLane({ ...shot, name: `${pod} one-shot`, body: Buffer.from("hello") }),
  ];
  if (tls) {
    const target = { address, port: HTTPS_PORT, tls: { servername: host } };
    lanes.push(startLane({ ...kept, name: `${pod} h2`, protocol: "h2", target, workers: 1 }));
  }
  return lanes;
}

/** Waits until a host answers through a pod (its endpoints come a moment after the pod); tells which backend it was. */
export async function firstAnswer(
  { address, httpPort }: Pick<PodSpec, "address" | "httpPort">,
  host: string,
): Promise<string> {
  return within(`an answer of ${host} through ${address}`, async () => {
    let servedBy: string | undefined;
    const lane = startLane({
      name: "first",
      target: { address, port: httpPort },
      protocol: "http/1.1",
      connection: "one-shot",
      method: "GET",
      host,
      path: "/",
      workers: 1,
      limit: 1,
      onAnswer: ({ status, headers }) => {
        if (status === 200) servedBy = headers["x-served-by"] ?? "";
      },
    });
    await lane.done;
    return servedBy;
  });
}

function scale({ session }: DevCluster, { deployment }: Scenario, replicas: number): void {
  session.api.objects.patch({ apiVersion: "apps/v1", kind: "Deployment", name: deployment }, { spec: { replicas } });
}

/** Doubles the demo's pods; from each new endpoint's being stored to its first answer, the slowest of all. */
async function scaleUp(cluster: DevCluster, scenario: Scenario, seen: FirstAnswers): Promise<number> {
  const { session } = cluster;
  const owner = `default/${scenario.deployment}`;
  const old = new Set(session.workloads.serving(owner));
  const storedAt = new Map<string, number>();
  session.api.onChange((resource, object) => {
    if (resource !== "endpointslices" || object.metadata.name !== `${scenario.deployment}-dev`) return;
    for (const { conditions, targetRef } of (object as unknown as EndpointSliceShape).endpoints ?? []) {
      const name = targetRef?.name ?? "";
      if (conditions?.ready === true && !old.has(name) && !storedAt.has(name)) storedAt.set(name, performance.now());
    }
  });
  scale(cluster, scenario, old.size * 2);
  await within("the new pods' endpoints", () => (storedAt.size === old.size ? true : undefined));
  const took = await within("an answer of each new pod through each HAProxy", () => {
    const times = session.pods.flatMap(({ spec }) =>
      [...storedAt].map(([name, at]) => {
        const answered = seen.of(spec.name, name);
        return answered === undefined ? undefined : answered - at;
      }),
    );
    return times.every((time) => time !== undefined) ? times : undefined;
  });
  return rounded(Math.max(...took));
}

/** A new host on a new backend; from the object's being stored to the first 200, of the slowest pod. */
async function addHost({ session }: DevCluster, scenario: Scenario, reports: LaneReport[]): Promise<number> {
  for (const object of newWorkload) session.api.objects.create(object);
  await within("the new workload's endpoint", () => {
    const slice = session.api.objects.get({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      name: "once-dev",
    });
    return (slice as unknown as EndpointSliceShape | undefined)?.endpoints?.length === 1 ? true : undefined;
  });
  // Its watch is another one than the new object's: a moment later its endpoint is known, and a 503 would be a fault.
  await sleep(50);
  const first = new Map<string, number>();
  const lanes = session.pods.map(({ spec }) =>
    startLane({
      name: `${spec.name} new host`,
      target: { address: spec.address, port: HTTP_PORT },
      protocol: "http/1.1",
      connection: "keep-alive",
      method: "GET",
      host: NEW_HOST,
      path: "/",
      workers: 1,
      pauseMs: 1,
      // Not found until it is there.
      expect: [200, 404],
      onAnswer: ({ status, endedAt }) => {
        if (status === 200 && !first.has(spec.name)) first.set(spec.name, endedAt);
      },
    }),
  );
  try {
    await within("an answer that the new host is not there yet", () =>
      lanes.every((lane) => lane.report().requests > 0) ? true : undefined,
    );
    const storedAt = performance.now();
    session.api.objects.create(scenario.newHost);
    await within("an answer of the new host through each HAProxy", () =>
      first.size === session.pods.length ? true : undefined,
    );
    return rounded(Math.max(...[...first.values()].map((at) => at - storedAt)));
  } finally {
    reports.push(...(await Promise.all(lanes.map((lane) => lane.stop()))));
  }
}

/** Of all controllers: those that follow have counted nothing. */
async function countersOf(session: DevSession): Promise<{ readonly reloads: number; readonly deployments: number }> {
  const counters = session.controllers.map(async ({ debugUrl }) => {
    const answer = await fetch(`${debugUrl}/debug/vars/counters`, { signal: AbortSignal.timeout(5_000) });
    return (await answer.json()) as { reloads: number; deployments: number };
  });
  const sums = { reloads: 0, deployments: 0 };
  for (const { reloads, deployments } of await Promise.all(counters)) {
    sums.reloads += reloads;
    sums.deployments += deployments;
  }
  return sums;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
