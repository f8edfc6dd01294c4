import { test } from "uvu";
import * as assert from "uvu/assert";
import type { ApplyResult } from "../../../src/agent/api.ts";
import { brokenBy, type Sight } from "../../../src/agent/invariants.ts";

const worker = { pid: 7, startMicros: 70 };
const another = { pid: 8, startMicros: 80 };
const before: Sight = { generation: 4, worker, reloads: 1 };
const reload = { performed: true, ok: true, worker_pid: 8, took_ms: 1, output: "" };

function result(mode: ApplyResult["mode"], more: Partial<ApplyResult> = {}): ApplyResult {
  return {
    plan_id: "p",
    ok: true,
    mode,
    applied_plan_id: "p",
    running_plan_id: "p",
    worker_ops_plan_id: "p",
    lkg_plan_id: "p",
    applied_token: { leader_epoch: 1, render_seq: 1 },
    op_results: [],
    at: "2026-01-01T00:00:00.000Z",
    timing: { stage_ms: 0, admit_ms: 0, write_ms: 0, ops_ms: 0, finish_ms: 0, total_ms: 0 },
    ...more,
  };
}

const op = { kind: "server_add" as const, ok: true, output: "" };

test("what is as it says breaks nothing", () => {
  const same: Sight = { ...before, generation: 5 };
  assert.equal(brokenBy(result("runtime", { op_results: [op] }), before, same), []);
  assert.equal(brokenBy(result("file_only"), before, same), []);
  assert.equal(brokenBy(result("noop"), before, before), []);
  assert.equal(brokenBy(result("reload", { reload }), before, { generation: 5, worker: another, reloads: 2 }), []);
  assert.equal(brokenBy(result("rejected", { ok: false }), before, { ...before, generation: 6 }), []);
});

test("each lie is named", () => {
  assert.equal(brokenBy(result("noop"), before, { ...before, generation: 3 }), ["generation_monotonic"]);
  assert.equal(brokenBy(result("runtime", { reload }), before, before), ["runtime_mode_does_not_reload"]);
  assert.equal(brokenBy(result("reload"), before, { ...before, worker: another }), ["reload_mode_reloads"]);
  assert.equal(
    brokenBy(result("reload", { reload }), before, { ...before, reloads: 2 }),
    ["reload_mode_reloads"],
    "the same worker serves on",
  );
  assert.equal(brokenBy(result("noop", { op_results: [op] }), before, before), ["noop_runs_no_ops"]);
});

test.run();
