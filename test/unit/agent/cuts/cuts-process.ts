/** `npm run cuts -- [--count 10000] [--seed N]`: cuts and errors of the agent's disk at random points; ends with 1 on a violation. */
import { parseArgs } from "node:util";
import { cuts, errors } from "./campaign.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!(count > 0) || Number.isNaN(seed)) throw new Error("--count and --seed are numbers");
let violations = 0;
for (const [name, run] of [
  ["cuts", cuts],
  ["errors", errors],
] as const) {
  const began = performance.now();
  const report = await run(count, seed, (done) => process.stdout.write(`${done} ${name}\n`));
  violations += report.violations.length;
  process.stdout.write(`${name}, ${((performance.now() - began) / 1_000).toFixed(0)} s: ${JSON.stringify(report)}\n`);
}
process.exit(violations === 0 ? 0 : 1);
