/**
 * The bounded property suite as a process of its own: exit 0 when engine and oracle agree on all programs and the bounds
 * hold, 1 with the reason when not. `.ci/mutate-templating.ts` runs it on changed copies of the engine.
 */
import { parseArgs } from "node:util";
import { agreement, type Tally } from "./agreement.ts";
import { brokenBound } from "./bounds.ts";
import { brokenCorner } from "./corners.ts";
import { Coverage } from "./generate/expressions.ts";

const { values } = parseArgs({
  options: { programs: { type: "string", default: "3000" }, seed: { type: "string", default: "1" } },
});

let reason = brokenBound() ?? brokenCorner();
const tally: Tally = { programs: 0, compiled: 0, agreed: 0, left: 0 };
const steps = agreement({ seed: Number(values.seed), coverage: new Coverage() }, tally);
while (reason === undefined && tally.programs < Number(values.programs)) reason = steps.next().value;
if (reason === undefined && tally.compiled < tally.programs * 0.9)
  reason = `only ${tally.compiled} of ${tally.programs} programs compiled`;
if (reason !== undefined) {
  process.stdout.write(`${reason.slice(0, 4_000)}\n`);
  process.exitCode = 1;
}
