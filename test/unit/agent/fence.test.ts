import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Manifest } from "../../../src/agent/api.ts";
import { admit } from "../../../src/agent/fence.ts";
import { emptyModel, type Model } from "../../../src/agent/model.ts";
import { proofOfFiles } from "../../../src/agent/proofs.ts";

function holding(changes: Partial<Model> = {}): Model {
  return {
    ...emptyModel(),
    planId: "p1",
    token: { leader_epoch: 3, render_seq: 7 },
    maxEpoch: 3,
    runningPlanId: "p1",
    workerOpsPlanId: "p1",
    ...changes,
  };
}

function manifest(changes: Partial<Manifest> = {}): Manifest {
  return {
    identity_version: 1,
    plan_id: "p2",
    plan_schema_version: 1,
    token: { leader_epoch: 3, render_seq: 8 },
    expected_prev_plan_id: "p1",
    changed: [],
    removed: [],
    ops: [],
    in_place_ops: [],
    mode: "auto",
    ...changes,
  };
}

const op = { kind: "server_enable", backend: "b", server: "s" } as const;
const ask = (model: Model, asked: Manifest, lkgPlanId = "p1", lkgProof = ""): string => {
  const verdict = admit(model, asked, { lkgPlanId, lkgProof });
  return verdict.ok ? verdict.way : verdict.conflict.reason;
};

test("what an admitted apply asks for follows from its mode and its operations", () => {
  assert.is(ask(holding(), manifest()), "file_only");
  assert.is(ask(holding(), manifest({ ops: [op] })), "runtime");
  assert.is(ask(holding(), manifest({ mode: "reload" })), "reload");
  assert.is(
    ask(
      holding({ owed: "scheduled", runningPlanId: "p0", workerOpsPlanId: "p0" }),
      manifest({ in_place_ops: [op], expected_worker_ops_plan_id: "p0" }),
    ),
    "scheduled",
  );
});

test("an older epoch is stale whatever else is right, also for the plan that is applied", () => {
  assert.is(ask(holding(), manifest({ token: { leader_epoch: 2, render_seq: 99 } })), "stale_epoch");
  assert.is(ask(holding(), manifest({ plan_id: "p1", token: { leader_epoch: 2, render_seq: 99 } })), "stale_epoch");
  assert.is(
    ask(holding(), manifest({ mode: "revert_lkg", token: { leader_epoch: 2, render_seq: 99 } })),
    "stale_epoch",
  );
  assert.is(ask(holding({ maxEpoch: 9 }), manifest()), "stale_epoch", "an epoch seen before a roll back counts");
});

test("another previous plan, an older render and another previous token are a mismatch", () => {
  assert.is(ask(holding(), manifest({ expected_prev_plan_id: "p0" })), "prev_mismatch");
  assert.is(ask(holding(), manifest({ token: { leader_epoch: 3, render_seq: 6 } })), "prev_mismatch");
  assert.is(ask(holding(), manifest({ expected_prev_token: { leader_epoch: 3, render_seq: 1 } })), "prev_mismatch");
  assert.is(ask(holding(), manifest({ expected_prev_token: { leader_epoch: 3, render_seq: 7 } })), "file_only");
});

test("an unknown plan takes only the full set with a reload", () => {
  const unknown = holding({ planId: "", runningPlanId: "", workerOpsPlanId: "" });
  const full = manifest({ files: [], expected_prev_plan_id: "", mode: "reload" });
  delete full.changed;
  delete full.removed;
  assert.is(ask(unknown, manifest({ expected_prev_plan_id: "" })), "unknown_baseline");
  assert.is(ask(unknown, manifest({ expected_prev_plan_id: "", mode: "reload" })), "unknown_baseline");
  assert.is(ask(unknown, full), "reload");
});

test("operations need the worker's baseline, by default the previous plan", () => {
  const behind = holding({ workerOpsPlanId: "" });
  assert.is(ask(behind, manifest({ ops: [op] })), "worker_ops_mismatch");
  assert.is(ask(holding(), manifest({ ops: [op], expected_worker_ops_plan_id: "p0" })), "worker_ops_mismatch");
  assert.is(ask(behind, manifest()), "file_only");
});

test("a reload for a worker that was behind is not made any more when it has caught up", () => {
  const difference = manifest({ mode: "reload", expected_worker_ops_plan_id: "p0" });
  assert.is(ask(holding({ owed: "scheduled", runningPlanId: "p0", workerOpsPlanId: "p0" }), difference), "reload");
  assert.is(ask(holding(), difference), "worker_ops_mismatch");
  assert.is(ask(holding(), { ...difference, expected_worker_ops_plan_id: "p1" }), "reload", "it is right as it is");
  const { changed: _, removed: __, ...rest } = difference;
  assert.is(ask(holding(), { ...rest, files: [] }), "reload", "the full set is asked for whatever runs");
});

test("the applied plan again is a noop; a reload of it is one only when the worker runs it", () => {
  const again = manifest({ plan_id: "p1", expected_prev_plan_id: "p0" });
  assert.is(ask(holding(), again), "noop");
  assert.is(ask(holding(), { ...again, mode: "reload" }), "noop");
  const behind = holding({ workerOpsPlanId: "", owed: "an operation was refused" });
  assert.is(ask(behind, { ...again, mode: "reload", expected_prev_plan_id: "p1" }), "reload");
});

test("a proof that is given has to be right; one that nobody knows is not asked for", () => {
  const held = {
    path: "haproxy.cfg",
    kind: "config",
    reload_on_change: false,
    digest: "d",
    size: 1,
    blocks: [],
  } as const;
  const model = holding({ files: new Map([["haproxy.cfg", held]]) });
  const right = proofOfFiles([held]);
  const other = proofOfFiles([{ ...held, size: 2 }]);
  assert.is(ask(model, manifest({ expected_prev_plan_proof: right })), "file_only");
  assert.is(ask(model, manifest({ expected_prev_plan_proof: "" })), "file_only");
  assert.is(ask(model, manifest({ expected_prev_plan_proof: other })), "prev_mismatch");
  assert.is(ask(model, manifest({ ops: [op], expected_worker_ops_plan_proof: right })), "runtime");
  assert.is(ask(model, manifest({ ops: [op], expected_worker_ops_plan_proof: other })), "worker_ops_mismatch");
  const again = manifest({ plan_id: "p1" });
  assert.is(ask(model, { ...again, plan_proof: right }), "noop");
  assert.is(ask(model, { ...again, plan_proof: other }), "unknown_baseline");
  const { changed: _, removed: __, ...full } = again;
  assert.is(ask(model, { ...full, files: [], mode: "reload", plan_proof: other }), "reload");
  const revert = manifest({ mode: "revert_lkg" });
  assert.is(ask(model, { ...revert, plan_proof: other }, "p0", other), "revert");
  assert.is(ask(model, { ...revert, plan_proof: right }, "p0", other), "prev_mismatch");
});

test("operations of later batches are operations", () => {
  assert.is(ask(holding(), manifest({ op_batches: [[op]] })), "runtime");
  assert.is(ask(holding({ workerOpsPlanId: "p0" }), manifest({ op_batches: [[op]] })), "worker_ops_mismatch");
});

test("a revert needs a last known good set and the right previous plan", () => {
  const revert = manifest({ mode: "revert_lkg" });
  assert.is(ask(holding(), revert, ""), "unknown_baseline");
  assert.is(ask(holding(), revert, "p0"), "revert");
  assert.is(ask(holding(), revert, "p1"), "noop");
  assert.is(ask(holding(), { ...revert, expected_prev_plan_id: "p0" }, "p0"), "prev_mismatch");
});

test.run();
