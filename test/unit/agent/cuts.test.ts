/** The agent's write layer, cut and failing at random points; `npm run cuts` does it ten thousand times. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cuts, errors } from "./cuts/campaign.ts";

const SEED = Number(process.env["HAPTIC_SEED"] ?? 20_261_130);

test("cut at random points the files are the old set or the new one, and the next agent says which", async () => {
  const report = await cuts(200, SEED);
  assert.equal(report.violations, []);
  assert.ok(report.claimed.old > 20 && report.claimed.new > 20, JSON.stringify(report));
});

test("a disk that is full, broken or read-only for a while leaves whole sets, and the agent catches up when it is well", async () => {
  const report = await errors(200, SEED);
  assert.equal(report.violations, []);
  assert.ok(Object.keys(report.struck).length > 8, JSON.stringify(report));
});

test.run();
