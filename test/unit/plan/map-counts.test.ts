/** A map's difference must not depend on what was compared before: counts of keys move from list to list. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { assemblePlan, diffPlans, emptyTrees, planFile, type RenderPlan } from "../../../src/plan/index.ts";
import { blockOf } from "../../../src/plan/chunks.ts";
import type { Block } from "../../../src/plan/types.ts";
import { OPTIONS } from "./worlds.ts";

const PATH = "maps/path.map";
/** Blocks of a map, each a list of entries. */
type Entries = readonly (readonly string[])[];

const planOf = (blocks: readonly Block[]): RenderPlan => {
  const trees = emptyTrees();
  const file = planFile(PATH, "map", blocks);
  return assemblePlan({
    ...trees,
    files: trees.files.update(new Map([[PATH, file]])),
    maps: trees.maps.update(new Map([[PATH, { ordered: false, fileDigest: file.digest }]])),
  });
};
const fresh = (entries: Entries): Block[] => entries.map((lines) => blockOf(Buffer.from(`${lines.join("\n")}\n`)));

/** Few keys in few blocks, so that duplicates, in one block and over several, are frequent. */
const line = fc
  .tuple(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), fc.constantFrom("", " 1", " 2", "\t3"))
  .map(([key, value]) => key + value);
const block = fc.array(line, { minLength: 1, maxLength: 4 });
const change = fc.record({
  at: fc.nat({ max: 5 }),
  remove: fc.nat({ max: 2 }),
  insert: fc.array(block, { maxLength: 2 }),
  /** Which of the plans before is the baseline, counted from the newest. */
  back: fc.nat({ max: 2 }),
});

/** Entries of a map in whose file each key stands once. */
const entriesOf = (lines: readonly string[]): Map<string, string> =>
  new Map(lines.map((each) => each.split(" ") as [string, string]));

test("operations on single entries make of the old map what the new file says", () => {
  const keys = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
  const lines = (of: readonly number[], salt: number): string[] => of.map((key) => `k${key} v${(key * salt) % 3}`);
  let single = 0;
  fc.assert(
    fc.property(keys, keys, fc.nat({ max: 4 }), fc.nat({ max: 4 }), (first, then, from, to) => {
      const [old, now] = [lines(first, from), lines(then, to)];
      // One block in the place of one, whose ends may be equal.
      const { ops } = diffPlans(planOf(fresh([now])), planOf(fresh([old])), OPTIONS);
      const entries = entriesOf(old);
      for (const op of ops) {
        const key = op.key as string;
        if (op.kind === "map_add" || op.kind === "map_set") {
          assert.is(entries.has(key), op.kind === "map_set");
          entries.set(key, op.value as string);
        } else if (op.kind === "map_del") assert.ok(entries.delete(key));
        else throw new Error(op.kind);
        single += 1;
      }
      assert.equal([...entries].sort(), [...entriesOf(now)].sort());
    }),
    { numRuns: 500 },
  );
  assert.ok(single > 1_000);
});

test("a map's operations are those of a difference that nothing was compared before", () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), fc.array(change, { maxLength: 6 }), (first, changes) => {
      // The same block is the same object in every list, as a render leaves it.
      const known = new Map<string, Block>();
      const shared = (entries: Entries): Block[] =>
        fresh(entries).map((made) => {
          const kept = known.get(made.digest) ?? made;
          known.set(made.digest, kept);
          return kept;
        });
      const history: { entries: Entries; plan: RenderPlan }[] = [{ entries: first, plan: planOf(shared(first)) }];
      for (const { at, remove, insert, back } of changes) {
        const entries = (history.at(-1)?.entries ?? []).toSpliced(at, remove, ...insert);
        const next = planOf(shared(entries));
        const baseline = history[Math.max(0, history.length - 1 - back)]!;
        const { verdict, reasons, ops } = diffPlans(next, baseline.plan, OPTIONS);
        const afresh = diffPlans(planOf(fresh(entries)), planOf(fresh(baseline.entries)), OPTIONS);
        assert.equal({ verdict, reasons, ops }, { verdict: afresh.verdict, reasons: afresh.reasons, ops: afresh.ops });
        history.push({ entries, plan: next });
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
