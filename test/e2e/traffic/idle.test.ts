// runner: beside
// runner: limit 600 s
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { ingress, service } from "../../unit/examples/objects.ts";
import { Cluster, CONFIG, type Counters, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";

const network = await isolated(import.meta.filename);
const test = needing(base, network.missing ?? missingHaproxy("3.4"));
const OBJECTS = 100;
const IDLE_MS = Number(process.env["HAPTIC_IDLE_SECONDS"] ?? "120") * 1_000;
const DRIFT_MS = 5_000;
/** Longer than the time after which a watch counts as having lived: what ends it is no reason to back off. */
const PAUSE_MS = Math.max(IDLE_MS / 8, 12_000);
let cluster: Cluster;
const many: object[] = [];

test.before(async () => {
  cluster = new Cluster({
    api: apiServers.embedded,
    version: "3.4",
    pods: 2,
    prefix: network.prefix,
    dataplane: { driftPreventionInterval: `${DRIFT_MS / 1_000}s` },
  });
  await cluster.start();
  await cluster.apply(...(await hostObjects(cluster, "app", "app.example", { tls: true })));
  const endpoints = cluster.endpointsOf("app");
  for (let at = 1; at <= OBJECTS; at++) {
    const { metadata: _, ...rest } = ingress(`idle-${at}`, `idle-${at}.example`, [{ service: `idle-${at}` }], {
      ingressClassName: "haptic",
    }) as { metadata: object };
    many.push({ ...rest, metadata: { name: `idle-${at}`, namespace: "default" } });
    many.push(service(`idle-${at}`, [{ name: "http", port: 80, protocol: "TCP" }]));
    many.push(cluster.sliceOf(`idle-${at}`, endpoints));
  }
  await cluster.apply(...many);
  await served(cluster, `idle-${OBJECTS}.example`, { limitMs: 60_000 });
  await served(cluster, "app.example", { tls: true });
  await cluster.settled();
  await published();
});
test.after(() => cluster.close());

interface Published {
  readonly lagMs: number;
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}
/** What is in force is published, and that every pod runs it: nothing is left to write. */
const published = (): Promise<unknown> =>
  until(
    "what is in force is published",
    async () => {
      const { lagMs, conditions } = await cluster.variable<Published>("published");
      return lagMs === 0 && conditions.some(({ type, status }) => type === "Ready" && status === "True");
    },
    40_000,
  );

/** Writes by resource that are no Lease's. */
const otherWrites = ({ apiWrites }: Counters): object =>
  Object.fromEntries(Object.entries(apiWrites).filter(([resource]) => !resource.startsWith("leases")));
const work = ({ applies, checks, reloads }: Counters): object => ({ applies, checks, reloads });

/** The same content by another hand: nothing changes but managedFields and the resourceVersion. */
async function touch(manager: string): Promise<void> {
  const ingresses = many.filter((object) => (object as { kind: string }).kind === "Ingress");
  const versions = async (): Promise<Map<string, string>> => {
    const { items } = await cluster.client.list({ apiVersion: "networking.k8s.io/v1", resource: "ingresses" });
    return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion ?? ""]));
  };
  const before = await versions();
  await cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", `--field-manager=${manager}`, "-f", "-"],
    ingresses.map((object) => JSON.stringify(object)).join("\n---\n"),
  );
  const after = await versions();
  const touched = [...after].filter(([name, version]) => version !== before.get(name));
  assert.is(touched.length, OBJECTS, "as many objects as wanted were touched");
}

test("an idle cluster causes no apply, no check and no reload, and writes nothing but its Lease", async () => {
  const requests = (): Promise<Readonly<Record<string, number>>> => cluster.api.requests!();
  const before = await cluster.counters();
  const pids = await cluster.workerPids();
  const asked = await requests();
  const config = await cluster.client.get(CONFIG.target, CONFIG.name);
  const began = performance.now();
  let rounds = 0;
  while (performance.now() - began < IDLE_MS) {
    rounds += 1;
    await touch(`toucher-${rounds}`);
    await sleep(PAUSE_MS);
    await cluster.api.expire!();
    await sleep(PAUSE_MS);
  }
  const after = await cluster.counters();
  assert.equal(work(after), work(before));
  assert.equal(otherWrites(after), otherWrites(before));
  assert.equal(await cluster.workerPids(), pids);
  assert.is(
    (await cluster.client.get(CONFIG.target, CONFIG.name)).metadata.resourceVersion,
    config.metadata.resourceVersion,
  );
  const heard = await requests();
  for (const kind of ["events", "events.events.k8s.io", "haproxytemplateconfigs.haproxy-haptic.org", "pods"]) {
    for (const verb of ["create", "update", "patch"]) {
      assert.is(heard[`${verb} ${kind}`], asked[`${verb} ${kind}`], `the API server was asked to ${verb} ${kind}`);
    }
  }
  const lists = "list endpointslices.discovery.k8s.io";
  assert.ok(heard[lists]! >= asked[lists]! + rounds, "the relists that were forced have come");
  await until("the watches that were ended go on", async () => (await cluster.faults()).length === 0, 5_000);
});

test("a restart of the controller applies nothing, reloads nothing, and checks only what it begins with", async () => {
  const pids = await cluster.workerPids();
  await cluster.stopController();
  cluster.startController();
  await until("the new controller has looked at the pods", async () => (await cluster.counters()).renders > 0);
  await cluster.settled();
  await sleep(2_000);
  const { applies, reloads, checks } = await cluster.counters();
  assert.equal({ applies, reloads }, { applies: 0, reloads: 0 }, cluster.tail());
  assert.ok(checks <= 1, `${checks} checks at the start`);
  await sleep(3 * DRIFT_MS);
  const now = await cluster.counters();
  assert.equal(work(now), { applies: 0, checks, reloads: 0 });
  assert.equal(otherWrites(now), {}, "what is published is what it finds");
  assert.equal(await cluster.workerPids(), pids);
  await served(cluster, "app.example", { tls: true, limitMs: 1_000 });
});

test.run();
