import { test } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromCallback, fromPromise } from "xstate";
import { devWorkloadsMachine, type DevWorkloadsEvent } from "../../../machines/devWorkloads.ts";
import { type ApiObject, startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { Workloads } from "../../../src/devcluster/workloads.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";

interface Slice extends ApiObject {
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready: boolean; readonly terminating: boolean };
    readonly targetRef: { readonly name: string };
  }[];
  readonly ports: readonly { readonly name: string; readonly port: number }[];
}

const deployment = (replicas: number, annotation = ""): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" }, annotations: { restartedAt: annotation } },
      spec: { containers: [{ name: "web", image: "web", ports: [{ name: "http", containerPort: 8080 }] }] },
    },
  },
});
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default" },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: "http" }] },
};

/** An API and the workloads' controllers, in this process. */
async function cluster(): Promise<{
  readonly api: Awaited<ReturnType<typeof startEmbeddedApi>>;
  readonly slice: () => Slice;
  readonly free: string[];
  readonly close: () => Promise<void>;
}> {
  const api = await startEmbeddedApi({ host: "127.61.3.1" });
  const client = createKubeClient(directConnection({ server: api.url }));
  const free = Array.from({ length: 20 }, (_, index) => `127.61.3.${100 + index}`);
  const workloads = new Workloads({
    client,
    addresses: { take: () => free.shift()!, give: (address) => void free.push(address) },
    node: "dev",
    now: () => new Date(),
  });
  const machine = devWorkloadsMachine.provide({
    actors: {
      watches: fromCallback<DevWorkloadsEvent>(({ sendBack }) => {
        const subscription = workloads.watch(() => sendBack({ type: "WORKLOADS.CHANGED" }));
        return () => subscription.unsubscribe();
      }),
      reconcile: fromPromise<void>(() => workloads.reconcile()),
    },
  });
  const actor = createActor(machine).start();
  return {
    api,
    free,
    slice: () =>
      api.objects.get({
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        name: "web-dev",
      }) as unknown as Slice,
    async close() {
      actor.stop();
      await workloads.close();
      await client.close();
      await api.close();
    },
  };
}

async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  const end = performance.now() + 5_000;
  for (;;) {
    const seen = look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > end) throw new Error(`not within 5 s: ${what}`);
    await new Promise((wake) => setTimeout(wake, 5));
  }
}

const readyOf = (slice: Slice): string[] =>
  slice.endpoints.filter(({ conditions }) => conditions.ready).map(({ addresses }) => addresses[0]!);

test("replicas become backends that answer, pods that are ready, and endpoints; scaling down lets them end", async () => {
  const { api, slice, close } = await cluster();
  api.objects.create(service);
  api.objects.create(deployment(3));
  const three = await until("three endpoints", () => slice()?.endpoints.length === 3 && slice());
  assert.equal(three.ports, [{ name: "http", port: 8080, protocol: "TCP" }]);
  const answer = await fetch(`http://${readyOf(three)[0]}:8080/x?status=201`, { method: "POST", body: "12345" });
  const said = (await answer.json()) as { pod: string; received: number; path: string };
  assert.equal([answer.status, said.received, said.path], [201, 5, "/x"]);
  assert.is(said.pod, three.endpoints[0]!.targetRef.name);
  const pods = api.objects.list("v1", "Pod", "default") as unknown as { status: { phase: string; podIP: string } }[];
  assert.equal(
    pods.map(({ status }) => status.phase),
    ["Running", "Running", "Running"],
  );
  await until("the Deployment's status", () => {
    const { status } = api.objects.get({ apiVersion: "apps/v1", kind: "Deployment", name: "web" }) as unknown as {
      status: { readyReplicas: number };
    };
    return status.readyReplicas === 3;
  });

  const began = performance.now();
  api.objects.patch({ apiVersion: "apps/v1", kind: "Deployment", name: "web" }, { spec: { replicas: 1 } });
  const going = await until("two that terminate", () => readyOf(slice()).length === 1 && slice());
  const leaving = going.endpoints.filter(({ conditions }) => conditions.terminating);
  assert.is(leaving.length, 2);
  assert.is((await fetch(`http://${leaving[0]!.addresses[0]}:8080/`)).status, 200);
  await until("one endpoint", () => slice().endpoints.length === 1);
  assert.ok(performance.now() - began >= 100);
  await until("one pod", () => api.objects.list("v1", "Pod", "default").length === 1);
  const refused = await fetch(`http://${leaving[0]!.addresses[0]}:8080/`).catch((error: Error) => error);
  assert.instance(refused, Error);
  await close();
});

test("another template moves every pod to another address, new ones first", async () => {
  const { api, slice, close } = await cluster();
  api.objects.create(service);
  api.objects.create(deployment(2));
  const before = readyOf(await until("two endpoints", () => slice()?.endpoints.length === 2 && slice()));
  let least = 2;
  const watch = setInterval(() => (least = Math.min(least, readyOf(slice()).length)), 1);
  api.objects.apply(deployment(2, "now"));
  const after = await until("two others", () => {
    const ready = readyOf(slice());
    return slice().endpoints.length === 2 && !ready.some((address) => before.includes(address)) && ready;
  });
  clearInterval(watch);
  assert.equal([after.length, least], [2, 2]);
  await close();
});

test("a pod that is deleted is replaced, and a Deployment that is deleted takes its pods along", async () => {
  const { api, slice, free, close } = await cluster();
  api.objects.create(service);
  api.objects.create(deployment(1));
  const first = await until("one endpoint", () => slice()?.endpoints.length === 1 && slice().endpoints[0]);
  api.objects.delete({ apiVersion: "v1", kind: "Pod", name: first.targetRef.name });
  await until(
    "another one alone",
    () => slice().endpoints.length === 1 && slice().endpoints[0]!.targetRef.name !== first.targetRef.name,
  );
  api.objects.delete({ apiVersion: "apps/v1", kind: "Deployment", name: "web" });
  await until("no endpoint", () => slice().endpoints.length === 0);
  await until("all addresses back", () => free.length === 20);
  api.objects.delete({ apiVersion: "v1", kind: "Service", name: "web" });
  await until("no slice", () => slice() === undefined);
  await close();
});

test("a backend whose Pod cannot be created, or that is ready after the close, is ended and leaves its port", async () => {
  const api = await startEmbeddedApi({ host: "127.61.3.2" });
  const client = createKubeClient(directConnection({ server: api.url }));
  const free = ["127.61.3.3", "127.61.3.4"];
  let creating: () => Promise<void> = () => Promise.reject(new Error("the API is gone"));
  const create = client.create.bind(client);
  client.create = async (...args) => {
    await creating();
    return create(...args);
  };
  const workloads = new Workloads({
    client,
    addresses: { take: () => free.shift()!, give: (address) => void free.unshift(address) },
    node: "dev",
    now: () => new Date(),
  });
  const answers = (address: string): Promise<boolean> =>
    fetch(`http://${address}:8080/`).then(
      () => true,
      () => false,
    );
  const synced = Promise.withResolvers<void>();
  let lists = 0;
  const subscription = workloads.watch(() => (++lists === 2 ? synced.resolve() : undefined));
  try {
    await synced.promise;
    api.objects.apply(deployment(1));
    for (let i = 0; i < 150 && lists < 3; i++) await new Promise((done) => setTimeout(done, 20));
    const failed = await workloads.reconcile().catch(String);
    assert.is(failed, "Error: the API is gone");
    assert.is(await answers("127.61.3.3"), false);
    assert.is(free.length, 2);
    creating = () => workloads.close();
    await workloads.reconcile();
    assert.is(await answers("127.61.3.3"), false);
  } finally {
    subscription.unsubscribe();
    await client.close();
    await api.close();
  }
});

test.run();
