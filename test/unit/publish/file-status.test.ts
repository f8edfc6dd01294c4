/** What a published file says of pods. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { DeployedToPod } from "../../../src/config/index.ts";
import { assemblePlan, ChunkedTree, cutBlocks, emptyTrees, fileDigest, planFile } from "../../../src/plan/index.ts";
import type { RenderPlan } from "../../../src/plan/index.ts";
import { type FileStatus, lackingStatuses, toldBy, type ToldFile } from "../../../src/publish/file-status.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const LATER = "2026-01-02T04:04:05.000Z";
const OWN = "sha256:own";
const PATH = "maps/host.map";
const planOf = (content: string | undefined): RenderPlan =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      content === undefined ? [] : [[PATH, planFile(PATH, "map", cutBlocks(content))] as const],
      fileDigest,
    ),
  });
const plans: Readonly<Record<string, RenderPlan>> = {
  now: planOf("a b\n"),
  same: planOf("a b\n"),
  other: planOf("c d\n"),
  none: planOf(undefined),
};
const pod = (podName: string, appliedPlanID: string, more: Partial<DeployedToPod> = {}): DeployedToPod => ({
  podName,
  appliedPlanID,
  runningPlanID: appliedPlanID,
  consecutiveErrors: 0,
  ...more,
});
const file = (status?: FileStatus): ToldFile => ({ path: PATH, checksum: OWN, status });
const lacking = (told: ToldFile, pods: readonly DeployedToPod[], now = NOW): FileStatus | undefined =>
  lackingStatuses(
    [["k", { told: { ...told, key: toldBy(told) } }]],
    {
      pods,
      planId: "now",
      plan: (id) => plans[id],
      checksum: (each) => (each === plans["other"]!.files.get(PATH) ? "sha256:other" : undefined),
    },
    now,
  ).get("k");
const had = (status: FileStatus | undefined): string[] =>
  (status?.deployedToPods ?? []).map(({ podName, checksum }) => `${podName} ${checksum ?? "-"}`);
const ready = (status: FileStatus | undefined): string => {
  const [condition] = status?.conditions ?? [];
  return `${condition?.status} ${condition?.reason} ${condition?.message}`;
};

test("a pod has the file when its plan has the same at the path, whichever plan that is", () => {
  const status = lacking(file(), [pod("a", "now"), pod("b", "same")]);
  assert.equal(had(status), [`a ${OWN}`, `b ${OWN}`]);
  assert.is(ready(status), "True OnEveryPod 2 of 2 HAProxy pods run it");
});

test("what a pod has instead is named where it is known; where nothing is, nothing is", () => {
  const status = lacking(file(), [pod("a", "other"), pod("b", "none"), pod("c", ""), pod("d", "now")]);
  assert.equal(had(status), ["a sha256:other", "b -", "c -", `d ${OWN}`]);
  assert.is(ready(status), "False NotOnEveryPod 1 of 4 HAProxy pods run it");
});

test("who took the file and has still to reload is told so", () => {
  const status = lacking(file(), [pod("a", "now", { runningPlanID: "other" }), pod("b", "now")]);
  assert.is(ready(status), "False ReloadDue 1 of 2 HAProxy pods run it");
});

test("of a plan that is not known any more each file keeps what it says", () => {
  const before = lacking(file(), [pod("a", "other"), pod("b", "now")]);
  assert.is(lacking(file(before), [pod("a", "forgotten"), pod("b", "forgotten")], LATER), undefined);
  const fresh = lacking(file(), [pod("a", "forgotten")]);
  assert.equal(had(fresh), ["a -"]);
});

test("errors are told of files that the pod lacks alone", () => {
  const trouble = { lastError: "connection refused", consecutiveErrors: 3 };
  const status = lacking(file(), [pod("a", "other", trouble), pod("b", "now", trouble)]);
  assert.equal(
    status?.deployedToPods?.map(({ lastError = "", consecutiveErrors }) => `${lastError} ${consecutiveErrors}`),
    ["connection refused 3", " 0"],
  );
});

test("without pods it is not ready; what is said already is not said again, and times change with what they speak of", () => {
  const nowhere = lacking(file(), []);
  assert.is(ready(nowhere), "False NoPods no HAProxy pod is known");
  assert.is(lacking(file(nowhere), [], LATER), undefined);
  const elsewhere = lacking(file(nowhere), [pod("a", "other")], LATER);
  assert.is(elsewhere?.conditions?.[0]?.lastTransitionTime, NOW, "it was not ready before");
  const there = lacking(file(elsewhere), [pod("a", "now")], LATER);
  assert.is(there?.conditions?.[0]?.lastTransitionTime, LATER);
  assert.is(there?.observedGeneration, 1);
});

test("another content of the path, which is about to be deleted, is not told anything", () => {
  const told: ToldFile = { path: PATH, checksum: "sha256:former", status: undefined };
  const news = { pods: [pod("a", "now")], planId: "now", plan: (id: string) => plans[id], checksum: () => OWN };
  assert.is(lackingStatuses([["k", { told: { ...told, key: "" } }]], news, NOW).size, 0);
  const unneeded: ToldFile = { path: "maps/gone.map", checksum: OWN, status: undefined };
  assert.is(lackingStatuses([["k", { told: { ...unneeded, key: "" } }]], news, NOW).size, 0);
});

test("very many pods with long errors have room beside a large content", () => {
  const many = Array.from({ length: 1_000 }, (_, index) =>
    pod(`haproxy-${index}`, "other", { lastError: "x".repeat(1_000), consecutiveErrors: 1 }),
  );
  assert.ok(JSON.stringify(lacking(file(), many)).length < 250_000);
});

test.run();
