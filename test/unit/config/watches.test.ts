import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  dataplaneOf,
  dataplaneTimings,
  debounceMs,
  type HAProxyTemplateConfigSpec,
  leaseNameOf,
  logLevelOf,
  parseDuration,
  watchSpecs,
} from "../../../src/config/index.ts";

const test = suite("watches, defaults and durations");

test("durations are read as Go writes them", () => {
  const readable: [string, number][] = [
    ["0", 0],
    ["300ms", 300],
    ["1.5h", 5_400_000],
    ["2h45m", 9_900_000],
    ["1m30s", 90_000],
    [".5s", 500],
    ["1.s", 1000],
    ["-2s", -2000],
    ["+2s", 2000],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["1000000ns", 1],
  ];
  for (const [text, ms] of readable) assert.is(parseDuration(text), ms, text);
  for (const text of ["", "5", "s", "1 s", "1d", "1s2", "--1s", "1e3ms", "s1", "."])
    assert.is(parseDuration(text), undefined, text);
});

test("debounceInterval: empty or unreadable means 100 ms, 0 means none", () => {
  for (const text of [undefined, "", "soon", "5", "-1s"]) assert.is(debounceMs(text), 100, String(text));
  assert.is(debounceMs("0"), 0);
  assert.is(debounceMs("0s"), 0);
  assert.is(debounceMs("2s"), 2000);
});

test("a watch takes the trimming of all resources and its own, and aliases come in the order of their names", () => {
  const spec: HAProxyTemplateConfigSpec = {
    watchedResourcesIgnoreFields: ["metadata.managedFields"],
    watchedResources: {
      zeta: {
        apiVersion: "v1",
        resources: "secrets",
        indexBy: ["metadata.name"],
        fieldSelector: "type=a",
        labelSelector: "x=y",
      },
      alpha: {
        apiVersion: "a/v1",
        resources: "things",
        indexBy: ["metadata.name"],
        ignoreFields: ["status"],
        debounceInterval: "0",
      },
    },
  };
  assert.equal(watchSpecs(spec), [
    {
      alias: "alpha",
      target: { apiVersion: "a/v1", resource: "things" },
      indexBy: ["metadata.name"],
      ignoreFields: ["metadata.managedFields", "status"],
      labelSelector: "",
      fieldSelector: "",
      debounceMs: 0,
    },
    {
      alias: "zeta",
      target: { apiVersion: "v1", resource: "secrets" },
      indexBy: ["metadata.name"],
      ignoreFields: ["metadata.managedFields"],
      labelSelector: "x=y",
      fieldSelector: "type=a",
      debounceMs: 100,
    },
  ]);
});

test("silence means the reference's defaults", () => {
  assert.equal(dataplaneTimings({}), {
    minDeploymentInterval: 2000,
    driftPreventionInterval: 60_000,
    deploymentTimeout: 30_000,
    configPublishInterval: 10_000,
    reloadVerificationTimeout: 60_000,
    syncTimeout: 120_000,
  });
  assert.is(dataplaneOf({ dataplane: { port: 7 } }).port, 7);
  assert.is(dataplaneOf({}).mapsDir, "/etc/haproxy/maps");
  assert.is(leaseNameOf({}), "haptic-leader");
  assert.is(leaseNameOf({ controller: { leaderElection: { leaseName: "" } } }), "haptic-leader");
  assert.is(logLevelOf({}, {}), "info");
  assert.is(logLevelOf({ logging: { level: "" } }, { LOG_LEVEL: "WARN" }), "warn");
  assert.is(logLevelOf({ logging: { level: "Debug" } }, { LOG_LEVEL: "WARN" }), "debug");
});

test.run();
