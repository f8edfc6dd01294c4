import { test } from "uvu";
import * as assert from "uvu/assert";
import { families } from "../../../../src/templating/index.ts";
import { render } from "../engine.ts";

for (const { functions } of families) {
  for (const fn of functions) {
    for (const [template, output] of fn.examples) {
      test(`the example of ${fn.name} gives what its documentation says: ${template}`, () => {
        assert.is(render(template, { environment: { now: Date.UTC(2026, 10, 30, 7, 55) } }), output);
      });
    }
  }
}

test("every function has an example, a description and a signature with its parameters' names", () => {
  for (const fn of families.flatMap((family) => family.functions)) {
    assert.ok(fn.examples.length > 0, fn.name);
    assert.match(fn.doc, /^[A-Z“].*[.]$/s, fn.name);
    assert.match(fn.signature, /^func\(/, fn.name);
  }
});

test.run();
