import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import { call, watch } from "./client.ts";

const test = suite<{ api: EmbeddedApi }>("watches");
const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels },
});

test.before.each(async (context) => {
  context.api = await startEmbeddedApi({ host: "127.11.2.1", history: 50 });
});
test.after.each(async (context) => {
  await context.api.close();
});

const revision = async (api: EmbeddedApi): Promise<string> =>
  String((await call(api, "GET", maps)).body.metadata["resourceVersion"]);

test("a watch from a list's revision tells every later change in order", async ({ api }) => {
  const from = await revision(api);
  api.objects.create(map("a"));
  const open = await watch(api, `${maps}?watch=true&resourceVersion=${from}`);
  api.objects.patch({ apiVersion: "v1", kind: "ConfigMap", name: "a" }, { data: { x: "1" } });
  api.objects.delete({ apiVersion: "v1", kind: "ConfigMap", name: "a" });
  const lines = await open.until(3);
  assert.equal(
    lines.map((line) => line.type),
    ["ADDED", "MODIFIED", "DELETED"],
  );
  const revisions = lines.map((line) => Number(line.object.metadata["resourceVersion"]));
  assert.equal(
    revisions,
    revisions.toSorted((a, b) => a - b),
  );
  assert.equal(lines[2]?.object["data"], { x: "1" });
  open.close();
});

test("an object that leaves a selector is deleted with its old state and the new revision", async ({ api }) => {
  api.objects.create(map("a", { app: "x" }));
  const open = await watch(api, `${maps}?watch=true&resourceVersion=${await revision(api)}&labelSelector=app%3Dx`);
  const target = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const left = api.objects.patch(target, { metadata: { labels: { app: "y" } } });
  api.objects.patch(target, { metadata: { labels: { app: "x" } } });
  const lines = await open.until(2);
  assert.is(lines[0]?.type, "DELETED");
  assert.equal(lines[0]?.object.metadata["labels"], { app: "x" });
  assert.is(lines[0]?.object.metadata["resourceVersion"], left.metadata.resourceVersion);
  assert.is(lines[1]?.type, "ADDED");
  open.close();
});

test("initial events end with a bookmark that says so", async ({ api }) => {
  api.objects.create(map("a"));
  api.objects.create(map("b"));
  const open = await watch(
    api,
    `${maps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  const lines = await open.until(3);
  assert.equal(
    lines.map((line) => line.type),
    ["ADDED", "ADDED", "BOOKMARK"],
  );
  assert.equal(lines[2]?.object.metadata["annotations"], { "k8s.io/initial-events-end": "true" });
  open.close();
});

test("sendInitialEvents without its match is refused", async ({ api }) => {
  const answer = await call(api, "GET", `${maps}?watch=true&sendInitialEvents=true`);
  assert.is(answer.status, 422);
});

test("a revision that is too old gets one ERROR with 410 and the end", async ({ api }) => {
  const from = await revision(api);
  for (let i = 0; i < 60; i++) api.objects.create(map(`m${i}`));
  const open = await watch(api, `${maps}?watch=true&resourceVersion=${from}`);
  await open.ended;
  assert.is(open.lines.length, 1);
  assert.is(open.lines[0]?.type, "ERROR");
  assert.is(open.lines[0]?.object["code"], 410);
});

test("expired history refuses old watches and old pages with 410", async ({ api }) => {
  for (const name of ["a", "b", "c"]) api.objects.create(map(name));
  const first = await call(api, "GET", `${maps}?limit=1`);
  api.faults.expireHistory();
  api.objects.create(map("d"));
  api.faults.expireHistory();
  const next = await call(api, "GET", `${maps}?limit=1&continue=${String(first.body.metadata["continue"])}`);
  assert.is(next.status, 410);
  assert.is(next.body.reason, "Expired");
  const rest = await call(api, "GET", `${maps}?continue=${String(next.body.metadata["continue"])}`);
  assert.equal(
    rest.body.items.map((item) => item.metadata.name),
    ["b", "c", "d"],
  );
});

test("dropped watches end, stalled ones keep their events until they go on", async ({ api }) => {
  const dropped = await watch(api, `${maps}?watch=true`);
  api.faults.dropWatches();
  await dropped.ended;
  assert.is(api.watches, 0);
  const stalled = await watch(api, `${maps}?watch=true&resourceVersion=${await revision(api)}`);
  api.faults.stallWatches(true);
  api.objects.create(map("late"));
  await call(api, "GET", maps);
  assert.is(stalled.lines.length, 0);
  api.faults.stallWatches(false);
  assert.is((await stalled.until(1))[0]?.object.metadata["name"], "late");
  stalled.close();
});

test("a Table watch carries its columns once", async ({ api }) => {
  api.objects.create(map("a"));
  api.objects.create(map("b"));
  const answer = await call(api, "GET", maps, undefined, undefined, "application/json;as=Table;v=v1;g=meta.k8s.io");
  assert.is(answer.body["kind"], "Table");
  const rows = answer.body["rows"] as { cells: unknown[] }[];
  assert.equal(
    rows.map((row) => row.cells.slice(0, 2)),
    [
      ["a", 0],
      ["b", 0],
    ],
  );
});

test("an outage cuts everything and what was stored is there afterwards", async ({ api }) => {
  api.objects.create(map("kept"));
  const open = await watch(api, `${maps}?watch=true`);
  const outage = api.outage(50);
  await open.ended;
  await outage;
  assert.equal(
    (await call(api, "GET", maps)).body.items.map((item) => item.metadata.name),
    ["kept"],
  );
});

test.run();
