import { createServer } from "node:https";
import type { Server } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";
import { createAuthority } from "../../../../../src/devcluster/certificates.ts";
import { call } from "../http/client.ts";

const HOST = "127.61.4.1";
const maps = "/api/v1/namespaces/default/configmaps";

interface Review {
  readonly request: {
    readonly uid: string;
    readonly name?: string;
    readonly object: { data?: Record<string, string> };
  };
}
type Reply = (review: Review, path: string) => Promise<object | undefined> | object | undefined;

interface World {
  api: EmbeddedApi;
  server: Server;
  caBundle: string;
  asked: string[];
  /** What the webhook at each path answers; undefined: nothing, ever. */
  reply: Reply;
}

const test = suite<World>("admission webhooks");

test.before.each(async (world) => {
  world.api = await startEmbeddedApi({ host: HOST });
  const authority = await createAuthority("webhooks", new Date());
  const { certificate, key } = await authority.issue([HOST, "hook.default.svc"], "server");
  world.caBundle = Buffer.from(authority.certificate).toString("base64");
  world.asked = [];
  world.reply = () => ({ allowed: true });
  world.server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      world.asked.push(path);
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Review;
      void Promise.resolve(world.reply(review, path)).then((verdict) => {
        if (verdict === undefined) return;
        const answer = { uid: review.request.uid, ...verdict };
        response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer }));
      });
    });
  });
  world.server.listen(0, HOST);
  await once(world.server, "listening");
});

test.after.each(async ({ api, server }) => {
  server.closeAllConnections();
  server.close();
  await api.close();
});

const port = (server: Server): number => (server.address() as AddressInfo).port;

function configure(
  { api, server, caBundle }: World,
  kind: "Mutating" | "Validating",
  webhooks: readonly { readonly path?: string; readonly [field: string]: unknown }[],
): void {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
  api.objects.apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name: "test" },
    webhooks: webhooks.map(({ path = "/", ...more }, i) => ({
      name: `w${i}.unit.test`,
      clientConfig: { url: `https://${HOST}:${port(server)}${path}`, caBundle },
      rules,
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...more,
    })),
  });
}

const map = (name: string, data: Record<string, string> = {}): object => ({ metadata: { name }, data });

const append =
  (word: string): Reply =>
  ({ request }) => {
    const value = `${request.object.data?.["trail"] ?? ""}${word}`;
    const patch = Buffer.from(JSON.stringify([{ op: "add", path: "/data/trail", value }])).toString("base64");
    return { allowed: true, patchType: "JSONPatch", patch };
  };

test("a refusal is the webhook's, with its warnings; nothing is stored", async (world) => {
  configure(world, "Validating", [{}]);
  world.reply = () => ({ allowed: false, status: { message: "not today" }, warnings: ["look out"] });
  const answer = await call(world.api, "POST", maps, map("a", { x: "1" }));
  assert.is(answer.status, 400);
  assert.is(answer.body.message, 'admission webhook "w0.unit.test" denied the request: not today');
  assert.match(String(answer.headers["warning"]), "look out");
  assert.is((await call(world.api, "GET", `${maps}/a`)).status, 404);
});

test("a webhook that does not answer in its time refuses by default and is passed over with Ignore", async (world) => {
  configure(world, "Validating", [{ timeoutSeconds: 1 }]);
  world.reply = () => undefined;
  const refused = await call(world.api, "POST", maps, map("a"));
  assert.is(refused.status, 500);
  assert.match(
    refused.body.message,
    /failed calling webhook "w0\.unit\.test": .*timeout=1s": context deadline exceeded$/,
  );
  configure(world, "Validating", [{ timeoutSeconds: 1, failurePolicy: "Ignore" }]);
  assert.is((await call(world.api, "POST", maps, map("a"))).status, 201);
});

test("mutating webhooks see each other's changes; one that wants to is asked again after a later change", async (world) => {
  configure(world, "Mutating", [
    { path: "/a", reinvocationPolicy: "IfNeeded" },
    { path: "/b" },
    { path: "/c", reinvocationPolicy: "IfNeeded" },
  ]);
  world.reply = (review, path) => append(path.slice(1))(review, path);
  const answer = await call(world.api, "POST", maps, map("a", {}));
  assert.is(answer.status, 500, "a patch into data that is not there");
  const made = await call(world.api, "POST", maps, map("a", { trail: ">" }));
  assert.is(made.status, 201);
  assert.equal(made.body["data"], { trail: ">abca" });
});

test("by a Service the address behind it is called, under the Service's name", async (world) => {
  const { api, server, caBundle } = world;
  const service = { name: "hook", namespace: "default", port: 443, path: "/x" };
  configure(world, "Validating", [{ clientConfig: { service, caBundle } }]);
  const missing = await call(api, "POST", maps, map("a"));
  assert.match(missing.body.message, 'service "hook" not found');
  api.objects.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "hook" },
    spec: { ports: [{ port: 443 }] },
  });
  const empty = await call(api, "POST", maps, map("a"));
  assert.match(empty.body.message, 'no endpoints available for service "hook"');
  api.objects.apply({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "hook-1", labels: { "kubernetes.io/service-name": "hook" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [HOST] }],
    ports: [{ port: port(server), name: "" }],
  });
  assert.is((await call(api, "POST", maps, map("a"))).status, 201);
  assert.equal(world.asked, ["/x"]);
});

test("an authority that the configuration does not name is not trusted", async (world) => {
  const other = await createAuthority("others", new Date());
  const url = `https://${HOST}:${port(world.server)}/`;
  const caBundle = Buffer.from(other.certificate).toString("base64");
  configure(world, "Validating", [{ clientConfig: { url, caBundle } }]);
  const answer = await call(world.api, "POST", maps, map("a"));
  assert.match(answer.body.message, "x509: certificate signed by unknown authority");
  assert.equal(world.asked, []);
});

test("a change that came while a webhook thought is not written over: the patch is made anew", async (world) => {
  await call(world.api, "POST", maps, map("a", { one: "1" }));
  configure(world, "Validating", [{}]);
  let first = true;
  world.reply = () => {
    if (first) world.api.objects.patch({ apiVersion: "v1", kind: "ConfigMap", name: "a" }, { data: { two: "2" } });
    first = false;
    return { allowed: true };
  };
  const answer = await call(world.api, "PATCH", `${maps}/a`, { data: { three: "3" } }, "application/merge-patch+json");
  assert.is(answer.status, 200);
  assert.equal(answer.body["data"], { one: "1", two: "2", three: "3" });
  assert.is(world.asked.length, 2);
});

test("code in the same process, webhook configurations and other kinds are not asked about", async (world) => {
  configure(world, "Validating", [{}]);
  world.reply = () => ({ allowed: false });
  world.api.objects.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "inside" } });
  assert.is(
    (await call(world.api, "POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s" } })).status,
    201,
  );
  const configuration = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/test";
  assert.is((await call(world.api, "DELETE", configuration)).status, 200);
  assert.equal(world.asked, []);
  assert.is((await call(world.api, "DELETE", `${maps}/inside`)).status, 200);
});

test.run();
