import { test } from "uvu";
import * as assert from "uvu/assert";
import { problems } from "./engine.ts";

const ends = (body: string): boolean => problems(`{% var x = 1 %}{% var f = func() int { ${body} } %}`).length === 0;

for (const body of [
  "return 1",
  "if x > 0 { return 1 } else { return 2 }",
  "if x > 0 { return 1 } else if x > 1 { return 3 } else { return 2 }",
  "for { }",
  "for { if x > 0 { return 1 } }",
  "for { for { break } }",
  "switch x { case 1: return 1; default: return 2 }",
  'panic("x")',
  'fail("x")',
  "{ return 1 }",
]) {
  test(`a function may end with ${body}`, () => assert.ok(ends(body)));
}

for (const body of [
  "",
  "x = 2",
  "if x > 0 { return 1 }",
  "if x > 0 { return 1 } else { }",
  "for x > 0 { return 1 }",
  "for { break }",
  "for { if x > 0 { break } }",
  "for i := range seq(3) { return i }",
  "switch x { case 1: return 1 }",
  "switch x { case 1: return 1; default: x = 2 }",
  "switch x { case 1: break; default: return 2 }",
]) {
  test(`a function with a result may not end with ${body === "" ? "nothing" : body}`, () => {
    assert.equal(problems(`{% var x = 1 %}{% var f = func() int { ${body} } %}`), ["1:27: missing return"]);
  });
}

test("a function without a result may end anyhow", () => {
  assert.equal(problems("{% var x = 1 %}{% var f = func() { x = 2 } %}"), []);
});

test.run();
