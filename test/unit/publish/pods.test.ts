import { test } from "uvu";
import * as assert from "uvu/assert";
import type { DeployedToPod } from "../../../src/config/index.ts";
import { fewReasons, PodBook } from "../../../src/publish/pods.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const pod = (name: string, id = `uid-${name}@c-${name}`): { id: string; name: string } => ({ id, name });
const book = (...names: string[]): PodBook => {
  const made = new PodBook(() => NOW);
  made.admit(names.map((name) => pod(name)));
  made.list(names.map((name) => pod(name)));
  return made;
};
const nothing = (): undefined => undefined;
const silent = (): { applied: string; running: string } => ({ applied: "", running: "" });
const entries = (from: PodBook, published: readonly DeployedToPod[] = []): readonly DeployedToPod[] =>
  from.entries(published, silent, (planId) => (planId === "" ? undefined : `sum of ${planId}`));

test("an apply is told with its mode, its reasons, its plan and its time", () => {
  const made = book("a");
  made.answered({ pod: pod("a").id, planId: "p1", mode: "reload", ok: true, reasons: ["section x changed"] });
  made.applied(pod("a").id, "p1", "reload");
  assert.equal(entries(made), [
    {
      podName: "a",
      podUID: "uid-a",
      podRuntimeID: "c-a",
      checksum: "sum of p1",
      appliedPlanID: "p1",
      mode: "reload",
      reasons: ["section x changed"],
      deployedAt: NOW,
      lastReloadAt: NOW,
      consecutiveErrors: 0,
    },
  ]);
});

test("a reload that the agent asked for by itself takes the place of how the plan came, with its reason", () => {
  const made = book("a");
  made.answered({ pod: pod("a").id, planId: "p1", mode: "runtime", ok: true, reasons: [] });
  made.applied(pod("a").id, "p1", "runtime");
  const own = { pod: pod("a").id, planId: "p1", isOwn: true };
  made.answered({ ...own, mode: "rejected", ok: false, reasons: ["refused"] });
  assert.equal(entries(made)[0]?.mode, "runtime");
  made.answered({ ...own, mode: "reload", ok: true, reasons: ["the worker was read back"] });
  made.applied(pod("a").id, "p1", "noop");
  const [entry] = entries(made);
  assert.equal([entry?.mode, entry?.reasons, entry?.lastReloadAt], ["reload", ["the worker was read back"], NOW]);
  assert.equal([entry?.appliedPlanID, entry?.deployedAt], ["p1", NOW]);
});

test("what the pod said of itself last counts more than what it was sent", () => {
  const made = book("a");
  made.applied(pod("a").id, "p2", "scheduled");
  const [entry] = made.entries([], () => ({ applied: "p2", running: "p1" }), nothing);
  assert.equal([entry?.appliedPlanID, entry?.runningPlanID, entry?.checksum], ["p2", "p1", undefined]);
});

test("a look that finds the plan there changes nothing: not the mode, not the reasons, not the time", () => {
  const made = book("a");
  made.answered({ pod: pod("a").id, planId: "p1", mode: "runtime", ok: true, reasons: ["why"] });
  made.applied(pod("a").id, "p1", "runtime");
  const before = entries(made);
  made.answered({ pod: pod("a").id, planId: "p1", mode: "noop", ok: true, reasons: [] });
  made.applied(pod("a").id, "p1", "noop");
  assert.equal(entries(made), before);
});

test("a new leader that finds the plan there says the same as the one before it", () => {
  const former = book("a");
  former.answered({ pod: pod("a").id, planId: "p1", mode: "reload", ok: true, reasons: ["why"] });
  former.applied(pod("a").id, "p1", "reload");
  const published = entries(former);
  const next = book("a");
  next.begin();
  assert.equal(entries(next, published), published, "before it has heard anything");
  next.applied(pod("a").id, "p1", "noop");
  assert.equal(entries(next, published), published, "after it has looked");
  next.applied(pod("a").id, "p2", "noop");
  assert.equal(entries(next, published)[0]?.mode, "noop", "what another one brought there is not known");
});

test("failures in a row are counted, the first one's time is kept, and a success ends them", () => {
  const made = book("a");
  made.failed(pod("a").id, "connection refused");
  made.failed(pod("a").id, "x".repeat(5_000));
  const [failed] = entries(made);
  assert.is(failed?.consecutiveErrors, 2);
  assert.is(failed?.lastErrorAt, NOW);
  assert.is(failed?.lastError?.length, 1_024);
  made.applied(pod("a").id, "p1", "noop");
  const [well] = entries(made);
  assert.equal([well?.consecutiveErrors, well?.lastError, well?.lastErrorAt], [0, undefined, undefined]);
});

test("a pod that is gone has no entry; one that is there but does not answer keeps its own", () => {
  const former = book("a", "b");
  former.applied(pod("a").id, "p1", "runtime");
  former.applied(pod("b").id, "p1", "runtime");
  const published = entries(former);
  const next = new PodBook(() => NOW);
  next.admit([pod("a")]);
  next.list([pod("a"), pod("b")]);
  assert.equal(entries(next, published), published);
  next.list([pod("a")]);
  assert.equal(
    entries(next, published).map(({ podName }) => podName),
    ["a"],
  );
});

test("another incarnation of a pod of the same name begins anew", () => {
  const former = book("a");
  former.failed(pod("a").id, "refused");
  const published = entries(former);
  for (const id of ["uid-2@c-a", "uid-a@c-2"]) {
    const next = new PodBook(() => NOW);
    next.admit([pod("a", id)]);
    next.list([pod("a", id)]);
    assert.equal(
      entries(next, published).map(({ consecutiveErrors, lastError, mode }) => [consecutiveErrors, lastError, mode]),
      [[0, undefined, ""]],
    );
  }
});

test("of a pod that nobody knows nothing is kept", () => {
  const made = book("a");
  made.applied("stranger", "p", "runtime");
  made.failed("stranger", "no");
  assert.is(entries(made).length, 1);
  made.applied(pod("a").id, "p", "runtime");
  made.admit([]);
  made.admit([pod("a")]);
  assert.is(entries(made)[0]?.appliedPlanID, undefined, "it was away meanwhile");
});

test("at most eight reasons, the last of which counts the others", () => {
  assert.equal(fewReasons(["a"]), ["a"]);
  assert.is(fewReasons(Array.from({ length: 8 }, (_, index) => `r${index}`)).at(-1), "r7");
  const many = fewReasons(Array.from({ length: 20 }, (_, index) => `r${index}`));
  assert.is(many.length, 8);
  assert.is(many.at(-1), "and 13 more");
  assert.is(fewReasons(["x".repeat(600)])[0]?.length, 512);
});

test("a large fleet of which much is to be said leaves room for the configuration", () => {
  const names = Array.from({ length: 200 }, (_, index) => `pod-${index}`);
  const made = book(...names);
  for (const name of names) {
    const reasons = Array.from({ length: 8 }, () => "x".repeat(500));
    made.answered({ pod: pod(name).id, planId: "p", mode: "reload", ok: true, reasons });
    made.applied(pod(name).id, "p", "reload");
    made.failed(pod(name).id, "y".repeat(1_000));
  }
  const all = entries(made);
  assert.is(all.length, 200);
  assert.ok(Buffer.byteLength(JSON.stringify(all)) < 200_000);
});

test("a large fleet keeps the first reason of each pod, and how many more there are", () => {
  const names = Array.from({ length: 200 }, (_, at) => `p${100 + at}`);
  const reasons = Array.from({ length: 8 }, (_, at) => `reason ${at} ${"x".repeat(200)}`);
  const of = (count: number): readonly DeployedToPod[] => {
    const made = book(...names.slice(0, count));
    for (const name of names.slice(0, count)) {
      made.answered({ pod: pod(name).id, planId: "p", mode: "reload", ok: true, reasons });
      made.applied(pod(name).id, "p", "reload");
    }
    return entries(made);
  };
  assert.equal(of(20)[0]?.reasons, reasons);
  assert.equal(of(200)[0]?.reasons, [reasons[0], "and 7 more"]);
  assert.ok(Buffer.byteLength(JSON.stringify(of(200))) <= 120_000);
});

test.run();
