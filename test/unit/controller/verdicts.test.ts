import { test } from "uvu";
import * as assert from "uvu/assert";
import { PlanShelf } from "../../../src/controller/plan-shelf.ts";
import { Verdicts } from "../../../src/controller/verdicts.ts";
import { assemblePlan, cutBlocks, emptyTrees, planFile, type RenderPlan } from "../../../src/plan/index.ts";

const planOf = (text: string): RenderPlan => {
  const trees = emptyTrees();
  const file = planFile("haproxy.cfg", "config", cutBlocks(text));
  return assemblePlan({ ...trees, files: trees.files.update(new Map([[file.path, file]])) });
};

/** Checks that end when the test says so. */
function rig() {
  const shelf = new PlanShelf();
  const ends: (() => void)[] = [];
  const told: string[] = [];
  const verdicts = new Verdicts(
    () => new Promise((done) => ends.push(() => done({ accepted: true, message: "", tookMs: 1 }))),
    shelf,
    (planId) => told.push(planId),
  );
  return { shelf, ends, told, verdicts };
}
const { signal } = new AbortController();
/** Lets what waits for promises go on. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

test("a plan is there when its verdict comes, however many were rendered during the check", async () => {
  const { shelf, ends, told, verdicts } = rig();
  const plan = planOf("judged\n");
  shelf.put(plan);
  const verdict = verdicts.judge(plan.id, signal);
  for (let i = 0; i < 20; i++) shelf.put(planOf(`newer ${i}\n`));
  ends[0]!();
  assert.ok((await verdict).passed);
  assert.equal(told, [plan.id]);
  assert.ok(shelf.get(plan.id), "who publishes it needs it now");
  const last = planOf("the last one\n");
  shelf.put(last);
  const next = verdicts.judge(last.id, signal);
  await settled();
  ends[1]!();
  await next;
  for (let i = 0; i < 5; i++) shelf.put(planOf(`later ${i}\n`));
  assert.is(shelf.get(plan.id), undefined, "nobody needs it any more");
});

test("a plan whose check begins late takes nobody's place on the shelf", async () => {
  const { shelf, ends, verdicts } = rig();
  const [first, second, newest] = [planOf("first\n"), planOf("second\n"), planOf("newest\n")];
  for (const plan of [first, second]) shelf.put(plan);
  const asked = [verdicts.judge(first.id, signal), verdicts.judge(second.id, signal)];
  for (let i = 0; i < 4; i++) {
    const held = planOf(`deployed ${i}\n`);
    shelf.put(held);
    shelf.hold(`deployment:${i}`, held.id);
  }
  shelf.put(newest);
  ends[0]!();
  await asked[0];
  await settled();
  assert.ok(shelf.get(newest.id), "the gate's candidate");
  ends[1]!();
  await asked[1];
});

test("nor is a plan lost while it waits for the check of another one", async () => {
  const { shelf, ends, verdicts } = rig();
  const [first, second] = [planOf("first\n"), planOf("second\n")];
  for (const plan of [first, second]) shelf.put(plan);
  const verdictsOfBoth = [verdicts.judge(first.id, signal), verdicts.judge(second.id, signal)];
  for (let i = 0; i < 20; i++) shelf.put(planOf(`newer ${i}\n`));
  ends[0]!();
  await verdictsOfBoth[0];
  await settled();
  ends[1]!();
  assert.ok((await verdictsOfBoth[1])!.passed);
  assert.ok(shelf.get(second.id));
});

test.run();
