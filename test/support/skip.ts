/**
 * Tests that this machine cannot run say so: they are counted as skipped and listed with the reason. The runner fails a
 * file that skips a test any other way.
 */
import type { Test } from "uvu";
import { skips } from "./report.ts";

/**
 * `test` itself where nothing is missing; else something of its shape that skips each test with the reason.
 *
 *     const test = needing(base, isRoot ? undefined : "needs root for a network namespace");
 */
export function needing<T>(test: Test<T>, missing: string | undefined): Test<T> {
  if (missing === undefined) return test;
  const ignore = (): void => undefined;
  const skipping = (name: string): void => {
    skips.push({ name, reason: missing });
    test.skip(name);
  };
  return Object.assign(skipping, {
    only: skipping,
    skip: skipping,
    before: Object.assign(ignore, { each: ignore }),
    after: Object.assign(ignore, { each: ignore }),
    run: () => test.run(),
  });
}

/** Why a network namespace or the parts of a cluster cannot be had here, or undefined. */
export function missingRoot(): string | undefined {
  return process.getuid?.() === 0 ? undefined : "needs root";
}
