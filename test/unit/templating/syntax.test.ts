import { test } from "uvu";
import * as assert from "uvu/assert";
import { lexTemplate } from "../../../src/templating/syntax/lexer.ts";
import { parseTemplate } from "../../../src/templating/syntax/parser.ts";
import type { Expression } from "../../../src/templating/syntax/tree.ts";
import { scanCode } from "../../../src/templating/syntax/tokens.ts";
import { lineColumn, nearestName } from "../../../src/templating/syntax/problems.ts";

const tokens = (code: string, close: "}}" | "%}" | "%%}" = "%%}"): string[] =>
  scanCode(`${code}${close}`, 0, close, 0).tokens.map(
    (token) => `${token.kind[0]}:${token.text === "\n" ? "\\n" : token.text}`,
  );

test("code is cut into Go's tokens", () => {
  assert.equal(tokens("a_1 := 0x1F+.5e3 // c\n&^= <<= ... => 'x' `r\nw` /* c */ 1_0"), [
    "n:a_1",
    "o::=",
    "i:0x1F",
    "o:+",
    "f:.5e3",
    "s:\\n",
    "o:&^=",
    "o:<<=",
    "o:...",
    "o:=>",
    "r:x",
    "s:r\nw",
    "i:1_0",
    "s:\\n",
  ]);
});

test("semicolons are inserted at line ends as in Go", () => {
  assert.equal(tokens("x\n+\n)\nreturn\nfor\n1\n"), [
    "n:x",
    "s:\\n",
    "o:+",
    "o:)",
    "s:\\n",
    "k:return",
    "s:\\n",
    "k:for",
    "i:1",
    "s:\\n",
  ]);
  assert.equal(tokens("x\n", "%}"), ["n:x", "s:\\n"]);
});

test("strings are unquoted, bytes are joined to characters", () => {
  assert.equal(tokens('"a\\tb\\"\\u00e9\\xc3\\xa9\\U0001F600"', "}}"), ['s:a\tb"éé😀']);
});

test("a show tag ends at the first braces that are not open", () => {
  const text = "{{ m{{}}.x }} }}";
  const [show, rest] = lexTemplate(text);
  assert.is(show!.end, text.indexOf(" }}", 12));
  assert.equal(rest, { kind: "text", at: show!.end, end: text.length, text: " }}" });
});

test("segments keep their offsets", () => {
  const text = "a {%- if x -%} b {{ y }}{# c #}{%% z() %%}";
  assert.equal(
    lexTemplate(text).map((segment) => [segment.kind, segment.at, segment.end]),
    [
      ["text", 0, 1],
      ["statement", 2, 14],
      ["text", 15, 17],
      ["show", 17, 24],
      ["comment", 24, 31],
      ["block", 31, 42],
    ],
  );
});

const shape = (x: unknown): unknown =>
  JSON.parse(JSON.stringify(x, (key, value: unknown) => (key === "at" || key === "pathAt" ? undefined : value)));

/** The tree of an expression in a short form: `(a + b)`, `f(x)`. */
function short(x: Expression): string {
  switch (x.kind) {
    case "name":
      return x.name;
    case "binary":
      return `(${short(x.left)} ${x.op} ${short(x.right)})`;
    case "unary":
      return `(${x.op}${short(x.x)})`;
    case "call":
      return `${short(x.fn)}(${x.args.map(short).join(",")})`;
    case "selector":
      return `${short(x.x)}.${x.name}`;
    case "index":
      return `${short(x.x)}[${short(x.index)}]`;
    case "paren":
      return short(x.x);
    case "default":
      return `(${short(x.x)} default ${short(x.otherwise)})`;
    case "lambda":
      return `(${x.param} => ${short(x.body)})`;
    case "string":
    case "int":
      return x.text;
    default:
      return x.kind;
  }
}

const precedence: readonly (readonly [string, string])[] = [
  ["a + b * c - d", "((a + (b * c)) - d)"],
  ["a - b - c", "((a - b) - c)"],
  ["not a and b or c", "(((nota) and b) or c)"],
  ["a == b && c < d", "((a == b) && (c < d))"],
  ["a | f() + b | g(c)", "g((f(a) + b),c)"],
  ["a + b | f()", "f((a + b))"],
  ["a == b | f()", "(a == f(b))"],
  ["not a | f()", "f((nota))"],
  ["a | (b)", "(a | b)"],
  ["a.b[c].d(e).f", "a.b[c].d(e).f"],
  ["-a.b", "(-a.b)"],
  ["a contains b == c", "((a contains b) == c)"],
  ["a not contains b", "(!(a contains b))"],
  ["x default y + z", "(x default (y + z))"],
  ["a | f(x => x + 1 | g())", "f(a,(x => g((x + 1))))"],
  ["a &^ b << c", "((a &^ b) << c)"],
];
for (const [code, expected] of precedence) {
  test(`${code} groups as ${expected}`, () => {
    const { body, faults } = parseTemplate(`{{ ${code} }}`);
    assert.equal(faults, []);
    const [statement] = body;
    assert.is(statement?.kind === "show" ? short(statement.values[0]!) : "no show", expected);
  });
}

test("tags and braces give the same tree", () => {
  const pairs = [
    [
      "{% if a; b %}{% x() %}{% else if c %}{% y() %}{% else %}{% z() %}{% end %}",
      "{%% if a; b { x() } else if c { y() } else { z() } %%}",
    ],
    ["{% for i, v := range l %}{% x() %}{% end %}", "{%% for i, v := range l { x() } %%}"],
    ["{% L: for v in l %}{% break L %}{% end %}", "{%% L: for v in l { break L } %%}"],
    ["{% for i := 0; i < 3; i++ %}{% x() %}{% end %}", "{%% for i := 0; i < 3; i++ { x() } %%}"],
    [
      "{% switch v := x.(type) %}{% case string, int %}{% x() %}{% default %}{% y() %}{% end %}",
      "{%% switch v := x.(type) { case string, int: x()\ndefault: y() } %%}",
    ],
    [
      "{% macro M(a, b string, c ...int) string %}{% x() %}{% end %}",
      "{%% macro M(a, b string, c ...int) string { x() } %%}",
    ],
  ] as const;
  for (const [tags, braces] of pairs) {
    const [left, right] = [parseTemplate(tags), parseTemplate(braces)];
    assert.equal([left.faults, right.faults], [[], []]);
    assert.equal(shape(left.body), shape(right.body[0]?.kind === "sequence" ? right.body[0].body : []));
  }
});

test("a faulty tag does not hide the faults of later ones", () => {
  assert.equal(
    parseTemplate("{{ 1 + }}\n{% if %}{{ ) }}{% end %}{{ ok }}").faults.map((fault) => fault.offset),
    [7, 16, 21],
  );
});

test("nesting beyond all sense is refused, not a stack overflow", () => {
  assert.match(parseTemplate(`{{ ${"(".repeat(5000)}1${")".repeat(5000)} }}`).faults[0]!.message, /too deeply/);
  assert.match(parseTemplate(`{{ ${"!".repeat(5000)}x }}`).faults[0]!.message, /too deeply/);
  assert.match(parseTemplate("{% if x %}".repeat(5000)).faults.at(-1)!.message, /too deeply/);
  assert.match(parseTemplate(`{%% ${"{".repeat(5000)} %%}`).faults[0]!.message, /too deeply/);
  assert.match(parseTemplate(`{{ x${".x".repeat(5000)} }}`).faults[0]!.message, /too many members/);
  assert.match(parseTemplate(`{% var x ${"[]".repeat(5000)}int %}`).faults[0]!.message, /too deeply/);
  assert.match(parseTemplate(`{{ x${" + x".repeat(5000)} }}`).faults[0]!.message, /too many operators/);
});

test("columns count code points", () => {
  assert.equal(lineColumn("a\né😀x", 5), { line: 2, column: 3, lineStart: 2 });
});

test("the nearest name is found when it is near", () => {
  assert.is(nearestName("toLowr", ["toUpper", "toLower"]), "toLower");
  assert.is(nearestName("hots", ["host"]), "host");
  assert.is(nearestName("xyz", ["host"]), undefined);
});

test.run();
