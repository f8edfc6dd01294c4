import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  conditionDiffers,
  conditionStatus,
  EMPTY_BOOK,
  noteEvent,
  verdictOf,
} from "../../../src/controller/condition.ts";
import type { ConditionBook } from "../../../src/controller/condition.ts";
import type { BusEvent } from "../../../src/controller/index.ts";
import type { HAProxyTemplateConfig } from "../../../src/config/index.ts";

const NOW = "2026-01-02T03:04:05.000Z";
const accepted: BusEvent = {
  type: "ITERATION.ACCEPTED",
  iteration: 1,
  version: "v",
  generation: 3,
  planId: "p",
  driftIntervalMs: 1,
};
const book = (...events: BusEvent[]): ConditionBook => events.reduce(noteEvent, EMPTY_BOOK);
const config = (status?: unknown): HAProxyTemplateConfig =>
  ({
    apiVersion: "haproxy-haptic.org/v1alpha1",
    kind: "HAProxyTemplateConfig",
    metadata: { name: "a", namespace: "d", generation: 3 },
    spec: {},
    ...(status !== undefined && { status }),
  }) as unknown as HAProxyTemplateConfig;

test("nothing is written before anything is known", () => {
  assert.is(verdictOf(EMPTY_BOOK), undefined);
  assert.is(conditionDiffers(EMPTY_BOOK, config()), false);
});

test("an accepted configuration is True; the same status again is no difference", () => {
  const status = conditionStatus(book(accepted), config(), NOW);
  assert.is(conditionDiffers(book(accepted), config()), true);
  assert.is(conditionDiffers(book(accepted), config(status)), false);
  assert.is(verdictOf(book(accepted))?.reason, "ValidationSucceeded");
});

test("a refused configuration is False with HAProxy's words, and the time of the change is kept while it stays so", () => {
  const refused: BusEvent = {
    type: "ITERATION.REFUSED",
    version: "v",
    generation: 4,
    reason: "HAProxyValidationFailed",
    message: "[ALERT] no\n\n[ALERT] other",
  };
  const status = conditionStatus(book(accepted, refused), config(), NOW) as {
    validationErrors: string[];
    observedGeneration: number;
  };
  assert.equal(status.validationErrors, ["[ALERT] no", "[ALERT] other"]);
  assert.is(status.observedGeneration, 4);
  const later = conditionStatus(
    book(accepted, refused, { ...refused, message: "[ALERT] third" }),
    config(status),
    "2027-01-01T00:00:00.000Z",
  ) as {
    conditions: { lastTransitionTime: string; message: string }[];
  };
  assert.is(later.conditions[0]?.lastTransitionTime, NOW);
  assert.is(later.conditions[0]?.message, "[ALERT] third");
});

test("renders that fail or are refused show while they last", () => {
  const failed = book(accepted, { type: "RENDER.FAILED", iteration: 1, message: "bad object" });
  assert.equal(verdictOf(failed), { status: "False", reason: "ConfigInvalid", message: "bad object" });
  const refused = noteEvent(
    noteEvent(failed, { type: "PLAN.RENDERED", planId: "q", seq: 2, iteration: 1, reasons: [] }),
    {
      type: "PLAN.REFUSED",
      planId: "q",
      iteration: 1,
      message: "[ALERT] q",
    },
  );
  assert.equal(verdictOf(refused), { status: "False", reason: "HAProxyValidationFailed", message: "[ALERT] q" });
  assert.is(verdictOf(noteEvent(refused, { type: "PLAN.PASSED", planId: "r" }))?.status, "True");
});

test("a held configuration says that the last good one goes on", () => {
  const held = book(accepted, { type: "CONFIG.HELD", generation: 5, message: "library at 1" });
  assert.match(verdictOf(held)?.message ?? "", /last-good.*library at 1/);
  assert.is(held.generation, 5);
});

test.run();
