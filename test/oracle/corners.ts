/** Small programs at the edges of operators, conversions and guards; what they give is what the oracle gives. */
import { compileFiles, difference, parseFiles, runEngine, runOracle } from "./compare.ts";
import { frozen, inputs } from "./generate/data.ts";
import { Random } from "./generate/random.ts";

const BIG = [
  "9007199254740992",
  "4611686018427387904",
  "9223372036854775807",
  "-9223372036854775808",
  "7",
  "-3",
  "0",
  "1",
  "25",
  "65535",
  "-2147483648",
];
/** Values of every kind, as an `any`. */
const HELD = [
  "nil",
  "1",
  "0",
  "-7",
  "2.5",
  "4.0",
  '"s"',
  '""',
  '"12"',
  "true",
  "false",
  "[]any{1}",
  "[]any{}",
  'map[string]any{"a": 1}',
  "x => x",
  "9007199254740993",
];
const TYPES = ["int", "string", "bool", "float64", "[]any", "map[string]any", "any", "func(any) any"];

const any = (value: string): string => `{% var h any = ${value} %}`;

/** Files that every corner may render. */
const SNIPPETS = {
  "s/a": "A",
  "s/b": "B{{ title_ }}",
  plain: "P\n",
  lib: "{% macro Twice(s string) %}{{ s }}{{ s }}{% end %}",
};

function* programs(): Generator<string> {
  for (const a of BIG)
    for (const b of BIG) {
      const typed = `{% var a, b = ${a}, ${b} %}`;
      const dynamic = `{% var a any = ${a} %}{% var b any = ${b} %}`;
      yield `${typed}{{ a + b }} {{ a - b }} {{ a * b }} {{ a & b }} {{ a | b }} {{ a ^ b }} {{ a &^ b }} {{ a == b }} {{ a < b }} {{ a <= b }} {{ a > b }} {{ a != b }}`;
      yield `${dynamic}{{ a + b }} {{ a - b }} {{ a * b }} {{ a == b }} {{ a < b }} {{ a >= b }} {{ a & b }}`;
      for (const op of ["/", "%", "<<", ">>"]) {
        yield `${typed}{{ a ${op} b }}`;
        yield `${dynamic}{{ a ${op} b }}`;
      }
      yield `${typed}{{ min(a, b) }} {{ max(a, b) }} {{ float64(a) + float64(b) }} {{ -a }} {{ ^b }} {{ float64(a) < float64(b) }}`;
    }
  for (const v of HELD) {
    yield `${any(v)}{{ h }}`;
    yield `${any(v)}{{ toJSON(h) }}`;
    yield `${any(v)}{% if h %}t{% else %}f{% end %}{{ not h }}{{ h and true }}{{ h or false }}`;
    for (const t of TYPES) {
      yield `${any(v)}{% var x ${t} = h %}{{ toJSON(x) }}`;
      if (t !== "any" && t !== "float64") yield `${any(v)}{% var x, ok = h.(${t}) %}{{ ok }}`;
      if (t !== "any" && t !== "float64") yield `${any(v)}{% var x = h.(${t}) %}ok`;
    }
    yield `${any(v)}{{ int(h) }}`;
    yield `${any(v)}{{ float64(h) }}`;
    yield `${any(v)}{{ string(h) }}`;
    yield `${any(v)}{{ -h }}`;
    yield `${any(v)}{{ ^h }}`;
    yield `${any(v)}{{ len(h) }}`;
    yield `${any(v)}{% for k, e := range h %}{{ k }}={{ e }};{% else %}none{% end %}`;
    yield `${any(v)}{% for e in h %}{{ e }};{% else %}none{% end %}`;
    yield `${any(v)}{{ h.a }}`;
    yield `${any(v)}{{ h["a"] }}`;
    yield `${any(v)}{{ h[0] }}`;
    yield `${any(v)}{{ h[:0] | toJSON() }}`;
    yield `${any(v)}{{ h contains 1 }}{{ h contains "a" }}`;
    yield `${any(v)}{{ h contains "s" }}`;
    yield `${any(v)}{% h.a = 2 %}{{ toJSON(h) }}`;
    yield `${any(v)}{% h[0] = 2 %}{{ toJSON(h) }}`;
    yield `${any(v)}{% delete(h, "a") %}{{ toJSON(h) }}`;
    yield `${any(v)}{{ append(h, 2) | toJSON() }}`;
    yield `${any(v)}{{ h(1) }}`;
    yield `${any(v)}{% var x, ok = h["a"] %}{{ toJSON(x) }}{{ ok }}`;
    yield `${any(v)}{% var x, ok = h.a %}{{ toJSON(x) }}{{ ok }}`;
    yield `${any(v)}{% panic(h) %}`;
    yield `${any(v)}{{ "a" + h }}{{ h + "b" }}`;
    yield `${any(v)}{% switch x := h.(type) %}{% case int %}int{% case string %}str{% case bool %}b{% case []any %}l{% case map[string]any %}m{% case nil %}n{% case func(any) any %}f{% default %}d{% end %}`;
    yield `${any(v)}{% switch h %}{% case 1 %}one{% case "s" %}s{% case true %}t{% case nil %}nil{% default %}d{% end %}`;
    yield `${any(v)}{% h += 1 %}{{ toJSON(h) }}`;
    yield `${any(v)}{% h -= 1 %}{{ toJSON(h) }}`;
    yield `${any(v)}{% h++ %}{{ toJSON(h) }}`;
    yield `${any(v)}{% macro M(s string, n int) %}{{ s }}{{ n }}{% end %}{{ M(h, 1) }}`;
    yield `${any(v)}{% macro M(n int) %}{{ n }}{% end %}{{ M(h) }}`;
    // Macros that are compiled in the place of their calls.
    const placed =
      '{% macro P(x any, n string) %}<{{ x }}{{ n }}{{ dig(x, "a", "p/" + n) | fallback("z") }}{{ n + "é" }}>{% end %}';
    yield `${any(v)}${placed}{% var n any = 1 %}{% var x = "k" %}{{ P(h, "a") }}{{ P(n, x) }}{{ P(x, x) }}{{ P("s", x) }}`;
    yield `${any(v)}${placed}{{ P(h, "\\xc3") }}{{ len(P(h, "\\xa9")) }}{% var s string = P(h, "b") %}{{ s == P(h, "b") }}`;
    yield `${any(v)}{% macro P(x any) %}{{ x.a }}{{ x | tostring() | toUpper() }}{% end %}{{ P(h) }}`;
    yield `${any(v)}{% macro P(x any) %}{{ tostring(x) }}{% end %}{% if true %}{% var tostring = 5 %}{{ P(h) }}{{ tostring }}{% end %}`;
    yield `${any(v)}{{ toJSON(dig(h, "a", "b")) }}{{ toJSON(dig(h, "length")) }}{{ toJSON(dig(h, title_)) }}{{ toJSON(dig(h, "a")) }}`;
    yield `${any(v)}{% var a, ok = h.(any) %}{{ ok }}{{ a == h }}{% switch x := h.(type) %}{% case any %}a{{ x == h }}{% default %}d{% end %}`;
    yield `${any(v)}{% var x, ok = h.(float64) %}{{ ok }}{{ x }}{% switch h.(type) %}{% case float64 %}f{% case int %}i{% case error %}e{% default %}d{% end %}`;
    yield `${any(v)}{% var x, ok = h[0] %}{{ toJSON(x) }}{{ ok }}`;
    yield `${any(v)}{% var x, ok = h[1] %}{{ toJSON(x) }}{{ ok }}`;
    for (const t of ["int8", "uint8", "int32", "int64", "uint64", "float32"]) yield `${any(v)}{{ ${t}(h) }}`;
    for (const f of ["ceil", "seq", "sort_strings", "toUpper", "keys", "isNil", "tostring"])
      yield `${any(v)}{% var f = ${f} %}{{ toJSON(f(h)) }}{{ toJSON(map([]any{h}, ${f})) }}`;
    yield `${any(v)}{{ toJSON(map([]any{h}, x => x)) }}{% var f = filter %}{{ toJSON(f([]any{1, 0, h}, x => x)) }}`;
    yield `${any(v)}{% var f = filter %}{{ toJSON(f([]any{1}, h)) }}`;
    yield `${any(v)}{% var f = indent %}{{ f(h, 2, h) }}`;
    yield `${any(v)}{{ sprint(h, h) }}{{ join([]any{h, 1}, ",") }}`;
    for (const f of [
      "toint",
      "tofloat",
      "ceil",
      "floor",
      "abs",
      "tostring",
      "isdigit",
      "toSlice",
      "keys",
      "toJSON",
      "formatInt(toint(h), 10) + toJSON",
    ])
      yield `${any(v)}{{ toJSON(${f}(h)) }}`;
    yield `${any(v)}{{ min(h, 1) }}{{ max(1, h) }}{{ pow(h, 2) }}`;
    yield `${any(v)}{{ toUpper(h) }}`;
    yield `${any(v)}{{ seq(h) | join(",") }}`;
    yield `${any(v)}{{ map([]any{1, 2}, h) | toJSON() }}`;
    for (const w of HELD) {
      yield `${any(v)}{% var w any = ${w} %}{{ h == w }}`;
      yield `${any(v)}{% var w any = ${w} %}{{ h < w }}`;
      for (const op of ["+", "-", "*", "/", "%"]) {
        yield `${any(v)}{% var w any = ${w} %}{{ toJSON(h ${op} w) }}`;
        // JSON has no text for what is no number: it would hide one behind an error.
        if (v === "2.5" || w === "4.0") yield `${any(v)}{% var w any = ${w} %}{{ h ${op} w }}`;
      }
    }
  }
  for (const pattern of [
    "*",
    "a*",
    "?b",
    "[a-c]*",
    "[^a-c]*",
    "[abx-z]?",
    "[^a]",
    "\\\\*",
    "a[b-d]c",
    "*/b",
    "a/*",
    "x[0-9]",
    "[a-a]b",
    "**",
    "a?c",
    "",
    "[a",
    "a[",
    "[]",
    "[]a]",
    "[a-]",
    "[-a]",
    "[\\\\]x]*",
    "[\\\\-a]*",
    "a\\\\",
    "[^]*",
  ])
    yield `{{ glob_match([]any{"a", "b", "ab", "abc", "a/b", "x1", "*", "-", "zz", "", "é", "adc"}, "${pattern}") | toJSON() }}`;
  for (const bytes of [
    "4ICA",
    "8ICAgA==",
    "7aCA",
    "9JCAgA==",
    "wIA=",
    "w6n/",
    "4pg=",
    "4piD4pg=",
    "8J+YgPCfmA==",
    "gIA=",
    "w6nDqQ==",
    "4oKs9JKAgA==",
  ])
    yield `{% var s = b64decode("${bytes}") %}{{ len(s) }} {{ hex(s) }} {{ b64encode(s) }} {{ len(s + "x") }} {{ s[0] }} {{ hex(s[1:]) }} {{ s == s[:1] + s[1:] }}{% for i, c := range s %} {{ i }}:{{ c }}{% end %}`;
  yield* [
    '{% var m = map[int]string{3: "c", 1: "a", 20: "t"} %}{% m[2] = "b" %}{{ m[1] }}{{ m[9] }}|{{ len(m) }}{% for k, v := range m %}{{ k }}{{ v }}{% end %}{% delete(m, 3) %}{{ m contains 3 }}{{ m contains 2 }}{% var v, ok = m[20] %}{{ v }}{{ ok }}',
    "{% var m = map[bool]int{true: 1} %}{% m[false]++ %}{{ m[true] }}{{ m[false] }}{% for k, v := range m %}{{ k }}{{ v }}{% end %}",
    '{% var m = map[any]any{1: "i", "1": "s", true: "b"} %}{{ m[1] }}{{ m["1"] }}{{ m[true] }}{{ m[2] }}{{ len(m) }}',
    '{% var m map[string]int %}{{ m["a"] }}{{ len(m) }}{{ m == nil }}{% m["a"] = 1 %}',
    "{% var m map[int]int %}{{ m[1] }}{% m[1] = 1 %}",
    "{% var l []int %}{{ len(l) }}{{ l == nil }}{% l = append(l, 1) %}{{ l[0] }}{{ l[1] }}",
    "{% var l = []int{1, 2, 3} %}{{ l[-1 + 0 * len(l)] }}",
    "{% var l = []int{1, 2, 3} %}{% var i = 2 %}{{ l[i] }}{{ l[i:] | join(`,`) }}{{ l[:i] | join(`,`) }}{{ l[i:1] | join(`,`) }}",
    "{% var l = []int{1, 2, 3} %}{% var i = 4 %}{{ l[:i] | join(`,`) }}",
    "{% var l = []int{1, 2, 3} %}{% l[3] = 1 %}",
    "{% var l = []any{1, 2, 3} %}{% var i any = 1 %}{{ l[i] }}{% i = 1.5 %}{{ l[i] }}",
    '{% var s = "héllo" %}{{ s[1] }} {{ s[1:3] }} {{ len(s) }} {{ s[5] }} {{ s[6] }}',
    '{% var s = "héllo" %}{% for i, c := range s %}{{ i }}:{{ c }} {% end %}{{ string(s[1]) }}{{ s[2:] }}{{ s[:2] + s[2:] }}',
    '{% var s any = "héllo" %}{{ s[1] }} {{ s[1:3] }} {{ s[9] }}',
    '{{ "abc" < "abd" }}{{ "a" < "B" }}{{ "é" > "z" }}{{ "😀" > "\uffee" }}{{ "" < "a" }}{{ "ab" <= "ab" }}{{ "ab" >= "abc" }}',
    "{% var x = uint8(250) %}{% x += 10 %}{{ x }}{% var y = int8(127) %}{% y++ %}{{ y }}{% var z = uint16(0) %}{% z-- %}{{ z }}{% var w = int32(2147483647) %}{% w++ %}{{ w }}{{ x << 3 }}{{ ^x }}{{ -y }}",
    "{% var u = uint64(18446744073709551615) %}{{ u }}{% u++ %}{{ u }}{% u-- %}{{ u / 3 }}{{ u % 10 }}{{ u >> 60 }}{{ u > 5 }}",
    "{% var f = 0.0 %}{{ 1 / f }} {{ -1 / f }} {{ f / f }} {{ -f }} {{ 1e21 }} {{ 1e-7 }} {{ 1.5e300 * 10.0 }}",
    "{{ int(3.0) == 3 }}{% var f = 3.9 %}{{ int(f) }}{{ int(-f) }}{{ float64(7) / 2 }}{{ 7 / 2 }}{{ 7 / 2.0 }}{{ -7 / 2 }}{{ -7 % 3 }}",
    "{% var i = 7 %}{{ i / 2 }}{{ i % 4 }}{{ -i / 2 }}{{ -i % 4 }}{{ i << 62 }}{{ i << 64 }}{{ i >> 1 }}{{ -i >> 1 }}{{ i >> 70 }}",
    "{% var n = -1 %}{{ 1 << n }}",
    "{% var n = -1 %}{{ 8 >> n }}",
    "{% type T struct { A int; B string } %}{% var a, b = T{1, `x`}, T{1, `x`} %}{{ a == b }}{% b.A = 2 %}{{ a == b }}{{ a != b }}{{ a.A }}{{ b.A }}",
    "{% type T struct { A []int; M map[string]int } %}{% var a T %}{{ len(a.A) }}{{ a.M[`x`] }}{% var b = a %}{% b.A = append(b.A, 1) %}{{ len(a.A) }}{{ len(b.A) }}{% a.M[`x`] = 1 %}",
    "{% type N struct { V int; Next *N } %}{% var l *N %}{% for i := 0; i < 3; i++ %}{% l = &N{i, l} %}{% end %}{% for n := l; n != nil; n = n.Next %}{{ n.V }}{% end %}{{ l.Next.Next.Next.V }}",
    '{% var n = "s/a" %}{{ (render n) + "." }}{{ render n }}{{ render ("s/" + "b") }}{% var t = render n %}{{ t }}{{ len(render "plain") }}',
    '{{ render_glob "s/*" }}{{ (render_glob "s/*") + "!" }}{% var g = render_glob "s/*" %}{{ g }}{{ render_glob "none*" }}{{ (render_glob "none*") + "." }}',
    '{% macro M %}{{ render "plain" }}{{ render_glob "s/*" }}{% var n = "plain" %}{{ render n }}{% end %}{{ M() }}{{ toUpper(M()) }}',
    '{% var n = "nowhere" %}{{ render n }}',
    '{% var n = "nowhere" %}{{ render n default "d" }}{% var t = render n default "e" %}{{ t }}{% n = "plain" %}{{ render n default "f" }}',
    '{% import "lib" for Twice %}{{ Twice("a") }}{{ map([]any{"x"}, Twice) | join(",") }}',
    "{% var m = map[float64]int{1.5: 1, 2.0: 2} %}{{ m[2.0] }}{{ m[1.5] }}{{ m[2] }}{% for k, v := range m %}{{ k }}={{ v }};{% end %}",
    "{% var m = map[any]int{2.0: 1, 3: 2} %}{{ m[3] }}{{ m[2.0] }}{{ len(m) }}",
    "{% var m = map[int]string{1: `a`} %}{% var v, ok = m[1] %}{{ v }}{{ ok }}{% v, ok = m[2] %}{{ v }}{{ ok }}{% if m %}t{% end %}{% delete(m, 1) %}{% if m %}t{% else %}f{% end %}{{ toJSON(m) }}",
    "{% var m any = map[int]int{1: 5} %}{% if m %}t{% end %}{{ m[1] }}{{ len(m) }}{% for k, v := range m %}{{ k + v }}{% end %}{% var v, ok = m[7] %}{{ ok }}",
    ...[0, 1, 31, 32, 33, 40, 62, 63, 64, 70].map(
      (n) => `{% var a, b, n = 5, -9007199254740991, ${n} %}{{ a >> n }} {{ b >> n }} {{ a << n }} {{ -a >> n }}`,
    ),
    "{% var v, err = b64decode(`?`) %}{% var h any = err %}{% var e, ok = h.(error) %}{{ ok }}{{ e }}{% switch x := h.(type) %}{% case string %}s{% case error %}{{ x }}{% end %}{{ h == nil }}{{ `x` + h }}",
    "{% type T struct { A int } %}{% var x = T{1} %}{% var p, q = &x, &x %}{% var r = p %}{{ p == r }}{% p.A = 4 %}{{ x.A }}{{ r.A }}{% *p = T{9} %}{{ q.A }}{% var z = *p %}{% z.A = 1 %}{{ p.A }}",
    "{% type T struct { A int; B [2]int; C *T } %}{% var x T %}{% if x.C == nil %}nil{% end %}{% x.B[1] = 3 %}{% var y = x %}{% y.B[1] = 4 %}{{ x.B[1] }}{{ y.B[1] }}{% y.C = &x %}{% y.C.A = 8 %}{{ x.A }}{% var l = []T{x, y} %}{% l[0].B[0] = 5 %}{{ l[0].B[0] }}{{ x.B[0] }}",
    "{{ -1e-7 }} {{ -1e22 }} {{ 1.5e-9 }} {{ 123456789012345680000.0 }} {{ sprint(1e22, 1e-5, 2.5, -0.00001, 1e20) }} {{ `` + 1e22 }}",
    "{% var f = 0.1 %}{{ f + 0.2 }} {{ f * 3 }} {{ f - 1 }} {{ f / 3 }} {{ -f }} {{ f == 0.1 }} {{ f < 0.2 }} {{ float32(f) == float32(0.1) }} {{ float32(0.5) }}",
    "{% var a any = 2.5 %}{% var b any = 2 %}{{ a * b }} {{ a + b }} {{ a - b }} {{ a / b }} {{ b / a }} {{ a > b }} {{ b < a }} {{ a == b }} {{ -a }} {{ +b }}",
    "{% var s = []string{`b`, `a`} %}{{ s contains `a` }}{{ s contains `z` }}{{ s not contains `z` }}{{ []int{1, 2} contains 2 }}{{ []any{1, `x`, nil, 2.5} contains nil }}{{ []any{1, `x`} contains `x` }}{{ []any{2.5} contains 2.5 }}{{ map[string]int{`k`: 0} contains `k` }}{{ `héllo` contains 'é' }}{{ `abc` contains `` }}",
    "{% var l = []any{[]any{1}, map[string]any{`a`: []any{2}}} %}{{ l[0][0] }}{{ l[1].a[0] }}{{ l[1][`a`][0] }}{% l[1].a[0] = 5 %}{{ l[1].a[0] }}{{ toJSON(l) }}",
    "{% var n = copy([]int{1, 2}, []int{3}) %}{{ n }}{% var a []int %}{{ copy(a, []int{1}) }}{{ cap(a) }}{% var b = []byte(`abc`) %}{{ copy(b, []byte(`xy`)) }}{{ string(b) }}{{ len(b) }}",
    "{% var t any = title_ %}{{ t == title_ }}{{ t != `zz` }}{{ `a` < t }}{% t = nil %}{{ t == nil }}{{ t != nil }}{{ nil == t }}",
    "{% var a any = [2]int{1, 2} %}{% var b any = []any{1, 2} %}{{ a == b }}",
    "{% var a any = []any{1, 2} %}{% var b any = [2]int{1, 2} %}{{ a == b }}",
    "{% type T struct { A int } %}{% var l = []*T{{1}, {A: 2}} %}{% var p = l[0] %}{% p.A = 7 %}{{ l[0].A }}{{ l[1].A }}{% var m = map[string]*T{`x`: {3}} %}{% var q = m[`x`] %}{% q.A++ %}{{ m[`x`].A }}{{ m[`y`] == nil }}",
    "{% var m = make(map[int]string) %}{% m[2] = `b` %}{% m[1] = `a` %}{{ m[1] }}{{ len(m) }}{% var n = make(map[bool]int) %}{% n[true]++ %}{{ n[true] }}{% var o = make(map[string]int) %}{% o.x += 2 %}{{ o.x }}",
    "{% type T struct { A int; B string; C []int } %}{% var x = T{1, `b`, []int{2, 3}} %}{{ sprint(x) }}{{ join([]any{x, 1}, `,`) }}{% var a = [2]string{`p`, `q`} %}{{ sprint(a) }}{{ join([]any{a}, `,`) }}",
    "{% type T struct { A int } %}{% var x = T{5} %}{% var h any = &x %}{% var p *T = h %}{% p.A++ %}{{ x.A }}{% h = nil %}{% var q *T = h %}{{ q == nil }}{% h = 1 %}{% var r *T = h %}{{ r == nil }}",
    "{% type T struct { A int } %}{% var h any = T{5} %}{% var t T = h %}{{ t.A }}{% t.A = 6 %}{{ h.A }}",
    "{% var x = 1 %}{% var a any = &x %}{% var b any = []any{1} %}{{ a == b }}{{ b == a }}{{ a == 1 }}{% var p = &x %}{% var h any = p %}{{ h == a }}",
    "{% type T struct { A int; B string } %}{% var x = T{5, `b`} %}{% var h any = &x %}{% h.A = 7 %}{{ x.A }}{{ h.A }}{{ h.B }}{% h.B += `!` %}{{ x.B }}{% h[`A`] = 9 %}{{ x.A }}{{ h[`A`] }}",
    "{% var h any = []float64{1.5, 2.0} %}{% var l, ok = h.([]float64) %}{{ ok }}{{ l[1] / 4 }}{% h = []any{2.5} %}{% var m = h.([]any) %}{{ m[0] }}",
    "{% var m = map[int]int{} %}{% for i := 0; i < 30; i++ %}{% m[i * 7 % 31] = i %}{% end %}{% m[9007199254740993] = 1 %}{% m[-5] = 2 %}{% for k, v := range m %}{{ k }}={{ v }},{% end %}",
    "{% var p *int %}{{ p == nil }}{{ *p }}",
    "{{ first_seen(`a`, 1) }}{{ first_seen(`a`, `1`) }}{{ first_seen(nil, ``) }}{{ first_seen(``, nil) }}{{ first_seen(true) }}{{ first_seen(`true`) }}",
    "{% var h any = [2]int{1, 2} %}{% var x, ok = h.([2]int) %}{{ ok }}{{ x[1] }}{% var y, two = h.([3]int) %}{{ two }}{{ y[2] }}{% h = 1 %}{% var z, three = h.([2]int) %}{{ three }}{{ z[0] }}",
    "{% var a any = [2]int{1, 2} %}{% var b any = [2]int{1, 2} %}{{ a == b }}{% b = [2]int{1, 3} %}{{ a == b }}{% b = [3]int{1, 2, 3} %}{{ a == b }}",
    "{% type T struct { A int } %}{% var a any = T{1} %}{% var b any = [1]int{1} %}{{ a == b }}{% b = T{1} %}{{ a == b }}{{ a == nil }}{{ a == 1 }}",
    "{% type P struct { X, Y int } %}{% var m = map[string]P{`a`: {1, 2}} %}{{ m[`a`].X }}{{ m[`b`].Y }}{% var l = []P{{3, 4}, {Y: 5}} %}{% l[0].X = 9 %}{{ l[0].X }}{{ l[1].Y }}{% var q = &l[1] %}{% q.X = 7 %}{{ l[1].X }}{% for _, p := range l %}{% p.X = 0 %}{% end %}{{ l[0].X }}",
    "{% var a = [2][2]int{{1, 2}, {3, 4}} %}{% var b = a %}{% b[0][1] = 9 %}{{ a[0][1] }}{{ b[0][1] }}{{ a == b }}{% var i = 2 %}{{ a[i][0] }}",
    "{% var a = []int{1, 2, 3} %}{% var b = a %}{% b[0] = 9 %}{{ a[0] }}{% b = append(b, 4) %}{% b[1] = 8 %}{{ a[1] }}{{ len(a) }}{{ len(b) }}",
    "{% var a = []int{} %}{% for i := 0; i < 20; i++ %}{% a = append(a, i) %}{% end %}{% var b = a %}{% a = append(a, 99) %}{{ len(b) }}{{ len(a) }}{{ a | join(`,`) }}",
    "{% var a = make([]int, 2, 5) %}{% var b = append(a, 1) %}{% var c = append(a, 2) %}{{ b[2] }}{{ c[2] }}{{ len(a) }}",
    "{% var n = -1 %}{{ len(make([]int, n)) }}",
    "{% var f = []func() int{} %}{% for i := 0; i < 3; i++ %}{% f = append(f, func() int { i += 10; return i }) %}{% end %}{% for _, g := range f %}{{ g() }},{{ g() }};{% end %}",
    "{% var n = 0 %}{% L: for i := 0; i < 4; i++ %}{% for j := 0; j < 4; j++ %}{% if j == 2 %}{% continue L %}{% end %}{% if i == 2 %}{% break L %}{% end %}{% n += i * 10 + j %}{{ n }},{% end %}{% end %}",
    "{% L: for i := 0; i < 3; i++ %}{% switch i %}{% case 1 %}{% break %}{% case 2 %}{% break L %}{% default %}d{% end %}{{ i }}{% end %}",
    "{% switch 3 %}{% case 1, 2 %}a{% case 3 %}b{% fallthrough %}{% case 4 %}c{% default %}d{% end %}{% switch %}{% case false %}x{% default %}y{% end %}",
    '{% var a, b, c = 1, "x", 2.5 %}{% a, b = 5, "y" %}{{ a }}{{ b }}{{ c }}{% x, a := 1, 7 %}{{ x }}{{ a }}{% if true %}{% a := 3 %}{{ a }}{% end %}{{ a }}',
    '{% macro M(a string, n ...int) %}{{ a }}{{ len(n) }}{% for x in n %}{{ x }}{% end %}{% end %}{{ M("a") }}{{ M("b", 1, 2) }}{{ M("c", []int{3}...) }}{% var l []int %}{{ M("d", l...) }}',
    "{% macro R(n int) string %}{{ n }}{% if n > 0 %}{{ R(n - 1) }}{% return %}{% end %}end{% end %}{{ R(3) }}{% var t = R(1) %}[{{ t }}]{{ len(R(2)) }}",
    "{% macro A %}a{% return %}b{% end %}{{ A() }}{% var f = A %}{{ f() }}{{ map([]any{1}, x => A()) | join(`,`) }}",
    "{{ map([]any{`a`, `b`}, toUpper) | join(`,`) }}",
    "{% var f = toUpper %}{{ f(`x`) }}{{ map([]any{`c`}, strings_lower) | join(`,`) }}",
    "{{ map([]any{1}, toUpper) | join(`,`) }}",
    "{{ map([]any{`a`}, replaceAll) | join(`,`) }}",
    "{{ filter([]any{0, 1, ``, `x`, nil}, x => x) | toJSON() }}{{ reject([]any{0, 1}, x => x) | toJSON() }}",
    "{% var f = func(a int, b string) (string, int) { return b, a } %}{% var s, n = f(1, `z`) %}{{ s }}{{ n }}{% var g any = f %}{% var t, m = g(2, `y`) %}{{ t }}{{ m }}",
    "{% var g any = func() int { return 1 } %}{% var a, b = g() %}{{ a }}",
    "{% var f func() int %}{{ f == nil }}{{ f() }}",
    "{% var v, err = b64decode(`?`) %}{{ v }}|{{ err }}{{ err == nil }}{% v, err = b64decode(`aGk=`) %}{{ v }}{{ err == nil }}",
    "{% var v, err = sort_by([]any{1}, x => fail(`stop`)) %}{{ err }}",
    "{{ sort_by([]any{3, 1, 2}, func(a any, b any) any { return fail(`stop`) }) | join(`,`) }}",
    "{{ title_ default 1 }}{{ nothing default 2 }}{{ nothing() default 3 }}",
    "{% var x any %}{{ x == nil }}{{ x }}{% x = 1 %}{{ x == 1 }}{{ x == 1.0 }}{{ x != `1` }}",
    "{{ len(resources.pods.List()) }}{% for p in resources.pods.Fetch(`default`) %}{{ p.name }}{% end %}{{ resources.pods.GetSingle(`kube`, `constructor`).name }}{{ resources.pods.GetSingle(`no`) }}",
    "{% var v, made = shared.ComputeIfAbsent(`k`, func() any { return []any{1} }) %}{{ made }}{% var w, again = shared.ComputeIfAbsent(`k`, func() any { return 2 }) %}{{ again }}{{ toJSON(w) }}{{ toJSON(shared.Get(`k`)) }}{{ shared.Get(`no`) }}",
    "{{ map(resources.pods.List(), p => resources.pods.GetSingle(p.namespace, p.name).name) | join(`,`) }}",
    "{% var m any = map[string]any{`a`: map[string]any{`b`: 1, `z`: 0, `constructor`: `c`}, `l`: []any{5, 6}} %}{% var k = `a` %}{% var b any = `b` %}{{ dig(m, k, `b`) }}{{ dig(m, `a`, b) }}{{ dig(m, k, b) }}{{ dig(m, `a`, k) == nil }}{{ dig(m, k, `z`) }}{{ dig(m, `a`, `constructor`) }}{{ dig(m, `constructor`) == nil }}{{ dig(m, k, `no`, `more`) == nil }}",
    "{% var m = map[string]any{`a`: `x`} %}{% for _, k := range []any{`a`, `b`, `__proto__`, 0, nil} %}{{ toJSON(dig(m, k)) }},{{ toJSON(m | dig(k) | fallback(`none`)) }};{% end %}",
    "{% for _, k := range []any{0, 1, 5, -1, `0`, `length`, 1.0} %}{{ toJSON(dig([]any{`p`, nil}, k)) }};{% end %}",
    "{% var n []any %}{% l := []any{1} %}{{ toJSON(append(l, n...)) }}{{ toJSON(append(n, l...)) }}{% l = append(l, n...) %}{{ len(l) }}",
    ...["nil", "`ab`", "[]any{2, 3}", "[]any{}", "map[string]any{`k`: 4}", "5"].map(
      (h) => `{% var h any = ${h} %}{% l := []any{1} %}{% l = append(l, h...) %}{{ toJSON(l) }}`,
    ),
    "{% var b []byte %}{% b = append(b, `xyz`...) %}{{ string(b) }}",
    "{% for _, x := range []any{1, 2.5, 4.0, 7, 9007199254740993, `a`, true} %}{{ []any{2.5, 4, `b`, 9007199254740993} contains x }},{{ []any{nil, `a`, 1.0, []any{1}} contains x }};{% end %}",
    "{% s := `` %}{% for i in seq(300) %}{% s = s + `abcd` %}{% end %}{{ len(s) }}{{ s }}{% t := `` %}{% for i in seq(300) %}{% t = `xy` + t %}{% end %}{{ t }}",
    ...["0x80", "0x90", "0xa0", "0xbf", "0x41"].map(
      (second) =>
        `{% for i := 0x7e; i < 256; i++ %}{% var b = []byte{byte(i), ${second}, 0x80, 0xbf, 65} %}{% for k, r := range string(b) %}{{ k }}:{{ r }} {% end %};{% end %}`,
    ),
    "{% cfg.name = 1 %}",
    "{% items[0] = 1 %}",
    "{% delete(hostile, `a`) %}{{ len(cfg) }}",
    "{% var m = merge(cfg, map[string]any{`name`: `new`}) %}{% m.extra = 1 %}{{ m.name }}{{ m.extra }}{{ cfg.extra }}",
    "{% cfg.tags[0] = 1 %}",
    "{% var l = append(cfg.tags, 1) %}{{ len(l) }}{{ len(cfg.tags) }}{% l[0] = `z` %}{{ l[0] }}",
    "{% raw %}{{ x }}{% end %}{# c {# d #} #}",
    "a\n  {% if true %}\n  b\n  {% end %}\nc {%- if true -%} d {%- end %}\n\n{%- var x = 1 %}{{ x -}}\n\n e",
  ];
}

/** A corner where engine and oracle differ; undefined = there is none. */
export function brokenCorner(): string | undefined {
  const data = frozen(inputs(new Random(11)));
  let n = 0;
  for (const text of programs()) {
    const files = { ...SNIPPETS, main: text };
    const set = compileFiles(files);
    if (set.problems.length > 0) continue;
    const oracle = runOracle(parseFiles(files), data);
    const found = difference(runEngine(set, data, n++ % 2 === 0), oracle);
    if (found !== undefined) return `${found}\n${text}`;
  }
  return n < 2_500 ? `only ${n} corners compile` : undefined;
}
