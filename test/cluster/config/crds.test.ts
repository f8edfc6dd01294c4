/** The CRDs are taken by the embedded API and by a real kube-apiserver, and both judge the same objects alike. */
// runner: limit 300 s
import { readdirSync, readFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { suite, type Test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { loadFiles } from "../../../src/config/index.ts";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { needing } from "../../support/skip.ts";
import { missingRealPlane, startRealPlane } from "../kube/real-plane.ts";

const root = new URL("../../../", import.meta.url);
const EXAMPLES = new URL("test/unit/config/seed-examples/", root);

interface Api {
  readonly url: string;
  readonly ca: string | undefined;
  readonly token: string | undefined;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string; readonly spec?: Record<string, unknown>; readonly status?: object };
}

/** An API server that does not serve a path yet says so in plain text. */
const bodyOf = (text: string): Answer["body"] => {
  try {
    return JSON.parse(text) as Answer["body"];
  } catch {
    return { message: text };
  }
};

function call(api: Api, method: string, path: string, body?: object, accept?: string): Promise<Answer> {
  const url = new URL(path, api.url);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      ...(accept === undefined ? {} : { accept }),
      ...(api.token === undefined ? {} : { authorization: `Bearer ${api.token}` }),
    };
    const outgoing = request(url, { method, headers, ...(api.ca === undefined ? {} : { ca: api.ca }) }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, body: bodyOf(text) }));
    });
    outgoing.once("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const BASE = {
  podSelector: { matchLabels: { app: "haproxy" } },
  watchedResources: { secrets: { apiVersion: "v1", resources: "secrets", indexBy: ["metadata.name"] } },
  haproxyConfig: { template: "global\n" },
};
const { haproxyConfig: _haproxyConfig, ...withoutMain } = BASE;
const { podSelector: _podSelector, ...withoutSelector } = BASE;
const { watchedResources: _watchedResources, ...withoutWatches } = BASE;

const object = (spec: object | undefined, kind = "HAProxyTemplateConfig"): object => ({
  apiVersion: "haproxy-haptic.org/v1alpha1",
  kind,
  metadata: { name: "t", namespace: "default" },
  ...(spec === undefined ? {} : { spec }),
});
const watch = (entry: object): object =>
  object({ ...BASE, watchedResources: { x: { resources: "secrets", ...entry } } });

/** What an author gets wrong → a part of the answer. */
const REFUSED: readonly [string, object, RegExp][] = [
  ["no spec", object(undefined), /spec: Required value/],
  ["no podSelector", object(withoutSelector), /podSelector is required/],
  ["no watchedResources", object(withoutWatches), /watchedResources needs at least one entry/],
  ["empty watchedResources", object({ ...BASE, watchedResources: {} }), /watchedResources needs at least one entry/],
  ["no haproxyConfig", object(withoutMain), /haproxyConfig is required: inline, or through libraryRefs/],
  ["no haproxyConfig, no reference", object({ ...withoutMain, libraryRefs: [] }), /haproxyConfig is required/],
  ["no label", object({ ...BASE, podSelector: { matchLabels: {} } }), /matchLabels/],
  [
    "both apiVersion and apiVersions",
    watch({ apiVersion: "v1", apiVersions: ["v1"] }),
    /exactly one of apiVersion and apiVersions/,
  ],
  ["neither of them", watch({}), /exactly one of apiVersion and apiVersions/],
  ["an unknown store", watch({ apiVersion: "v1", store: "half" }), /supported values: "full", "on-demand"/],
  ["a port out of range", object({ ...BASE, dataplane: { port: 70_000 } }), /less than or equal to 65535/],
  [
    "a validator's timeout out of range",
    object({ ...BASE, validators: [{ name: "v", socketPath: "/s", files: ["*"], timeoutMs: 0 }] }),
    /timeoutMs/,
  ],
  ["an unknown log level", object({ ...BASE, logging: { level: "loud" } }), /spec\.logging\.level/],
  ["another engine", object({ ...BASE, templatingSettings: { engine: "eta" } }), /supported values: "scriggo"/],
  ["an empty template", object({ ...BASE, haproxyConfig: { template: "" } }), /at least 1 chars long/],
  [
    "an unknown effect",
    object({
      ...BASE,
      templateSnippets: { s: { template: "x", incremental: { source: "secrets", effects: ["fly"] } } },
    }),
    /supported values/,
  ],
  ["a library without a revision", object({}, "HAProxyTemplateLibrary"), /spec\.revision: Required value/],
  ["an unknown field", object({ ...BASE, podSelctor: {} }), /unknown field "spec\.podSelctor"/],
];

const CHECKSUM = `sha256:${"0".repeat(64)}`;
const CFG = { path: "haproxy.cfg", content: "global\n", checksum: CHECKSUM };
/** Each published kind, whole. */
const PUBLISHED: Readonly<Record<string, object>> = {
  HAProxyCfg: CFG,
  HAProxyMapFile: { mapName: "host.map", path: "maps/host.map", entries: "a b\n", checksum: CHECKSUM, size: 4 },
  HAProxyGeneralFile: { fileName: "e.http", path: "general/e.http", content: "e", checksum: CHECKSUM, size: 1 },
  HAProxyCRTListFile: { listName: "l", path: "general/l", entries: "a.pem\n", checksum: CHECKSUM, size: 6 },
};
const REFUSED_PUBLISHED: readonly [string, object, RegExp][] = [
  ["a published configuration without content", object({ ...CFG, content: undefined }, "HAProxyCfg"), /spec\.content/],
  ["a checksum of another form", object({ ...CFG, checksum: "md5:0" }, "HAProxyCfg"), /spec\.checksum/],
  [
    "content that no object could hold",
    object({ ...CFG, content: "x".repeat(1_500_001) }, "HAProxyCfg"),
    /Too long|may not be (longer|more) than 1500000/i,
  ],
  [
    "a map that would not fit into memory",
    object({ ...PUBLISHED["HAProxyMapFile"], size: 70_000_000 }, "HAProxyMapFile"),
    /67108864/,
  ],
];

const ACCEPTED: readonly [string, object][] = [
  ...Object.entries(PUBLISHED).map(([kind, spec]): [string, object] => [`a published ${kind}`, object(spec, kind)]),
  ["a whole one", object(BASE)],
  [
    "one that takes its main template from a library",
    object({ ...withoutMain, libraryRefs: [{ name: "l", revision: "1" }] }),
  ],
  ["a debounceInterval that is no duration", watch({ apiVersion: "v1", debounceInterval: "soon!" })],
  ["a log level in any case", object({ ...BASE, logging: { level: "Debug" } })],
];

const pathOf = (value: object): string => {
  const { kind } = value as { kind: string };
  const plural = kind === "HAProxyTemplateLibrary" ? "haproxytemplatelibraries" : `${kind.toLowerCase()}s`;
  return `/apis/haproxy-haptic.org/v1alpha1/namespaces/default/${plural}`;
};
const create = (api: Api, value: object): Promise<Answer> =>
  call(api, "POST", `${pathOf(value)}?dryRun=All&fieldValidation=Strict`, value);

function contract(test: Test, start: () => Promise<Api>): void {
  let api: Api;
  test.before(async () => {
    api = await start();
    for (const name of readdirSync(new URL("crds/", root))) {
      const crd = parse(readFileSync(new URL(`crds/${name}`, root), "utf8")) as object;
      const made = await call(api, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
      assert.is(made.status, 201, made.body.message);
    }
    // A definition is served some time after it was made: 201, or 422 for what the schema refuses.
    for (const kind of ["HAProxyTemplateConfig", "HAProxyTemplateLibrary", ...Object.keys(PUBLISHED)]) {
      for (let tries = 0; (await create(api, object(BASE, kind))).status === 404; tries++) {
        if (tries === 600) throw new Error(`${kind} is not served`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  });
  test.after(() => api.close());

  for (const [what, value, message] of [...REFUSED, ...REFUSED_PUBLISHED]) {
    test(`${what} is refused with the reason`, async () => {
      const answer = await create(api, value);
      assert.ok(answer.status === 422 || answer.status === 400, `${answer.status}`);
      assert.match(answer.body.message ?? "", message);
    });
  }
  for (const [what, value] of ACCEPTED) {
    test(`${what} is accepted`, async () => {
      const answer = await create(api, value);
      assert.is(answer.status, 201, answer.body.message);
    });
  }

  test("every example of the reference is accepted", async () => {
    for (const name of readdirSync(EXAMPLES)) {
      const fragment = parse(readFileSync(new URL(name, EXAMPLES), "utf8")) as { kind?: string; status?: object };
      const whole =
        fragment.kind !== undefined
          ? fragment
          : fragment.status === undefined
            ? object({ ...BASE, ...fragment })
            : { ...object(BASE), ...fragment };
      const answer = await create(api, whole);
      assert.is(answer.status, 201, `${name}: ${answer.body.message}`);
    }
  });

  test("the configurations in examples/ are accepted", async () => {
    for (const name of ["ingress", "custom-resource"]) {
      const { objects } = loadFiles([new URL(`examples/${name}/config.yaml`, root).pathname]);
      const answer = await create(api, objects[0]!.object);
      assert.is(answer.status, 201, answer.body.message);
    }
  });

  test("defaults are filled in where a part is given, and neither ordered nor reloadOnPush has one", async () => {
    const answer = await create(
      api,
      object({ ...BASE, dataplane: { port: 5556 }, maps: { m: { template: "x" } }, files: { f: { template: "x" } } }),
    );
    const spec = answer.body.spec as { dataplane: Record<string, unknown>; maps: object; files: object };
    assert.is(spec.dataplane["minDeploymentInterval"], "2s");
    assert.is(spec.dataplane["mapsDir"], "/etc/haproxy/maps");
    assert.equal(spec.maps, { m: { template: "x" } });
    assert.equal(spec.files, { f: { template: "x" } });
  });

  test("the status is a part of its own, with one condition a type", async () => {
    const made = await call(api, "POST", pathOf(object(BASE)), object(BASE));
    assert.is(made.status, 201, made.body.message);
    const condition = {
      type: "Validated",
      status: "True",
      reason: "ValidationSucceeded",
      message: "",
      lastTransitionTime: "2026-11-30T06:00:00Z",
    };
    const patched = await call(api, "PUT", `${pathOf(object(BASE))}/t/status`, {
      ...made.body,
      spec: { podSelector: { matchLabels: { ignored: "here" } } },
      status: { observedGeneration: 1, validationStatus: "Valid", conditions: [condition] },
    });
    assert.is(patched.status, 200, patched.body.message);
    assert.equal((patched.body.spec as typeof BASE).podSelector, BASE.podSelector);
    const twice = await call(api, "PUT", `${pathOf(object(BASE))}/t/status`, {
      ...patched.body,
      status: { conditions: [condition, condition] },
    });
    assert.is(twice.status, 422);
    const unknown = await call(api, "PUT", `${pathOf(object(BASE))}/t/status`, {
      ...patched.body,
      status: { validationStatus: "Perhaps" },
    });
    assert.is(unknown.status, 422);
  });

  test("a published file does not change: another content is another object", async () => {
    for (const [kind, spec] of Object.entries(PUBLISHED)) {
      const made = await call(api, "POST", pathOf({ kind }), object(spec, kind));
      assert.is(made.status, 201, made.body.message);
      const changed = "entries" in spec ? { entries: "other" } : { content: "other" };
      const answer = await call(api, "PUT", `${pathOf({ kind })}/t`, { ...made.body, spec: { ...spec, ...changed } });
      if (kind === "HAProxyCfg") assert.is(answer.status, 200, "the configuration itself goes on under its name");
      else assert.match(answer.body.message ?? "", /a published file does not change/);
    }
  });

  test("deployedToPods has one entry a pod, of known modes, with at most eight reasons", async () => {
    const path = `${pathOf({ kind: "HAProxyCfg" })}/t`;
    const put = async (entries: readonly object[]): Promise<Answer> => {
      const { body } = await call(api, "GET", path);
      return call(api, "PUT", `${path}/status`, { ...body, status: { deployedToPods: entries } });
    };
    const entry = {
      podName: "a",
      mode: "reload",
      reasons: Array.from({ length: 8 }, () => "why"),
      consecutiveErrors: 0,
    };
    assert.is((await put([entry, { podName: "b", mode: "" }])).status, 200);
    assert.is((await put([entry, entry])).status, 422);
    assert.is((await put([{ ...entry, mode: "by hand" }])).status, 422);
    assert.is((await put([{ ...entry, reasons: [...entry.reasons, "one more"] }])).status, 422);
  });

  const WIDE: Readonly<Record<string, readonly string[]>> = {
    HAProxyTemplateConfig: ["Name", "Status", "Message", "Age"],
    HAProxyTemplateLibrary: ["Name", "Revision", "Age"],
    HAProxyCfg: ["Name", "Ready", "Validated", "Synced", "Pinned", "Size", "Checksum", "Age", "Pods"],
    HAProxyMapFile: ["Name", "Map", "Path", "Size", "Ready", "Pods", "Checksum", "Age"],
    HAProxyGeneralFile: ["Name", "File", "Path", "Size", "Ready", "Pods", "Checksum", "Age"],
    HAProxyCRTListFile: ["Name", "List", "Path", "Size", "Ready", "Pods", "Checksum", "Age"],
  };
  test("kubectl get shows columns for every kind", async () => {
    for (const [kind, columns] of Object.entries(WIDE)) {
      const { body } = await call(
        api,
        "GET",
        pathOf({ kind }),
        undefined,
        "application/json;as=Table;v=v1;g=meta.k8s.io",
      );
      const shown = (body as { columnDefinitions?: { name: string }[] }).columnDefinitions?.map(({ name }) => name);
      assert.equal(shown, columns, kind);
    }
  });
  test.run();
}

contract(suite("CRDs on the embedded API"), async () => {
  const embedded = await startEmbeddedApi({ host: "127.77.31.1" });
  return { url: embedded.url, ca: undefined, token: undefined, close: () => embedded.close() };
});

contract(needing(suite("CRDs on a real kube-apiserver"), missingRealPlane()), async () => {
  const plane = await startRealPlane("127.77.31.2");
  return {
    url: `https://${plane.host}:${plane.port}`,
    ca: plane.ca,
    token: plane.adminToken,
    close: () => plane.close(),
  };
});
