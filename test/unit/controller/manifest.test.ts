import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AgentState } from "../../../src/agent/api.ts";
import {
  deltaDelivery,
  fullDelivery,
  planProof,
  podStateOf,
  promotion,
  reversion,
} from "../../../src/controller/manifest.ts";
import type { PodState } from "../../../src/controller/manifest.ts";
import {
  assemblePlan,
  ChunkedTree,
  cutBlocks,
  emptyTrees,
  fileDigest,
  planFile,
  rootDigest,
} from "../../../src/plan/index.ts";
import type { RenderPlan } from "../../../src/plan/types.ts";

const token = { leader_epoch: 3, render_seq: 9 };
const planWith = (files: Readonly<Record<string, string>>): RenderPlan =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      Object.entries(files).map(
        ([path, text]) => [path, planFile(path, "general", cutBlocks(text), { reloadOnChange: false })] as const,
      ),
      fileDigest,
    ),
  });
const podAt = (plan: RenderPlan, more: Partial<PodState> = {}): PodState => ({
  applied: plan.id,
  running: plan.id,
  workerOps: plan.id,
  lastGood: "",
  token,
  owed: "",
  blobStored: true,
  haproxyVersion: "3.4.7",
  agentOps: [],
  features: ["file_patch", "worker_fence"],
  skew: undefined,
  proofs: { applied: "", workerOps: "", lastGood: "" },
  files: Object.fromEntries([...plan.files.entries()].map(([path, { digest }]) => [path, { digest }])),
  loaded: undefined,
  ...more,
});
const line = (number: number): string => `line ${number} ${"x".repeat(60)}\n`;
const long = (changed = -1): string =>
  Array.from({ length: 3_000 }, (_, i) => (i === changed ? "changed\n" : line(i))).join("");

test("a difference names what changed and what is gone, fenced by what the pod holds", () => {
  const before = planWith({ "general/a": long(), "general/gone": "old\n" });
  const after = planWith({ "general/a": long(1_500), "general/new": "new\n" });
  const { manifest, parts, verdict } = deltaDelivery(after, before, podAt(before), token);
  assert.is(verdict, "file_only");
  assert.is(manifest.mode, "auto");
  assert.is(manifest.files, undefined);
  assert.is(manifest.expected_prev_plan_id, before.id);
  assert.is(manifest.expected_worker_ops_plan_id, before.id);
  assert.equal(manifest.changed?.map(({ path }) => path).sort(), ["general/a", "general/new"]);
  assert.equal(manifest.removed, ["general/gone"]);
  const sent = parts.reduce((sum, part) => sum + part.bytes.reduce((bytes, piece) => bytes + piece.length, 0), 0);
  assert.ok(sent < long().length / 3, `${sent} bytes were sent for one changed line`);
});

test("a patch applied to the base gives the new file", () => {
  const before = planWith({ "general/a": long() });
  const after = planWith({ "general/a": long(1_500) });
  const patched = deltaDelivery(after, before, podAt(before), token).manifest.changed?.[0];
  const refs = (before.files.get("general/a")?.blocks ?? []).map(({ digest, size }) => ({ digest, size }));
  for (const { index, remove, insert } of (patched?.patch?.splices ?? []).toReversed())
    refs.splice(index, remove, ...insert);
  assert.is(rootDigest(refs), patched?.digest);
});

test("a patch that only takes away has its part, which is empty", () => {
  const before = planWith({ "general/a": long() });
  const kept = before.files.get("general/a")?.blocks.slice(0, 2) ?? [];
  const after = assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      [["general/a", planFile("general/a", "general", kept, { reloadOnChange: false })]] as const,
      fileDigest,
    ),
  });
  const { parts } = deltaDelivery(after, before, podAt(before), token);
  assert.equal(
    parts.map(({ path, bytes }) => [path, bytes.length]),
    [["general/a", 0]],
  );
});

test("a worker whose operations are not the applied plan's is reloaded", () => {
  const before = planWith({ "general/a": "1\n" });
  const after = planWith({ "general/a": "2\n" });
  const { manifest, reasons } = deltaDelivery(after, before, podAt(before, { workerOps: "" }), token);
  assert.is(manifest.mode, "reload");
  assert.equal(manifest.ops, []);
  assert.is(manifest.expected_worker_ops_plan_id, undefined);
  assert.is(reasons.length, 1);
});

test("a worker that waits for its reload is told with it: the agent refuses when that reload has come meanwhile", () => {
  const [before, after] = [planWith({ "general/a": "1\n" }), planWith({ "general/a": "2\n" })];
  const { manifest } = deltaDelivery(after, before, podAt(before, { workerOps: "waits" }), token);
  assert.is(manifest.mode, "reload");
  assert.is(manifest.expected_worker_ops_plan_id, "waits");
});

test("the full set names every file and brings the content of those that the pod lacks", () => {
  const held = planWith({ "general/a": "same\n", "general/b": "old\n" });
  const plan = planWith({ "general/a": "same\n", "general/b": "new\n" });
  const { manifest, parts } = fullDelivery(plan, podAt(held), token, ["why"]);
  assert.is(manifest.mode, "reload");
  assert.equal(
    manifest.files?.map(({ path, blocks }) => [path, blocks !== undefined]),
    [
      ["general/a", false],
      ["general/b", true],
    ],
  );
  assert.equal(
    parts.map(({ path }) => path),
    ["general/b"],
  );
  assert.is(fullDelivery(plan, podAt(held), token, [], true).parts.length, 2);
});

test("operations go in batches of a thousand to agents that take several, in one batch or by a reload to others", () => {
  const agentOps: AgentState["agent_ops"] = ["cert_set", "cert_new"];
  const certs = (content: string): RenderPlan =>
    assemblePlan({
      ...emptyTrees(),
      files: ChunkedTree.from(
        Array.from({ length: 2_500 }, (_, i) => {
          const path = `ssl/${i}.pem`;
          return [path, planFile(path, "cert", cutBlocks(`${content} ${i}\n`))] as const;
        }),
        fileDigest,
      ),
    });
  const [before, after] = [certs("old"), certs("new")];
  const many = podAt(before, { agentOps, features: ["file_patch", "worker_fence", "runtime_batches"] });
  const { manifest, verdict } = deltaDelivery(after, before, many, token);
  assert.is(verdict, "runtime");
  assert.equal(
    [manifest.ops, ...(manifest.op_batches ?? [])].map((ops) => ops.length),
    [1_000, 1_000, 500],
  );
  assert.is(new Set([manifest.ops, ...(manifest.op_batches ?? [])].flat().map(({ path }) => path)).size, 2_500);
  const single = deltaDelivery(after, before, podAt(before, { agentOps }), token);
  assert.equal([single.verdict, single.manifest.ops.length, single.manifest.op_batches], ["reload", 0, undefined]);
});

test("a manifest proves the plan that it leads to, and names what the pod is believed to hold", () => {
  const [before, after] = [planWith({ "general/a": "old\n" }), planWith({ "general/a": "new\n" })];
  const proofs = { applied: planProof(before), workerOps: planProof(before), lastGood: "" };
  const { manifest } = deltaDelivery(after, before, podAt(before, { proofs }), token);
  assert.is(manifest.plan_proof, planProof(after));
  assert.is.not(planProof(after), planProof(before));
  assert.equal([manifest.expected_prev_plan_proof, manifest.expected_prev_token], [planProof(before), token]);
  assert.is(manifest.expected_worker_ops_plan_proof, planProof(before));
});

test("an agent without patches gets whole files", () => {
  const before = planWith({ "general/a": long() });
  const after = planWith({ "general/a": long(1_500) });
  const { manifest } = deltaDelivery(after, before, podAt(before, { features: ["worker_fence"] }), token);
  assert.is(manifest.changed?.[0]?.patch, undefined);
  assert.is(manifest.changed?.[0]?.blocks?.length, after.files.get("general/a")?.blocks.length);
});

test("an agent of another version is told apart", () => {
  const state = {
    api_version: 1,
    features: ["worker_fence"],
    agent_ops: [],
    haproxy: null,
    applied_token: token,
    files: {},
  } as unknown as AgentState;
  assert.is(podStateOf(state).skew, undefined);
  assert.match(podStateOf({ ...state, api_version: 2 }).skew!, "version 2");
  assert.match(podStateOf({ ...state, features: [] }).skew!, "the worker's operations");
});

test("a promotion changes nothing, a reversion asks for the last good set", () => {
  const plan = planWith({});
  const promote = promotion(plan.id, podAt(plan), token);
  assert.equal([promote.mode, promote.validated_plan_id, promote.changed, promote.ops], ["auto", plan.id, [], []]);
  const revert = reversion(podAt(plan, { lastGood: "good" }), token);
  assert.equal([revert.mode, revert.plan_id, revert.expected_prev_plan_id], ["revert_lkg", "good", plan.id]);
});

test.run();
