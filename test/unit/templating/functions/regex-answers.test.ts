/** What a pattern remembers of the texts that it was asked about must not show. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { regexTest } from "../../../../src/templating/functions/regex.ts";

test("answers are those of the pattern, asked once or twice, for more texts than are remembered", () => {
  for (const pattern of ["^[a-z]+-[0-9]*[02468]$", "1.*2|77$"]) {
    const expected = new RegExp(pattern);
    for (let pass = 0; pass < 2; pass++) {
      for (let i = 0; i < 40_000; i++) {
        const text = `name-${i}`;
        assert.is(regexTest(pattern)(text), expected.test(text), text);
      }
    }
  }
});

test("nor do they change when more patterns come than are kept", () => {
  for (let pass = 0; pass < 2; pass++) {
    for (let i = 0; i < 700; i++) {
      assert.ok(regexTest(`^x+${i}$`)(`xx${i}`));
      assert.not.ok(regexTest(`^x+${i}$`)(`xx${i}0`));
    }
  }
});

test("a long text is asked anew each time", () => {
  const long = `${"a".repeat(300)}b`;
  for (let i = 0; i < 2; i++) assert.equal([regexTest("a+b$")(long), regexTest("a+c$")(long)], [true, false]);
});

test("what is remembered of a part of a text does not keep the whole text", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1_000; i++) {
    const whole = `name-of-number-${i} ${"x".repeat(64 * 1024)}`.split(" ");
    assert.ok(regexTest("^name-of-[a-z]+-[0-9]+$")(whole[0]!));
  }
  gc();
  const kept = (process.memoryUsage().heapUsed - before) / 1024 / 1024;
  assert.ok(kept < 10, `${kept.toFixed(1)} MiB`);
});

test.run();
