import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { diffPlans, type OpKind, type RenderPlan } from "../../../src/plan/index.ts";
import { createRenderService } from "../../../src/render/index.ts";
import {
  context,
  never,
  options,
  planOf,
  render,
  route,
  service,
  slice,
  target,
  TEMPLATES,
  text,
  texts,
  type World,
  world,
} from "./fixture.ts";

const OPS = new Set<OpKind>([
  "backend_add",
  "backend_publish",
  "backend_unpublish",
  "backend_del",
  "wait_be_removable",
  "server_add",
  "server_enable",
  "server_disable",
  "server_set_addr",
  "wait_srv_removable",
  "server_del",
  "map_add",
  "map_set",
  "map_del",
  "map_replace",
]);
const diff = (next: RenderPlan, baseline: RenderPlan) =>
  diffPlans(next, baseline, { haproxyVersion: "3.4.7", agentOps: OPS });

function filled(): World {
  const on = world();
  on.put("routes", route("ns", "a", "a.example", "web"));
  on.put("routes", route("ns", "b", "b.example", "api"));
  on.put("services", target("ns", "web"));
  on.put("endpoints", slice("ns", "web-1", "web", ["10.0.0.1", "10.0.0.2"]));
  return on;
}

test("files hold what the templates say, backends in their places and profiles in their group", async () => {
  const plan = await planOf(service(), filled());
  const config = text(plan, "haproxy.cfg") as string;
  const profile = [...plan.profiles.entries()][0]?.[0] as string;
  assert.match(
    config,
    `timeout server 10s\ndefaults ${profile}\n    mode http\n    balance roundrobin\nfrontend http from base\n`,
  );
  assert.match(
    config,
    `backend ns_web from ${profile}\n    server web-1-0 10.0.0.1:8080\n    server web-1-1 10.0.0.2:8080\n`,
  );
  assert.not.match(config, "haptic:");
  assert.is(text(plan, "maps/host.map"), "# host -> backend\na.example ns_web\nb.example ns_api\n");
  assert.is(text(plan, "maps/names.map"), "a web\nb api\n");
  assert.is(text(plan, "general/error.http"), "HTTP/1.0 503 Unavailable\n\nsorry\n");
  assert.equal(
    [...plan.maps.entries()].map(([path, map]) => [path, map.ordered]),
    [
      ["maps/host.map", false],
      ["maps/names.map", true],
    ],
  );
  assert.equal(plan.backends.get("ns_web")?.record.servers.length, 2);
  assert.is(plan.backends.get("ns_web")?.record.shape, "dynamic");
});

test("nothing changed gives the former result without running anything", async () => {
  const on = filled();
  const rendering = service();
  const first = await render(rendering, on);
  assert.is(first.result?.cacheState, "cold");
  const second = await render(rendering, on);
  assert.is(second.result?.cacheState, "replay");
  assert.is(second.result?.plan, first.result?.plan);
  assert.is(second.result?.stats.executed, 0);
});

test("a changed object runs only what read it, and the difference is what changed", async () => {
  const on = filled();
  const rendering = service();
  const before = await planOf(rendering, on);
  on.put("endpoints", slice("ns", "web-1", "web", ["10.0.0.1", "10.0.0.3"]));
  const { result } = await render(rendering, on);
  assert.is(result?.cacheState, "warm");
  assert.is(result?.stats.executed, 1);
  assert.equal(diff(result?.plan as RenderPlan, before).ops, [
    { kind: "server_set_addr", backend: "ns_web", server: "web-1-1", address: "10.0.0.3", port: 8080 },
  ]);
});

test("a new route is a runtime change: comments that components write do not count", async () => {
  const on = filled();
  const rendering = service();
  const before = await planOf(rendering, on);
  on.put("routes", route("ns", "c", "c.example", "new"));
  on.put("endpoints", slice("ns", "new-1", "new", ["10.0.0.9"]));
  const result = diff(await planOf(rendering, on), before);
  assert.is(result.verdict, "runtime", result.reasons.join());
  assert.equal(
    result.ops.map((op) => op.kind),
    ["backend_add", "server_add", "server_enable", "backend_publish", "map_add", "map_add"],
  );
});

test("an object that appears wakes those who looked for it in vain", async () => {
  const on = filled();
  const rendering = service();
  const { result } = await render(rendering, on);
  assert.equal(result?.events, [
    {
      object: { apiVersion: "example.org/v1", kind: "Route", namespace: "ns", name: "b", uid: "ns-b" },
      reason: "ServiceNotFound",
      message: "there is no service api",
    },
  ]);
  on.put("services", target("ns", "api", "leastconn"));
  const next = await render(rendering, on);
  assert.equal(next.result?.events, []);
  assert.match(text(next.result?.plan as RenderPlan, "haproxy.cfg") as string, "balance leastconn");
});

test("of two routes that declare one backend the first counts, and the next takes its place", async () => {
  const on = filled();
  const rendering = service();
  on.put("routes", route("ns", "z", "z.example", "web"));
  const config = text(await planOf(rendering, on), "haproxy.cfg") as string;
  assert.is(config.split("backend ns_web from").length, 2);
  assert.ok(config.indexOf("# route a") < config.indexOf("backend ns_web"));
  assert.match(config, "# route z\n");
  on.drop("routes", "ns", "a");
  const after = text(await planOf(rendering, on), "haproxy.cfg") as string;
  assert.is(after.split("backend ns_web from").length, 2);
  assert.ok(after.indexOf("# route z") < after.indexOf("backend ns_web"));
});

test("an object that writes nothing leaves the file as it was, when it comes and when it goes", async () => {
  // Only the backend stands at its place, so a route whose backend another one declares writes nothing.
  const backends = (TEMPLATES["backends"] as string)
    .replace(/\n# route .*\n/, "\n")
    .replace("{%- end %}\n{{ plan", "{%- end -%}\n{{- plan");
  const on = filled();
  const rendering = service({ ...TEMPLATES, backends });
  const before = await planOf(rendering, on);
  on.put("routes", route("ns", "aa", "aa.example", "web"));
  const silent = await planOf(rendering, on);
  assert.is(silent.files.get("haproxy.cfg"), before.files.get("haproxy.cfg"));
  assert.is.not(silent.files.get("maps/host.map"), before.files.get("maps/host.map"));
  const fresh = await planOf(service({ ...TEMPLATES, backends }), on);
  assert.is(silent.id, fresh.id);
  on.drop("routes", "ns", "aa");
  const gone = await planOf(rendering, on);
  assert.is(gone.files.get("haproxy.cfg"), before.files.get("haproxy.cfg"));
  assert.is(gone.id, before.id);
  on.drop("routes", "ns", "a");
  assert.not.match(text(await planOf(rendering, on), "haproxy.cfg") as string, "backend ns_web");
});

test("a broken object keeps its last good output, is named, and harms nobody else", async () => {
  const on = filled();
  const rendering = service();
  await render(rendering, on);
  on.put("routes", route("ns", "a", "a.example", "web", { broken: true }));
  on.put("routes", route("ns", "c", "c.example", "new"));
  const { result, isolated } = await render(rendering, on);
  assert.equal(
    isolated.map(({ source, id, problem }) => [source, id, problem.template, problem.line]),
    [["routes", "ns/a", "backends", 17]],
  );
  assert.match(isolated[0]?.problem.message as string, "this route is broken");
  assert.match(text(result?.plan as RenderPlan, "haproxy.cfg") as string, "server web-1-1 10.0.0.2:8080");
  assert.match(text(result?.plan as RenderPlan, "maps/host.map") as string, "c.example ns_new\n");
  on.put("routes", route("ns", "a", "a.example", "web"));
  assert.equal((await render(rendering, on)).isolated, []);
});

test("a defect met while one object is rendered harms that object only", async () => {
  const extraContext = Object.defineProperty({}, "bad", {
    get: () => {
      throw new Error("boom");
    },
  });
  const hosts = `{% if item.metadata.name == "b" %}{{ extraContext.bad }}{% end %}{{ item.spec.host }} x\n`;
  const { spec, ...rest } = options({ ...TEMPLATES, hosts });
  const { service: rendering } = createRenderService({
    ...rest,
    spec: { ...spec, templatingSettings: { extraContext } },
  });
  const { result, isolated } = await render(rendering, filled());
  assert.is(text(result?.plan as RenderPlan, "maps/host.map"), "# host -> backend\na.example x\n");
  assert.equal(
    isolated.map(({ id, problem }) => [id, problem.message]),
    [["ns/b", "internal error: boom"]],
  );
});

test("more files than an agent takes are a problem", async () => {
  const templates = {
    ...TEMPLATES,
    "file:many": `{% for i := 0; i < 4100; i++ %}{% fileRegistry.Register("file", "f" + tostring(i), "x") %}{% end %}`,
  };
  const { problems } = await render(service(templates), world());
  assert.match(problems[0]?.message as string, "files are more than the 4096");
});

test("a root that fails gives problems and no result, and the next good state a result", async () => {
  const templates = {
    ...TEMPLATES,
    "file:error.http": `{% if len(resources.routes.List()) > 2 %}{% fail("too many") %}{% end %}fine`,
  };
  const on = filled();
  const rendering = service(templates);
  await planOf(rendering, on);
  on.put("routes", route("ns", "c", "c.example", "new"));
  const failed = await render(rendering, on);
  assert.is(failed.result, undefined);
  assert.equal(
    failed.problems.map(({ template, line }) => [template, line]),
    [["file:error.http", 1]],
  );
  on.drop("routes", "ns", "b");
  const mended = await render(rendering, on);
  assert.is(mended.result?.plan.id, (await planOf(service(templates), on)).id);
});

test("templates that do not compile are told by place", () => {
  const { problems } = createRenderService(options({ ...TEMPLATES, hosts: "{{ itm.spec.host }}" }));
  assert.is(problems.length, 1);
  assert.is(problems[0]?.template, "hosts");
  assert.match(problems[0]?.message as string, "itm");
});

test("profiles without a place for them are a problem with a hint", async () => {
  const templates = {
    ...TEMPLATES,
    "haproxy.cfg": (TEMPLATES["haproxy.cfg"] as string).replace("{{ planRegistry.ProfileGroup() }}\n", ""),
  };
  const { result, problems } = await render(service(templates), filled());
  assert.is(result, undefined);
  assert.match(problems[0]?.message as string, "ProfileGroup");
  assert.is((await render(service(templates), world())).problems.length, 0);
});

test("registered files are in the plan, and a conflict with a template's own file is a problem", async () => {
  const register = (name: string): Record<string, string> => ({
    ...TEMPLATES,
    "map:host.map": `{% fileRegistry.Register("cert", "a.b.pem", "PEM") %}{{ fileRegistry.Register("file", "${name}", "x", false) }} y\n`,
  });
  const plan = await planOf(service(register("note.txt")), world());
  assert.is(text(plan, "maps/host.map"), "general/note.txt y\n");
  assert.is(plan.files.get("general/note.txt")?.reloadOnChange, false);
  assert.is(plan.files.get("ssl/a_b.pem")?.secret, true);
  const { problems } = await render(service(register("error.http")), world());
  assert.match(problems[0]?.message as string, "general/error.http is registered, but file:error.http makes it too");
});

test("a root that takes snippets as strings follows their instances, and who wins a backend", async () => {
  const config = (TEMPLATES["haproxy.cfg"] as string).replace(
    `{{ render "backends" }}`,
    `{% var text = render "backends" %}{{ text }}\n{{ render "aaa" }}`,
  );
  const aaa = `{% if not isNil(resources.services.GetSingle("ns", "switch")) %}{{ planRegistry.Backend(map[string]any{"name": "ns_web"}, "backend ns_web\\n    # early\\n") }}{% end %}`;
  const templates = { ...TEMPLATES, "haproxy.cfg": config, aaa };
  const on = filled();
  const rendering = service(templates);
  await planOf(rendering, on);
  const changes = [
    (): void => on.put("services", target("ns", "switch")),
    (): void => on.drop("routes", "ns", "b"),
    (): void => on.drop("services", "ns", "switch"),
  ];
  for (const change of changes) {
    change();
    const plan = await planOf(rendering, on);
    const fresh = await planOf(service(templates), on);
    assert.equal(texts(plan), texts(fresh));
    assert.is(plan.id, fresh.id);
  }
});

test("a root that begins to share values makes those that share already run again", async () => {
  const templates = {
    ...TEMPLATES,
    "file:a": `{% if len(resources.services.List()) > 1 %}{% var n, first = shared.ComputeIfAbsent("n", func() any { return "a" }) %}{{ n }} {{ first }}{% end %}`,
    "file:b": `{% var n, first = shared.ComputeIfAbsent("n", func() any { return "b" }) %}{{ n }} {{ first }}`,
  };
  const on = filled();
  const rendering = service(templates);
  assert.is(text(await planOf(rendering, on), "general/b"), "b true\n");
  on.put("services", target("ns", "other"));
  const plan = await planOf(rendering, on);
  assert.equal([text(plan, "general/a"), text(plan, "general/b")], ["a true\n", "a false\n"]);
});

test("what a component writes outside backends belongs to the section of its mount", async () => {
  const templates = (first: string, second: string): Record<string, string> => ({
    ...TEMPLATES,
    "haproxy.cfg": `frontend one\n    bind 127.0.0.1:1\n{{ render "${first}" }}\nfrontend two\n    bind 127.0.0.1:2\n{{ render "${second}" }}\n`,
    rules: "    acl a hdr(host) {{ item.spec.host }}\n",
  });
  const on = filled();
  const rendering = service(templates("rules", "hosts"));
  const before = await planOf(rendering, on);
  on.put("routes", route("ns", "c", "c.example", "new"));
  const reasons = diff(await planOf(rendering, on), before).reasons;
  assert.equal(reasons, ["frontend one changed", "frontend two changed"]);
  const moved = diff(await planOf(service(templates("hosts", "rules")), on), await planOf(rendering, on)).reasons;
  assert.equal(moved, ["frontend one changed", "frontend two changed"]);
});

const SETTINGS = {
  ...TEMPLATES,
  backends: (TEMPLATES["backends"] as string).replace(
    '"mode": "http", "balance"',
    '"backend": tostring(item.metadata.namespace) + "_" + tostring(item.spec.service), "settings": map[string]any{"timeout server": service | dig_string("", "spec", "timeout")}, "mode": "http", "balance"',
  ),
};
const SETTING = "maps/haptic-setting-timeout-server.map";
const timed = (name: string, timeout: string) => {
  const object = target("ns", name);
  return { ...object, spec: { ...(object["spec"] as object), timeout } };
};

test("settings of backends stand in a map: another value is one entry at run time, and what is lost leaves", async () => {
  const on = filled();
  const rendering = service(SETTINGS);
  on.put("services", timed("web", "5s"));
  const first = await planOf(rendering, on);
  assert.is(text(first, SETTING), "ns_web 5000\n");
  assert.is(first.maps.get(SETTING)?.ordered, false);
  on.put("services", timed("web", "7s"));
  const second = await planOf(rendering, on);
  assert.equal(diff(second, first).ops, [{ kind: "map_set", path: SETTING, key: "ns_web", value: "7000" }]);
  on.put("services", timed("api", "1s"));
  const third = await planOf(rendering, on);
  assert.equal(diff(third, second).ops, [{ kind: "map_add", path: SETTING, key: "ns_api", value: "1000" }]);
  on.put("services", timed("web", ""));
  const fourth = await planOf(rendering, on);
  assert.equal(diff(fourth, third).ops, [{ kind: "map_del", path: SETTING, key: "ns_web" }]);
  assert.is((await planOf(service(SETTINGS), on)).id, fourth.id, "a full render gives the same");
  for (const name of ["a", "b"]) on.drop("routes", "ns", name);
  const none = await planOf(rendering, on);
  assert.is(text(none, SETTING), undefined, "nothing declares the setting");
  assert.is((await planOf(service(SETTINGS), on)).id, none.id);
});

test("a new backend's settings are there before it, and go after it", async () => {
  const on = filled();
  on.put("services", timed("web", "5s"));
  const rendering = service(SETTINGS);
  const before = await planOf(rendering, on);
  on.put("services", timed("new", "9s"));
  on.put("routes", route("ns", "c", "c.example", "new"));
  const after = await planOf(rendering, on);
  const steps = (next: RenderPlan, from: RenderPlan): string[] =>
    diff(next, from).ops.map((op) => `${op.kind} ${op.path ?? op.backend}`);
  const added = steps(after, before);
  assert.is(added[0], `map_add ${SETTING}`);
  assert.is(added[1], "backend_add ns_new");
  assert.is(steps(before, after).at(-1), `map_del ${SETTING}`);
});

test("two routes that declare one backend with different settings: the first one's count", async () => {
  const on = filled();
  const perRoute = {
    ...SETTINGS,
    backends: SETTINGS.backends.replace(
      'service | dig_string("", "spec", "timeout")',
      'item | dig_string("", "spec", "timeout")',
    ),
  };
  const rendering = service(perRoute);
  const put = (name: string, timeout: string): void => {
    const object = route("ns", name, `${name}.example`, "web");
    on.put("routes", { ...object, spec: { ...(object["spec"] as object), timeout } });
  };
  put("a", "1s");
  put("b", "2s");
  assert.is(text(await planOf(rendering, on), SETTING), "ns_web 1000\n");
  on.drop("routes", "ns", "a");
  const plan = await planOf(rendering, on);
  assert.is(text(plan, SETTING), "ns_web 2000\n");
  assert.is((await planOf(service(perRoute), on)).id, plan.id);
});

test("a profile that kills HAProxy is refused at its place in the template", async () => {
  const body = "retries 3\\nhttp-request cache-use c";
  const templates = {
    ...TEMPLATES,
    "haproxy.cfg": `# head\n{% planRegistry.Profile(map[string]any{"body": "${body}"}) %}\n${TEMPLATES["haproxy.cfg"]}`,
  };
  const { problems } = await render(service(templates), filled());
  assert.is(problems.length, 1);
  assert.match(problems[0]!.message, "a profile's body holds http-request cache-use in line 2, which kills HAProxy");
  assert.equal([problems[0]!.template, problems[0]!.line, problems[0]!.column], ["haproxy.cfg", 2, 24]);
});

test("a reload says which object made the backend", async () => {
  const on = filled();
  const rendering = service();
  const before = await planOf(rendering, on);
  on.put("services", target("ns", "web", "leastconn"));
  const { verdict, reloads } = diff(await planOf(rendering, on), before);
  assert.is(verdict, "reload");
  assert.equal(
    reloads.map(({ object }) => object),
    ["Route ns/a", "Route ns/a"],
    reloads.map((each) => each.text).join(),
  );
});

test("a crt-list that is declared to have no default certificate says so in the plan", async () => {
  const templates = (flag: string) => ({
    ...TEMPLATES,
    "file:error.http": `{% path := fileRegistry.Register("crt-list", "l", "a.pem a.example\\n") %}{% planRegistry.CrtListMeta(path, ${flag}) %}x`,
  });
  const of = async (flag: string) => (await planOf(service(templates(flag)), filled())).files.get("general/l");
  assert.is((await of("false"))?.defaultFirst, false);
  assert.is((await of("true"))?.defaultFirst, undefined);
});

test("roots that share values run together, the others do not", async () => {
  const templates = {
    ...TEMPLATES,
    "file:one": `{% var n, first = shared.ComputeIfAbsent("n", func() any { return len(resources.services.List()) }) %}{{ n }} {{ first }}`,
    "file:two": `{% var n, first = shared.ComputeIfAbsent("n", func() any { return "never" }) %}{{ n }} {{ first }}`,
    "file:three": `{{ extraContext.greeting }}`,
  };
  const on = filled();
  const rendering = service(templates);
  const first = await planOf(rendering, on);
  assert.equal(
    [text(first, "general/one"), text(first, "general/two"), text(first, "general/three")],
    ["1 true\n", "1 false\n", "hello\n"],
  );
  on.put("services", target("ns", "other"));
  const { result } = await render(rendering, on);
  assert.is(result?.stats.executed, 2);
  assert.equal(
    [text(result?.plan as RenderPlan, "general/one"), text(result?.plan as RenderPlan, "general/two")],
    ["2 true\n", "2 false\n"],
  );
});

test("templates are measured once the profile is asked for, and no longer a minute after the last question", async () => {
  let clock = 0;
  const on = world();
  on.put("routes", route("n", "r", "a.example", "s"));
  const rendering = service(undefined, { now: () => (clock += 0.001) });
  await planOf(rendering, on);
  assert.equal(rendering.profile().rows, [], "nobody asked before");
  on.put("routes", route("n", "r", "b.example", "s"));
  await planOf(rendering, on);
  const { rows } = rendering.profile();
  assert.equal(rows.map(({ template, count }) => `${template} ${count}`).sort(), [
    "backends 1",
    "hosts 1",
    "map:names.map 1",
  ]);
  assert.ok(rows.every(({ totalMs, selfMs, maxMs }) => totalMs > 0 && selfMs > 0 && maxMs <= totalMs));
  clock += 60_001;
  on.put("routes", route("n", "r", "c.example", "s"));
  await planOf(rendering, on);
  assert.equal(rendering.profile().rows, [], "it has ended meanwhile, and begins again");
});

test("what the fleet can do is known to roots and components, and a change of it renders everything anew", async () => {
  const templates = {
    ...TEMPLATES,
    "file:can": `{{ capabilities.supports_crt_list }} {{ capabilities["unheard_of"] }}`,
    hosts: `{{ item.spec.host }} {{ capabilities.supports_crt_list }}\n`,
  };
  const on = filled();
  const rendering = service(templates);
  const first = await render(rendering, on);
  assert.is(text(first.result?.plan as RenderPlan, "general/can"), "true false\n");
  const second = await render(rendering, on, { capabilities: { supports_crt_list: false } });
  assert.is(text(second.result?.plan as RenderPlan, "general/can"), "false false\n");
  assert.match(text(second.result?.plan as RenderPlan, "maps/host.map") as string, "a.example false\n");
});

test("the HAProxy pods are a store whose change runs its readers", async () => {
  const templates = {
    ...TEMPLATES,
    "file:pods": `{% for _, pod := range controller.haproxy_pods.List() %}{{ pod.metadata.name }} {% end %}`,
  };
  const rendering = service(templates);
  const on = filled();
  const pods = world();
  const view = () => pods.set.snapshot().alias("routes");
  pods.put("routes", route("ns", "pod-1", "", ""));
  const first = await rendering.render(context(on, { haproxyPods: view() }), never);
  assert.is(text(first.result?.plan as RenderPlan, "general/pods"), "pod-1 \n");
  pods.put("routes", route("ns", "pod-2", "", ""));
  const second = await rendering.render(context(on, { haproxyPods: view() }), never);
  assert.is(text(second.result?.plan as RenderPlan, "general/pods"), "pod-1 pod-2 \n");
  assert.is(second.result?.stats.executed, 1);
});

test("reads of stores are checked: too many keys, none, and several objects where one is wanted", async () => {
  const fails = async (expression: string): Promise<string> => {
    const { problems } = await render(service({ ...TEMPLATES, "file:x": `{{ toJSON(${expression}) }}` }), filled());
    return problems[0]?.message as string;
  };
  assert.match(await fails(`resources.services.Fetch()`), "got 0 keys");
  assert.match(await fails(`resources.services.Fetch("a", "b", "c")`), "got 3 keys; its index has 2");
  assert.match(await fails(`resources.routes.GetSingle("ns")`), "found 2 objects");
});

test("a render that is abandoned leaves nothing that the next one could get wrong", async () => {
  const on = filled();
  for (let i = 0; i < 60; i++) on.put("routes", route("ns", `r${i}`, `r${i}.example`, `s${i}`));
  let turns = 0;
  const controller = new AbortController();
  const rendering = service(TEMPLATES, {
    sliceMs: 0,
    pause: async () => {
      if (++turns === 25) controller.abort(new Error("superseded"));
      await setImmediate();
    },
  });
  await rendering.render(context(on), controller.signal).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, "superseded"),
  );
  on.put("endpoints", slice("ns", "s1-1", "s1", ["10.0.0.7"]));
  on.drop("routes", "ns", "r3");
  const plan = await planOf(rendering, on);
  const fresh = await planOf(service(), on);
  assert.equal(texts(plan), texts(fresh));
  assert.is(plan.id, fresh.id);
});

/** Mounts that come and go, text of snippets as strings, shared values, sections placed by hand. */
const VARIANT: Readonly<Record<string, string>> = {
  ...TEMPLATES,
  "haproxy.cfg": `global
{{ planRegistry.ProfileGroup() }}
{{ planRegistry.Section("profile", "base", "defaults base\\n    mode http\\n") }}
{% if len(resources.services.List()) > 2 %}
{{ render "backends" }}
{% else %}
frontend few from base
{% var text = render "hosts" %}
    # {{ len(text) }}
{{ text | indent(4) }}
{% end %}
{% if len(resources.endpoints.List()) > 2 %}
{{ planRegistry.Backend(map[string]any{"name": "n1_s1"}, "backend n1_s1\\n") }}
{% end %}
{{ planRegistry.Section("backend", "none", "backend none\\n    mode http\\n") }}
`,
  "map:host.map": `{% planRegistry.MapMeta(pathResolver.GetPath("host.map", "map"), len(resources.services.List()) > 1) %}{{ render "hosts" }}`,
  "map:names.map": `{% for _, route := range resources.routes.Fetch("n1") %}{% if first_seen("host", route.spec.host) %}{{ route.spec.host }} {{ route.spec.service }}
{% end %}{% end %}`,
  "file:shared": `{% var n, first = shared.ComputeIfAbsent("n", func() any { return len(resources.routes.List()) }) %}{{ n }} {{ first }}
{% if len(resources.services.List()) > 1 %}{% fileRegistry.Register("file", "more.txt", tostring(n)) %}{% end %}`,
  "file:late": `{% if len(resources.endpoints.Fetch("n2")) > 0 %}{{ shared.Get("n") }}{% end %}`,
};

for (const [what, templates] of [
  ["a plain configuration", TEMPLATES],
  ["one that uses everything", VARIANT],
] as const)
  test(`incremental equals full: after any sequence of changes, bytes and identity are those of a fresh service (${what})`, async () => {
    const namespace = fc.constantFrom("n1", "n2");
    const small = (prefix: string) => fc.integer({ min: 0, max: 2 }).map((i) => `${prefix}${i}`);
    const address = fc.integer({ min: 1, max: 9 }).map((i) => `10.0.0.${i}`);
    type Change = (on: World) => void;
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.tuple(namespace, small("r"), small("h"), small("s")).map(
        ([ns, name, host, to]): Change =>
          (on) =>
            on.put("routes", route(ns, name, `${host}.example`, to)),
      ),
      fc.tuple(namespace, small("r")).map(
        ([ns, name]): Change =>
          (on) =>
            on.drop("routes", ns, name),
      ),
      fc.tuple(namespace, small("s"), fc.constantFrom(undefined, "leastconn", "random")).map(
        ([ns, name, balance]): Change =>
          (on) =>
            on.put("services", target(ns, name, balance)),
      ),
      fc.tuple(namespace, small("s")).map(
        ([ns, name]): Change =>
          (on) =>
            on.drop("services", ns, name),
      ),
      fc.tuple(namespace, small("e"), small("s"), fc.array(address, { maxLength: 3 })).map(
        ([ns, name, of, list]): Change =>
          (on) =>
            on.put("endpoints", slice(ns, name, of, list)),
      ),
      fc.tuple(namespace, small("e")).map(
        ([ns, name]): Change =>
          (on) =>
            on.drop("endpoints", ns, name),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 8, maxLength: 20 }),
        async (steps) => {
          const on = world();
          const rendering = service(templates);
          for (const changes of steps) {
            for (const apply of changes) apply(on);
            const warm = await planOf(rendering, on);
            const fresh = await planOf(service(templates), on);
            assert.equal(texts(warm), texts(fresh));
            assert.is(warm.id, fresh.id);
            assert.equal([...warm.maps.entries()], [...fresh.maps.entries()]);
          }
        },
      ),
      { numRuns: 12 },
    );
  });

test.run();
