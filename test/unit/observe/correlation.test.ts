import { test } from "uvu";
import * as assert from "uvu/assert";
import { Correlator } from "../../../src/observe/index.ts";

const changed = () => ({ type: "RESOURCES.CHANGED", watch: "w", alias: "a", count: 1, revision: 1 }) as const;
const triggered = () => ({ type: "RECONCILE.TRIGGERED", reason: "resource_change", coalescible: true }) as const;
const rendered = (planId: string, seq: number) =>
  ({ type: "PLAN.RENDERED", planId, seq, iteration: 1, reasons: ["resource_change"] }) as const;

test("an event said in another's delivery has its id, one that comes by itself a fresh one", () => {
  const correlator = new Correlator("t");
  const first = changed();
  assert.is(correlator.note(first, undefined), "t-1");
  assert.is(correlator.note(triggered(), first), "t-1");
  assert.is(correlator.note(changed(), undefined), "t-2");
});

test("a render has the id of the trigger that it answers, also when others came while it ran", () => {
  const correlator = new Correlator("t");
  const [first, second] = [changed(), changed()];
  correlator.note(first, undefined);
  correlator.note(triggered(), first);
  assert.equal(correlator.renderBegan(), { id: "t-1", merged: [] });
  correlator.note(second, undefined);
  correlator.note(triggered(), second);
  assert.is(correlator.note(rendered("p", 1), undefined), "t-1");
  assert.equal(correlator.renderBegan(), { id: "t-2", merged: [] });
});

test("what pods, the gate and deployments say later belongs to the render whose numbers they name", () => {
  const correlator = new Correlator("t");
  const first = changed();
  correlator.note(first, undefined);
  correlator.note(triggered(), first);
  correlator.renderBegan();
  correlator.note(rendered("p", 1), undefined);
  const other = changed();
  correlator.note(other, undefined);
  const scheduled = { type: "DEPLOYMENT.SCHEDULED", deployment: 7, planId: "p", seq: 1, verify: false } as const;
  assert.is(correlator.note(scheduled, other), "t-1", "its own number says more than its cause");
  assert.is(correlator.note({ type: "POD.APPLIED", pod: "x", planId: "p", mode: "runtime" }, undefined), "t-1");
  assert.is(correlator.note({ type: "PLAN.PASSED", planId: "p" }, undefined), "t-1");
});

test("triggers that nothing renders are not kept without end", () => {
  const correlator = new Correlator("t");
  for (let number = 0; number < 5_000; number += 1) correlator.note(triggered(), undefined);
  const { id, merged } = correlator.renderBegan();
  assert.is(merged.length, 511);
  assert.is(id, "t-4489");
  assert.is(correlator.resolve(merged[0] ?? ""), id);
});

test.run();
