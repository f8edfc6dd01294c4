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

// Layouts.
cases([
  [
    "a file that extends another gives it macros",
    '{% extends "layout" %}\n{% var Title = "T" %}\n{% macro Body %}<{{ Title }}>{% end %}\n',
    "head <T> foot\n",
    { files: { layout: 'head {{ Body() }} {{ Foot() default "foot" }}\n' } },
  ],
  [
    "without parentheses the rest of the file is the macro",
    '{% extends "layout" %}\n{% Article %}\ntext {{ 1 }}\n',
    "[text 1\n]",
    { files: { layout: "[{{ Article() }}]" } },
  ],
  [
    "layouts extend layouts; the file at the bottom decides",
    '{% extends "mid" %}{% macro Body %}low{% end %}',
    "top(low, mid side)",
    {
      files: {
        mid: '{% extends "top" %}{% macro Side %}mid side{% end %}{% macro Body %}mid{% end %}',
        top: "top({{ Body() }}, {{ Side() }})",
      },
    },
  ],
  [
    "a file that extends imports macros and its own use each other in any order",
    '{% extends "l" %}{% import "lib" for A %}{% macro Body %}{{ low() }}{% end %}{% macro low %}{{ A() }}{% end %}',
    "a",
    { files: { l: "{{ Body() }}", lib: "{% macro A %}a{% end %}" } },
  ],
]);

test("extends is refused where it does not stand first, without its file, and in a circle", () => {
  const files = { a: '{% extends "b" %}', b: '{% extends "a" %}' };
  assert.equal(problems('x{% extends "a" %}', { files }), ["1:5: extends must be the first statement of a file"]);
  assert.equal(problems('{% extends "nope" %}'), ['1:12: extends path "nope" does not exist']);
  assert.equal(problems('{% extends "a" %}', { files }), ["b:1:4: extends cycle: main → a → b → a"]);
  assert.equal(problems('{% extends "l" %}text{{ 1 }}{% if true %}{% end %}', { files: { l: "{{ Body() }}" } }), [
    "1:18: syntax error: unexpected text in a file that extends another",
    "1:22: syntax error: unexpected show in a file that extends another",
    "1:32: syntax error: unexpected statement in a file that extends another",
    "l:1:4: undefined: Body",
  ]);
});

// using.
cases([
  ["itea is the text of the body", "{% show itea; using %}a{{ 1 }}{% end using %}", "a1"],
  ["itea in an expression", '{% show itea | toUpper() + "!"; using %}ab{% end %}', "AB!"],
  [
    "itea in a declaration",
    "{% var x = itea; using string %}a{% if true %}b{% end %}{% end %}{{ x }}{{ len(x) }}",
    "ab2",
  ],
  ["itea in an assignment", '{% x := "" %}{% x = itea + x; using %}t{% end %}{{ x }}', "t"],
  [
    "itea as a macro",
    '{% show itea("a", 2) + itea("b", 1); using macro(s string, n int) %}{% for range seq(n) %}{{ s }}{% end %}{% end %}',
    "aab",
  ],
  [
    "itea as the argument of a call",
    "{% l := []any{} %}{% f := func(s string) { l = append(l, s) } %}{% f(itea); using %}x{% end %}{{ len(l) }}",
    "1",
  ],
  ["using nests", "{% show itea; using %}a{% show itea; using %}b{% end %}c{% end %}", "abc"],
  ["return in a body ends the body", "{% show itea; using %}a{% return %}b{% end %}c", "ac"],
  ["a lone using tag takes its line with it", "a\n{% show itea; using %}\nb\n{% end using %}\nc\n", "a\nb\nc\n"],
]);

test("itea is a name of its statement only", () => {
  assert.equal(problems("{% show itea; using %}{% end %}{{ itea }}"), ["1:35: undefined: itea"]);
  assert.equal(problems("{%% using %%}"), ["1:5: syntax error: using stands after a statement and a semicolon"]);
});

// Types.
cases([
  [
    "structs are values",
    '{% type P struct { X, Y int; Name string "tag" } %}{% a := P{X: 1, Name: "n"} %}{% b := a %}{% b.X = 5 %}{{ a.X }}{{ b.X }}{{ a.Name }}{{ a.Y }}{{ a == b }}{{ a == P{1, 0, "n"} }}',
    "15n0falsetrue",
  ],
  [
    "structs in lists, maps and macros are copied on their way",
    '{% type P struct { X int } %}{% l := []P{{1}, {X: 2}} %}{% p := l[0] %}{% p.X = 9 %}{{ l[0].X }}{% l[1].X = 7 %}{{ l[1].X }}{% macro M(p P) %}{% p.X = 3 %}{{ p.X }}{% end %}{{ M(p) }}{{ p.X }}{% m := map[string]P{"a": p} %}{{ m["a"].X }}{{ m.b.X }}{% for _, q := range l %}{% q.X = 0 %}{% end %}{{ l[1].X }}',
    "1739907",
  ],
  [
    "structs hold structs, and pointers to themselves",
    "{% type In struct { N int } %}{% type Node struct { In In; Next *Node } %}{% a := Node{} %}{% a.In.N = 4 %}{% b := Node{Next: &a} %}{{ b.Next.In.N }}{% b.Next.In.N++ %}{{ a.In.N }}{{ b.Next.Next == nil }}",
    "45true",
  ],
  [
    "pointers to variables, elements and fields",
    "{% n := 1 %}{% p := &n %}{% *p = 5 %}{{ n }}{% n = 7 %}{{ *p }}{% l := []int{1, 2} %}{% q := &l[1] %}{% *q += 3 %}{{ l[1] }}{% r := new(int) %}{{ *r }}{% *r++ %}{{ *r }}{% var z *int %}{{ z == nil }}",
    "57501true",
  ],
  [
    "a type switch knows declared types",
    '{% type A struct { X int } %}{% type B struct { X int } %}{% for v in []any{A{1}, B{2}, &A{3}, "s", []string{"x"}, map[string]int{"a": 1}, 1.0, 2} %}{% switch x := v.(type) %}{% case A %}A{{ x.X }}{% case B %}B{{ x.X }}{% case *A %}*A{{ x.X }}{% case []string %}ss{% case map[string]int %}m{{ x.a }}{% case float64 %}f{{ x / 2 }}{% case int %}i{{ x / 2 }}{% default %}?{% end %} {% end %}',
    "A1 B2 *A3 ? ss m1 f0.5 i1 ",
  ],
  [
    "fields of a struct in an any are read like members",
    '{% type P struct { X int; L []any } %}{% var v any = P{X: 4, L: []any{"e"}} %}{{ v.X }}{{ v | dig("X") }}{{ v.L[0] }}{{ v.(P).X }}{% _, ok := v.(string) %}{{ ok }}{{ sprint(v) }}',
    "44e4false{4 [e]}",
  ],
  [
    "other declared types are names of theirs",
    '{% type ID string %}{% type L []ID %}{% x := ID("a") %}{{ len(L{x, "b"}) }}{{ x + "c" }}',
    "2ac",
  ],
  [
    "a zero struct is false",
    "{% type P struct { X int } %}{% if P{} %}1{% end %}{% if P{1} %}2{% end %}{% if &P{} %}3{% end %}",
    "23",
  ],
  [
    "arrays have their length and are values",
    '{% a := [3]int{1, 2} %}{% b := a %}{% b[0] = 9 %}{{ a[0] }}{{ b[0] }}{{ len(a) }}{{ a == b }}{% c := [...]string{"x", "y"} %}{{ len(c) }}{% s := a[:2] %}{% s[0] = 7 %}{{ a[0] }}{% for i, v := range a %}{% a[2] = 5 %}{{ i }}{{ v }}{% end %}',
    "193false27071220",
  ],
  ["list literals take positions", '{{ []string{2: "c", 0: "a"} | join(",") }} {{ len([]int{4: 1}) }}', "a,,c 5"],
  [
    "imported types, variables and constants",
    '{% import l "lib" %}{% import "lib" for P, Limit %}{% p := l.P{X: l.Limit} %}{{ p.X }}{% l.Count++ %}{{ l.Count }}{{ l.Get() }}{{ P{2}.X }}{{ Limit }}',
    "51125",
    {
      files: {
        lib: "{% type P struct { X int } %}{% const Limit = 5 %}{% var Count = 0 %}{% macro Get %}{{ Count }}{% end %}",
      },
    },
  ],
]);

test("mistakes about types are told", () => {
  assert.equal(problems("{% type P struct { X int } %}{{ P{}.Y }}{{ P{Z: 1}.X }}{{ P{1, 2}.X }}{{ P{} }}{{ P }}"), [
    "1:36: P has no field Y",
    "1:46: P has no field Z",
    "1:60: too many values in P literal",
    "1:75: cannot show value of type P",
    "1:83: P is a type, not an expression",
  ]);
  assert.equal(problems("{% type T struct { T T } %}"), ["1:20: invalid recursive type T"]);
  assert.equal(problems("{% var a [2]int %}{{ a[2] }}{% var b = [1]int{1, 2} %}"), [
    "1:23: invalid index 2: out of bounds [0:2]",
    "1:50: invalid index 1: out of bounds [0:1]",
  ]);
  assert.equal(problems("{% var m map[[]int]string %}"), ["1:14: invalid map key type []int"]);
  assert.equal(problems('{% type P struct { X int } %}{% m := map[string]P{} %}{% m["a"].X = 1 %}'), [
    "1:64: cannot assign to a field of a map entry",
  ]);
});

// Numbers.
cases([
  [
    "integers are exact to 64 bits",
    "{% x := 9007199254740993 %}{{ x }} {{ x + 1 }} {{ x * 2 }} {{ x - 1 }} {{ x / 2 }} {{ x % 10 }}",
    "9007199254740993 9007199254740994 18014398509481986 9007199254740992 4503599627370496 3",
  ],
  [
    "int wraps around",
    "{% x := 9223372036854775807 %}{% x++ %}{{ x }} {{ x - 1 }} {{ -x }} {{ x / -1 }} {% y := 4611686018427387904 %}{{ y * 4 }}",
    "-9223372036854775808 9223372036854775807 -9223372036854775808 -9223372036854775808 0",
  ],
  [
    "sized integers wrap around",
    "{% var a uint8 = 250 %}{% a += 10 %}{{ a }} {% var b int8 = 127 %}{% b++ %}{{ b }} {% var c uint64 = 18446744073709551615 %}{{ c }} {% c++ %}{{ c }} {% var d uint32 %}{{ d - 1 }} {{ ^a }} {{ int8(b + 1) }}",
    "4 -128 18446744073709551615 0 4294967295 251 -127",
  ],
  [
    "bit operations on 64 bits",
    "{% x := 1 %}{{ x << 62 }} {{ x << 63 }} {{ x << 64 }} {{ -8 >> 1 }} {% y := -1 %}{{ y & 255 }} {{ y ^ 1 }} {{ y &^ 3 }} {{ x | 6 }}",
    "4611686018427387904 -9223372036854775808 0 -4 255 -2 -4 7",
  ],
  [
    "untyped constants are exact",
    "{{ 0.1 + 0.2 }} {{ 1 << 70 >> 68 }} {{ 0.1 + 0.2 == 0.3 }} {% const big = 1 << 100 %}{{ big >> 98 }} {{ 1.0 / 3 * 3 }} {{ 5.0 }} {{ 1e3 }}",
    "0.3 4 true 4 1 5 1000",
  ],
  [
    "a whole float in an any stays a float",
    '{% var x any = 3.0 %}{{ x }} {{ x / 2 }} {{ x + 1 }} {{ x == 3 }} {{ x | tostring() }} {{ []any{x, 1.5} | join(",") }} {% _, f := x.(float64) %}{{ f }}{% _, i := x.(int) %}{{ i }} {{ sprint(x) }} {{ float64(7) / 2 }}',
    "3 1.5 4 true 3 3,1.5 truefalse 3 3.5",
  ],
  [
    "an int in an any divides as an int",
    "{% var x any = 7 %}{{ x / 2 }} {{ x / 2.0 }} {{ x % 4 }} {{ -x }} {{ x - 9007199254740993 }}",
    "3 3.5 3 -7 -9007199254740986",
  ],
  ["floats divide by zero", "{% x := 0.0 %}{{ 1 / x }} {{ -1 / x }} {{ x / x }}", "+Inf -Inf NaN"],
  [
    "float32 has its precision",
    "{% var x float32 = 0.1 %}{{ float64(x) }} {{ x * x }}",
    "0.10000000149011612 0.010000000707805157",
  ],
  [
    "conversions between numbers",
    "{% f := 3.9 %}{{ int(f) }} {{ int(-f) }} {% n := 300 %}{{ uint8(n) }} {{ int8(n) }} {{ float64(n) / 8 }} {{ int64(n) }} {% var a any = 2.5 %}{{ int(a) }} {{ float64(a) }}",
    "3 -3 44 44 37.5 300 2 2.5",
  ],
  [
    "bytes and runes",
    '{% b := []byte("hé") %}{{ len(b) }} {{ b[1] }} {{ string(b) }} {% r := []rune("hé") %}{{ len(r) }} {{ r[1] }} {{ string(r) }} {{ string(233) }} {{ string([]byte{97, 98}) }}',
    "3 195 hé 2 233 hé é ab",
  ],
  [
    "iota counts the rows of a group",
    "{%% const (\n  A = iota * 10\n  B\n  _\n  D\n)\nvar (\n  x = 1\n  y, z = 2, 3\n)\nshow A, B, D, x, y, z %%}",
    "01030123",
  ],
  [
    "integers above 2^53 compare, order and key maps",
    '{% a := 9007199254740993 %}{% b := 9007199254740992 %}{{ a == b + 1 }}{{ a > b }}{% m := map[int]string{a: "x"} %}{{ m[b + 1] }}{% var v any = a %}{{ v == a }}{{ []any{a} contains b + 1 }}',
    "truetruextruetrue",
  ],
]);

// Order of evaluation, and bytes.
cases([
  [
    "named results are variables that a bare return gives",
    '{% f := func(x int) (n int, s string) { n = x; if x > 1 { return 7, "y" }; s = "z"; return } %}{% a, b := f(1) %}{{ a }}{{ b }}{% a, b = f(2) %}{{ a }}{{ b }}',
    "1z7y",
  ],
  [
    "places of an assignment are evaluated once, before anything is assigned",
    '{% n := 0 %}{% f := func() int { n++; return n } %}{% l := []int{0, 0, 0} %}{% l[f()] += 5 %}{{ n }}:{{ l | join(",") }} {% i := 0 %}{% i, l[i] = 2, 7 %}{{ i }}:{{ l | join(",") }} {% l[0], l[1] = l[1], l[0] %}{{ l | join(",") }}',
    "1:0,5,0 2:7,5,0 5,7,0",
  ],
  [
    "strings are bytes; halves of a character that meet are one again",
    '{% s := "hé" %}{% a := s[:2] %}{% b := s[2:] %}{{ len(a) }}{{ len(b) }} {{ a + b }} {{ a }}{{ b }} {% for i, r := range a %}{{ i }}:{{ r }} {% end %}{{ len("\\xff\\xfe") }} {{ "\\xff"[0] }} {{ string([]byte{195, 169}) }} {{ len(string([]byte{195})) }} {{ a == s[:2] }}',
    "21 hé hé 0:104 1:65533 2 255 é 1 true",
  ],
]);

test("constants that do not fit are told", () => {
  assert.equal(
    problems("{{ 1 << 100 }}{% var x int = 9223372036854775808 %}{{ int8(200) }}{% var f float32 = 1e300 %}"),
    [
      "1:6: constant 1267650600228229401496703205376 overflows int",
      "1:30: constant 9223372036854775808 overflows int",
      "1:59: constant 200 overflows int8",
      "1:86: constant overflows float32",
    ],
  );
  assert.equal(problems("{{ 1 << 2000 }}{{ 1e5000 }}{{ 5 << -1 }}"), [
    "1:6: constant is too large",
    "1:19: constant is too large",
    "1:33: invalid operation: negative shift count",
  ]);
});

// Slices and maps.
cases([
  [
    "a part shares its elements",
    '{% a := []any{1, 2, 3, 4} %}{% b := a[1:3] %}{% b[0] = "x" %}{{ a | join(",") }} {{ len(b) }} {{ cap(b) }} {{ b[:3] | join(",") }} {% for v in b %}{{ v }}{% end %} {{ sort_strings(b) | join(",") }}',
    "1,x,3,4 2 3 x,3,4 x3 3,x",
  ],
  [
    "an append beyond the capacity copies",
    '{% a := []any{1, 2} %}{% b := a[:1:1] %}{% b = append(b, 9) %}{{ a | join(",") }} {{ b | join(",") }} {% c := append(a, 3) %}{% c[0] = 8 %}{{ a[0] }}',
    "1,2 1,9 1",
  ],
  [
    "parts of parts share too",
    '{% a := []any{0, 1, 2, 3} %}{% b := a[1:][1:] %}{% b[0] = "y" %}{{ a | join("") }}{% b = append(b[:1], "z") %}{{ a | join("") }}',
    "01y301yz",
  ],
  [
    "copy moves elements",
    '{% a := []int{1, 2, 3} %}{{ copy(a[1:], a) }}{{ a | join("") }}{% b := make([]byte, 2) %}{% copy(b, "xyz") %}{{ string(b) }}',
    "2112xy",
  ],
  [
    "make gives zero values",
    '{% a := make([]string, 2, 5) %}{{ len(a) }}[{{ a[1] }}]{% m := make(map[string]int) %}{% m["a"]++ %}{{ m.a }}',
    "2[]1",
  ],
  [
    "a nil slice grows, a nil map reads",
    '{% var s []int %}{{ len(s) }}{{ s == nil }}{% s = append(s, 1) %}{{ s[0] }}{% var m map[string]int %}{{ m["x"] }}{{ len(m) }}{% delete(m, "x") %}{% for range m %}x{% end %}',
    "0true100",
  ],
  [
    "maps of maps of numbers",
    '{% m := map[int]map[string]any{1: {"a": 2}} %}{{ m[1].a }}{{ m[2].a }}{% v, ok := m[2] %}{{ ok }}{{ v == nil }}',
    "2falsetrue",
  ],
]);

// Calls, labels, rendering.
cases([
  [
    "labels stand before any statement",
    '{% L: if true %}a{% end %}{%% M: for { N: for { break M } }; show "b" %%}',
    "ab",
  ],
  [
    "continue with a label in nested ranges",
    "{% A: for i in seq(3) %}{% for j in seq(3) %}{% if j > i %}{% continue A %}{% end %}{{ i }}{{ j }} {% end %}{% end %}",
    "00 10 11 20 21 22 ",
  ],
  ["for and else with braces", '{%% for v in []any{} { show v } else { show "none" } %%}', "none"],
  [
    "a literal in a header needs parentheses",
    "{%% type P struct { X int }\n if (P{1}) == (P{1}) { show 1 }\n for _, v := range []int{4} { show v } %%}",
    "14",
  ],
  ["immediately called functions", "{{ func(a int) int { return a * 2 }(4) }}{%% func() { }() %%}", "8"],
  [
    "variadic functions take lists",
    '{% f := func(s string, n ...int) int { return len(n) } %}{{ f("a") }}{{ f("a", 1, 2) }}{{ f("a", []int{1, 2, 3}...) }}',
    "023",
  ],
  [
    "several values pass through",
    "{% f := func() (int, error) { return 1, nil } %}{% g := func() (int, error) { return f() } %}{% v, err := g() %}{{ v }}{{ err == nil }}",
    "1true",
  ],
  [
    "go runs in place",
    "{% macro M(x int) %}m{{ x }}{% end %}{{ go M(1) }}{% show go M(2) %}{% go func() { }() %}",
    "m1m2",
  ],
  [
    "a name computed while running",
    '{% for n in []string{"a", "b"} %}{{ render("part-" + n) }}{% x := "part-" + n %}{{ render x }}{% y := render(x) %}{{ toLower(y) }}{% end %}',
    "AAaBBb",
    { files: { "part-a": "A", "part-b": "B" } },
  ],
  [
    "a computed name with default, globs too",
    '{% n := "x" %}{{ render("no-" + n) default "d" }}{{ render("a-" + n) default "d" }}{{ render_glob(n + "-*") }}{{ render_glob("q" + n) default "none" }}',
    "dA12none",
    { files: { "a-x": "A", "x-1": "1", "x-2": "2" } },
  ],
  [
    "inherit_context has a text of its own",
    '{% v := 2 %}{{ render "s" inherit_context | toUpper() }}{% t := render_glob "s*" inherit_context %}{{ t }}',
    "A2a2",
    { files: { s: "a{{ v }}{% return %}b" } },
  ],
  ["a macro's own default", "{{ Nope() default 3 }}", "3"],
]);

test("a snippet that only a computed name reaches may be broken until it is rendered", () => {
  const files = { good: "g", bad: "{{ nope }}" };
  assert.is(render('{% n := "good" %}{{ render(n) }}', { files }), "g");
  assert.throws(() => render('{% n := "bad" %}{{ render(n) }}', { files }), /bad:1:4: undefined: nope/);
  assert.throws(() => render('{% n := "none" %}{{ render(n) }}', { files }), /render path "none" does not exist/);
  assert.equal(problems('{% n := "good" %}{{ render(n) }}{{ render "bad" }}', { files }), ["bad:1:4: undefined: nope"]);
  assert.equal(problems('{% n := "good" %}{{ render n inherit_context }}', { files }), [
    "1:28: inherit_context needs a literal name",
  ]);
});

test("a snippet that is rendered in its caller's context cannot leave the caller's loop", () => {
  assert.equal(
    problems('{% for range seq(2) %}{{ render "s" inherit_context }}{% end %}', { files: { s: "{% break %}" } }),
    ["s:1:4: break is not in a loop or switch"],
  );
});

test("fallthrough is refused in the last case and in type switches", () => {
  assert.equal(problems("{% switch 1 %}{% case 1 %}{% fallthrough %}{% end %}"), [
    "1:18: cannot fallthrough final case in switch",
  ]);
  assert.equal(problems("{% var x any %}{% switch x.(type) %}{% case int %}{% fallthrough %}{% default %}{% end %}"), [
    "1:40: cannot fallthrough in a type switch",
  ]);
});

for (const [template, expected] of [
  ["{% type P struct { X int } %}{% var p *P %}{{ p.X }}", /nil pointer dereference/],
  ["{% var m map[int]int %}{% m[1] = 2 %}", /assignment to entry in nil map/],
  ["{% a := []int{1} %}{{ a[1:][0] }}", /index out of range \[0\] with length 0/],
  ["{% a := []int{1} %}{% n := 3 %}{{ len(a[:n]) }}", /slice bounds out of range \[0:3\] with length 1/],
  ["{% var k any = []any{} %}{% m := map[any]int{} %}{% m[k] = 1 %}", /hash of unhashable type \[\]any/],
  ["{% n := -1 %}{{ 1 << n }}", /negative shift amount/],
  ["{% n := -1 %}{% x := make([]int, n) %}", /len out of range/],
  ["{% type P struct { X int } %}{% var v any = P{} %}{{ v.(string) }}", /any is P, not string/],
  ["{% type P struct { L []int } %}{% p := P{L: []int{1}} %}{{ p == P{L: []int{1}} }}", /comparing uncomparable/],
] as const) {
  test(`${template} fails while running`, () => {
    assert.throws(() => render(template), expected);
  });
}

test.run();
