import { test } from "uvu";
import * as assert from "uvu/assert";
import { joinBlocks } from "../../../src/plan/index.ts";
import type { RenderResult } from "../../../src/render/index.ts";
import { createRenderService, type RenderSpec } from "../../../src/render/index.ts";
import { readSchemas } from "../../../src/templating/index.ts";
import { options, planOf, render, route, service, text, world, type World } from "./fixture.ts";

function filled(): World {
  const on = world();
  on.put("routes", { ...route("ns", "a", "a.example", "web"), status: { old: true } });
  return on;
}

const main = (template: string) => ({ "haproxy.cfg": `{{ planRegistry.ProfileGroup() }}\n${template}` });
const ROUTE = '{% var r = resources.routes.GetSingle("ns", "a") %}';

async function resultOf(template: string): Promise<RenderResult> {
  const { result, problems } = await render(service(main(template)), filled());
  assert.equal(problems, []);
  return result as RenderResult;
}

async function problemOf(template: string): Promise<string> {
  const { problems } = await render(service(main(template)), filled());
  return problems.map(({ message, hint }) => (hint === undefined ? message : `${message}; ${hint}`)).join("\n");
}

test("a status patch is recorded with the object's identity, and the outcome says that nothing is done with it yet", async () => {
  const patch = `{% statusPatch(r, map[string]any{"rendered": map[string]any{"ok": true}, "deployFailed": map[string]any{"ok": false}}) %}`;
  const { notCarriedOut } = await resultOf(ROUTE + patch + patch);
  assert.is(notCarriedOut?.length, 1);
  const [notice] = notCarriedOut ?? [];
  assert.is(notice?.message, "statusPatch Route ns/a (rendered, deployFailed): recorded, not carried out yet");
  assert.is(notice?.template, "haproxy.cfg");
  assert.equal(notice?.call, {
    call: "statusPatch",
    subject: "Route ns/a (rendered, deployFailed)",
    object: {
      apiVersion: "example.org/v1",
      kind: "Route",
      namespace: "ns",
      name: "a",
      uid: "ns-a",
      resourceVersion: "",
    },
    variants: { rendered: { ok: true }, deployFailed: { ok: false } },
  });
});

test("a fetch is recorded with its options; its credentials are not written", async () => {
  const { notCarriedOut } = await resultOf(
    '{{ http.Fetch("https://x.example/list", map[string]any{"interval": "5m", "retries": 0, "acceptStatus": []any{200, 404}}, map[string]any{"type": "bearer", "token": "s3cret"}) }}',
  );
  const [notice] = notCarriedOut ?? [];
  assert.is(notice?.message, "http.Fetch https://x.example/list: recorded, not carried out yet");
  const call = notice?.call;
  if (call?.call !== "http.Fetch") throw new Error("not a fetch");
  assert.equal(
    [call.intervalMs, call.timeoutMs, call.retries, call.critical, call.acceptStatus],
    [300_000, 30_000, 0, false, [200, 404]],
  );
  assert.equal(call.auth?.headers(), { authorization: "Bearer s3cret" });
  assert.not.match(JSON.stringify(notice), "s3cret");
});

test("a derived resource is given back as a copy and recorded", async () => {
  const { notCarriedOut } = await resultOf(
    `${ROUTE}{% var d = deriveResource("routes", r, "$.spec.host", "new") %}# {{ d.spec.host }} {{ r.spec.host }}`,
  );
  const [notice] = notCarriedOut ?? [];
  assert.is(notice?.call.subject, "routes: Route ns/a $.spec.host");
});

test("the notice of a call goes with the call", async () => {
  const templates = {
    "haproxy.cfg": '{{ planRegistry.ProfileGroup() }}\n{{ render "rules" }}',
    rules: '{% statusPatch(item, map[string]any{"rendered": map[string]any{}}) %}',
  };
  const { spec } = options(templates);
  const rules = { incremental: { source: "routes", effects: ["statusPatch"] } };
  const own: RenderSpec = { ...spec, templateSnippets: { rules } };
  const on = filled();
  const rendering = service(templates, { spec: own });
  assert.is((await render(rendering, on)).result?.notCarriedOut?.length, 1);
  on.put("routes", route("ns", "b", "b.example", "web"));
  assert.is((await render(rendering, on)).result?.notCarriedOut?.length, 2);
  on.drop("routes", "ns", "a");
  const { result } = await render(rendering, on);
  assert.equal(
    result?.notCarriedOut?.map(({ call }) => call.subject),
    ["Route ns/b (rendered)"],
  );
});

test("a component may do only what it declares", async () => {
  const templates = {
    "haproxy.cfg": '{{ planRegistry.ProfileGroup() }}\n{{ render "rules" }}',
    rules: '{% statusPatch(item, map[string]any{"rendered": map[string]any{}}) %}',
  };
  const { isolated } = await render(service(templates), filled());
  assert.match(isolated[0]?.problem.message ?? "", "snippet rules uses statusPatch without declaring it");
});

const refusals: readonly (readonly [template: string, problem: RegExp])[] = [
  ['{% statusPatch("x", map[string]any{"rendered": map[string]any{}}) %}', /statusPatch wants a resource/],
  [
    `${ROUTE}{% statusPatch(r, map[string]any{"done": map[string]any{}}) %}`,
    /unknown variant "done"; known are rendered, deployed, renderFailed, deployFailed/,
  ],
  [`${ROUTE}{% statusPatch(r, map[string]any{}) %}`, /wants a map of variants/],
  [`${ROUTE}{% statusPatch(r, map[string]any{"rendered": 5}) %}`, /the variant rendered is no map/],
  [
    `${ROUTE}{% statusPatch(r, map[string]any{"rendered": map[string]any{"status": map[string]any{}}}) %}`,
    /holds a status/,
  ],
  ['{{ http.Fetch("ftp://x") }}', /is no http or https URL/],
  ['{{ http.Fetch("https://u:p@x.example/") }}', /holds credentials/],
  [
    '{{ http.Fetch("https://x.example/", map[string]any{"delay": "5s"}) }}',
    /unknown option "delay"; it is called interval/,
  ],
  ['{{ http.Fetch("https://x.example/", map[string]any{"colour": 1}) }}', /unknown option "colour"/],
  ['{{ http.Fetch("https://x.example/", map[string]any{"timeout": "soon"}) }}', /timeout is no duration/],
  ['{{ http.Fetch("https://x.example/", map[string]any{"retries": 1.5}) }}', /retries is no whole number/],
  ['{{ http.Fetch("https://x.example/", map[string]any{"acceptStatus": []any{99}}) }}', /acceptStatus is no list/],
  ['{{ http.Fetch("https://x.example/", map[string]any{"critical": "yes"}) }}', /critical is no bool/],
  ['{{ http.Fetch("https://x.example/", nil, map[string]any{"type": "digest"}) }}', /auth type "digest" is unknown/],
  ['{{ http.Fetch("https://x.example/", nil, map[string]any{"type": "basic", "username": "u"}) }}', /wants password/],
  [
    '{{ http.Fetch("https://x.example/", nil, map[string]any{"type": "header", "headers": map[string]any{"a b": "c"}}) }}',
    /cannot be a header/,
  ],
  ['{{ http.Fetch("https://x.example/", nil, nil, nil) }}', /takes a URL, options and auth/],
  ['{{ http.Fetch("https://x.example/", map[string]any{"critical": true}) }}', /is critical and has no content yet/],
  [
    '{{ http.Fetch("https://x.example/") }}{{ http.Fetch("https://x.example/", map[string]any{"interval": "1m"}) }}',
    /fetched with other options elsewhere/,
  ],
  ['{{ http.Pending("x") }}', /http\.Pending: "x" is no http/],
  [
    '{{ len(resource("nope").List()) }}',
    /no watched resource "nope"; watchedResources has endpoints, routes, services/,
  ],
  [`${ROUTE}{% var x = deriveResource("nope", r, "a", 1) %}`, /no watched resource "nope"/],
  [
    `${ROUTE}{% var x = deriveResource("routes", r, "spec.host.x", 1) %}`,
    /the path enters string where it wants a map/,
  ],
  ['{{ len(incremental_values("nope", "cell")) }}', /no incremental snippet publishes values in a group "nope"/],
];
for (const [template, problem] of refusals)
  test(`${template} fails: ${problem.source}`, async () => assert.match(await problemOf(template), problem));

test("roots know the instant of their render; what incremental snippets give does not depend on it", async () => {
  let now = Date.UTC(2026, 10, 30);
  const rendering = service(main('# {{ now().Format("2006-01-02") }} {{ transitionTime(nil, "a", "True") }}'), {
    wallClock: () => now,
  });
  const on = filled();
  assert.match(text(await planOf(rendering, on), "haproxy.cfg") ?? "", "# 2026-11-30 2026-11-30T00:00:00Z");
  // A root is not rendered again because time passes.
  now += 86_400_000;
  assert.is((await render(rendering, on)).result?.cacheState, "replay");
  const templates = { ...main('{{ render "rules" }}'), rules: "{{ now() }}" };
  const { problems } = createRenderService(options(templates));
  assert.match(problems[0]?.message ?? "", "now is not available in an incremental snippet");
});

test("bytes that are no UTF-8 reach files as they are", async () => {
  const { "haproxy.cfg": config } = main('# {{ fileRegistry.Register("file", "a.bin", b64decode("/wDIgAo=")) }}');
  const plan = await planOf(service({ "haproxy.cfg": config, "file:b.bin": '{{ b64decode("/sMo") }}' }), filled());
  const bytes = (path: string): string => joinBlocks(plan.files.get(path)?.blocks ?? []).toString("hex");
  assert.equal([bytes("general/a.bin"), bytes("general/b.bin")], ["ff00c8800a", "fec3280a"]);
});

test("resources with a schema have types in roots", () => {
  const schemas = readSchemas([
    {
      "x-kubernetes-group-version-kind": [{ group: "example.org", version: "v1", kind: "Route" }],
      type: "object",
      properties: { spec: { type: "object", properties: { host: { type: "string" } } } },
    },
  ]);
  const templates = main(
    '{% for _, r := range routes %}# {{ r.spec.hots }}{% end %}{% for _, r := range resources.routes.Fetch("ns") %}{{ r.Spec.Host }}{% end %}',
  );
  const base = options(templates);
  const watchedResources = {
    ...base.spec.watchedResources,
    routes: { indexBy: ["metadata.namespace", "metadata.name"], apiVersion: "example.org/v1", resources: "routes" },
  };
  const { problems } = createRenderService({ ...base, spec: { ...base.spec, watchedResources }, schemas });
  assert.equal(
    problems.map(({ message, hint }) => `${message}; ${hint}`),
    ['resources.routes.Spec has no field hots; did you mean "host"?'],
  );
  assert.equal(createRenderService(base).problems, []);
});

test.run();
