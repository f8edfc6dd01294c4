import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ConfigError } from "../../../src/errors.ts";
import {
  assertUsable,
  type HAProxyTemplateConfig,
  type HAProxyTemplateLibrary,
  judge,
  notBuiltYet,
} from "../../../src/config/index.ts";

const ROUTES = {
  apiVersion: "demo.example.com/v1",
  resources: "routes",
  indexBy: ["metadata.namespace", "metadata.name"],
};

function config(overrides: object): HAProxyTemplateConfig {
  const spec = {
    podSelector: { matchLabels: { app: "haproxy" } },
    watchedResources: { routes: ROUTES },
    haproxyConfig: { template: "global\n" },
    ...overrides,
  };
  return {
    apiVersion: "haproxy-haptic.org/v1alpha1",
    kind: "HAProxyTemplateConfig",
    metadata: { name: "edge", namespace: "demo" },
    spec,
  };
}

function fields(overrides: object, libraries: HAProxyTemplateLibrary[] = []): string[] {
  const judged = judge(config(overrides), libraries);
  if (!("assembled" in judged)) throw new Error(judged.message);
  return judged.problems.map((problem) => problem.field);
}

const watch = (entry: object) => ({ watchedResources: { routes: { ...ROUTES, ...entry } } });

const test = suite("structural checks");

test("a minimal configuration has no problem", () => {
  assert.equal(fields({}), []);
});

/** What is wrong → the field that must be named. */
const WRONG: readonly [string, object, string][] = [
  ["no label of the pods", { podSelector: { matchLabels: {} } }, "spec.podSelector.matchLabels"],
  ["no pod selector", { podSelector: undefined }, "spec.podSelector.matchLabels"],
  ["nothing watched", { watchedResources: {} }, "spec.watchedResources"],
  ["no main template", { haproxyConfig: undefined }, "spec.haproxyConfig"],
  ["the reserved alias", { watchedResources: { "haproxy-pods": ROUTES } }, "spec.watchedResources.haproxy-pods"],
  ["no API version", watch({ apiVersion: undefined }), "spec.watchedResources.routes.apiVersion"],
  ["an API version of three parts", watch({ apiVersion: "a/b/v1" }), "spec.watchedResources.routes.apiVersion"],
  ["a kind in place of a plural", watch({ resources: "Routes" }), "spec.watchedResources.routes.resources"],
  ["no index", watch({ indexBy: undefined }), "spec.watchedResources.routes.indexBy"],
  ["an empty index", watch({ indexBy: [] }), "spec.watchedResources.routes.indexBy"],
  ["an index that is no path", watch({ indexBy: ["metadata..name"] }), "spec.watchedResources.routes.indexBy[0]"],
  ["a trimmed index", watch({ ignoreFields: ["metadata"] }), "spec.watchedResources.routes.indexBy[0]"],
  [
    "a filter in a path",
    watch({ ignoreFields: ["spec.rules[?(@.x)]"] }),
    "spec.watchedResources.routes.ignoreFields[0]",
  ],
  [
    "a set-based label selector",
    watch({ labelSelector: "tier in (a,b)" }),
    "spec.watchedResources.routes.labelSelector",
  ],
  ["a label selector without a value", watch({ labelSelector: "tier" }), "spec.watchedResources.routes.labelSelector"],
  ["a negated label selector", watch({ labelSelector: "tier!=a" }), "spec.watchedResources.routes.labelSelector"],
  ["a field selector without =", watch({ fieldSelector: "type" }), "spec.watchedResources.routes.fieldSelector"],
  [
    "a trimmed index everywhere",
    { watchedResourcesIgnoreFields: ["metadata.name"] },
    "spec.watchedResources.routes.indexBy[1]",
  ],
  ["one library twice", { libraryRefs: [1, 2].map(() => ({ name: "l", revision: "1" })) }, "spec.libraryRefs[1].name"],
  [
    "a snippet named as the main template",
    { templateSnippets: { "haproxy.cfg": { template: "x" } } },
    'spec.templateSnippets["haproxy.cfg"]',
  ],
  ["a snippet named as a map", { templateSnippets: { "map:x": { template: "x" } } }, 'spec.templateSnippets["map:x"]'],
  [
    "an unknown requirement",
    { templateSnippets: { s: { template: "x", requires: ["nope"] } } },
    "spec.templateSnippets.s.requires[0]",
  ],
  [
    "an unknown source",
    { templateSnippets: { s: { template: "x", incremental: { source: "nope" } } } },
    "spec.templateSnippets.s.incremental.source",
  ],
  [
    "a source that is not required",
    { templateSnippets: { s: { template: "x", incremental: { source: "routes" } } } },
    "spec.templateSnippets.s.incremental.source",
  ],
  [
    "neither source nor bindings",
    { templateSnippets: { s: { template: "x", incremental: {} } } },
    "spec.templateSnippets.s.incremental.source",
  ],
  ["a map outside its directory", { maps: { "../x": { template: "x" } } }, 'spec.maps["../x"]'],
  ["a file with a line break in its name", { files: { "a\nb": { template: "x" } } }, 'spec.files["a\\nb"]'],
  ["a hidden certificate", { sslCertificates: { ".pem": { template: "x" } } }, 'spec.sslCertificates[".pem"]'],
  ["a duration without a unit", { dataplane: { syncTimeout: "5" } }, "spec.dataplane.syncTimeout"],
  ["a timeout of zero", { dataplane: { deploymentTimeout: "0" } }, "spec.dataplane.deploymentTimeout"],
  [
    "pacing that agents refuse",
    { dataplane: { minDeploymentInterval: "61s" } },
    "spec.dataplane.minDeploymentInterval",
  ],
  [
    "a reload verdict that agents refuse",
    { dataplane: { reloadVerificationTimeout: "2m" } },
    "spec.dataplane.reloadVerificationTimeout",
  ],
  ["directories that lie apart", { dataplane: { sslCertsDir: "/srv/certs" } }, "spec.dataplane.sslCertsDir"],
  [
    "two directories in one",
    { dataplane: { generalStorageDir: "/etc/haproxy/maps" } },
    "spec.dataplane.generalStorageDir",
  ],
  ["a directory with ..", { dataplane: { mapsDir: "/etc/x/../maps" } }, "spec.dataplane.mapsDir"],
  [
    "a renewal longer than the lease",
    { controller: { leaderElection: { enabled: false, renewDeadline: "30s" } } },
    "spec.controller.leaderElection.renewDeadline",
  ],
  [
    "a retry longer than the renewal",
    { controller: { leaderElection: { enabled: false, retryPeriod: "25s" } } },
    "spec.controller.leaderElection.retryPeriod",
  ],
];

for (const [what, overrides, field] of WRONG) {
  test(`${what} is refused by name`, () => {
    const found =
      "libraryRefs" in overrides
        ? fields(overrides, [
            {
              apiVersion: "haproxy-haptic.org/v1alpha1",
              kind: "HAProxyTemplateLibrary",
              metadata: { name: "l", namespace: "demo" },
              spec: { revision: "1" },
            },
          ])
        : fields(overrides);
    assert.ok(found.includes(field), `${field} is not in ${JSON.stringify(found)}`);
  });
}

test("a debounceInterval that cannot be read is a warning, not an error", () => {
  const judged = judge(config(watch({ debounceInterval: "soon" })));
  assert.ok("assembled" in judged);
  assert.equal(judged.problems, []);
  assert.equal(
    judged.warnings.map(({ field }) => field),
    ["spec.watchedResources.routes.debounceInterval"],
  );
});

test("validation tests are warned about and do not refuse the configuration", () => {
  const judged = judge(config({ validationTests: { routing: { assertions: [] } } }));
  assert.ok("assembled" in judged);
  assert.equal(judged.problems, []);
  assert.equal(
    judged.warnings.map(({ field }) => field),
    ["spec.validationTests.routing"],
  );
});

test("the defaults that the API server fills in ask for nothing that is not built", () => {
  const filled = {
    ...watch({ optional: false, store: "full", enableValidationWebhook: false }),
    templatingSettings: { engine: "scriggo" },
    controller: { leaderElection: { enabled: false, leaseDuration: "30s", renewDeadline: "20s", retryPeriod: "5s" } },
    logging: { level: "" },
    dataplane: { configPublishInterval: "10s", syncTimeout: "2m", mapsDir: "/etc/haproxy/maps" },
  };
  assert.equal(fields(filled), []);
});

test("timings that nobody keeps yet are refused, and who sets the agents' own is said", () => {
  const { spec } = config({
    dataplane: { minDeploymentInterval: "5s", syncTimeout: "1m", driftPreventionInterval: "5s" },
  });
  assert.equal(
    notBuiltYet(spec, "o").map(({ field, hint }) => `${field}: ${hint}`),
    [
      "spec.dataplane.minDeploymentInterval: give the agents --reload-interval-min",
      "spec.dataplane.syncTimeout: leave it out",
    ],
  );
});

test("effects are refused one by one", () => {
  const snippet = (effects: string[]) => ({
    templateSnippets: { s: { template: "x", requires: ["routes"], incremental: { source: "routes", effects } } },
  });
  assert.equal(fields(snippet(["backendPlan", "recordEvent"])), []);
  const { spec } = config(snippet(["backendPlan", "statusPatch"]));
  const problems = notBuiltYet(spec, "o");
  assert.equal(
    problems.map(({ field }) => field),
    ["spec.templateSnippets.s.incremental.effects"],
  );
  assert.match(problems[0]!.message, /statusPatch/);
});

test("a rule about a library's template names the library", () => {
  const library: HAProxyTemplateLibrary = {
    apiVersion: "haproxy-haptic.org/v1alpha1",
    kind: "HAProxyTemplateLibrary",
    metadata: { name: "l", namespace: "demo" },
    spec: { revision: "1", templateSnippets: { s: { template: "x", requires: ["nope"] } } },
  };
  const judged = judge(config({ libraryRefs: [{ name: "l", revision: "1" }] }), [library]);
  assert.ok("assembled" in judged);
  assert.is(judged.problems[0]!.object, "HAProxyTemplateLibrary demo/l");
});

test("assertUsable throws one ConfigError that lists every problem with object and field", () => {
  const judged = judge(config({ haproxyConfig: undefined, ...watch({ indexBy: [] }) }));
  assert.ok("assembled" in judged);
  try {
    assertUsable(judged.problems);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, ConfigError);
    assert.is((error as ConfigError).code, "HAPTIC_E_CONFIG_INVALID");
    assert.is((error as ConfigError).problems.length, 2);
    assert.match(
      (error as ConfigError).message,
      /^HAProxyTemplateConfig demo\/edge: spec\.haproxyConfig: .*\(and 1 more\)$/,
    );
  }
});

test.run();
