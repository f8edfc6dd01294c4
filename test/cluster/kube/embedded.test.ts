import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";
import { ObjectStore } from "../../../src/stores/index.ts";
import { kubeContract } from "./contract.ts";

kubeContract(test, async () => {
  const api = await startEmbeddedApi({ host: "127.41.0.2" });
  const directory = mkdtempSync(join(tmpdir(), "haptic-embedded-"));
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, api.kubeconfig);
  const { hostname, port } = new URL(api.url);
  return {
    name: "embedded API",
    host: hostname,
    port: Number(port),
    scheme: "http",
    ca: undefined,
    kubeconfig,
    adminToken: undefined,
    powerlessToken: undefined,
    async expire() {
      api.faults.expireHistory();
    },
    restart: () => api.outage(300),
    async close() {
      await api.close();
      rmSync(directory, { recursive: true });
    },
  };
});

test("A new server on the same address, behind the version of the old one, is noticed and listed anew", async () => {
  const target = { apiVersion: "v1", resource: "configmaps", namespace: "default" };
  const object = (name: string): Record<string, unknown> => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
  });
  const first = await startEmbeddedApi({ host: "127.41.0.3" });
  for (let i = 0; i < 20; i++) first.objects.create(object(`old-${i}`));
  const client = createKubeClient(directConnection({ server: first.url }), {
    backoff: { baseMs: 20, capMs: 100, livedMs: 1_000 },
  });
  const story: string[] = [];
  const synced: (() => void)[] = [];
  const subscription = client.listWatch(target).subscribe({
    next: (signal) => {
      if (signal.type === "RELIST") story.push(signal.reason);
      if (signal.type === "PAGE") story.push(String(signal.objects.length));
      if (signal.type === "SYNCED") synced.shift()?.();
    },
    error: () => assert.unreachable(),
  });
  await new Promise<void>((resolve) => synced.push(resolve));
  await first.close();
  const second = await startEmbeddedApi({ host: "127.41.0.3", port: Number(new URL(first.url).port) });
  second.objects.create(object("new"));
  await new Promise<void>((resolve) => synced.push(resolve));
  assert.equal(story, ["start", "20", "stale", "1"]);
  subscription.unsubscribe();
  await client.close();
  await second.close();
});

test("Whatever goes wrong in between, in the end the store holds what the server holds", async () => {
  const target = { apiVersion: "v1", resource: "configmaps", namespace: "default" };
  const api = await startEmbeddedApi({ host: "127.41.0.4" });
  const client = createKubeClient(directConnection({ server: api.url }), {
    backoff: { baseMs: 5, capMs: 50, livedMs: 200 },
    requestTimeoutMs: 500,
  });
  const store = new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" }, "v1");
  const told = new Map<string, number>();
  const subscription = client.listWatch(target, { pageSize: 7, idleLimitMs: 300 }).subscribe({
    next: (signal) => {
      const what = signal.type === "RELIST" ? `RELIST ${signal.reason}` : signal.type;
      told.set(what, (told.get(what) ?? 0) + 1);
      if (signal.type === "RELIST") store.beginReplace();
      else if (signal.type === "PAGE") store.page(signal.objects);
      else if (signal.type === "SYNCED") store.endReplace();
      else if (signal.type === "DELETED") store.remove(signal.object);
      else if (signal.type === "ADDED" || signal.type === "MODIFIED") store.upsert(signal.object);
    },
    error: () => assert.unreachable(),
  });
  // A fixed sequence of pseudo-random choices: a failure can be repeated.
  let seed = 20_261_130;
  const choose = (n: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % n;
  };
  for (let round = 0; round < 400; round++) {
    const name = `o${choose(40)}`;
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } };
    if (choose(3) === 0) api.objects.delete({ ...object, name, namespace: "default" });
    else api.objects.apply({ ...object, data: { round: String(round) } });
    const fault = choose(16);
    if (fault === 0) api.faults.dropWatches();
    else if (fault === 1) api.faults.expireHistory();
    else if (fault === 2) api.faults.failNext({ status: [0, 410, 429, 500, 503][choose(5)]!, count: 1 + choose(2) });
    else if (fault === 3) await api.outage(10);
    else if (fault === 4) api.faults.stallWatches(choose(2) === 0);
    await delay(choose(8));
  }
  api.faults.clear();
  const held = (): string[] =>
    store
      .version()
      .list()
      .map((object) => `${object.metadata.name} ${object.metadata.resourceVersion}`);
  const wanted = api.objects
    .list("v1", "ConfigMap", "default")
    .map((object) => `${object.metadata.name} ${object.metadata.resourceVersion}`)
    .toSorted();
  for (let i = 0; i < 300 && JSON.stringify(held().toSorted()) !== JSON.stringify(wanted); i++) await delay(10);
  assert.equal(held().toSorted(), wanted);
  for (const what of ["FAULT", "RELIST expired", "MODIFIED", "DELETED"])
    assert.ok(told.has(what), `${what} was not met`);
  subscription.unsubscribe();
  await client.close();
  await api.close();
});

test.run();
