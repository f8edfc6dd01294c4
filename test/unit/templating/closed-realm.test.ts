import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../../src/errors.ts";
import { hostObject } from "../../../src/templating/index.ts";
import { compileInRealm } from "../../../src/templating/runtime/realm.ts";
import { hostileNames } from "../../../src/templating/runtime/guards.ts";
import { compile, render, run, type Setup } from "./engine.ts";

/** Data as an attacker would store it in the cluster: own members named like those of prototypes. */
const hostileData = (): unknown =>
  JSON.parse(
    '{"__proto__":{"polluted":"own-proto"},"constructor":"own-ctor","toString":"own-ts","hasOwnProperty":"own-hop","length":7,"then":"own-then","valueOf":"v","a":[1,2],"s":"str","10":"ten","kids":{"constructor":{"constructor":"deep"}}}',
  );

const setup = (): Setup => ({
  data: { h: hostileData(), shared: hostObject("Shared", { Get: () => "got" }) },
  globals: { h: { type: "any" }, shared: { type: "Shared" } },
  hostTypes: { Shared: { methods: { Get: "func(key any) any" } } },
  files: { lib: "{% var V = 1 %}{% type T struct { X int } %}{% macro M %}m{% end %}" },
});

/** These are tried in every way; the other names of prototypes in the ways that differ by name. */
const core = [
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "length",
  "caller",
  "arguments",
  "then",
  "at",
  "map",
  "push",
  "process",
  "globalThis",
  "Function",
  "require",
  "eval",
  "global",
  "self",
  "this",
  "new",
  "undefined",
  "NaN",
  "Object",
  "Buffer",
  "vm",
  "$",
  "$r",
  "o",
  "F",
  "__dirname",
  "Get",
  "polluted",
  "fuel",
  "depth",
  "module",
  "exports",
  "yield",
  "async",
  "await",
  "class",
  "delete",
  "typeof",
  "void",
  "let",
  "with",
  "super",
  "null",
];
const words = [...new Set([...core, ...hostileNames])];

const declarations =
  '{% var a = []any{1, 2} %}{% var x any = "k" %}{% var s = "str" %}{% var n any = 5 %}{% var m = map[string]any{"k": 1} %}{% var f = func(q any) any { return q } %}{% var e any %}{% macro Mac(q any) string %}{{ q }}{% end %}';

function attacks(word: string): string[] {
  const out: string[] = [];
  if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word)) {
    out.push(
      `{{ ${word} }}`,
      `{{ ${word}("1") }}`,
      `{% ${word} = 1 %}`,
      `{% ${word} := 1 %}{{ ${word} }}`,
      `{% macro ${word}() %}m{% end %}{{ ${word}() }}`,
      `{% var f2 = func(${word} any) any { return ${word} } %}{{ f2(1) }}`,
    );
    for (const v of !core.includes(word)
      ? ["a", "s", "h", "shared"]
      : ["a", "m", "x", "s", "n", "f", "h", "h.kids", "shared", "toLower", "Mac", "e"])
      out.push(`{{ ${v}.${word} }}`, `{{ ${v}.${word}("a") }}`, `{% ${v}.${word} = 1 %}{{ len(${v}) }}`);
  }
  const quoted = JSON.stringify(word);
  const deep = core.includes(word);
  for (const v of !deep ? ["a", "m", "f"] : ["a", "m", "x", "s", "n", "f", "h", 'h["a"]', 'h["s"]', "h.kids", "e"]) {
    out.push(
      `{% var k any = ${quoted} %}{{ ${v}[k] }}`,
      `{% var k any = ${quoted} %}{% var z any = ${v}[k] %}{{ z("a", "b") }}`,
      `{{ ${v} | dig(${quoted}) | tostring() }}`,
      `{{ ${v} | dig(${quoted}, "constructor") }}`,
      `{% ${v}[${quoted}] = "x" %}{{ len(${v}) }}`,
      `{{ merge(${v}, map[string]any{${quoted}: "p"}) | dig(${quoted}) }}`,
      `{{ ${v} | jsonpathGet("$['${word}']") | tostring() }}`,
    );
  }
  out.push(
    `{{ group_by([]any{map[string]any{"k": ${quoted}}}, "k") | dig(${quoted}) | join(",") }}`,
    `{{ index_by([]any{map[string]any{"k": ${quoted}}}, "k") | dig(${quoted}, "k") }}`,
    `{{ parse_yaml(${JSON.stringify(`${JSON.stringify(word)}: 1`)}) | dig(${quoted}) | tostring() }}`,
    `{% var w = map[string]any{${quoted}: "x"} %}{{ keys(w) | join(",") | len() }}`,
    `{% v, ok := h[${quoted}] %}{{ ok }}`,
    `{{ sort_by([]any{h}, []string{${quoted}}) | len() }}`,
    // Parts of lists are views, structs and pointers have classes: none of their members is reachable.
    `{% var k any = ${quoted} %}{% var v any = a[:1] %}{{ v[k] }}`,
    `{% var v any = a[:1] %}{% v[${quoted}] = 1 %}{{ len(v) }}`,
    `{% type S struct { X int } %}{% var v any = S{1} %}{{ v | dig(${quoted}) | tostring() }}`,
    `{% type S struct { X int } %}{% var v any = S{1} %}{% v[${quoted}] = 1 %}{{ v.X }}`,
    `{% type S struct { X int } %}{% var v any = &S{1} %}{% var k any = ${quoted} %}{{ v[k] }}`,
    `{% var v any = 3.0 %}{% var k any = ${quoted} %}{{ v[k] }}`,
    `{% var v any = 3.0 %}{{ v | dig(${quoted}, "constructor") | tostring() }}`,
    `{% m := map[any]any{${quoted}: "p"} %}{{ m[${quoted}] }}`,
    `{% p := &m %}{% var k any = ${quoted} %}{{ (*p)[k] }}`,
    `{{ render(${quoted} + s) default "k" }}`,
  );
  if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word)) {
    out.push(
      `{% type S struct { ${word} any } %}{% var v any = S{"p"} %}{{ v.${word} }}`,
      `{% type S struct { ${word} any } %}{% v := S{} %}{% v.${word} = "p" %}{% w := v %}{{ w.${word} }}{% var q any = &w %}{{ q.${word}("a") }}`,
      `{% type ${word} struct { X int } %}{{ ${word}{1}.X }}`,
      `{% show ${word}; using %}x{% end %}`,
      `{% type S struct { X int } %}{% var v any = S{1} %}{{ v.${word} }}`,
      `{% type S struct { X int } %}{% var v any = &S{1} %}{{ v.${word}("a") }}`,
      `{% var v any = 3.0 %}{{ v.${word} }}`,
      `{% var v any = a[:1] %}{{ v.${word} }}{{ v.${word}() }}`,
      `{% import l "lib" %}{{ l.${word} }}`,
      `{% import l "lib" %}{% l.${word} = 1 %}{{ l.${word}("a") }}`,
    );
  }
  return out;
}

const harmless = /^(|\d+|"1"|k|x|p|m|str|got|own-[a-z-]+|deep|v|ten|true|false|\[object Object\])$/;

test("no attack reaches a global, a prototype or the host", () => {
  const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype].map(
    (prototype) => Object.getOwnPropertyNames(prototype).join(),
  );
  const list = words.flatMap((word) => attacks(word).map((attack) => ({ word, attack })));
  const odd: string[] = [];
  let ran = 0;
  for (const { word, attack } of list) {
    const options = { ...setup(), environment: { limits: { fuel: 1_000_000 } } };
    const set = compile(declarations + attack, options);
    if (set.problems.length > 0) continue;
    try {
      const out = run(set, options);
      ran++;
      if (!harmless.test(out) && out !== word && out !== `map[k:${word}]`) odd.push(`${attack} gave ${out}`);
    } catch (error) {
      if (!(error instanceof TemplateError)) odd.push(`${attack} threw ${String(error)}`);
    }
  }
  assert.equal(odd.slice(0, 10), []);
  assert.ok(list.length > 8_000, String(list.length));
  assert.ok(ran > 1000, String(ran));
  assert.equal(
    [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype].map((prototype) =>
      Object.getOwnPropertyNames(prototype).join(),
    ),
    prototypes,
  );
});

test("V8's collector, which writes files, is not found either where somebody has exposed it", () => {
  const code = `import { compileInRealm } from "./src/templating/runtime/realm.ts";
    process.stdout.write(compileInRealm("try { gc = 1 } catch {} return typeof gc + NaN + Infinity + undefined", {}, "probe"));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "--eval", code], {
    cwd: resolve(import.meta.dirname, "../../.."),
    encoding: "utf8",
  });
  assert.is(stdout, "undefinedNaNInfinityundefined", stderr);
});

test("even raw JavaScript in the realm finds no globals and cannot make code", () => {
  for (const name of [
    "process",
    "globalThis",
    "Object",
    "Function",
    "fetch",
    "setTimeout",
    "Date",
    "WebAssembly",
    "Promise",
    "eval",
    "Error",
    "console",
    "require",
    "gc",
  ]) {
    assert.is(compileInRealm(`return typeof ${name}`, {}, "probe"), "undefined", name);
  }
  for (const code of [
    '(function () {}).constructor("return 1")()',
    '(function* () {}).constructor("yield 1")',
    '(async () => {}).constructor("return 1")',
    '[].map.constructor("return 1")',
  ]) {
    assert.throws(
      () => compileInRealm(`return ${code}`, {}, "probe"),
      (error: Error) => error.name === "EvalError",
    );
  }
  assert.throws(() => compileInRealm('"use strict"; Array = 1', {}, "probe"));
  assert.throws(
    () => compileInRealm('"use strict"; [].constructor.prototype.map = 1', {}, "probe"),
    (error: Error) => error.name === "TypeError",
  );
  assert.throws(
    () => compileInRealm('"use strict"; ({}).constructor.prototype.x = 1', {}, "probe"),
    (error: Error) => error.name === "TypeError",
  );
});

test("text of a template never becomes source", () => {
  for (const text of [
    "`${process}`",
    '"); process.exit(1); ("',
    "\u2028\u2029",
    "\\",
    "*/ process /*",
    "</script>",
    "{{ `${1}` }}",
    "\0\uD800",
  ]) {
    assert.is(
      render(`${text.replace("{{ `${1}` }}", "")}{{ x }}`, { data: { x: text } }),
      text.replace("{{ `${1}` }}", "") + text,
    );
  }
});

test("own members with hostile names are read, written and listed like any other", () => {
  const data = { h: hostileData() };
  assert.is(
    render(
      '{{ h.constructor }} {{ h["__proto__"].polluted }} {{ h.length }} {{ h | dig("kids", "constructor", "constructor") }}',
      { data },
    ),
    "own-ctor own-proto 7 deep",
  );
  assert.is(
    render(
      '{% m := map[string]any{"__proto__": 1, "constructor": 2} %}{% m["__proto__"] = 3 %}{{ toJSON(m) }} {{ len(m) }} {{ m.__proto__ }}',
    ),
    '{"__proto__":3,"constructor":2} 2 3',
  );
  assert.is(render("{% for k, v := range h.kids %}{{ k }}{% end %}", { data }), "constructor");
});

test("a list cannot be grown through its length", () => {
  assert.throws(
    () => render('{% var k any = "length" %}{% var a any = []any{1} %}{% a[k] = 400000000 %}'),
    /is not an integer/,
  );
});

test("regular expressions take linear time", () => {
  const before = performance.now();
  render('{{ regex_search(x, "^(a+)+$") }}{{ regex_search(x, "(x+x+)+y") }}', {
    data: { x: `${"a".repeat(20_000)}!` },
  });
  assert.ok(performance.now() - before < 2000);
});

test.run();
