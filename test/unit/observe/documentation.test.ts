import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { edges, nodes } from "../../../src/observe/page/map-data.js";
import { ControllerMetrics } from "../../../src/observe/index.ts";
import { loadMachines } from "../../../.ci/machines.ts";

const root = resolve(import.meta.dirname, "../../..");

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

const metrics = (): ControllerMetrics =>
  new ControllerMetrics({
    bus: () => ({ published: 7, depth: 2, maxAgeMs: 3, subscribers: 5 }),
    resources: () => ({ services: 4 }),
    rejectedInputs: () => 1,
    retained: () => true,
    validated: () => ({ status: "True", reason: "ValidationSucceeded" }),
    gatePinned: () => false,
    published: () => ({ objects: 3, lagMs: 4_000 }),
    live: () => ({ pages: 1, summarized: 9 }),
    version: "1.2.3",
    haproxyVersion: "3.4.7",
    wallClock: () => 1_000,
  });

test("docs/metrics.md names every metric with its type and labels, and none that is not there", () => {
  const page = readFileSync(join(root, "docs/metrics.md"), "utf8");
  const documented = [...page.matchAll(/^\| `(haptic_[a-z_]+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    ([, name, type, labels]) =>
      `${name} ${type} ${[...labels!.matchAll(/`([a-z_]+)`/g)].map(([, label]) => label).join(",")}`,
  );
  const existing = (metrics().registry.getMetricsAsArray() as unknown as Described[]).map(
    (metric) => `${metric.name} ${metric.constructor.name.toLowerCase()} ${(metric.labelNames ?? []).join(",")}`,
  );
  assert.equal(documented.toSorted(), existing.toSorted());
});

test("figures that are kept elsewhere are read when somebody asks", async () => {
  const text = await metrics().registry.metrics();
  for (const line of [
    "haptic_events_published_total 7",
    "haptic_events_dropped_observability_total 9",
    "haptic_event_subscribers 5",
    'haptic_component_mailbox_depth{component="bus"} 2',
    'haptic_resource_count{type="services"} 4',
    "haptic_rejected_watched_inputs 1",
    "haptic_retained_config_active 1",
    "haptic_publish_objects 3",
    "haptic_publish_lag_seconds 4",
    'haptic_config_validated{status="True",reason="ValidationSucceeded"} 1',
    `haptic_build_info{version="1.2.3",haproxy_version="3.4.7",node_version="${process.versions.node}"} 1`,
  ])
    assert.ok(text.split("\n").includes(line), line);
});

test("a pod that is gone leaves no series behind", async () => {
  const figures = metrics();
  const pod = { id: "u1@c1", namespace: "n", name: "one", address: "10.0.0.1:5555", version: "3.4.7" };
  figures.note({ type: "PODS.CHANGED", pods: [pod] });
  figures.applied({ pod: "u1@c1", planId: "p", mode: "runtime", ok: true, reasons: [], tookMs: 1 });
  figures.applied({ pod: "u1@c1", planId: "p", mode: "rejected", ok: false, reasons: [], tookMs: 1 });
  assert.match(await figures.registry.metrics(), 'haptic_deploy_apply_total{pod="n/one",mode="runtime"} 1');
  // Another container of the same pod is the same pod for the figures.
  figures.note({ type: "PODS.CHANGED", pods: [{ ...pod, id: "u1@c2" }] });
  assert.match(await figures.registry.metrics(), 'haptic_apply_rejected_total{pod="n/one"} 1');
  figures.note({ type: "PODS.CHANGED", pods: [] });
  assert.not.match(await figures.registry.metrics(), 'pod="n/one"');
});

test("the component map shows the controller's charts, and an edge for every event that one of them reads", async () => {
  const charts = (await loadMachines()).filter(({ file }) => !/^(agent|dev)/.test(file));
  const shown = nodes.filter((node) => node.outside === undefined).map((node) => node.id);
  assert.equal(shown.toSorted(), charts.map(({ machine }) => machine.id).toSorted());
  for (const { machine, reads } of charts) {
    const drawn = new Set(edges.filter((edge) => edge.to === machine.id).flatMap((edge) => edge.types));
    // podProbe and podApply talk to their parents only.
    for (const type of reads) assert.ok(drawn.has(type), `${machine.id} reads ${type}`);
    const bus = edges.filter((edge) => edge.to === machine.id && edge.source === undefined);
    for (const type of bus.flatMap((edge) => edge.types))
      assert.ok(reads.includes(type), `the map says that ${machine.id} reads ${type}`);
  }
});

test("no two components stand in one place of the map, wide or tall", () => {
  for (const layout of ["wide", "tall"] as const)
    assert.is(new Set(nodes.map((node) => node[layout].join())).size, nodes.length, layout);
});

test.run();
