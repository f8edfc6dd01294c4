// runner: limit 240 s
/** Hostile programs and inputs: what the corpus keeps, and a part that changes every day. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Failure, fuzz, inputPool, tryProgram } from "../../../fuzz/fuzzer.ts";
import { fingerprint } from "../../../fuzz/intrinsics.ts";

const corpus = join(import.meta.dirname, "../../../fuzz/corpus");
const SECONDS = 30;

test("nothing that was ever found fails again", () => {
  const intact = fingerprint();
  const pool = inputPool(1);
  for (const file of globSync(join(corpus, "*.json"))) {
    const { files, input } = JSON.parse(readFileSync(file, "utf8")) as Failure;
    const which = [...new Set([Math.max(input, 0), ...Array.from({ length: 20 }, (_, i) => i)])];
    const wrong = tryProgram(files, pool, which);
    if (wrong !== undefined) throw new Error(`${file}: ${wrong.what}`);
  }
  assert.is(fingerprint(), intact);
});

test("generated programs on hostile inputs give output or an error of their own, and change nothing around them", () => {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Date.now() / 86_400_000));
  const tally = fuzz({ programs: 10_000, inputs: 5, seed: seed * 100_000, seconds: SECONDS });
  const [first] = tally.failures;
  if (first !== undefined)
    throw new Error(`seed ${first.seed}, input ${first.input}: ${first.what}\n${JSON.stringify(first.files, null, 1)}`);
  assert.ok(tally.compiled > tally.programs / 2 && tally.ran > tally.programs / 2, JSON.stringify(tally));
});

test("the fingerprint sees a changed prototype, a new global and another method", () => {
  const intact = fingerprint();
  const changes: readonly (readonly [change: () => void, undo: () => void])[] = [
    [() => Object.assign(Array.prototype, { x: 1 }), () => Reflect.deleteProperty(Array.prototype, "x")],
    [() => Object.assign(globalThis, { leaked: 1 }), () => Reflect.deleteProperty(globalThis, "leaked")],
  ];
  const { value: trim } = Object.getOwnPropertyDescriptor(String.prototype, "trim") as { value: unknown };
  for (const [change, undo] of [
    ...changes,
    [
      () => Object.assign(String.prototype, { trim: () => "" }),
      () => Object.assign(String.prototype, { trim }),
    ] as const,
  ]) {
    change();
    const seen = fingerprint();
    undo();
    assert.is.not(seen, intact);
    assert.is(fingerprint(), intact);
  }
});

test.run();
