import { test } from "uvu";
import * as assert from "uvu/assert";
import type { DeployedToPod, HAProxyCfgStatus } from "../../../src/config/index.ts";
import { sameStatus, statusOf, type StatusParts } from "../../../src/publish/status.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const LATER = "2026-01-02T04:04:05.000Z";
const running = (podName: string, planId = "p1"): DeployedToPod => ({
  podName,
  appliedPlanID: planId,
  runningPlanID: planId,
  mode: "runtime",
  consecutiveErrors: 0,
});
const parts = (more: Partial<StatusParts> = {}): StatusParts => ({
  gate: { refusal: "", isPinned: false },
  trouble: undefined,
  planId: "p1",
  pods: [running("a")],
  set: { auxiliaryFiles: { setID: "s1" }, metadata: { contentSize: 5, totalSize: 9, validatedAt: NOW } },
  ...more,
});
const made = (more: Partial<StatusParts> = {}, status?: HAProxyCfgStatus, now = NOW): HAProxyCfgStatus =>
  statusOf({ metadata: { name: "c", generation: 3 }, ...(status !== undefined && { status }) }, parts(more), now);
const said = (status: HAProxyCfgStatus, type: string): string => {
  const found = status.conditions?.find((condition) => condition.type === type);
  return found === undefined ? "" : `${found.status} ${found.reason} ${found.message}`;
};

test("all is well: each condition says so, for this generation", () => {
  const status = made();
  assert.is(said(status, "ConfigValidated"), "True HAProxyAccepted HAProxy accepts the newest render");
  assert.is(said(status, "ConfigPinned"), "False NotPinned renders are deployed as they come");
  assert.is(said(status, "Synced"), "True Published what is published is in force");
  assert.is(said(status, "Ready"), "True OnEveryPod 1 of 1 HAProxy pods run it");
  assert.ok(status.conditions?.every(({ observedGeneration }) => observedGeneration === 3));
  assert.is(status.observedGeneration, 3);
});

test("a refusal is told in HAProxy's own words, and so is that it refuses again and again", () => {
  const status = made({ gate: { refusal: "[ALERT] unknown keyword", isPinned: true } });
  assert.match(said(status, "ConfigValidated"), /^False HAProxyRefused .*\[ALERT\] unknown keyword$/);
  assert.match(said(status, "ConfigPinned"), /^True RefusedRepeatedly /);
  const long = made({ gate: { refusal: "x".repeat(100_000), isPinned: false } });
  assert.ok(said(long, "ConfigValidated").length < 5_000, "it must fit beside the configuration");
});

test("what this term has not heard of yet stays as the former one left it", () => {
  const before = made({ gate: { refusal: "no", isPinned: true } });
  const after = made({ gate: { refusal: undefined, isPinned: undefined } }, before, LATER);
  assert.equal(
    after.conditions?.filter(({ type }) => type.startsWith("Config")),
    before.conditions?.filter(({ type }) => type.startsWith("Config")),
  );
  assert.is(said(made({ gate: { refusal: undefined, isPinned: undefined } }), "ConfigPinned"), "");
});

test("Ready names the pods that do not run it, the first five of them", () => {
  assert.match(said(made({ pods: [] }), "Ready"), /^False NoPods /);
  for (const other of [
    running("b", "p0"),
    { ...running("b"), runningPlanID: "p0" },
    { ...running("b"), consecutiveErrors: 1 },
  ]) {
    assert.is(
      said(made({ pods: [running("a"), other] }), "Ready"),
      "False NotOnEveryPod 1 of 2 HAProxy pods run it; not b",
    );
  }
  const many = Array.from({ length: 8 }, (_, index) => running(`b${index}`, "p0"));
  assert.match(said(made({ pods: many }), "Ready"), /not b0, b1, b2, b3, b4 and 3 more$/);
});

test("a condition's time is that of its last change, and nothing else is news", () => {
  const before = made();
  const same = made({}, before, LATER);
  assert.ok(sameStatus(before, same));
  assert.equal(same, before);
  const changed = made({ pods: [running("a", "p0")] }, before, LATER);
  assert.not.ok(sameStatus(before, changed));
  const time = (type: string): string | undefined =>
    changed.conditions?.find((condition) => condition.type === type)?.lastTransitionTime;
  assert.is(time("Ready"), LATER);
  assert.is(time("Synced"), NOW);
});

test("trouble that passes is told once, in whatever words it is told again; what is too large is told as it is", () => {
  const before = made({ trouble: { reason: "Unreachable", message: "no answer after 1 ms" } });
  assert.is(said(before, "Synced"), "False Unreachable no answer after 1 ms");
  assert.ok(sameStatus(before, made({ trouble: { reason: "Unreachable", message: "no answer after 2 ms" } }, before)));
  const large = made({ trouble: { reason: "TooLarge", message: "a" } });
  assert.is(said(made({ trouble: { reason: "TooLarge", message: "b" } }, large), "Synced"), "False TooLarge b");
});

test("what is published of the set stays while another set is not written", () => {
  const before = made();
  const after = made({ set: undefined }, before);
  assert.equal([after.auxiliaryFiles, after.metadata], [before.auxiliaryFiles, before.metadata]);
  const { auxiliaryFiles, metadata } = made({ set: undefined });
  assert.equal([auxiliaryFiles, metadata], [undefined, undefined]);
});

test("conditions of others, and the order of ours, make no difference", () => {
  const status = made();
  const foreign = {
    type: "example.com/Audited",
    status: "True",
    reason: "Yes",
    message: "",
    lastTransitionTime: NOW,
  } as const;
  const conditions = [foreign, ...(status.conditions ?? [])].reverse();
  assert.ok(sameStatus({ ...status, conditions }, status));
  assert.not.ok(sameStatus(undefined, status));
});

test.run();
