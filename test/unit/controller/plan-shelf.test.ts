import { test } from "uvu";
import * as assert from "uvu/assert";
import { PlanShelf } from "../../../src/controller/plan-shelf.ts";
import { assemblePlan, ChunkedTree, cutBlocks, emptyTrees, fileDigest, planFile } from "../../../src/plan/index.ts";
import type { RenderPlan } from "../../../src/plan/types.ts";

const plan = (text: string): RenderPlan =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from([["general/a", planFile("general/a", "general", cutBlocks(text))]] as const, fileDigest),
  });
const plans = Array.from({ length: 30 }, (_, index) => plan(`${index}\n`));

test("the oldest that nobody asked for goes first", () => {
  const shelf = new PlanShelf(2);
  for (const each of plans.slice(0, 2)) shelf.put(each);
  assert.is(shelf.get(plans[0]?.id ?? ""), plans[0]);
  shelf.put(plans[2] as RenderPlan);
  assert.is(shelf.get(plans[1]?.id ?? ""), undefined);
  assert.is(shelf.get(plans[0]?.id ?? ""), plans[0]);
});

test("a plan that somebody holds outlives a burst of renders, until it is let go", () => {
  const shelf = new PlanShelf(4);
  const [first, second] = plans as [RenderPlan, RenderPlan];
  shelf.put(first);
  shelf.hold("pod:a", first.id);
  for (const each of plans.slice(1)) shelf.put(each);
  assert.is(shelf.get(first.id), first);
  shelf.hold("pod:a", second.id);
  for (const each of plans.slice(1)) shelf.put(each);
  assert.is(shelf.get(first.id), undefined);
});

test.run();
