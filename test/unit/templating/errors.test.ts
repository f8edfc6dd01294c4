import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../../src/errors.ts";
import { createEngine } from "../../../src/templating/index.ts";
import { compile, problems, render, type Setup } from "./engine.ts";

function failure(text: string, setup: Setup = {}): TemplateError {
  try {
    render(text, setup);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error("the template did not fail");
}

const compileCases: readonly (readonly [template: string, ...problems: string[]])[] = [
  // syntax
  ["{{ x", "1:1: syntax error: unexpected EOF, expecting }}"],
  ['{{ "x }}', "1:4: syntax error: string not terminated"],
  ["a {# b", "1:3: syntax error: comment not terminated"],
  ["a #} b", "1:3: syntax error: unexpected #}"],
  ["{{ }}", "1:4: syntax error: unexpected }}, expecting expression"],
  ["{% if true %}", "1:4: syntax error: unexpected EOF, this if has no {% end %}"],
  ["{% if true %}{% end for %}", "1:21: syntax error: unexpected for, expecting if or end of tag"],
  ["{% end %}", "1:4: syntax error: unexpected end"],
  ["{% else %}", "1:4: syntax error: unexpected else"],
  ["{% if %}{% end %}", "1:7: syntax error: missing condition in if statement"],
  ["{% if x = 1 %}{% end %}", "1:9: syntax error: cannot use this statement as a condition"],
  ["{% for x of y %}{% end %}", "1:10: syntax error: unexpected of, expecting ; or range"],
  ["{{ 1 + }}", "1:8: syntax error: unexpected end of tag, expecting expression"],
  ["{{ 1 2 }}", "1:6: syntax error: unexpected 2, expecting end of tag"],
  ['{{ "a" | toLower }}', "1:10: syntax error: the right side of a pipe must be a call"],
  ["{% var if = 1 %}", "1:8: syntax error: unexpected if, expecting a name"],
  ['{{ "\\q" }}', "1:5: syntax error: unknown escape sequence \\q"],
  ["{{ a\n}}", "1:5: syntax error: unexpected newline, expecting }}"],
  ["{% switch 1 %}x{% case 1 %}{% end %}", "1:15: syntax error: unexpected text before the first case"],
  ["{{ 3i }}", "1:4: complex numbers are not supported"],
  // names
  ["{{ nope }}", "1:4: undefined: nope"],
  [
    "{{ constructor }}{{ __proto__ }}{{ toString(1) }}",
    "1:4: undefined: constructor",
    "1:21: undefined: __proto__",
    "1:36: undefined: toString",
  ],
  ["{% x := 1 %}{% x := 2 %}", "1:18: no new variables on left side of :="],
  ["{% var x = 1 %}{% var x = 2 %}", "1:23: x redeclared in this block"],
  ["{% if true %}{% y := 1 %}{% end %}{{ y }}", "1:38: undefined: y"],
  ["{{ M() }}{% macro M %}{% end %}", "1:4: undefined: M"],
  ["{% nope = 1 %}", "1:4: undefined: nope"],
  ["{% len = 1 %}", "1:4: undefined: len"],
  ["{% toLower = 1 %}", "1:4: cannot assign to toLower"],
  ["{% const c = 1 %}{% c = 2 %}", "1:21: cannot assign to c"],
  // control
  ["{% break %}{% continue %}", "1:4: break is not in a loop or switch", "1:15: continue is not in a loop"],
  ["{% for range []any{} %}{% break L %}{% end %}", "1:27: break label not defined: L"],
  ["{% macro M %}{% return 1 %}{% end %}", "1:17: a macro or template cannot return values"],
  ["{% f := func() int { return } %}", "1:22: wrong number of values in return: have 0, want 1"],
  // calls
  [
    '{{ toLower() }}{{ toLower("a", "b") }}',
    "1:11: not enough arguments in call to toLower: have 0, want 1",
    "1:26: too many arguments in call to toLower: have 2, want 1",
  ],
  ["{{ toLower(5) }}", "1:12: cannot use 5 (type untyped int) as type string in argument to toLower"],
  [
    '{% macro M(s string, n int) %}{% end %}{{ M(1, 2) }}{{ M("a") }}',
    "1:45: cannot use 1 (type untyped int) as type string in argument to M",
    "1:57: not enough arguments in call to M: have 1, want 2",
  ],
  ["{% x := 1 %}{{ x(2) }}", "1:17: cannot call a value of type int"],
  ["{% a, b := 1 %}", "1:12: assignment mismatch: 2 variables but 1 value"],
  ['{% a, b := toLower("x") %}', "1:19: assignment mismatch: 2 variables but toLower gives 1 value"],
  ['{% len("a") %}{% toLower("a") %}', "1:7: len(…) evaluated but not used", "1:25: toLower(…) evaluated but not used"],
  ["{% 1 + 1 %}", "1:6: expression evaluated but not used"],
  // types
  ["{{ 1 + true }}", "1:6: invalid operation: mismatched types untyped int and untyped bool for operator +"],
  [
    "{{ []any{} }}{{ map[string]any{} }}{{ nil }}",
    "1:9: cannot show value of type []any",
    "1:31: cannot show value of type map[string]any",
    "1:39: cannot show value of type nil",
  ],
  ['{{ "a" < 1 }}', "1:8: invalid operation: mismatched types untyped string and untyped int for operator <"],
  ["{{ true < false }}", "1:9: invalid operation: operator < not defined on bool"],
  ["{{ 1 && true }}", "1:6: invalid operation: operator && not defined on untyped int"],
  ["{% for x in 3 %}{% end %}", "1:13: cannot range over a value of type untyped int"],
  ["{% if nil %}{% end %}", "1:7: use of untyped nil as a condition"],
  ["{{ 1 / 0 }}{{ 1 % 0 }}", "1:6: invalid operation: division by zero", "1:17: invalid operation: division by zero"],
  ['{{ 1 == "a" }}', "1:6: invalid operation: mismatched types untyped int and untyped string for operator =="],
  ["{{ []any{} == []any{} }}", "1:12: invalid operation: []any can only be compared to nil"],
  ['{% var n int = "x" %}', '1:16: cannot use "x" (type untyped string) as type int in assignment'],
  ["{% var n int = 3.5 %}", "1:16: constant 3.5 truncated to integer"],
  ["{{ byte(300) }}", "1:8: constant 300 overflows uint8"],
  ['{{ map[string]int{"a": 1, "a": 2} }}', '1:27: duplicate key "a" in map literal'],
  ["{{ (5)[0] }}", "1:7: invalid operation: type untyped int does not support indexing"],
  ["{% var x foo %}", "1:10: undefined: foo"],
  ["{% x := 5 %}{{ x.y }}", "1:17: cannot select y of a value of type int"],
  ["{% x := 5 %}{{ x.(string) }}", "1:17: invalid type assertion: operand is not any but int"],
  // files
  [
    '{{ render "nope" }}{% import "nope" for A %}',
    '1:11: render path "nope" does not exist',
    '1:30: import path "nope" does not exist',
  ],
];
for (const [template, ...expected] of compileCases) {
  test(`${JSON.stringify(template)} is refused: ${expected[0]}`, () => {
    assert.equal(problems(template), expected);
  });
}

test("a compile problem shows line, caret, hint, the way to the place, and where the text came from", () => {
  const set = compile('first\n  {{ render "snip" }}\n', { files: { snip: 'x\n\té {{ toLowr("a") }}\n' } });
  assert.is(
    set.problems[0]!.text,
    'snip:2:7: undefined: toLowr\n  \té {{ toLowr("a") }}\n  \t     ^\n  from main:2:6\n  hint: did you mean "toLower"?',
  );
  const own = compile("a\n{{ x }}", {
    origin: {
      object: "HAProxyTemplateLibrary default/base",
      field: "spec.templateSnippets.a.template",
      file: "base.yaml",
      line: 10,
      overrode: "HAProxyTemplateLibrary default/old",
    },
  });
  assert.is(
    own.problems[0]!.text,
    "main:2:4: undefined: x\n  {{ x }}\n     ^\n  in HAProxyTemplateLibrary default/base spec.templateSnippets.a.template (base.yaml:11)\n  this text overrides the one of HAProxyTemplateLibrary default/old\n  hint: declare it with var before this place, or check its name",
  );
});

test("all problems of the set are found at once, each once", () => {
  const files = { a: "{{ one }}{{ two }}", b: "{% if %}{% end %}" };
  assert.equal(
    problems(
      '{{ zero }}{{ render "a" }}{{ render "b" }}{% macro M %}{{ render "a" inherit_context }}{{ render "a" inherit_context }}{% end %}',
      { files },
    ),
    [
      "1:4: undefined: zero",
      "a:1:4: undefined: one",
      "a:1:13: undefined: two",
      "b:1:7: syntax error: missing condition in if statement",
    ],
  );
});

test("cycles of render, import and inherit_context are named", () => {
  assert.equal(problems('{{ render "a" }}', { files: { a: '{{ render "b" }}', b: '{{ render "a" }}' } }), [
    "b:1:4: render cycle: a → b → a",
  ]);
  assert.equal(
    problems('{% import "a" for A %}', {
      files: { a: '{% import "b" for B %}{% macro A %}{% end %}', b: '{% import "a" for A %}{% macro B %}{% end %}' },
    }),
    ["b:1:4: import cycle: a → b → a"],
  );
  assert.equal(problems('{{ render "a" inherit_context }}', { files: { a: '{{ render "a" inherit_context }}' } }), [
    "a:1:11: render cycle: a → a",
  ]);
});

test("imported files hold declarations only, and only upper-case names are exported", () => {
  const files = { a: "text{% macro A %}{% end %}{{ 1 }}{% if true %}{% end %}", b: "{% macro low %}{% end %}" };
  assert.equal(problems('{% import "a" for A, Z %}{% import "b" for low %}', { files }).toSorted(), [
    "1:22: undefined: Z",
    "1:44: undefined: low",
    "a:1:1: syntax error: unexpected text in imported file",
    "a:1:27: syntax error: unexpected show in imported file",
    "a:1:37: syntax error: unexpected statement in imported file",
  ]);
});

const runCases: readonly (readonly [template: string, problem: string, data?: Record<string, unknown>])[] = [
  ["a\n {{ d[5] }}", "2:6: index out of range [5] with length 1", { d: [1] }],
  ["{{ d / 0 }}", "1:6: integer divide by zero", { d: 4 }],
  ["{% var z = 0 %}{{ 4 / z }}", "1:21: integer divide by zero"],
  ["{{ d }}", "1:4: cannot show value of type []any", { d: [] }],
  ["{{ d }}", "1:4: cannot show value of type map[string]any", { d: {} }],
  ['{% var m map[string]any %}{% m["a"] = 1 %}', "1:37: assignment to entry in nil map"],
  ["{{ d.(string) }}", "1:5: interface conversion: any is int, not string", { d: 5 }],
  ["{% var s string = d %}", "1:19: cannot use a value of type int as string", { d: 5 }],
  ["{{ toLower(d) }}", "1:12: cannot use a value of type []any as string", { d: [] }],
  ['{{ fail("no port") }}', "1:8: no port"],
  ["{{ tostring(d) }}", "1:12: tostring: cannot make text of map[string]any", { d: {} }],
  ["{{ d == d }}", "1:6: comparing uncomparable type []any", { d: [] }],
  ["{{ d < 1 }}", "1:6: cannot order string and int", { d: "x" }],
  ["{{ d() }}", "1:5: cannot call a value that is not a function", { d: "x" }],
  ["{% for x in d %}{% end %}", "1:13: cannot range over int", { d: 5 }],
  [
    '{% d["a"] = 1 %}',
    "1:11: this value belongs to a watched resource or a setting and cannot be changed",
    { d: Object.freeze({}) },
  ],
  ['{{ "abc"[d:] }}', "1:9: slice bounds out of range [9:3] with length 3", { d: 9 }],
  [
    '{{ regex_search("a", "(") }}',
    '1:16: invalid regular expression "(": error parsing regexp: missing closing ): `(`',
  ],
  ['{{ panic("bad") }}'.replace("{{", "{%").replace("}}", "%}"), "1:9: bad"],
];
for (const [template, expected, data = {}] of runCases) {
  test(`${JSON.stringify(template)} fails: ${expected}`, () => {
    const { problem, code } = failure(template, { data });
    assert.is(`${problem.line}:${problem.column}: ${problem.message}`, expected);
    assert.is(code, "HAPTIC_E_TEMPLATE_RUN");
  });
}

test("a macro that is compiled in the place of its call is in the chain like any other", () => {
  const files = {
    lib: "{% macro Bad(x any, n string) string %}{{ x.a.b }}{{ n }}{% end %}{% macro Outer(x any) %}{% if true %}{{ Bad(x, `k`) }}{% end %}{% end %}",
    snip: '{% import "lib" for Bad, Outer %}{% var v any = map[string]any{"a": 5} %}\n{{ CALL }}',
  };
  const chain = (call: string): string => {
    const { problem } = failure('line\n{{ render "snip" }}', {
      files: { ...files, snip: files.snip.replace("CALL", call) },
    });
    assert.is(problem.message, "cannot read a member of int");
    return problem.text.match(/(?<=from )\S+/g)!.join(" ");
  };
  assert.is(chain("Bad(v, `k`)"), "snip:2:7 main:2:4");
  assert.is(chain("Outer(v)"), "lib:1:110 snip:2:9 main:2:4");
});

test("a run-time error shows the macros and files that led to it", () => {
  const files = {
    lib: "{% macro Bad(x any) string %}\n  {{ x[3] }}\n{% end %}",
    snip: '{% import "lib" for Bad %}\n{{ Bad([]any{}) }}',
  };
  const { problem } = failure('line\n{% for i in seq(1) %}{{ render "snip" }}{% end %}', { files });
  assert.is(
    problem.text,
    "lib:2:7: index out of range [3] with length 0\n    {{ x[3] }}\n        ^\n  from snip:2:7\n  from main:2:25\n  hint: compare with len(…) first",
  );
});

test("a run-time error in an inherited snippet shows its caller", () => {
  const { problem } = failure('{% x := []any{} %}\n{{ render "snip" inherit_context }}', {
    files: { snip: "\n{{ x[1] }}" },
  });
  assert.is(
    problem.text,
    "snip:2:5: index out of range [1] with length 0\n  {{ x[1] }}\n      ^\n  from main:2:4\n  hint: compare with len(…) first",
  );
});

test("a run-time error inside a callback shows the callback's line", () => {
  const { problem } = failure(
    '{% var f = func(x any) any {\n  return x[7]\n} %}\n{{ map([]any{[]any{}}, f) | join("") }}',
  );
  assert.is(`${problem.line}:${problem.column}`, "2:11");
  assert.equal(problem.chain, ["from main:4:7"]);
});

test("endless recursion and endless loops end at a limit", () => {
  assert.is(failure("{% macro M() %}{{ M() }}{% end %}{{ M() }}").code, "HAPTIC_E_TEMPLATE_LIMIT");
  assert.match(
    failure("{% macro M() %}{{ M() }}{% end %}{{ M() }}").message,
    /^main:1:20: calls are nested more than 200 deep$/,
  );
  const { message } = failure(
    "{% macro A() %}a{% end %}{{ A() }}\n{% macro M(n int) %}{% if n > 0 %}{{ M(n-1) }}{{ M(n-1) }}{% end %}{% end %}{{ M(100) }}",
    { environment: { limits: { fuel: 10_000 } } },
  );
  assert.match(message, /^main:2:(39|51): the template does too much work/, "it is the call that goes too far");
  const loop = failure("{% for %}{% end %}", { environment: { limits: { fuel: 10_000 } } });
  assert.match(loop.message, /^main:1:4: the template does too much work/);
  const callback = failure('{{ map(seq(1000), x => seq(1000)) | join("") }}', {
    environment: { limits: { fuel: 10_000 } },
  });
  assert.is(callback.code, "HAPTIC_E_TEMPLATE_LIMIT");
});

test("too much text ends at a limit before it is made", () => {
  const limits = { outputBytes: 100_000 };
  assert.is(
    failure('{% s := "aaaaaaaaaaaaaaaa" %}{% for %}{% s = s + s %}{% end %}', { environment: { limits } }).code,
    "HAPTIC_E_TEMPLATE_LIMIT",
  );
  assert.is(
    failure("{% for %}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{% end %}", { environment: { limits } }).code,
    "HAPTIC_E_TEMPLATE_LIMIT",
  );
  assert.is(failure('{{ indent("a\\nb", 1000000000) }}', { environment: { limits } }).code, "HAPTIC_E_TEMPLATE_LIMIT");
  assert.is(
    failure("{{ len(seq(3999999)) }}", { environment: { limits: { fuel: 1000 } } }).code,
    "HAPTIC_E_TEMPLATE_LIMIT",
  );
});

test("a problem is JSON with its place in the template and in the file, the line, and the way there", () => {
  const at = (name: string, line: number) => ({
    object: "HAProxyTemplateConfig default/c",
    field: `spec.templateSnippets.${name}.template`,
    file: "config.yaml",
    line,
  });
  const set = createEngine({
    sources: [
      { name: "main", text: 'a\n{{ render "snip" }}', origin: at("main", 10) },
      {
        name: "snip",
        text: "b\n  {{ toLowr(1) }}",
        origin: { ...at("snip", 20), overrode: "HAProxyTemplateLibrary default/old" },
      },
    ],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: {}, component: {} },
    hostTypes: {},
  });
  const { text, ...rest } = JSON.parse(JSON.stringify(set.problems[0])) as Record<string, unknown>;
  assert.equal(rest, {
    code: "HAPTIC_E_TEMPLATE_COMPILE",
    template: "snip",
    line: 2,
    column: 6,
    message: "undefined: toLowr",
    hint: 'did you mean "toLower"?',
    origin: { ...at("snip", 20), overrode: "HAProxyTemplateLibrary default/old" },
    file: { file: "config.yaml", line: 21 },
    sourceLine: "  {{ toLowr(1) }}",
    chain: ["from main:2:4 (config.yaml:11)"],
  });
  assert.match(String(text), /\n {2}from main:2:4 \(config\.yaml:11\)\n {2}in HAProxyTemplateConfig default\/c spec/);
});

test("a run-time error names the file as well", () => {
  const { problem } = failure('a\n{{ fail("no port") }}', {
    origin: {
      object: "HAProxyTemplateConfig default/c",
      field: "spec.haproxyConfig.template",
      file: "c.yaml",
      line: 5,
    },
  });
  assert.equal([problem.message, problem.hint, problem.file], ["no port", undefined, { file: "c.yaml", line: 6 }]);
});

test("every problem says what to do", () => {
  const templates = [
    "{{ a",
    "{% if x",
    "{# a",
    '{{ "abc }}',
    "{% if true %}a",
    "{% for i in seq(3) %}{% end if %}",
    "{% else %}",
    "{% if %}{% end %}",
    "a #} b",
    "{{ foo }}",
    "{% var x = 1 %}{% var x = 2 %}",
    "{% break %}",
    "{{ toUpper() }}",
    "{{ toUpper(5) }}",
    "{{ toUpper([]any{}) }}",
    "{% var n int = 3.5 %}",
    "{{ true + 1 }}",
    '{{ "a" < 1 }}',
    "{{ nil == nil }}",
    "{{ []any{} == []any{} }}",
    "{{ toUpper }}",
    "{{ nil }}",
    "{% var x = 5 %}{{ x() }}",
    "{% for i in 5 %}{% end %}",
    "{{ 5[0] }}",
    "{{ true.x }}",
    '{{ render "nope" }}',
    "{{ 1 / 0 }}",
    '{% var m = map[string]int{"a": 1, "a": 2} %}',
    '{% toUpper("a") %}',
    "{% 5 %}",
    "{{ uint8(300) }}",
    "{{ int(3.9) }}",
    "{% L: for i in seq(3) %}{% break M %}{% end %}",
    "{% goto L %}",
    "{% const c = 5 %}{% c = 6 %}",
    "{% var a, b = 1 %}",
    '{% var a, b = toUpper("a") %}',
    "{{ 5 contains 5 }}",
    "{{ len(5) }}",
    "{{ append(5, 1) }}",
    '{{ delete("a", 1) }}',
    "{{ now().Foo() }}",
    "{% var x = 5 %}{{ *x }}",
    "{{ &5 }}",
    "{% var x chan int %}",
    '{{ "\\q" }}',
    "{{ 'ab' }}",
    "{{ (1 }}",
    "{% if nil %}{% end %}",
    "{% func() int { } %}",
    "{% switch 1 %}{% default %}{% default %}{% end %}",
    "{% x := 1 %}{% x := 2 %}",
    "{% var x %}",
    "{{ [1,2] }}",
  ];
  for (const template of templates)
    for (const problem of compile(template).problems)
      assert.type(problem.hint, "string", `${template}: ${problem.message}`);
  const runs = [
    "{% var l = []any{} %}{{ l[1] }}",
    "{% var x any = 5 %}{{ x.(string) }}",
    '{% var m map[string]int %}{% m["a"] = 1 %}',
    "{% var x = 0 %}{{ 1 / x }}",
    "{% var f func() any %}{{ f() }}",
    "{% var x any = []any{} %}{{ x == x }}",
    "{{ tostring([]any{}) }}",
    "{% for %}{% end %}",
    "{% macro M() %}{{ M() }}{% end %}{{ M() }}",
    "{% var x any = 5 %}{{ x.y }}",
  ];
  for (const template of runs) {
    const { problem } = failure(template, { environment: { limits: { fuel: 100_000 } } });
    assert.type(problem.hint, "string", `${template}: ${problem.message}`);
  }
});

test.run();
