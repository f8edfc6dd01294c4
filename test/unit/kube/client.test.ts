import { test } from "uvu";
import * as assert from "uvu/assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { KubeConfigError, KubeError } from "../../../src/errors.ts";
import {
  createKubeClient,
  directConnection,
  findConnection,
  inClusterConnection,
  type KubeClient,
} from "../../../src/kube/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { scriptedServer, type Exchange, type ScriptedServer } from "./scripted-server.ts";

const TARGET = { apiVersion: "demo.io/v1", resource: "things", namespace: "n" };
const thing: KubeObject = {
  apiVersion: "demo.io/v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "n", resourceVersion: "7" },
};

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, KubeError);
    return error as KubeError;
  }
  return assert.unreachable("the request should have failed") as never;
}

async function withServer(
  script: ((exchange: Exchange, index: number) => void) | undefined,
  body: (client: KubeClient, server: ScriptedServer) => Promise<void>,
  deps: Parameters<typeof createKubeClient>[1] = {},
): Promise<void> {
  const server = await scriptedServer(script);
  const client = createKubeClient(directConnection({ server: server.url }), deps);
  try {
    await body(client, server);
  } finally {
    await client.close();
    await server.close();
  }
}

const echo = (exchange: Exchange): void => exchange.json(200, thing);

test("Each verb sends the method, path, query and content type that the API wants", async () => {
  await withServer(echo, async (client, server) => {
    await client.get(TARGET, "a");
    await client.create(TARGET, thing);
    await client.replace(TARGET, thing, { subresource: "status" });
    await client.mergePatch(TARGET, "a", { spec: null }, { dryRun: true, fieldManager: "other" });
    await client.apply({ apiVersion: "v1", resource: "nodes" }, thing, { force: true });
    await client.delete(TARGET, "a", { uid: "u", resourceVersion: "7" });
    const sent = server.seen.map(({ method, url, headers }) =>
      [method, url.pathname + decodeURIComponent(url.search), headers["content-type"] ?? ""].join(" "),
    );
    assert.equal(sent, [
      "GET /apis/demo.io/v1/namespaces/n/things/a ",
      "POST /apis/demo.io/v1/namespaces/n/things?fieldManager=haptic application/json",
      "PUT /apis/demo.io/v1/namespaces/n/things/a/status?fieldManager=haptic application/json",
      "PATCH /apis/demo.io/v1/namespaces/n/things/a?fieldManager=other&dryRun=All application/merge-patch+json",
      "PATCH /api/v1/nodes/a?fieldManager=haptic&force=true application/apply-patch+yaml",
      "DELETE /apis/demo.io/v1/namespaces/n/things/a application/json",
    ]);
    assert.equal(JSON.parse(server.seen[3]!.body), { spec: null });
    assert.equal((JSON.parse(server.seen[5]!.body) as { preconditions: unknown }).preconditions, {
      uid: "u",
      resourceVersion: "7",
    });
    assert.match(server.seen[0]!.headers["user-agent"]!, /^haptic/);
    assert.equal(client.counters.requests, { get: 1, create: 1, update: 1, patch: 1, apply: 1, delete: 1 });
    assert.equal(client.counters.writes, { things: 3, "things/status": 1, nodes: 1 });
  });
});

test("Names from outside cannot leave their place in the path", async () => {
  await withServer(echo, async (client, server) => {
    await client.get({ ...TARGET, namespace: "../x" }, "a/../b?watch=1#c");
    assert.is(server.seen[0]!.request.url, "/apis/demo.io/v1/namespaces/..%2Fx/things/a%2F..%2Fb%3Fwatch%3D1%23c");
  });
});

test("A refusal carries status, reason and a code, names verb and object, and repeats no rejected value", async () => {
  const answers: [number, unknown, string, RegExp][] = [
    [
      404,
      { kind: "Status", reason: "NotFound", message: 'things.demo.io "a" not found' },
      "HAPTIC_E_KUBE_NOT_FOUND",
      /^get things\.demo\.io n\/a: 404 NotFound: things/,
    ],
    [
      409,
      { kind: "Status", reason: "Conflict", message: "modified" },
      "HAPTIC_E_KUBE_CONFLICT",
      /409 Conflict: modified$/,
    ],
    [403, { kind: "Status", reason: "Forbidden", message: "no" }, "HAPTIC_E_KUBE_FORBIDDEN", /403/],
    [410, { kind: "Status", reason: "Expired", message: "old" }, "HAPTIC_E_KUBE_EXPIRED", /410/],
    [
      422,
      {
        kind: "Status",
        reason: "Invalid",
        message:
          'Thing "a" is invalid: spec.key: Invalid value: "s3cr\\"et": bad, spec.n: Unsupported value: 5: supported',
      },
      "HAPTIC_E_KUBE_INVALID",
      /spec\.key: Invalid value: …: bad, spec\.n: Unsupported value: …: supported$/,
    ],
    [500, "s3cret text", "HAPTIC_E_KUBE_UNAVAILABLE", /^get things\.demo\.io n\/a: 500$/],
    [
      429,
      { kind: "Status", reason: "TooManyRequests", message: "later", details: { retryAfterSeconds: 2 } },
      "HAPTIC_E_KUBE_UNAVAILABLE",
      /429/,
    ],
    [301, {}, "HAPTIC_E_KUBE_PROTOCOL", /301/],
  ];
  for (const [status, body, code, message] of answers) {
    await withServer(
      (exchange) => exchange.json(status, body),
      async (client) => {
        const error = await failure(client.get(TARGET, "a"));
        assert.is(error.code, code);
        assert.is(error.status, status);
        assert.is(error.reason, (body as { reason?: string }).reason ?? "");
        assert.match(error.message, message);
        assert.not.match(error.message, /s3cr/);
        if (status === 429) assert.is(error.retryAfterMs, 2000);
      },
    );
  }
});

test("No answer, a broken one and one that is not JSON are told apart", async () => {
  const nobody = createKubeClient(directConnection({ server: "http://127.0.0.1:1" }));
  const refused = await failure(nobody.get(TARGET, "a"));
  assert.is(refused.code, "HAPTIC_E_KUBE_UNREACHABLE");
  assert.is(refused.status, 0);
  await nobody.close();
  await withServer(
    (exchange) => exchange.response.end("hello"),
    async (client) => assert.is((await failure(client.get(TARGET, "a"))).code, "HAPTIC_E_KUBE_PROTOCOL"),
  );
  await withServer(
    () => undefined,
    async (client) => {
      const error = await failure(client.get(TARGET, "a"));
      assert.is(error.code, "HAPTIC_E_KUBE_TIMEOUT");
      assert.match(error.message, "get things.demo.io n/a: no answer within 50 ms");
    },
    { requestTimeoutMs: 50 },
  );
});

test("A read on a kept connection that the server closed meanwhile is sent again, a write is not", async () => {
  await withServer(
    (exchange, index) => (index === 0 || index === 2 ? exchange.request.socket.destroy() : exchange.json(200, thing)),
    async (client, server) => {
      assert.is((await client.get(TARGET, "a")).metadata.name, "a");
      assert.is((await failure(client.create(TARGET, thing))).code, "HAPTIC_E_KUBE_UNREACHABLE");
      assert.is(server.seen.length, 3);
    },
  );
});

test("An aborted request rejects with the signal's reason at once", async () => {
  await withServer(undefined, async (client, server) => {
    const abort = new AbortController();
    const reason = new Error("no longer wanted");
    const pending = client.get(TARGET, "a", abort.signal);
    await server.take();
    abort.abort(reason);
    await pending.then(
      () => assert.unreachable(),
      (error: unknown) => assert.is(error, reason),
    );
    await client.get(TARGET, "a", AbortSignal.abort(reason)).then(
      () => assert.unreachable(),
      (error: unknown) => assert.is(error, reason),
    );
  });
});

test("A rotated token is read again after a 401 at once, and otherwise after a while", async () => {
  const directory = mkdtempSync(join(tmpdir(), "haptic-token-"));
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, "one\n");
  let valid = "one";
  const server = await scriptedServer((exchange) => {
    if (exchange.headers.authorization === `Bearer ${valid}`) exchange.json(200, thing);
    else exchange.json(401, { kind: "Status", reason: "Unauthorized", message: "Unauthorized" });
  });
  const client = createKubeClient(directConnection({ server: server.url, tokenFile }), { recheckMs: 100 });
  await client.get(TARGET, "a");
  writeFileSync(tokenFile, "two\n");
  await client.get(TARGET, "a");
  assert.is(server.seen.at(-1)!.headers.authorization, "Bearer one");
  valid = "two";
  await client.get(TARGET, "a");
  assert.is(server.seen.length, 4, "a 401 and a second try");
  writeFileSync(tokenFile, "three\n");
  valid = "three";
  await delay(120);
  await client.get(TARGET, "a");
  assert.is(server.seen.length, 5, "no 401 was needed");
  valid = "four";
  const error = await failure(client.get(TARGET, "a"));
  assert.is(error.code, "HAPTIC_E_KUBE_UNAUTHORIZED");
  assert.is(server.seen.length, 7);
  rmSync(directory, { recursive: true });
  await client.get(TARGET, "a").then(
    () => assert.unreachable(),
    (e: unknown) => assert.ok(e instanceof KubeConfigError || e instanceof KubeError),
  );
  await client.close();
  await server.close();
});

test("Files that are half written during a rotation do no harm: what worked goes on", async () => {
  const directory = mkdtempSync(join(tmpdir(), "haptic-token-"));
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, "one");
  await (async () => {
    const server = await scriptedServer(echo);
    const client = createKubeClient(directConnection({ server: server.url, tokenFile }), { recheckMs: 0 });
    await client.get(TARGET, "a");
    rmSync(tokenFile);
    await client.get(TARGET, "a");
    assert.is(server.seen[1]!.headers.authorization, "Bearer one");
    await client.close();
    await server.close();
  })();
  rmSync(directory, { recursive: true });
});

test("A list gathers all pages", async () => {
  await withServer(
    (exchange) => {
      const next = exchange.url.searchParams.get("continue");
      assert.is(exchange.url.searchParams.get("limit"), "100");
      exchange.json(200, {
        kind: "ThingList",
        apiVersion: "demo.io/v1",
        metadata: { resourceVersion: "9", ...(next === null && { continue: "c" }) },
        items: next === null ? [{ metadata: { name: "a" } }] : null,
      });
    },
    async (client) => {
      const { items, resourceVersion } = await client.list(TARGET);
      assert.equal(items, [{ metadata: { name: "a" }, kind: "Thing", apiVersion: "demo.io/v1" }]);
      assert.is(resourceVersion, "9");
    },
  );
});

test("Discovery reads the aggregated form, and falls back to one document a group version", async () => {
  const aggregated = (group: string | undefined, version: string, resource: string): object => ({
    kind: "APIGroupDiscoveryList",
    items: [
      {
        metadata: group === undefined ? {} : { name: group },
        versions: [
          {
            version,
            resources: [
              {
                resource,
                scope: "Namespaced",
                responseKind: { group: "", version: "", kind: "Thing" },
                subresources: [{ subresource: "status" }],
              },
            ],
          },
        ],
      },
    ],
  });
  await withServer(
    (exchange) => {
      assert.match(exchange.headers.accept!, "as=APIGroupDiscoveryList");
      exchange.json(
        200,
        exchange.url.pathname === "/api" ? aggregated(undefined, "v1", "pods") : aggregated("demo.io", "v1", "things"),
        {
          "content-type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        },
      );
    },
    async (client, server) => {
      assert.equal(await client.discover(), [
        { group: "", version: "v1", resource: "pods", kind: "Thing", namespaced: true, subresources: ["status"] },
        {
          group: "demo.io",
          version: "v1",
          resource: "things",
          kind: "Thing",
          namespaced: true,
          subresources: ["status"],
        },
      ]);
      assert.is(server.seen.length, 2);
    },
  );
  const plain: Record<string, unknown> = {
    "/api": { kind: "APIVersions", versions: ["v1"] },
    "/apis": {
      kind: "APIGroupList",
      groups: [
        { name: "demo.io", versions: [{ groupVersion: "demo.io/v1" }] },
        { versions: [{ groupVersion: "broken.io/v1" }] },
      ],
    },
    "/api/v1": {
      resources: [
        { name: "nodes", kind: "Node", namespaced: false },
        { name: "nodes/status", kind: "Node", namespaced: false },
      ],
    },
    "/apis/demo.io/v1": { resources: [{ name: "things", kind: "Thing", namespaced: true }] },
  };
  await withServer(
    (exchange) => exchange.json(exchange.url.pathname in plain ? 200 : 503, plain[exchange.url.pathname] ?? {}),
    async (client) => {
      assert.equal(await client.discover(), [
        { group: "", version: "v1", resource: "nodes", kind: "Node", namespaced: false, subresources: ["status"] },
        { group: "demo.io", version: "v1", resource: "things", kind: "Thing", namespaced: true, subresources: [] },
      ]);
    },
  );
});

test("An open watch holds back no other request", async () => {
  await withServer(undefined, async (client, server) => {
    const watches = Array.from({ length: 30 }, () =>
      client.listWatch(TARGET).subscribe({ error: () => assert.unreachable() }),
    );
    for (let i = 0; i < 30; i++)
      (await server.take((e) => !e.url.searchParams.has("watch"))).json(200, {
        metadata: { resourceVersion: "1" },
        items: [],
      });
    for (let i = 0; i < 30; i++) (await server.take((e) => e.url.searchParams.has("watch"))).open();
    const got = client.get(TARGET, "a");
    (await server.take((e) => e.url.pathname.endsWith("/a"))).json(200, thing);
    assert.is((await got).metadata.name, "a");
    for (const watch of watches) watch.unsubscribe();
  });
});

test("A proxy of the environment carries requests, but not those to this machine", async () => {
  const proxied: string[] = [];
  const proxy = await scriptedServer();
  const server = await scriptedServer(echo);
  const env = { HTTP_PROXY: proxy.url };
  const local = createKubeClient(directConnection({ server: server.url }), { env });
  assert.is((await local.get(TARGET, "a")).metadata.name, "a");
  const remote = createKubeClient(directConnection({ server: "http://api.example.test" }), {
    env,
    requestTimeoutMs: 300,
  });
  const asked = failure(remote.get(TARGET, "a"));
  const exchange = await Promise.race([proxy.take(), delay(250)]);
  if (exchange !== undefined) {
    proxied.push(exchange.request.url!);
    exchange.json(418, {});
  }
  assert.match(proxied[0] ?? "", "api.example.test");
  assert.is((await asked).status, 418);
  await local.close();
  await remote.close();
  await proxy.close();
  await server.close();
});

test("Inside a cluster the service account's files are the credentials", async () => {
  const directory = mkdtempSync(join(tmpdir(), "haptic-sa-"));
  writeFileSync(join(directory, "namespace"), "here\n");
  writeFileSync(join(directory, "ca.crt"), "CA");
  writeFileSync(join(directory, "token"), "secret\n");
  const connection = await inClusterConnection(
    { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" },
    directory,
  );
  assert.is(connection.server, "https://[fd00::1]:6443");
  assert.is(connection.namespace, "here");
  assert.equal(await connection.credentials(false), { ca: "CA", headers: { authorization: "Bearer secret" } });
  rmSync(directory, { recursive: true });
  await inClusterConnection({}).then(
    () => assert.unreachable(),
    (error: unknown) => assert.instance(error, KubeConfigError),
  );
});

test("A kubeconfig gives server, namespace and credentials, an exec plugin is asked again after a 401", async () => {
  const directory = mkdtempSync(join(tmpdir(), "haptic-kubeconfig-"));
  const counter = join(directory, "count");
  writeFileSync(counter, "0");
  const plugin = `const fs=require("fs");const n=Number(fs.readFileSync(${JSON.stringify(counter)},"utf8"))+1;fs.writeFileSync(${JSON.stringify(counter)},String(n));process.stdout.write(JSON.stringify({apiVersion:"client.authentication.k8s.io/v1",kind:"ExecCredential",status:{token:"t"+n}}))`;
  const server = await scriptedServer((exchange) =>
    exchange.headers.authorization === "Bearer t2"
      ? exchange.json(200, thing)
      : exchange.json(401, { kind: "Status", code: 401, reason: "Unauthorized" }),
  );
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: server.url } }],
    users: [
      { name: "static", user: { token: "t2" } },
      {
        name: "exec",
        user: {
          exec: { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: ["-e", plugin] },
        },
      },
    ],
    contexts: [
      { name: "plain", context: { cluster: "c", user: "static", namespace: "team" } },
      { name: "plugin", context: { cluster: "c", user: "exec" } },
    ],
    "current-context": "plain",
  };
  const file = join(directory, "config");
  writeFileSync(file, JSON.stringify(config));
  const plain = await findConnection({ kubeconfig: file, env: {} });
  assert.is(plain.server, server.url);
  assert.is(plain.namespace, "team");
  const plainClient = createKubeClient(plain);
  assert.is((await plainClient.get(TARGET, "a")).metadata.name, "a");
  await plainClient.close();
  const client = createKubeClient(await findConnection({ context: "plugin", env: { KUBECONFIG: file } }));
  assert.is((await client.get(TARGET, "a")).metadata.name, "a");
  assert.equal(
    server.seen.slice(1).map((e) => e.headers.authorization),
    ["Bearer t1", "Bearer t2"],
  );
  await client.close();
  for (const options of [
    { kubeconfig: join(directory, "none"), env: {} },
    { kubeconfig: file, context: "absent", env: {} },
  ]) {
    await findConnection(options).then(
      () => assert.unreachable(),
      (error: unknown) => assert.instance(error, KubeConfigError),
    );
  }
  rmSync(directory, { recursive: true });
  await server.close();
});

test.run();
