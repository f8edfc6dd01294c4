import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import { call, watch } from "../http/client.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const merge = "application/merge-patch+json";
const map = (name: string, data: Record<string, string> = {}): object => ({ metadata: { name }, data });
const names = (body: { items: { metadata: { name: string } }[] }): string[] => body.items.map((i) => i.metadata.name);

const test = suite<{ api: EmbeddedApi }>("faults");
test.before.each(async (context) => {
  context.api = await startEmbeddedApi({ host: "127.61.5.1", switchboard: true });
});
test.after.each(({ api }) => api.close());

test("a status fails the requests that it means, as a server would say it, so often as it was told", async ({
  api,
}) => {
  await call(api, "POST", maps, map("a"));
  api.faults.add({
    fault: { type: "status", code: 409 },
    verbs: ["patch"],
    resources: ["configmaps"],
    names: ["a"],
    count: 2,
  });
  for (let i = 0; i < 2; i++) {
    const refused = await call(api, "PATCH", `${maps}/a`, { data: { x: "1" } }, merge);
    assert.equal([refused.status, refused.body.reason], [409, "Conflict"]);
    assert.match(refused.body.message, 'Operation cannot be fulfilled on configmaps "a"');
  }
  const answer = await call(api, "PATCH", `${maps}/a`, { data: { x: "2" } }, merge);
  assert.equal([answer.status, answer.body["data"]], [200, { x: "2" }]);
  assert.equal(api.faults.list(), []);
});

test("429 says when to come again; another namespace, verb or resource is not hit", async ({ api }) => {
  api.faults.add({
    fault: { type: "status", code: 429, retryAfter: 3 },
    verbs: ["list"],
    namespaces: ["default"],
    resources: ["configmaps"],
  });
  const busy = await call(api, "GET", maps);
  assert.equal([busy.status, busy.headers["retry-after"], busy.body.reason], [429, "3", "TooManyRequests"]);
  assert.is((await call(api, "GET", "/api/v1/namespaces/kube-system/configmaps")).status, 200);
  assert.is((await call(api, "GET", "/api/v1/namespaces/default/secrets")).status, 200);
  assert.is((await call(api, "POST", maps, map("a"))).status, 201);
  assert.is(api.faults.list()[0]?.hits, 1);
});

test("a lost write is done, and nobody hears of it", async ({ api }) => {
  api.faults.add({ fault: { type: "lost" }, verbs: ["create"], count: 1 });
  await call(api, "POST", maps, map("a")).then(
    () => assert.unreachable(),
    () => undefined,
  );
  assert.is((await call(api, "GET", `${maps}/a`)).status, 200);
});

test("a stale read shows what was, with the version of then; what was already there stays", async ({ api }) => {
  await call(api, "POST", maps, map("a", { x: "1" }));
  await call(api, "PATCH", `${maps}/a`, { data: { x: "2" } }, merge);
  await call(api, "POST", maps, map("b"));
  const now = await call(api, "GET", maps);
  const id = api.faults.add({ fault: { type: "stale", behind: 2 } });
  const past = await call(api, "GET", maps);
  assert.equal(names(past.body), ["a"]);
  assert.is(Number(past.body.metadata["resourceVersion"]), Number(now.body.metadata["resourceVersion"]) - 2);
  assert.equal((await call(api, "GET", `${maps}/a`)).body["data"], { x: "1" });
  assert.is((await call(api, "GET", `${maps}/b`)).status, 404);
  api.faults.remove(id);
  assert.equal(names((await call(api, "GET", maps)).body), ["a", "b"]);
});

test("a stalled watch stays open and silent, and gets everything when the rule goes; other watches go on", async ({
  api,
}) => {
  const id = api.faults.add({ fault: { type: "stall" }, resources: ["configmaps"] });
  const stalled = await watch(api, `${maps}?watch=true`);
  const other = await watch(api, "/api/v1/namespaces/default/secrets?watch=true");
  await call(api, "POST", maps, map("a"));
  await call(api, "POST", "/api/v1/namespaces/default/secrets", map("s"));
  await other.until(1);
  assert.equal(stalled.lines, []);
  api.faults.remove(id);
  assert.is((await stalled.until(1))[0]?.object.metadata["name"], "a");
  stalled.close();
  other.close();
});

test("a watch is cut in mid-stream after its time, a request at once, all watches together", async ({ api }) => {
  api.faults.add({ fault: { type: "drop", afterMs: 30 }, count: 1 });
  await (
    await watch(api, `${maps}?watch=true`)
  ).ended;
  const lasting = await watch(api, `${maps}?watch=true`);
  await call(api, "POST", maps, map("a"));
  await lasting.until(1);
  api.faults.dropWatches();
  await lasting.ended;
  api.faults.add({ fault: { type: "cut" }, match: "GET /api/v1/namespaces/default/configmaps", count: 1 });
  await call(api, "GET", maps).then(
    () => assert.unreachable(),
    () => undefined,
  );
});

test("delays add up; what comes by chance is the same for the same seed", async ({ api }) => {
  api.faults.add({ fault: { type: "slow", ms: 40 } });
  api.faults.add({ fault: { type: "slow", ms: 40 } });
  const begun = performance.now();
  await call(api, "GET", maps);
  assert.ok(performance.now() - begun >= 79);
  const draw = async (): Promise<number[]> => {
    api.faults.clear();
    api.faults.seed(7);
    api.faults.add({ fault: { type: "status", code: 503 }, probability: 0.5 });
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await call(api, "GET", maps)).status);
    return statuses;
  };
  const first = await draw();
  assert.ok(first.includes(200) && first.includes(503), String(first));
  assert.equal(await draw(), first);
});

test("the switchboard takes rules over HTTP, tells what is on and refuses what it does not know", async ({ api }) => {
  api.faults.add({ fault: { type: "status", code: 500 } });
  const added = await call(api, "POST", "/faults", [
    { fault: { type: "slow", ms: 1 } },
    { fault: { type: "status", code: 410 }, verbs: ["list"], probability: 1 },
  ]);
  assert.equal([added.status, added.body["ids"]], [201, [2, 3]]);
  assert.is((await call(api, "DELETE", "/faults/1")).status, 200);
  const gone = await call(api, "GET", maps);
  assert.equal([gone.status, gone.body.reason], [410, "Expired"]);
  const listed = await call(api, "GET", "/faults");
  assert.equal(
    (listed.body["rules"] as { id: number; hits: number }[]).map(({ id, hits }) => [id, hits]),
    [
      [2, 1],
      [3, 1],
    ],
  );
  for (const [rule, why] of [
    [{ fault: { type: "slwo", ms: 1 } }, "fault.type"],
    [{ fault: { type: "slow" } }, "fault.ms"],
    [{ fault: { type: "cut", ms: 1 } }, "fault.ms"],
    [{ fault: { type: "cut" }, verb: ["get"] }, "verb: a rule has no such field"],
    [{ fault: { type: "cut" }, verbs: ["read"] }, "verbs: read is none of"],
    [{ fault: { type: "cut" }, resources: "pods" }, "resources: a list of texts"],
  ] as const) {
    const refused = await call(api, "POST", "/faults", rule);
    assert.is(refused.status, 400, JSON.stringify(rule));
    assert.match(refused.body.message, why);
  }
  assert.is((await call(api, "DELETE", "/faults/99")).status, 404);
  const open = await watch(api, `${maps}?watch=true`);
  assert.is((await call(api, "POST", "/faults/drop-watches", {})).status, 200);
  await open.ended;
  assert.is((await call(api, "DELETE", "/faults")).status, 200);
  assert.is((await call(api, "GET", maps)).status, 200);
});

test("without being asked for at start there is no switchboard", async () => {
  const plain = await startEmbeddedApi({ host: "127.61.5.2" });
  assert.is((await call(plain, "GET", "/faults")).status, 404);
  await plain.close();
});

test.run();
