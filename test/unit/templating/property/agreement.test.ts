// runner: limit 300 s
/** The engine gives what a second, naive interpreter of the same syntax tree gives. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agreement, functionNames, type Tally } from "../../../oracle/agreement.ts";
import { brokenBound } from "../../../oracle/bounds.ts";
import { brokenCorner } from "../../../oracle/corners.ts";
import { Coverage } from "../../../oracle/generate/expressions.ts";
import { CALLS, WHOLE } from "../../../oracle/generate/functions.ts";
import { functionTable } from "../../../oracle/functions/index.ts";

const LEAST = 1_000;
const MOST_PROGRAMS = 40_000;
/** Kinds that stand where something could not be read, or only for what another kind holds. */
const NEVER_RUN = new Set(["bad", "named"]);

/** Kinds of expressions and statements, read from the declaration of the tree. */
function kinds(): string[] {
  const text = readFileSync(join(import.meta.dirname, "../../../../src/templating/syntax/tree.ts"), "utf8");
  const [types = "", rest = ""] = text.split("export interface Param");
  const found = [...rest.matchAll(/readonly kind: ("[^;]+")/g)].flatMap(([, names]) =>
    names!.split("|").map((name) => name.trim().replaceAll('"', "")),
  );
  const typeKinds = [...types.matchAll(/readonly kind: "(\w+)"/g)].map(([, name]) => `type ${name}`);
  return [...new Set([...found, ...typeKinds])].filter((kind) => !NEVER_RUN.has(kind) && kind !== "type named");
}

test("every function has a second implementation and is called by generated programs", () => {
  const missing = functionNames.filter((name) => !functionTable.has(name));
  const uncalled = functionNames.filter((name) => !Object.hasOwn(CALLS, name) && !Object.hasOwn(WHOLE, name));
  assert.equal([missing, uncalled], [[], []]);
});

test("the edges of all operators, conversions and guards give what the oracle gives", () => {
  assert.is(brokenCorner(), undefined);
});

test("runs are stopped and interrupted where they must be", () => {
  assert.is(brokenBound(), undefined);
});

test("generated programs give the same output or the same error as the oracle, each construct a thousand times", () => {
  const coverage = new Coverage();
  const tally: Tally = { programs: 0, compiled: 0, agreed: 0, left: 0 };
  const wanted = [
    ...kinds(),
    ...functionNames.map((name) => `function ${name}`),
    ...["len", "append", "delete", "make", "cap", "copy", "new", "panic"].map((name) => `function ${name}`),
    ...["+", "-", "*", "/", "%", "<<", ">>", "&", "&^", "^", "|", "==", "!=", "<", "<=", ">", ">=", "&&", "||"].map(
      (op) => `operator ${op}`,
    ),
    ..."and or contains".split(" ").map((op) => `operator ${op}`),
    "inherit_context",
    "render_glob",
    "dynamic render",
    "iota",
    "fallthrough",
    "type switch",
    "switch with value",
    "switch without value",
    "macro call",
    "method call",
    "value call",
    "piped call",
    "selector comma ok",
    "index comma ok",
    "assert comma ok",
    "call with error",
    "store to index",
    "store to selector",
    "store through pointer",
  ];
  const steps = agreement({ seed: 1, coverage }, tally);
  const lacking = (): string[] => wanted.filter((what) => coverage.of(what) < LEAST);
  do {
    const found = steps.next().value;
    if (found !== undefined) throw new Error(found);
  } while (tally.programs < MOST_PROGRAMS && (tally.programs % 500 !== 0 || lacking().length > 0));
  assert.equal(
    lacking().map((what) => `${what}: ${coverage.of(what)}`),
    [],
  );
  assert.ok(tally.compiled / tally.programs > 0.9, `only ${tally.compiled} of ${tally.programs} compiled`);
  assert.ok(tally.left / tally.programs < 0.01, `the oracle left ${tally.left} of ${tally.programs}`);
});

test.run();
