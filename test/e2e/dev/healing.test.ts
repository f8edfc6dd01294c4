// runner: limit 240 s
import { join, resolve } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { type DevCluster, startDevCluster } from "../../../src/devcluster/dev.ts";
import { type Lane, startLane } from "../../../src/devcluster/load/index.ts";
import type { ContainerName } from "../../../src/devcluster/pods.ts";
import { needing } from "../../support/skip.ts";
import { testHaproxy } from "../../support/parts.ts";

const haproxy = testHaproxy("3.4");
const test = needing(base, haproxy === undefined ? "needs HAProxy 3.4, which could not be installed here" : undefined);
const lines: string[] = [];
let cluster: DevCluster;

test.before(async () => {
  cluster = startDevCluster(
    {
      manifests: join(resolve(import.meta.dirname, "../../.."), "examples/ingress"),
      pods: 2,
      controllers: 1,
      haproxy,
      apiPort: 6443,
      httpPort: 8080,
      keep: false,
      configName: undefined,
      environment: process.env,
    },
    { line: (text) => void lines.push(text) },
  );
  await cluster.live;
  for (const index of [0, 1]) await serves(index, "demo.localhost", 10_000);
});
test.after(() => cluster.stop());

async function until(what: string, condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}\n${lines.slice(-30).join("\n")}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

function lane(pod: number, host: string, limit?: number): Lane {
  const { spec } = cluster.session.pods[pod]!;
  return startLane({
    name: `${spec.name} ${host}`,
    target: { address: spec.address, port: 8080 },
    protocol: "http/1.1",
    connection: "one-shot",
    method: "GET",
    host,
    path: "/",
    workers: 1,
    pauseMs: 2,
    ...(limit === undefined ? {} : { limit }),
  });
}

/** Waits until a pod answers a host with 200. */
function serves(pod: number, host: string, limitMs: number): Promise<void> {
  return until(`pod ${pod} serves ${host}`, async () => (await lane(pod, host, 1).done).failed === 0, limitMs);
}

let hosts = 0;
/** A new host on the demo's Service, created now. */
function createHost(): string {
  const host = `healing-${++hosts}.localhost`;
  cluster.session.api.objects.create({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: `healing-${hosts}`, namespace: "default" },
    spec: {
      rules: [
        {
          host,
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
          },
        },
      ],
    },
  });
  return host;
}

interface PodShape {
  readonly status: {
    readonly containerStatuses: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly restartCount: number;
    }[];
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}
function podObject(name: string): PodShape["status"] {
  return (cluster.session.api.objects.get({ apiVersion: "v1", kind: "Pod", name }) as unknown as PodShape).status;
}

for (const container of ["agent", "haproxy"] as const satisfies readonly ContainerName[]) {
  test(`the ${container} of one pod killed: the other pod's traffic goes on, a change reaches it, and the pod heals`, async () => {
    const [wounded] = cluster.session.pods;
    const before = podObject("haproxy-1").containerStatuses.find(({ name }) => name === container)!.restartCount;
    const traffic = lane(1, "demo.localhost");
    process.kill(wounded!.pid(container)!, "SIGKILL");
    const host = createHost();
    await serves(1, host, 5_000);
    await serves(0, host, 20_000);
    await serves(0, "demo.localhost", 1_000);
    await until(
      "the Pod object says that it is ready, and was started again",
      () => {
        const { containerStatuses, conditions } = podObject("haproxy-1");
        const status = containerStatuses.find(({ name }) => name === container)!;
        return (
          status.restartCount === before + 1 &&
          containerStatuses.every(({ ready }) => ready) &&
          conditions.find(({ type }) => type === "Ready")?.status === "True"
        );
      },
      10_000,
    );
    const { requests, failed, failures } = await traffic.stop();
    assert.is(failed, 0, failures.join("\n"));
    assert.ok(requests > 50);
  });
}

test("the controller killed: traffic goes on through both pods, and its successor carries on", async () => {
  const traffic = [lane(0, "demo.localhost"), lane(1, "demo.localhost")];
  process.kill(cluster.session.controllers[0]!.pid!, "SIGKILL");
  const host = createHost();
  await Promise.all([serves(0, host, 20_000), serves(1, host, 20_000)]);
  for (const { failed, failures } of await Promise.all(traffic.map((one) => one.stop()))) {
    assert.is(failed, 0, failures.join("\n"));
  }
});

test("the API server gone for a while: traffic goes on, and what changes afterwards is served", async () => {
  const traffic = [lane(0, "demo.localhost"), lane(1, "demo.localhost")];
  await cluster.session.api.outage(2_000);
  const host = createHost();
  await Promise.all([serves(0, host, 15_000), serves(1, host, 15_000)]);
  for (const { requests, failed, failures } of await Promise.all(traffic.map((one) => one.stop()))) {
    assert.is(failed, 0, failures.join("\n"));
    assert.ok(requests > 200);
  }
});

test.run();
