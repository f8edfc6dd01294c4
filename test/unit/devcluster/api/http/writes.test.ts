import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import { call, watch } from "./client.ts";

const test = suite<{ api: EmbeddedApi }>("writes over HTTP");
const maps = "/api/v1/namespaces/default/configmaps";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const map = (name: string, more: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...more } });

test.before.each(async (context) => {
  context.api = await startEmbeddedApi({ host: "127.11.3.1" });
});
test.after.each(async (context) => {
  await context.api.close();
});

test("a PUT with an old resourceVersion loses", async ({ api }) => {
  const { body } = await call(api, "POST", maps, map("a"));
  const old = { ...body, data: { x: "1" } };
  assert.is((await call(api, "PUT", `${maps}/a`, old)).status, 200);
  const lost = await call(api, "PUT", `${maps}/a`, { ...old, data: { x: "2" } });
  assert.is(lost.status, 409);
  assert.match(lost.body.message, /the object has been modified/);
});

test("OpenAPI v2 is a document without types, also in the protobuf that kubectl asks for", async ({ api }) => {
  const json = await call(api, "GET", "/openapi/v2");
  assert.is(json.body["swagger"], "2.0");
  const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const bytes = await call(api, "GET", "/openapi/v2", undefined, undefined, accept);
  assert.is(bytes.status, 200);
  assert.is(bytes.body.message, "\n\u00032.0\u0012\u0015\n\nKubernetes\u0012\u0007v1.37.2");
});

test("of two writers who take a Lease by compare-and-swap one wins", async ({ api }) => {
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "l" },
    spec: { holderIdentity: "a" },
  };
  const made = await call(api, "PUT", `${leases}/l`, lease);
  assert.is(made.status, 201);
  const claims = ["b", "c"].map((holderIdentity) =>
    call(api, "PUT", `${leases}/l`, { ...made.body, spec: { holderIdentity } }),
  );
  const codes = (await Promise.all(claims)).map((answer) => answer.status);
  assert.equal(codes.toSorted(), [200, 409]);
  assert.is((await call(api, "PUT", `${leases}/l`, lease)).status, 422);
});

test("a write that changes nothing keeps the revision and tells nobody", async ({ api }) => {
  const { body } = await call(api, "POST", maps, map("a"));
  const told: string[] = [];
  api.onChange((resource) => told.push(resource));
  const again = await call(api, "PATCH", `${maps}/a`, { metadata: { labels: null } }, "application/merge-patch+json");
  assert.is(again.body.metadata["resourceVersion"], body.metadata["resourceVersion"]);
  assert.equal(told, []);
});

test("pages show the snapshot of the first one", async ({ api }) => {
  for (const name of ["a", "b", "c"]) api.objects.create(map(name));
  const first = await call(api, "GET", `${maps}?limit=1`);
  assert.is(first.body.metadata["remainingItemCount"], 2);
  api.objects.delete({ apiVersion: "v1", kind: "ConfigMap", name: "b" });
  api.objects.create(map("bb"));
  const rest = await call(api, "GET", `${maps}?continue=${String(first.body.metadata["continue"])}`);
  assert.equal(
    rest.body.items.map((item) => item.metadata.name),
    ["b", "c"],
  );
  assert.is(rest.body.metadata["resourceVersion"], first.body.metadata["resourceVersion"]);
});

test("dependents follow their owner, and finalizers are waited for", async ({ api }) => {
  const owner = api.objects.create(map("owner", { finalizers: ["demo.io/hold"] }));
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
  api.objects.create(map("child", { ownerReferences }));
  const held = await call(api, "DELETE", `${maps}/owner`);
  assert.ok(held.body.metadata["deletionTimestamp"]);
  assert.ok(api.objects.get({ apiVersion: "v1", kind: "ConfigMap", name: "child" }));
  await call(api, "PATCH", `${maps}/owner`, { metadata: { finalizers: null } }, "application/merge-patch+json");
  await sleep(20);
  assert.is(api.objects.get({ apiVersion: "v1", kind: "ConfigMap", name: "owner" }), undefined);
  assert.is(api.objects.get({ apiVersion: "v1", kind: "ConfigMap", name: "child" }), undefined);
});

test("a deleted namespace takes its content along", async ({ api }) => {
  api.objects.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
  api.objects.create(map("a", { namespace: "team" }));
  api.objects.delete({ apiVersion: "v1", kind: "Namespace", name: "team" });
  const going = api.objects.get({ apiVersion: "v1", kind: "Namespace", name: "team" });
  assert.equal(going?.["status"], { phase: "Terminating" });
  assert.throws(() => api.objects.create(map("b", { namespace: "team" })), /because it is being terminated/);
  await sleep(20);
  assert.is((await call(api, "GET", "/api/v1/namespaces/team")).status, 404);
  assert.is(api.objects.list("v1", "ConfigMap").length, 0);
});

test("a definition is served once it is established and takes its objects along", async ({ api }) => {
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { n: { type: "integer", default: 3 } } } },
  };
  api.objects.create({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.demo.io" },
    spec: {
      group: "demo.io",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        { name: "v1beta1", served: true, storage: false, schema: { openAPIV3Schema: schema } },
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } },
      ],
    },
  });
  await sleep(20);
  const path = "/apis/demo.io/v1beta1/namespaces/default/things";
  const made = await call(api, "POST", path, {
    apiVersion: "demo.io/v1beta1",
    kind: "Thing",
    metadata: { name: "t" },
    spec: { x: 1 },
  });
  assert.is(made.status, 201);
  assert.match(String(made.headers["warning"]), /unknown field/);
  const stored = await call(api, "GET", "/apis/demo.io/v1/namespaces/default/things/t");
  assert.is(stored.body["apiVersion"], "demo.io/v1");
  assert.equal(stored.body["spec"], { n: 3 });
  const open = await watch(api, "/apis/demo.io/v1/things?watch=true");
  api.objects.delete({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    name: "things.demo.io",
  });
  await open.ended;
  assert.equal(
    open.lines.map((line) => line.type),
    ["ADDED", "DELETED"],
  );
  assert.is((await call(api, "GET", path)).status, 404);
  assert.not.ok(api.objects.serves("demo.io/v1", "Thing"));
});

test("an event is one object in two shapes", async ({ api }) => {
  const event = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    type: "Warning",
    reason: "Bad",
    action: "Rendering",
    note: "what is wrong",
    reportingController: "haproxy-haptic.org/controller",
    reportingInstance: "one",
    regarding: { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "default" },
  };
  const made = await call(api, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", event);
  assert.is(made.status, 201);
  const core = await call(api, "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=a");
  const found = core.body.items[0] as unknown as Record<string, unknown>;
  assert.is(found["message"], "what is wrong");
  assert.is(found["reportingComponent"], "haproxy-haptic.org/controller");
});

test("injected failures hit the requests they are meant for, once", async ({ api }) => {
  api.faults.failNext({ status: 503, match: /^PATCH .*configmaps/, reason: "ServiceUnavailable", retryAfter: 2 });
  assert.is((await call(api, "POST", maps, map("a"))).status, 201);
  const failed = await call(api, "PATCH", `${maps}/a`, { data: { x: "1" } }, "application/merge-patch+json");
  assert.is(failed.status, 503);
  assert.is(failed.headers["retry-after"], "2");
  assert.is((await call(api, "PATCH", `${maps}/a`, { data: { x: "1" } }, "application/merge-patch+json")).status, 200);
  api.faults.failNext({ status: 0 });
  let cut = false;
  await call(api, "GET", maps).catch(() => (cut = true));
  assert.ok(cut);
});

test("requests are counted by verb and resource", async ({ api }) => {
  api.counters.reset();
  await call(api, "POST", maps, map("a"));
  await call(api, "GET", maps);
  await call(api, "GET", `${maps}/a`);
  assert.equal(api.counters.requests, { "create configmaps": 1, "list configmaps": 1, "get configmaps": 1 });
  assert.equal(api.counters.writes, { "create configmaps": 1 });
});

test.run();
