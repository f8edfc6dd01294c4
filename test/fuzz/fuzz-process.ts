/**
 * Fuzzes the template engine: `npm run fuzz -- --programs N --inputs M --seed S [--seconds T] [--keep]`.
 * With `--keep` what fails goes into test/fuzz/corpus, which the tests replay. Exit 1 when anything fails.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { corpusName, fuzz } from "./fuzzer.ts";

const { values: flags } = parseArgs({
  options: {
    programs: { type: "string", default: "20000" },
    inputs: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    seconds: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});

const began = performance.now();
const tally = fuzz({
  programs: Number(flags.programs),
  inputs: Number(flags.inputs),
  seed: Number(flags.seed),
  ...(flags.seconds === undefined ? {} : { seconds: Number(flags.seconds) }),
  onProgress: ({ programs, rss }) => {
    if (programs % 50_000 === 0)
      process.stdout.write(`${programs} programs, ${Math.round((performance.now() - began) / 1_000)} s, ${rss} MiB\n`);
  },
});
const { failures, ...counts } = tally;
process.stdout.write(`${JSON.stringify({ ...counts, seconds: Math.round((performance.now() - began) / 1_000) })}\n`);
for (const failure of failures) {
  process.stdout.write(`\nseed ${failure.seed}, input ${failure.input}: ${failure.what}\n`);
  for (const [name, text] of Object.entries(failure.files)) process.stdout.write(`--- ${name}\n${text}\n`);
  if (flags.keep)
    writeFileSync(join(import.meta.dirname, "corpus", corpusName(failure)), `${JSON.stringify(failure, null, 2)}\n`);
}
process.exitCode = failures.length > 0 ? 1 : 0;
