// runner: beside
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { Folder, root } from "./harness.ts";

const haproxy = testHaproxy("3.4");
const checked = needing(
  base,
  haproxy === undefined ? "needs HAProxy 3.4, which could not be installed here" : undefined,
);
const test = base;

const CONFIG = `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: {name: c, namespace: edge}
spec:
  podSelector: {matchLabels: {app: haproxy}}
  libraryRefs: [{name: lib, revision: "1"}]
  watchedResources:
    apps: {apiVersion: example.org/v1, resources: apps, indexBy: [metadata.namespace, metadata.name]}
    others: {apiVersion: example.org/v1, resources: policies, indexBy: [metadata.name], labelSelector: "use=yes"}
  haproxyConfig:
    template: |
      global
          maxconn 100
      defaults d
          mode http
          timeout client 1s
          timeout server 1s
          timeout connect 1s
      listen l
          bind 127.91.3.1:18099
      # pods: {{ len(controller.haproxy_pods.List()) }}, policies: {{ len(resources.others.List()) }}
      {{ render "apps" }}
    postProcessing:
      - type: regex_replace
        params: {pattern: "^    ", replace: "  "}
  maps:
    hosts.map:
      template: |
        {%- for _, app := range resources.apps.List() %}
        {{ app.spec.host }} {{ app.metadata.name }}
        {%- end %}
`;
const LIBRARY = `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateLibrary
metadata: {name: lib, namespace: edge}
spec:
  revision: "1"
  templateSnippets:
    apps:
      requires: [apps]
      incremental: {source: apps, effects: [recordEvent]}
      template: |
        {%- if item.spec.host == "bad" %}{% fail("this host is bad") %}{% end -%}
        {%- if item.spec.host == "odd" %}{% recordEvent(item, "OddHost", "an odd host") %}{% end -%}
        backend {{ item.metadata.namespace }}_{{ item.metadata.name }} from d
            server s 127.0.0.1:80
`;
const app = (name: string, host: string): string =>
  `apiVersion: example.org/v1\nkind: App\nmetadata: {name: ${name}}\nspec: {host: ${host}}\n---\n`;

const folder = new Folder().write({
  "c.yaml": `${CONFIG}---\n${LIBRARY}`,
  "resources/apps.yaml": app("one", "a.example") + app("two", "odd"),
  "resources/list.yaml": `apiVersion: v1
kind: List
items:
  - {apiVersion: example.org/v1, kind: Policy, metadata: {name: p, labels: {use: "yes"}}}
  - {apiVersion: example.org/v1, kind: Policy, metadata: {name: q}}
  - {apiVersion: example.org/v2, kind: Policy, metadata: {name: r, labels: {use: "yes"}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: h, namespace: edge, labels: {app: haproxy}}}
  - {apiVersion: v1, kind: Thing, metadata: {name: t}}
`,
  "bad/apps.yaml": app("one", "a.example") + app("two", "bad"),
  "revision.yaml": `${CONFIG.replace('revision: "1"', 'revision: "2"')}---\n${LIBRARY}`,
  "wrong.yaml": CONFIG.replace('libraryRefs: [{name: lib, revision: "1"}]', "").replace(
    '{{ render "apps" }}',
    "{{ nothing }}",
  ),
  "regex.yaml": `${CONFIG.replace('"^    "', '"(?=a)"')}---\n${LIBRARY}`,
  "refused.yaml": `${CONFIG.replace("maxconn 100", "maxcon 100")}---\n${LIBRARY}`,
  "unbuilt.yaml": `${CONFIG.replace("spec:", "spec:\n  logging: {level: DEBUG}")}---\n${LIBRARY}`,
  "misspelt.yaml": `${CONFIG}---\n${LIBRARY}`.replace(
    "{{ app.spec.host }}",
    "{{ app.spec.hots }}{{ app.Metadata.Name }}",
  ),
  "schemas/app.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.org}
spec:
  group: example.org
  names: {plural: apps, kind: App}
  versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {host: {type: string}}}}}}
`,
  "yaml.yaml": "a: [\n",
  "empty.yaml": "apiVersion: v1\nkind: Thing\nmetadata: {name: t}\n",
});
base.after(() => folder.remove());

test("all files are printed, libraries, selectors and post-processing included; what was left out is noted", async () => {
  const { code, out, err } = await folder.haptic(["render", "-f", "c.yaml", "--resources", "resources"]);
  assert.is(
    out,
    `==> haproxy.cfg <==
global
  maxconn 100
defaults d
  mode http
  timeout client 1s
  timeout server 1s
  timeout connect 1s
listen l
  bind 127.91.3.1:18099
# pods: 1, policies: 1
backend default_one from d
  server s 127.0.0.1:80
backend default_two from d
  server s 127.0.0.1:80

==> maps/hosts.map <==

a.example one
odd two

`.replaceAll("default_", "edge_"),
  );
  assert.match(err, "left out: Policy of example.org/v2: spec.watchedResources.others watches example.org/v1 policies");
  assert.match(err, "left out: Thing of v1: not watched by the configuration");
  assert.is(err.split("left out").length, 3, err);
  assert.match(err, "event: OddHost App edge/two: an odd host");
  assert.is(code, 0);
});

test("--namespace is that of objects that name none, --snippet renders one alone", async () => {
  const args = ["render", "-f", "c.yaml", "--resources", "resources/apps.yaml", "--snippet", "apps"];
  const { code, out } = await folder.haptic([...args, "--namespace", "shop"]);
  assert.is(code, 0);
  assert.is(
    out,
    "backend shop_one from d\n    server s 127.0.0.1:80\nbackend shop_two from d\n    server s 127.0.0.1:80\n",
  );
  const unknown = await folder.haptic(["render", "-f", "c.yaml", "--snippet", "app"]);
  assert.is(unknown.code, 2);
  assert.match(unknown.err, "there are apps");
});

test("with --schema-dir a misspelt field is an error at its line in the file, and objects have types", async () => {
  const args = ["--resources", "resources", "--schema-dir", "schemas"];
  const { code, err } = await folder.haptic(["render", "-f", "misspelt.yaml", ...args]);
  assert.is(code, 1);
  assert.match(err, "resources.apps.Spec has no field hots");
  assert.match(err, /spec\.maps\["?hosts\.map"?\]\.template \(misspelt\.yaml:\d+\)/);
  assert.match(err, 'hint: did you mean "host"?');
  const good = await folder.haptic(["render", "-f", "c.yaml", ...args]);
  assert.is(good.code, 0, good.err);
  assert.is((await folder.haptic(["render", "-f", "c.yaml", "--schema-dir", "nowhere"])).code, 1);
});

test("--output-dir writes all files by their paths, keys for their owner alone", async () => {
  const example = join(root, "examples/ingress");
  const args = ["render", "-f", join(example, "config.yaml"), "--resources", join(example, "demo.yaml")];
  const { code, out } = await folder.haptic([...args, "--output-dir", "out"]);
  assert.is(code, 0);
  assert.is(out, "");
  const written = new Set(readdirSync(join(folder.path, "out"), { recursive: true }).map(String));
  for (const name of ["haproxy.cfg", "maps/path-exact.map", "certs/default.pem"]) assert.ok(written.has(name), name);
  assert.is(statSync(join(folder.path, "out/certs/default.pem")).mode & 0o777, 0o600);
  const printed = await folder.haptic(args);
  assert.not.match(printed.out, "PRIVATE KEY");
  assert.match(printed.out, "==> certs/default.pem <==");
  assert.ok(printed.out.includes(readFileSync(join(folder.path, "out/haproxy.cfg"), "utf8")));
});

test("as JSON there are files, notes, events and a profile", async () => {
  const { out } = await folder.haptic([
    "render",
    "-f",
    "c.yaml",
    "--resources",
    "resources",
    "-o",
    "json",
    "--profile",
  ]);
  const report = JSON.parse(out) as {
    ok: boolean;
    files: { path: string; kind: string; size: number; text: string }[];
    events: { reason: string }[];
    profile: { template: string; count: number; totalMs: number; selfMs: number }[];
  };
  assert.is(report.ok, true);
  assert.equal(
    report.files.map(({ path, kind }) => [path, kind]),
    [
      ["haproxy.cfg", "config"],
      ["maps/hosts.map", "map"],
    ],
  );
  assert.is(report.files[1]!.text, "\na.example one\nodd two\n");
  assert.equal(
    report.events.map(({ reason }) => reason),
    ["OddHost"],
  );
  assert.equal(report.profile.map(({ template, count }) => `${template} ${count}`).sort(), [
    "apps 2",
    "haproxy.cfg 1",
    "map:hosts.map 1",
  ]);
});

test("--profile prints a table, --trace each template's begin and end", async () => {
  const { err } = await folder.haptic(["render", "-f", "c.yaml", "--resources", "resources", "--profile", "--trace"]);
  assert.match(err, /count +total ms +self ms +max ms {2}template\n/);
  assert.match(err, / 2 +[\d.]+ +[\d.]+ +[\d.]+ {2}apps\n/);
  assert.match(err, /Rendering: apps\nCompleted: apps \([\d.]+ms\)\n/);
});

test("a bad object is named, the rest is rendered, and the exit code is 1", async () => {
  const { code, out, err } = await folder.haptic(["render", "-f", "c.yaml", "--resources", "bad"]);
  assert.is(code, 1);
  assert.match(out, "backend edge_one from d");
  assert.not.match(out, "edge_two");
  assert.match(err, "not rendered: apps edge/two");
  assert.match(err, "this host is bad");
  assert.match(err, "HAProxyTemplateLibrary edge/lib spec.templateSnippets.apps.template (c.yaml:");
});

test("what is wrong with a configuration is told by file and line", async () => {
  for (const [file, message] of [
    ["revision.yaml", /^revision\.yaml:1: libraryRefs wants HAProxyTemplateLibrary lib at revision "2"/],
    ["wrong.yaml", /undefined: nothing[\s\S]*wrong\.yaml:22\)/],
    ["regex.yaml", /^regex\.yaml:25: .*postProcessing\[0\]\.params\.pattern: invalid regular expression/],
    ["unbuilt.yaml", /^unbuilt\.yaml:1: .*spec\.logging\.level: not built yet/],
    ["yaml.yaml", /^yaml\.yaml:\d+: .*YAML: /],
    ["empty.yaml", /^empty\.yaml: holds no HAProxyTemplateConfig/],
    ["none.yaml", /none\.yaml.*cannot be read/],
  ] as const) {
    const { code, out, err } = await folder.haptic(["render", "-f", file]);
    assert.is(code, 1, file);
    assert.is(out, "");
    assert.match(err, message);
  }
  const { out } = await folder.haptic(["render", "-f", "wrong.yaml", "-o", "json"]);
  const { problems } = JSON.parse(out) as { problems: { file: string; fileLine: number; code: string }[] };
  assert.equal(
    problems.map(({ file, fileLine, code }) => [file, fileLine, code]),
    [["wrong.yaml", 22, "HAPTIC_E_TEMPLATE_COMPILE"]],
  );
});

test("a wrong command line has exit code 2", async () => {
  assert.is((await folder.haptic(["render"])).code, 2);
  assert.is((await folder.haptic(["render", "-f", "c.yaml", "--chekc"])).code, 2);
  assert.is((await folder.haptic(["rendr"])).code, 2);
});

checked("--check lets HAProxy judge", async () => {
  const good = await folder.haptic([
    "render",
    "-f",
    "c.yaml",
    "--resources",
    "resources",
    "--check",
    `--haproxy=${haproxy}`,
  ]);
  assert.match(good.err, "HAProxy accepts it");
  assert.is(good.code, 0, good.err);
  const bad = await folder.haptic([
    "render",
    "-f",
    "refused.yaml",
    "--check",
    `--haproxy=${haproxy}`,
    "--output-dir",
    "refused",
  ]);
  assert.is(bad.code, 1);
  assert.match(bad.err, "maxcon");
  assert.match(bad.err, "HAProxy refuses it");
  assert.ok(existsSync(join(folder.path, "refused/haproxy.cfg")), "what was refused can be looked at");
});

test("--check without any HAProxy says so and renders", async () => {
  const env = { PATH: "/nowhere", HAPTIC_HAPROXY: "", XDG_CACHE_HOME: folder.path };
  const { code, err } = await folder.haptic(["render", "-f", "c.yaml", "--resources", "resources", "--check"], "", env);
  assert.is(code, 0);
  assert.match(err, "not checked: there is no HAProxy on this machine");
});

test("each line is told of with the template and the object that made it, also when processors changed it", async () => {
  const run = (more: readonly string[]): ReturnType<Folder["haptic"]> =>
    folder.haptic(["render", "-f", "c.yaml", "--resources", "resources", ...more]);
  const { code, out, err } = await run(["--explain-lines"]);
  assert.is(code, 0, err);
  const line = (text: string): string => out.split("\n").find((each) => each.endsWith(`| ${text}`)) ?? "";
  assert.match(line("  maxconn 100"), /^haproxy\.cfg:2:5 +\| /);
  assert.match(line("backend edge_two from d"), /^apps:3:1 +apps edge\/two +\| /);
  assert.match(line("a.example one"), /^map:hosts\.map:2:\d+ +apps edge\/one +\| /);
  const plain = await run([]);
  assert.is(out.replace(/^[^=\n].*?\| |^ *\| /gm, ""), plain.out, "the lines themselves are as without");
  const report = JSON.parse((await run(["--explain-lines", "-o", "json"])).out) as {
    files: { path: string; lines: { text: string; origin?: object }[] }[];
  };
  const config = report.files.find((file) => file.path === "haproxy.cfg")!;
  assert.equal(
    config.lines.find(({ text }) => text === "backend edge_one from d"),
    {
      text: "backend edge_one from d",
      origin: { template: "apps", line: 3, column: 1, object: { alias: "apps", namespace: "edge", name: "one" } },
    },
  );
});

base.run();
