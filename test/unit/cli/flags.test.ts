import { test } from "uvu";
import * as assert from "uvu/assert";
import { byteCount, milliseconds, readFlags, wholeNumber } from "../../../src/cli/flags.ts";
import { UsageError } from "../../../src/errors.ts";

function usageErrorOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.instance(error, UsageError);
    return (error as UsageError).message;
  }
  return assert.unreachable("no error") as never;
}

test("a flag is read in both spellings", () => {
  const options = { port: { type: "string" } } as const;
  assert.is(readFlags("dev", ["--port", "1"], options).port, "1");
  assert.is(readFlags("dev", ["--port=2"], options).port, "2");
});

test("an unknown flag is named in the error, with the help to look at", () => {
  assert.match(
    usageErrorOf(() => readFlags("dev", ["--prot", "1"], { port: { type: "string" } })),
    "--prot",
  );
});

test("a stray word is refused", () => {
  assert.match(
    usageErrorOf(() => readFlags("dev", ["stray"], {})),
    "stray",
  );
});

test("a whole number outside its range is refused by the flag's name", () => {
  assert.is(wholeNumber("--pods", "2", { min: 1, max: 9 }), 2);
  for (const wrong of ["0", "10", "2.5", "", "two"]) {
    assert.match(
      usageErrorOf(() => wholeNumber("--pods", wrong, { min: 1, max: 9 })),
      "--pods",
    );
  }
});

test("durations are read as Kubernetes writes them", () => {
  assert.is(milliseconds("--t", "500ms"), 500);
  assert.is(milliseconds("--t", "9s"), 9_000);
  assert.is(milliseconds("--t", "1h1m1.5s"), 3_661_500);
  for (const wrong of ["", "9", "9 s", "s", "9sx"])
    assert.match(
      usageErrorOf(() => milliseconds("--t", wrong)),
      "--t",
    );
});

test("an amount of memory is written as Kubernetes writes it", () => {
  const amounts = ["512Mi", "1Gi", "1.5Gi", "64M", "1048576"].map((text) => byteCount("--m", text));
  assert.equal(amounts, [536_870_912, 1_073_741_824, 1_610_612_736, 64_000_000, 1_048_576]);
  for (const wrong of ["", "Mi", "-1Mi", "1 Gi", "1Ti", "512MB", "1e3"])
    assert.match(
      usageErrorOf(() => byteCount("--m", wrong)),
      /^--m: ".*" is not an amount of memory such as 512Mi or 1Gi$/,
    );
});

test.run();
