import { test } from "uvu";
import * as assert from "uvu/assert";
import { problems, render, type Setup } from "./engine.ts";

function cases(list: readonly (readonly [name: string, template: string, output: string, setup?: Setup])[]): void {
  for (const [name, template, output, setup] of list) {
    test(name, () => {
      assert.is(render(template, setup), output);
    });
  }
}

cases([
  [
    "if takes any value and its init covers all branches",
    "{% if x := 0; x %}a{% else if y := x + 1; y == 1 %}b{{ x }}{{ y }}{% else %}c{% end if %}",
    "b01",
  ],
  [
    'empty values are false and "0" is true',
    '{% if "" %}1{% end %}{% if 0 %}2{% end %}{% if []any{} %}3{% end %}{% if map[string]any{} %}4{% end %}{% if "0" %}5{% end %}{% if d %}6{% end %}',
    "5",
    { data: { d: {} } },
  ],
  [
    "for range gives index and value",
    '{% for i, v := range []string{"a", "b"} %}{{ i }}{{ v }} {% end for %}',
    "0a 1b ",
  ],
  ["for range with one name gives the index", "{% for i := range []any{5, 6} %}{{ i }}{% end %}", "01"],
  ["for in gives the value", "{% for v in []any{5, 6} %}{{ v }}{% end %}", "56"],
  ["for range without names", "{% for range []any{5, 6} %}x{% end %}", "xx"],
  [
    "maps are iterated by sorted keys",
    '{% for k, v := range map[string]any{"b": 2, "a": 1, "10": 3, "9": 4} %}{{ k }}{{ v }} {% end %}',
    "103 94 a1 b2 ",
  ],
  [
    "maps with integer keys are iterated by value",
    '{% for k, v := range map[int]string{10: "x", 9: "y"} %}{{ k }}{{ v }} {% end %}',
    "9y 10x ",
  ],
  [
    "strings give byte offsets and code points",
    '{% for i, r := range "aé€" %}{{ i }}:{{ r }} {% end %}',
    "0:97 1:233 3:8364 ",
  ],
  [
    "an any that holds a map gives keys",
    "{% for k, v := range d %}{{ k }}{{ v }}{% end %}",
    "a1",
    { data: { d: { a: 1 } } },
  ],
  [
    "an any that holds a list gives indexes",
    "{% for k, v := range d %}{{ k }}{{ v }}{% end %}",
    "0x1y",
    { data: { d: ["x", "y"] } },
  ],
  ["nil is an empty list", "{% for v in d %}x{% else %}none{% end %}", "none", { data: { d: null } }],
  ["else does not run after an iteration", "{% for v in []any{1} %}x{% else %}none{% end %}", "x"],
  ["for with three clauses", "{% for i := 0; i < 3; i++ %}{{ i }}{% end %}", "012"],
  ["for with a condition", "{% var i = 3 %}{% for i > 0 %}{{ i }}{% i-- %}{% end %}", "321"],
  [
    "for without a header ends with break",
    "{% var i = 0 %}{% for %}{% i++ %}{% if i == 3 %}{% break %}{% end %}{{ i }}{% end %}",
    "12",
  ],
  [
    "continue goes on with the post statement",
    "{% for i := 0; i < 4; i++ %}{% if i % 2 == 0 %}{% continue %}{% end %}{{ i }}{% end %}",
    "13",
  ],
  [
    "labels leave the outer loop",
    "{% L: for i := 0; i < 3; i++ %}{% for j := 0; j < 3; j++ %}{% if j == 1 %}{% continue L %}{% end %}{% if i == 2 %}{% break L %}{% end %}{{ i }}{{ j }} {% end %}{% end %}",
    "00 10 ",
  ],
  [
    "each turn has its own variables",
    "{%% var fs []any\nfor i := 0; i < 3; i++ { fs = append(fs, func() int { return i }) }\nfor _, f := range fs { show f() } %%}",
    "012",
  ],
  [
    "range sees the list as it was at its start",
    "{% var l = []any{1, 2} %}{% for v in l %}{% l = append(l, v) %}{% end %}{{ len(l) }}",
    "4",
  ],
  [
    "range assigns to existing variables",
    "{% var i, v any %}{% for i, v = range []any{7, 8} %}{% end %}{{ i }}{{ v }}",
    "18",
  ],
  [
    "a switch takes the first matching case",
    "{% switch 2 %}{% case 1, 2 %}a{% case 2 %}b{% default %}c{% end switch %}",
    "a",
  ],
  [
    "a switch without a value takes conditions",
    "{% var x = 5 %}{% switch %}{% case x < 3 %}a{% case x < 9 %}b{% default %}c{% end %}",
    "b",
  ],
  ["default may stand first", "{% switch 9 %}{% default %}d{% case 1 %}a{% end %}", "d"],
  [
    "fallthrough runs the next case",
    "{% switch 1 %}{% case 1 %}a{% fallthrough %}{% case 2 %}b{% case 3 %}c{% end %}",
    "ab",
  ],
  [
    "break leaves a switch inside a loop",
    "{% for v in []any{1, 2} %}{% switch v %}{% case 1 %}{% break %}{% default %}d{% end %}{{ v }}{% end %}",
    "1d2",
  ],
  [
    "a type switch binds the value",
    '{% for v in d %}{% switch x := v.(type) %}{% case string %}s:{{ x + "!" }} {% case int %}i:{{ x + 1 }} {% case []any, map[string]any %}c {% case nil %}nil {% default %}? {% end %}{% end %}',
    "s:a! i:6 c c nil ? ",
    { data: { d: ["a", 5, [1], { a: 1 }, null, true] } },
  ],
  ["var declares several names", '{% var a, b = 1, "x" %}{% var c, d int %}{{ a }}{{ b }}{{ c }}{{ d }}', "1x00"],
  [
    "zero values",
    "{% var s string %}{% var i int %}{% var b bool %}{% var a any %}[{{ s }}{{ i }}{{ b }}{{ a }}]",
    "[0false]",
  ],
  ["assignments swap", "{% a, b := 1, 2 %}{% a, b = b, a %}{{ a }}{{ b }}", "21"],
  [":= keeps names of the same scope", "{% a := 1 %}{% a, b := 2, 3 %}{{ a }}{{ b }}", "23"],
  ["shadowing ends with its block", "{% a := 1 %}{% if true %}{% a := 2 %}{{ a }}{% end %}{{ a }}", "21"],
  [
    "op= and ++ and --",
    "{% a := 7 %}{% a += 3 %}{{ a }} {% a -= 1 %}{{ a }} {% a *= 2 %}{{ a }} {% a /= 4 %}{{ a }} {% a %= 3 %}{{ a }} {% a++ %}{{ a }} {% a-- %}{{ a }}",
    "10 9 18 4 1 2 1",
  ],
  ["a string grows with +=", '{% s := "a" %}{% s += "b" %}{{ s }}', "ab"],
  [
    "comma-ok of a map",
    '{% m := map[string]int{"a": 1} %}{% v, ok := m["a"] %}{{ v }}{{ ok }}{% v, ok = m["b"] %}{{ v }}{{ ok }}',
    "1true0false",
  ],
  [
    "comma-ok of an assertion",
    "{% v, ok := d.(string) %}{{ v }}{{ ok }}{% w, ok2 := d.([]any) %}{{ len(w) }}{{ ok2 }}",
    "false1true",
    { data: { d: [1] } },
  ],
  [
    "value and error of a function",
    '{% v, err := b64decode("YQ==") %}{{ v }}{{ err == nil }}{% _, err = b64decode("!") %}{{ err }}',
    "atrueb64decode: illegal base64 data",
  ],
  [
    "map entries are assigned, members too",
    '{% m := map[string]any{} %}{% m["a"] = 1 %}{% m.b = 2 %}{% m.a++ %}{{ toJSON(m) }}',
    '{"a":2,"b":2}',
  ],
  ["delete removes an entry", '{% m := map[string]any{"a": 1} %}{% delete(m, "a") %}{{ len(m) }}', "0"],
  ["slice elements are assigned", '{% l := []any{1, 2} %}{% l[1] = 5 %}{{ l | join(",") }}', "1,5"],
  [
    "append to a second name leaves the first alone",
    '{% var l []any %}{% l = append(l, 1) %}{% k := l %}{% l = append(l, 2) %}{% k = append(k, 3) %}{{ l | join(",") }} {{ k | join(",") }}',
    "1,2 1,3",
  ],
  [
    "append to nil and to a value that is no list",
    '{{ append(nil, 1) | join(",") }} {{ append(d, 2) | join(",") }} {{ append([]any{1}, []any{2, 3}...) | join(",") }}',
    "1 2 1,2,3",
    { data: { d: "x" } },
  ],
  ["constants", '{% const a, b = 2, "x" %}{{ a * 3 }}{{ b }}', "6x"],
  [
    "macros take parameters and stream their text",
    '{% macro M(a, b string, rest ...int) string %}{{ a }}{{ b }}{% for r in rest %}{{ r }}{% end %}{% end macro %}{{ M("x", "y", 1, 2) }}{% s := M("p", "q") %}{{ s | toUpper() }}',
    "xy12PQ",
  ],
  ["macros without parentheses", "{% macro M %}m{% end %}{{ M() }}", "m"],
  [
    "macros recurse",
    "{% macro Down(n int) string %}{{ n }}{% if n > 0 %}{{ Down(n - 1) }}{% end %}{% end %}{{ Down(3) }}",
    "3210",
  ],
  [
    "return keeps a macro's text so far",
    "{% macro M(b bool) %}a{% if b %}{% return %}{% end %}b{% end %}{{ M(true) }}{{ M(false) }}",
    "aab",
  ],
  ["return ends a template", "a{% return %}b", "a"],
  [
    "macros see file-level variables and later assignments",
    "{% var x = 1 %}{% macro M %}{{ x }}{% end %}{% x = 2 %}{{ M() }}",
    "2",
  ],
  ["a macro is a value", '{% macro M(s any) %}<{{ s }}>{% end %}{{ map([]any{1, 2}, M) | join("") }}', "<1><2>"],
  ["go before a call renders in place", "{% macro M %}m{% end %}a{{ go M() }}b", "amb"],
  [
    "function literals are closures",
    "{% n := 0 %}{% f := func(k int) int { n += k\n return n } %}{{ f(2) }}{{ f(3) }}",
    "25",
  ],
  [
    "function literals give several values",
    '{% f := func() (int, string) { return 1, "a" } %}{% x, y := f() %}{{ x }}{{ y }}',
    "1a",
  ],
  [
    "lambdas nest",
    '{{ []any{1, 2} | map(x => []any{1, 2} | map(y => toint(x) * toint(y)) | join(",")) | join(";") }}',
    "1,2;2,4",
  ],
  ["natives are values", '{{ map([]any{"a"}, toUpper) | join("") }}', "A"],
  [
    "statements in a block with braces",
    '{%% x := 1\nif x == 1 { show "a", "b" } else if x == 2 { show "c" } else { show "d" }\nfor i := range seq(2) { show i }\nfor v in []any{7} { show v }\nswitch x { case 1: show "one"\n default: show "other" }\n{ x := 5\n show x }\nshow x\nmacro M(s string) string { show "<", s, ">" }\nshow M("m") %%}',
    "ab017one51<m>",
  ],
  ["show takes several values", '{% show 1, "a", true %}', "1atrue"],
  ["a declared block variable is visible after its tag", "{%% var x = 4 %%}{{ x }}", "4"],
  ["default takes the declared name", '{{ nope default "d" }}{% x := 1 %}{{ x default 2 }}', "d1"],
]);

cases([
  ["render runs a file in its own scope", '{% x := 1 %}{{ render "a" }}', "A", { files: { a: "A" } }],
  [
    "render gives a string",
    '{% s := render "a" %}{{ s | toUpper() }}{{ render("a") | toUpper() }}',
    "AA",
    { files: { a: "a" } },
  ],
  [
    "render of a missing file with default",
    '{{ render "nope" default "d" }}{{ render "a" default "d" }}',
    "da",
    { files: { a: "a" } },
  ],
  [
    "render takes paths relative to its own",
    '{{ render "lib/a" }}{{ render "/lib/b" }}',
    "bb",
    { files: { "lib/a": '{{ render "b" }}', "lib/b": "b" } },
  ],
  [
    "render_glob goes by byte order and stops at slashes",
    '{{ render_glob "s-*" }}|{{ render_glob "none-*" }}|{{ render_glob "none-*" default "d" }}',
    "Zaé||d",
    { files: { "s-a": "a", "s-Z": "Z", "s-é": "é", "s-x/y": "no" } },
  ],
  [
    "render_glob gives a string",
    '{% s := render_glob "s?" %}{{ s | toUpper() }}',
    "AB",
    { files: { s1: "a", s2: "b" } },
  ],
  [
    "inherit_context reads and assigns the caller's names",
    '{% m := map[string]any{} %}{% n := 1 %}{{ render "a" inherit_context }}{{ n }}{{ m.k }}',
    "[1]5v",
    { files: { a: '[{{ n }}]{% n = 5 %}{% m["k"] = "v" %}{% own := 1 %}' } },
  ],
  [
    "inherit_context works for globs, in macros and loops",
    '{% macro M(x int) %}{% for i in seq(2) %}{{ render_glob "p-*" inherit_context }}{% end %}{% end %}{{ M(7) }}',
    "7.0 7-0 7.1 7-1 ",
    { files: { "p-1": "{{ x }}.{{ i }} ", "p-2": "{{ x }}-{{ i }} " } },
  ],
  [
    "return in an inherited snippet ends the snippet",
    'a{{ render "s" inherit_context }}b',
    "axb",
    { files: { s: "x{% if true %}{% return %}{% end %}y" } },
  ],
  [
    "imported macros by name, by alias and all",
    '{% import "lib" for A %}{% import l "lib" %}{% import "lib2" %}{{ A() }}{{ l.B("x") }}{{ C() }}',
    "a<x>c",
    {
      files: {
        lib: '{% var pre = "a" %}{% macro A %}{{ low() }}{% end %}{% macro low %}{{ pre }}{% end %}{% macro B(s string) %}<{{ s }}>{% end %}',
        lib2: "{% macro C %}c{% end %}",
      },
    },
  ],
  [
    "imported macros refer to each other in any order",
    '{% import "lib" for Even %}{{ Even(4) }}{{ Even(3) }}',
    "yesno",
    {
      files: {
        lib: "{% macro Even(n int) %}{% if n == 0 %}yes{% else %}{{ Odd(n - 1) }}{% end %}{% end %}{% macro Odd(n int) %}{% if n == 0 %}no{% else %}{{ Even(n - 1) }}{% end %}{% end %}",
      },
    },
  ],
  [
    "an imported file may also be rendered",
    '{% import "lib" for A %}{{ A() }}{{ render "lib" }}',
    "a",
    { files: { lib: "{% macro A %}a{% end %}" } },
  ],
  ["a snippet that no entry point reaches may be broken", "ok", "ok", { files: { broken: "{% if %}" } }],
]);

test("statements that templates have no use for are refused by name", () => {
  assert.equal(problems("{% goto x %}"), ["1:4: goto is not supported"]);
  assert.equal(problems("{% defer f() %}"), ["1:4: defer is not supported"]);
  assert.equal(problems("{%% select { } %%}"), ["1:5: select is not supported"]);
  assert.equal(problems("{% var c chan int %}"), ["1:10: channels are not supported"]);
  assert.equal(problems("{% x := recover() %}"), ["1:16: recover is not supported"]);
  assert.equal(problems('{% println("x") %}'), ["1:11: println is not supported"]);
  assert.equal(problems("{{ real(2) }}"), ["1:8: complex numbers are not supported"]);
});

test.run();
