import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { edges, nodes } from "../../../src/observe/page/map-data.js";
import { AgentMetrics } from "../../../src/agent/metrics.ts";
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

const agentMetrics = (): AgentMetrics =>
  new AgentMetrics({
    generation: () => 5,
    isReady: () => true,
    isReloadPending: () => true,
    pendingRemovals: () => ({ server: 2, backend: 1 }),
    reloadIntervalMs: () => 20_000,
    oldWorkers: async () => ({ count: 3, bytes: 4_096 }),
  });

test("docs/metrics.md names every metric with its type and labels, and none that is not there", () => {
  const page = readFileSync(join(root, "docs/metrics.md"), "utf8");
  const documented = [...page.matchAll(/^\| `(haptic_[a-z_]+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    ([, name, type, labels]) =>
      `${name} ${type} ${[...labels!.matchAll(/`([a-z_]+)`/g)].map(([, label]) => label).join(",")}`,
  );
  const registries = [metrics().registry, agentMetrics().registry];
  const all = registries.flatMap((registry) => registry.getMetricsAsArray() as unknown as Described[]);
  const existing = all.map(
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

test("the agent's figures are read when somebody asks, and what it does is counted", async () => {
  const figures = agentMetrics();
  const result = { mode: "rejected", error: { stage: "reload", message: "" } };
  figures.answered({ status: 200, body: { mode: "runtime" } });
  figures.answered({ status: 200, body: result });
  figures.answered({ status: 409, body: { missing: ["a"] } });
  figures.answered({ status: 409, body: { reason: "stale_epoch" } });
  for (const status of [400, 403, 413, 500, 503]) figures.answered({ status, body: {} });
  figures.note({ what: "reload", result: "refused" });
  figures.note({ what: "rollback" });
  figures.note({ what: "operation refused", kind: "server_add" });
  figures.note({ what: "removal", kind: "server", outcome: "deferred", count: 2 });
  figures.note({ what: "divergence", object: "map", text: "" });
  figures.note({ what: "divergence", object: "server", text: "" });
  figures.note({ what: "broken", invariant: "noop_runs_no_ops" });
  const lines = (await figures.registry.metrics()).split("\n");
  for (const line of [
    'haptic_agent_apply_total{mode="runtime"} 1',
    'haptic_agent_apply_total{mode="rejected"} 1',
    'haptic_agent_apply_rejected_total{stage="reload"} 1',
    'haptic_agent_apply_rejected_total{stage="content"} 1',
    'haptic_agent_apply_rejected_total{stage="fence"} 1',
    'haptic_agent_apply_rejected_total{stage="request"} 2',
    'haptic_agent_apply_rejected_total{stage="identity"} 1',
    'haptic_agent_apply_rejected_total{stage="files"} 1',
    'haptic_agent_apply_rejected_total{stage="unavailable"} 1',
    'haptic_agent_reloads_total{result="refused"} 1',
    "haptic_agent_rollbacks_total 1",
    'haptic_agent_op_errors_total{kind="server_add"} 1',
    'haptic_agent_deferred_deletes_total{kind="server",outcome="deferred"} 2',
    'haptic_agent_divergence_total{object="server"} 1',
    "haptic_agent_map_divergence_total 1",
    'haptic_agent_invariant_violations_total{name="noop_runs_no_ops"} 1',
    "haptic_agent_generation 5",
    "haptic_agent_ready 1",
    "haptic_agent_reload_pending 1",
    "haptic_agent_reload_interval_seconds 20",
    "haptic_agent_old_workers 3",
    "haptic_agent_old_workers_memory_bytes 4096",
    'haptic_agent_pending_deletes{kind="server"} 2',
  ])
    assert.ok(lines.includes(line), line);
});

test("old workers that cannot be asked for have no figures, not zeros", async () => {
  const sources = {
    generation: () => 0,
    isReady: () => false,
    isReloadPending: () => false,
    pendingRemovals: () => ({ server: 0, backend: 0 }),
    reloadIntervalMs: () => 0,
  };
  const text = (oldWorkers: ConstructorParameters<typeof AgentMetrics>[0]["oldWorkers"]): Promise<string> =>
    new AgentMetrics({ ...sources, oldWorkers }).registry.metrics();
  assert.not.match(await text(async () => undefined), /^haptic_agent_old_workers/m);
  const unseen = await text(async () => ({ count: 1, bytes: undefined }));
  assert.match(unseen, /^haptic_agent_old_workers 1$/m);
  assert.not.match(unseen, /^haptic_agent_old_workers_memory_bytes/m);
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
