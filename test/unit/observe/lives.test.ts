import { test } from "uvu";
import * as assert from "uvu/assert";
import { Commentator, RenderLives } from "../../../src/observe/index.ts";
import type { ObservedEvent, RenderLife } from "../../../src/observe/index.ts";

function begin(limit?: number) {
  let now = 1_000;
  const ended: RenderLife[] = [];
  const lives = new RenderLives({ now: () => now, wallClock: () => 50_000 + now }, (life) => ended.push(life), limit);
  const at = (time: number, id: string, event: ObservedEvent): void => {
    now = time;
    lives.note(event, id);
  };
  /** A render from its trigger on, released. */
  const render = (time: number, id: string, planId: string, seq: number): void => {
    at(time, id, { type: "RESOURCES.CHANGED", watch: "w", alias: "services", count: 2, revision: seq });
    at(time, id, { type: "RECONCILE.TRIGGERED", reason: "resource_change", coalescible: true });
    now = time + 1;
    lives.renderBegan(id, []);
    lives.renderMeasured({ cacheState: "warm", components: 9, executed: 1 });
    const reasons = ["resource_change"] as const;
    at(time + 4, id, { type: "PLAN.RENDERED", planId, seq, iteration: 1, reasons });
    at(time + 4, id, { type: "PLAN.RELEASED", planId, seq, iteration: 1, reasons });
  };
  const schedule = (time: number, id: string, planId: string, seq: number): void =>
    at(time, id, { type: "DEPLOYMENT.SCHEDULED", deployment: seq, planId, seq, verify: false });
  const complete = (time: number, id: string, planId: string, deployment: number, failed = 0): void =>
    at(time, id, {
      type: "DEPLOYMENT.COMPLETED",
      deployment,
      planId,
      total: 2,
      succeeded: 2 - failed,
      failed,
      pending: 0,
    });
  return {
    lives,
    ended,
    at,
    render,
    schedule,
    complete,
    life: (id: string) => lives.list().find((one) => one.id === id),
  };
}

test("a life tells each step in milliseconds after its trigger, and how every pod took it", () => {
  const { lives, ended, at, render, schedule, complete, life } = begin();
  render(1_000, "c1", "p1", 1);
  schedule(1_006, "c1", "p1", 1);
  lives.applied({ pod: "a", planId: "p1", mode: "runtime", ok: true, reasons: [], tookMs: 5 });
  at(1_012, "c1", { type: "POD.APPLIED", pod: "a", planId: "p1", mode: "runtime" });
  at(1_013, "c1", { type: "POD.APPLIED", pod: "b", planId: "p1", mode: "" });
  complete(1_013, "c1", "p1", 1);
  at(1_200, "c1", { type: "PLAN.PASSED", planId: "p1" });
  const { pods, ...told } = life("c1")!;
  assert.equal(told, {
    id: "c1",
    at: 51_000,
    state: "in force",
    reasons: ["resource_change"],
    changes: { services: 2 },
    merged: 0,
    renderBeganMs: 1,
    renderedMs: 4,
    releasedMs: 4,
    judgedMs: 200,
    passed: true,
    scheduledMs: 6,
    completedMs: 13,
    seq: 1,
    planId: "p1",
    deployment: 1,
    figures: { cacheState: "warm", components: 9, executed: 1 },
  });
  assert.equal(
    pods.map(({ pod, mode, tookMs, atMs }) => ({ pod, mode, tookMs, atMs })),
    [
      { pod: "a", mode: "runtime", tookMs: 5, atMs: 12 },
      { pod: "b", mode: "unchanged", tookMs: undefined, atMs: 13 },
    ],
  );
  assert.equal(
    ended.map(({ id, state }) => `${id} ${state}`),
    ["c1 in force"],
  );
});

test("what was overtaken, what changed nothing and what was refused end as that, each once", () => {
  const { ended, at, render, schedule, complete } = begin();
  render(1_000, "c1", "p1", 1);
  schedule(1_005, "c1", "p1", 1);
  render(1_006, "c2", "p2", 2);
  render(1_012, "c3", "p3", 3);
  complete(1_020, "c1", "p1", 1, 1);
  schedule(1_020, "c3", "p3", 3);
  complete(1_030, "c3", "p3", 3);
  render(1_040, "c4", "p3", 4);
  at(1_050, "c3", { type: "PLAN.REFUSED", planId: "p3", iteration: 1, message: "no" });
  render(1_060, "c5", "p5", 5);
  at(1_070, "c5", { type: "PLAN.REFUSED", planId: "p5", iteration: 1, message: "no" });
  assert.equal(
    ended.map(({ id, state }) => `${id} ${state}`),
    [
      "c1 in force on some pods",
      "c2 replaced by a newer one",
      "c3 in force",
      "c4 nothing to deploy",
      "c5 refused by HAProxy",
    ],
  );
});

test("only so many lives are kept, the newest, and whoever looks again gets what changed", () => {
  const { lives, at, render } = begin(3);
  for (let number = 1; number <= 5; number += 1) render(1_000 + number * 10, `c${number}`, `p${number}`, number);
  const ids = (after?: number): string[] => lives.list(after).map(({ id }) => id);
  assert.equal(ids(), ["c5", "c4", "c3"]);
  const seen = lives.revision;
  assert.equal(ids(seen), []);
  at(1_100, "c4", { type: "PLAN.PASSED", planId: "p4" });
  assert.equal(ids(seen), ["c4"]);
});

test("a life is one log line: constant message, durations by key, no message of anybody", () => {
  const { ended, at, render, schedule, complete } = begin();
  render(1_000, "c1", "p1".repeat(10), 1);
  schedule(1_006, "c1", "p1".repeat(10), 1);
  complete(1_013, "c1", "p1".repeat(10), 1);
  render(1_100, "c2", "p2", 2);
  at(1_110, "c2", { type: "PLAN.REFUSED", planId: "p2", iteration: 1, message: "secret words" });
  const lines: [string, Record<string, unknown>, string][] = [];
  const keep =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, fields as Record<string, unknown>, message]);
  const commentator = new Commentator({ debug: keep("debug"), info: keep("info"), warn: keep("warn") });
  for (const life of ended) commentator.ended(life);
  assert.equal(
    lines.map(([level, { outcome, correlation_id: id }, message]) => [level, message, id, outcome]),
    [
      ["info", "Reconciliation", "c1", "in force"],
      ["warn", "Reconciliation", "c2", "refused by HAProxy"],
    ],
  );
  const [, fields] = lines[0]!;
  assert.is(fields["plan"], "p1p1p1p1p1p1");
  const spans = ["wait_ms", "render_ms", "held_ms", "queue_ms", "deploy_ms", "total_ms"];
  assert.equal(
    spans.map((key) => fields[key]),
    [1, 3, 0, 2, 7, 13],
  );
  assert.not.match(JSON.stringify(lines), "secret words");
});

test.run();
