import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  type Assembled,
  assemble,
  type HAProxyTemplateConfig,
  type HAProxyTemplateLibrary,
  toTemplateSources,
} from "../../../src/config/index.ts";

const config = (spec: object): HAProxyTemplateConfig => ({
  apiVersion: "haproxy-haptic.org/v1alpha1",
  kind: "HAProxyTemplateConfig",
  metadata: { name: "edge", namespace: "demo", generation: 4 },
  spec,
});
const library = (name: string, spec: object, namespace = "demo"): HAProxyTemplateLibrary => ({
  apiVersion: "haproxy-haptic.org/v1alpha1",
  kind: "HAProxyTemplateLibrary",
  metadata: { name, namespace },
  spec: { revision: "r1", ...spec },
});
const refs = (...names: string[]) => names.map((name) => ({ name, revision: "r1" }));

function assembled(...[own, libraries]: Parameters<typeof assemble>): Assembled {
  const result = assemble(own, libraries);
  if (result.state === "hold") throw new Error(result.message);
  return result;
}

const test = suite("assemble");

test("takes the libraries in the order of libraryRefs, not of the list, and the configuration's own content last", () => {
  const a = library("a", {
    templateSnippets: { one: { template: "a1" }, two: { template: "a2" }, three: { template: "a3" } },
  });
  const b = library("b", { templateSnippets: { one: { template: "b1" }, two: { template: "b2" } } });
  const own = config({ libraryRefs: refs("a", "b"), templateSnippets: { one: { template: "own" } } });
  for (const list of [
    [a, b],
    [b, a],
  ]) {
    const { spec, overrides } = assembled(own, list);
    assert.equal(
      Object.fromEntries(Object.entries(spec.templateSnippets!).map(([name, { template }]) => [name, template])),
      { one: "own", two: "b2", three: "a3" },
    );
    assert.equal(
      overrides.map(({ name, by, overrode }) => `${name}: ${by} over ${overrode}`),
      [
        "one: HAProxyTemplateLibrary demo/b over HAProxyTemplateLibrary demo/a",
        "two: HAProxyTemplateLibrary demo/b over HAProxyTemplateLibrary demo/a",
        "one: HAProxyTemplateConfig demo/edge over HAProxyTemplateLibrary demo/b",
      ],
    );
  }
});

test("merges maps key by key and replaces lists and single values", () => {
  const base = library("base", {
    maps: { "host.map": { template: "x", ordered: false } },
    templatingSettings: { extraContext: { deep: { kept: 1, list: [1, 2] }, other: true } },
  });
  const { spec } = assembled(
    config({
      libraryRefs: refs("base"),
      maps: { "host.map": { template: "y" } },
      templatingSettings: { extraContext: { deep: { list: [3] } } },
    }),
    [base],
  );
  assert.equal(spec.maps, { "host.map": { template: "y", ordered: false } });
  assert.equal(spec.templatingSettings!.extraContext, { deep: { kept: 1, list: [3] }, other: true });
});

test("holds while a referred library is missing, in another namespace, or at another revision", () => {
  const own = config({ libraryRefs: refs("base") });
  const missing = assemble(own, [library("base", {}, "elsewhere")]);
  assert.is(missing.state === "hold" && missing.reason, "libraryMissing");
  const torn = assemble(own, [library("base", { revision: "r2" })]);
  assert.ok(torn.state === "hold");
  assert.is(torn.reason, "revisionMismatch");
  assert.match(torn.message, /base at revision "r1", and that object reports "r2"/);
});

test("compares revisions as text and never derives them from the content", () => {
  const own = config({ libraryRefs: refs("base") });
  const before = assembled(own, [library("base", { templateSnippets: { s: { template: "old" } } })]);
  const after = assembled(own, [library("base", { templateSnippets: { s: { template: "new" } } })]);
  assert.is(before.spec.templateSnippets!["s"]!.template, "old");
  assert.is(after.spec.templateSnippets!["s"]!.template, "new");
});

test("a library gives no operational field", () => {
  const rogue = library("rogue", {
    podSelector: { matchLabels: { app: "other" } },
    watchedResources: { secrets: {} },
    dataplane: { port: 1 },
    templateSnippets: { s: { template: "kept" } },
  });
  const { spec } = assembled(config({ libraryRefs: refs("rogue"), podSelector: { matchLabels: { app: "mine" } } }), [
    rogue,
  ]);
  assert.equal(spec, { podSelector: { matchLabels: { app: "mine" } }, templateSnippets: { s: { template: "kept" } } });
});

test("a validation test of one name in two objects is an error that names both", () => {
  const one = library("one", { validationTests: { routes: { assertions: [] } } });
  const { problems } = assembled(
    config({ libraryRefs: refs("one"), validationTests: { routes: { assertions: [] } } }),
    [one],
  );
  assert.is(problems.length, 1);
  assert.is(problems[0]!.object, "HAProxyTemplateConfig demo/edge");
  assert.is(problems[0]!.field, "spec.validationTests.routes");
  assert.match(problems[0]!.message, /HAProxyTemplateLibrary demo\/one/);
});

test("the baseline _global accumulates over the objects", () => {
  const one = library("one", {
    validationTests: { _global: { fixtures: { secrets: [{ a: 1 }] }, extraContext: { x: 1 }, assertions: [] } },
  });
  const own = config({
    libraryRefs: refs("one"),
    validationTests: {
      _global: { fixtures: { secrets: [{ b: 2 }], pods: [{}] }, extraContext: { y: 2 }, assertions: [] },
    },
  });
  const { spec, problems } = assembled(own, [one]);
  assert.equal(problems, []);
  assert.equal(spec.validationTests!["_global"], {
    fixtures: { secrets: [{ a: 1 }, { b: 2 }], pods: [{}] },
    extraContext: { x: 1, y: 2 },
    assertions: [],
  });
});

test("haproxyConfig from two objects is an error that names both", () => {
  const main = library("main", { haproxyConfig: { template: "a" } });
  const { problems } = assembled(config({ libraryRefs: refs("main"), haproxyConfig: { template: "b" } }), [main]);
  assert.equal(
    problems.map(({ object, field }) => `${object} ${field}`),
    ["HAProxyTemplateConfig demo/edge spec.haproxyConfig"],
  );
  assert.match(problems[0]!.message, /HAProxyTemplateLibrary demo\/main supplies haproxyConfig too/);
});

test("top-level keys that begin with an underscore are the author's scratch and are dropped", () => {
  const { spec } = assembled(config({ _anchors: { x: 1 }, templateSnippets: { _kept: { template: "t" } } }));
  assert.equal(Object.keys(spec), ["templateSnippets"]);
  assert.ok("_kept" in spec.templateSnippets!);
});

test("a key called __proto__ stays data", () => {
  const hostile = JSON.parse('{"templateSnippets":{"__proto__":{"template":"t"}}}') as object;
  const { spec } = assembled(config({ libraryRefs: refs("l"), templateSnippets: { a: { template: "a" } } }), [
    library("l", hostile),
  ]);
  assert.equal(Object.keys(spec.templateSnippets!).sort(), ["__proto__", "a"]);
  assert.is(({} as Record<string, unknown>)["template"], undefined);
});

test("every template becomes a source with its registry name, and says whose it is and whose it overrode", () => {
  const base = library("base", {
    templateSnippets: { s: { template: "base" } },
    files: { "503.http": { template: "f" } },
    sslCertificates: { c: { template: "pem" } },
  });
  const own = config({
    libraryRefs: refs("base"),
    haproxyConfig: { template: "main" },
    templateSnippets: { s: { template: "own" } },
    maps: { "host.map": { template: "m" } },
  });
  const sources = toTemplateSources(assembled(own, [base]));
  assert.equal(
    sources.map(({ name, text, origin }) => `${name}=${text} ${origin.field}`),
    [
      "haproxy.cfg=main spec.haproxyConfig.template",
      "cert:c=pem spec.sslCertificates.c.template",
      'file:503.http=f spec.files["503.http"].template',
      'map:host.map=m spec.maps["host.map"].template',
      "s=own spec.templateSnippets.s.template",
    ],
  );
  assert.is(sources[4]!.origin.object, "HAProxyTemplateConfig demo/edge");
  assert.is(sources[4]!.origin.overrode, "HAProxyTemplateLibrary demo/base");
});

test.run();
