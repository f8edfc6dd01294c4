/** The controller's client lives through each fault that the embedded API can be told to have. */
import { setTimeout as delay } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { KubeError } from "../../../src/errors.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { ObjectStore } from "../../../src/stores/index.ts";

type Rule = Parameters<EmbeddedApi["faults"]["add"]>[0];

const maps = { apiVersion: "v1", resource: "configmaps", namespace: "default" };
const map = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

const test = suite<{ api: EmbeddedApi; client: KubeClient }>("faults and the client");

test.before.each(async (context) => {
  context.api = await startEmbeddedApi({ host: "127.41.0.5" });
  context.client = createKubeClient(directConnection({ server: context.api.url }), {
    backoff: { baseMs: 5, capMs: 50, livedMs: 200 },
    requestTimeoutMs: 2_000,
  });
});
test.after.each(async ({ api, client }) => {
  await client.close();
  await api.close();
});

/** A store that follows the server's ConfigMaps, and what it was told. */
function follow(client: KubeClient) {
  const store = new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" }, "v1");
  const told: string[] = [];
  const subscription = client.listWatch(maps, { pageSize: 3, idleLimitMs: 400 }).subscribe({
    next: (signal) => {
      told.push(signal.type === "RELIST" ? `RELIST ${signal.reason}` : signal.type);
      if (signal.type === "RELIST") store.beginReplace();
      else if (signal.type === "PAGE") store.page(signal.objects);
      else if (signal.type === "SYNCED") store.endReplace();
      else if (signal.type === "DELETED") store.remove(signal.object);
      else if (signal.type === "ADDED" || signal.type === "MODIFIED") store.upsert(signal.object);
    },
    error: () => assert.unreachable(),
  });
  const held = (): string[] =>
    store
      .version()
      .list()
      .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
      .toSorted();
  return { told, held, stop: () => subscription.unsubscribe() };
}

const stored = (api: EmbeddedApi): string[] =>
  api.objects
    .list("v1", "ConfigMap", "default")
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .toSorted();

/** Waits, and at the end compares, so that a failure shows what is missing. */
async function untilEqual(left: () => string[], right: () => string[]): Promise<void> {
  for (let i = 0; i < 1_000 && JSON.stringify(left()) !== JSON.stringify(right()); i++) await delay(10);
  assert.equal(left(), right());
}

async function churn(api: EmbeddedApi, round: number): Promise<void> {
  for (let i = 0; i < 8; i++) {
    api.objects.apply(map(`o${i}`, { round: String(round) }));
    if (i % 3 === 0) api.objects.delete({ apiVersion: "v1", kind: "ConfigMap", name: `o${i + 1}` });
    await delay(5);
  }
}

/** `on`: what is stored when the rule comes; `meets`: a signal that shows that the client met it. */
const readingFaults: readonly (readonly [string, Rule, string?])[] = [
  ["a watch is answered 410", { fault: { type: "status", code: 410 }, verbs: ["watch"], count: 2 }, "RELIST expired"],
  ["lists are answered 410", { fault: { type: "status", code: 410 }, verbs: ["list"], count: 2 }],
  [
    "429 with Retry-After",
    { fault: { type: "status", code: 429, retryAfter: 1 }, verbs: ["list", "watch"], count: 2 },
    "FAULT",
  ],
  ["500", { fault: { type: "status", code: 500 }, verbs: ["list", "watch"], count: 4 }, "FAULT"],
  ["503", { fault: { type: "status", code: 503 }, count: 4 }, "FAULT"],
  ["connections are cut before anything is done", { fault: { type: "cut" }, count: 6 }, "FAULT"],
  ["answers are lost", { fault: { type: "lost" }, verbs: ["list"], count: 3 }, "FAULT"],
  ["answers are slow", { fault: { type: "slow", ms: 120 } }],
  ["lists are stale", { fault: { type: "stale", behind: 5 }, verbs: ["list"] }],
  ["watches are cut in mid-stream", { fault: { type: "drop", afterMs: 25 }, count: 5 }],
  ["a watch stays open and says nothing", { fault: { type: "stall" }, count: 1 }],
  ["half of everything fails", { fault: { type: "status", code: 500 }, probability: 0.5 }, "FAULT"],
];

for (const [name, rule, meets] of readingFaults) {
  test(`when ${name}, the store ends as the server`, async ({ api, client }) => {
    api.faults.seed(11);
    await churn(api, 0);
    const id = api.faults.add({ ...rule, resources: ["configmaps"] });
    const follower = follow(client);
    await churn(api, 1);
    await delay(50);
    await churn(api, 2);
    await untilEqual(follower.held, () => stored(api));
    const left = api.faults.list().find((active) => active.id === id);
    assert.ok(left === undefined || left.hits > 0, "the fault was not met");
    if (meets !== undefined) assert.ok(follower.told.includes(meets), follower.told.join(", "));
    follower.stop();
  });
}

test("history that is forgotten and all watches cut at once: the list is read anew", async ({ api, client }) => {
  const follower = follow(client);
  await churn(api, 0);
  await untilEqual(follower.held, () => stored(api));
  api.faults.add({ fault: { type: "cut" }, verbs: ["watch"], count: 1 });
  api.faults.dropWatches();
  await churn(api, 1);
  api.faults.expireHistory();
  await churn(api, 2);
  await untilEqual(follower.held, () => stored(api));
  follower.stop();
});

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.instance(error, KubeError);
  return error as KubeError;
}

test("refused writes are told apart: conflict, overload with its time, failure; nothing was written", async ({
  api,
  client,
}) => {
  await client.create(maps, map("a", { x: "1" }));
  const refuse = (code: number, more: object = {}): void =>
    void api.faults.add({ fault: { type: "status", code, ...more }, verbs: ["patch", "update"], count: 1 });
  refuse(409);
  assert.is((await failure(client.mergePatch(maps, "a", { data: { x: "2" } }))).code, "HAPTIC_E_KUBE_CONFLICT");
  refuse(429, { retryAfter: 7 });
  const busy = await failure(client.apply(maps, map("a", { x: "2" })));
  assert.equal([busy.code, busy.retryAfterMs], ["HAPTIC_E_KUBE_UNAVAILABLE", 7_000]);
  refuse(500);
  assert.is((await failure(client.mergePatch(maps, "a", { data: { x: "2" } }))).code, "HAPTIC_E_KUBE_UNAVAILABLE");
  assert.equal((await client.get(maps, "a"))["data"], { x: "1" });
});

test("a lost write fails as unreachable and is not sent twice; doing it again is harmless", async ({ api, client }) => {
  await client.create(maps, map("a", { x: "1" }));
  api.counters.reset();
  api.faults.add({ fault: { type: "lost" }, verbs: ["patch"], count: 1 });
  const lost = await failure(client.apply(maps, map("a", { y: "2" })));
  assert.is(lost.code, "HAPTIC_E_KUBE_UNREACHABLE");
  assert.is(api.counters.writes["patch configmaps"], 1);
  const written = (await client.get(maps, "a")).metadata.resourceVersion;
  assert.is((await client.apply(maps, map("a", { y: "2" }))).metadata.resourceVersion, written, "nothing changed");
  // a compare-and-swap that was lost is refused when it is repeated: its writer has to look
  const before = await client.get(maps, "a");
  api.faults.add({ fault: { type: "lost" }, verbs: ["update"], count: 1 });
  const next = { ...before, data: { z: "3" } };
  await failure(client.replace(maps, next));
  assert.is((await failure(client.replace(maps, next))).code, "HAPTIC_E_KUBE_CONFLICT");
});

test.run();
