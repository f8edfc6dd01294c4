import { test } from "uvu";
import * as assert from "uvu/assert";
import { render } from "./engine.ts";

const data = {
  any: { a: { b: "c" }, list: [1, "x"], n: 5, s: "text", t: true, nil: null, f: 1.5 },
};

const cases: readonly (readonly [expression: string, output: string])[] = [
  // constants and numbers
  ["7 / 2", "3"],
  ["7 / 2.0", "3.5"],
  ["1 + 2.5", "3.5"],
  ["-7 / 2", "-3"],
  ["-7 % 3", "-1"],
  ["0x1F + 0b11 + 0o17 + 017", "64"],
  ["1_000", "1000"],
  ["1e21", "1000000000000000000000"],
  ["1e-7", "0.0000001"],
  ["3.0", "3"],
  ["'a'", "97"],
  ["1 << 10 | 1", "1025"],
  ["6 &^ 2", "4"],
  ["^5", "-6"],
  ['len("héllo")', "6"],
  ["any.n / 2", "2"],
  ["any.f * 2", "3"],
  ["any.n % 2", "1"],
  ["any.n + 1", "6"],
  ["float64(7) / 2", "3.5"],
  ["int(any.f)", "1"],
  ["string(233)", "é"],
  ["2 + 3 * 4 - 1", "13"],
  ["(2 + 3) * 4", "20"],
  ["10 - 3 - 2", "5"],
  ["float64(7) / 2 * 2", "7"],
  // text
  ['"a" + "b"', "ab"],
  ['"a" + 1', "a1"],
  ['any.s + "_" + any.n', "text_5"],
  ["any.n + any.s", "5text"],
  ['any.nil + "x"', "x"],
  ["`raw\\n`", "raw\\n"],
  ['"\\u00e9\\x41\\101\\t|"', "éAA\t|"],
  ['"héllo"[1]', "195"],
  ['"héllo"[1:3]', "é"],
  ['"abc"[1:]', "bc"],
  ['"abc"[:1]', "a"],
  ["any.s[1:2]", "e"],
  ["any.s[0]", "116"],
  // logic and comparison
  ['not 0 and not ""', "true"],
  ['1 and ""', "false"],
  ['0 or "x"', "true"],
  ["!false && true || false", "true"],
  ["1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3", "true"],
  ['"a" < "b"', "true"],
  ['"B" < "a"', "true"],
  ["any.n == 5", "true"],
  ['any.s != "text"', "false"],
  ["any.nil == nil", "true"],
  ["any.a != nil", "true"],
  ["any.n < 6", "true"],
  ["any.s == any.n", "false"],
  ["any.t == true", "true"],
  ["1 == 1.0", "true"],
  ["true == false", "false"],
  ['"abc" contains "b"', "true"],
  ['"abc" not contains "b"', "false"],
  ["any.list contains 1", "true"],
  ['any.a contains "b"', "true"],
  ["\"aé\" contains 'é'", "true"],
  ['"aé" contains "é"[:1]', "true"],
  ["any.nil contains 1", "false"],
  ["not (any.list contains 9)", "true"],
  // pipes
  ['"A" | toLower()', "a"],
  ['"a" + "B" | toLower()', "ab"],
  ['"A" | toLower() + "B"', "aB"],
  ['"a" == "A" | toLower()', "true"],
  ["7 | float64()", "7"],
  ['any | dig("a", "b") | fallback("") | toUpper()', "C"],
  ['any.list | join(",")', "1,x"],
  // members
  ["any.a.b", "c"],
  ['any["a"]["b"]', "c"],
  ["any.x.y.z", ""],
  ["any.list[1]", "x"],
  ['map[string]int{"a": 1}.a', "1"],
  ['map[string]int{"a": 1}["b"]', "0"],
  ["map[string]bool{}.x", "false"],
  ['map[int]string{1: "x"}[1]', "x"],
  ["any.type", ""],
  ["len(any.a)", "1"],
  ["len(any.list)", "2"],
  ["len(any.nil)", "0"],
  // literals
  ["[]any{1, 2,}[1]", "2"],
  ['map[string]any{"a": map[string]any{"b": 2}}.a.b', "2"],
  ["[][]int{{1}, {2, 3}}[1][1]", "3"],
  ['map[string][]string{"a": {"x"}}.a[0]', "x"],
  ["len(make([]int, 3))", "3"],
  ["any.n.(int) + 1", "6"],
  ['any.s.(string) + "!"', "text!"],
  ["len(any.list.([]any))", "2"],
  ["func(a int) int { return a * 2 }(4)", "8"],
  ['[]any{1, 2, 3, 4}[1:3] | join(",")', "2,3"],
];
for (const [expression, output] of cases) {
  test(`${expression} is ${JSON.stringify(output)}`, () => {
    assert.is(render(`{{ ${expression} }}`, { data }), output);
  });
}

test("integers wrap at 64 bits when multiplied", () => {
  assert.is(render("{% x := 4611686018427387904 %}{{ x * 2 < 0 }}"), "true");
});

test("shown floats have no exponent and negative zero is zero", () => {
  assert.is(
    render('{% x := 1.0 %}{% x = x / 3 %}{{ x }} {% y := 0.0 %}{{ -y }} {{ tofloat("1e300") | tostring() | len() }}'),
    "0.3333333333333333 0 301",
  );
});

test("strings are ordered by their bytes", () => {
  // U+FF21 sorts after U+10000 by UTF-16 code units, before it by bytes.
  assert.is(
    render('{{ "\\uFF21" < "\\U00010000" }} {{ sort_strings([]any{"\\U00010000", "\\uFF21", "a"}) | join("") }}'),
    "true a\uFF21\u{10000}",
  );
});

test("a slice that was cut from another one shares its elements and grows over them", () => {
  assert.is(
    render('{% a := []any{1, 2, 3} %}{% b := a[:2] %}{% b = append(b, 9) %}{{ a | join(",") }} {{ b | join(",") }}'),
    "1,2,9 1,2,9",
  );
});

test.run();
