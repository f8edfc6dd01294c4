import { test } from "uvu";
import * as assert from "uvu/assert";
import { render } from "./engine.ts";

const cases: readonly (readonly [name: string, template: string, output: string])[] = [
  ["a statement alone on its line removes the line", "a\n  {% if true %}  \nb\n{% end %}\nc\n", "a\nb\nc\n"],
  ["an assignment alone on its line removes the line", "{% x := 1 %}\n{{ x }}\n", "1\n"],
  ["var alone on its line leaves an empty line", "a\n{% var x = 1 %}\nb{{ x }}\n", "a\n\nb1\n"],
  ["const alone on its line leaves an empty line", "a\n{% const x = 1 %}\nb\n", "a\n\nb\n"],
  ["show alone on its line keeps the line", "a\n{% show 1 %}\nb\n", "a\n1\nb\n"],
  ["a comment alone on its line removes the line", "a\n {# c #} \nb\n", "a\nb\n"],
  ["two tags on a line remove nothing", "a\n  {% if true %}{% end %}  \nb\n", "a\n    \nb\n"],
  ["text beside a tag keeps the line", "a\nx {% if true %}\nb\n{% end %} y\n", "a\nx \nb\n y\n"],
  ["carriage returns count as blanks", "a\r\n{% if true %}\r\nb\r\n{% end %}\r\nc\r\n", "a\r\nb\r\nc\r\n"],
  ["a block with an assignment removes its line", "a\n{%%\n  x := 1\n%%}\nb{{ x }}\n", "a\nb1\n"],
  ["a block of var only keeps its line", "a\n{%% var x = 1 %%}\nb{{ x }}\n", "a\n\nb1\n"],
  ["a tag over several lines removes the line it ends on", "a\n{% x := []any{\n  1,\n} %}\nb{{ len(x) }}\n", "a\nb1\n"],
  ["case keeps its line and switch does not", "{% switch 1 %}\n{% case 1 %}\none\n{% end %}\n", "\none\n"],
  ["left trim removes all white space before", "a \n\n {{- 1 }}", "a1"],
  ["right trim removes all white space after", "{{ 1 -}} \n\n b", "1b"],
  ["comments trim too", "a {#- c -#} b", "ab"],
  ["blocks trim too", "a {%%- x := 1 -%%} b{{ x }}", "ab1"],
  ["a dash that touches its operand is minus", "{{-1}}", "-1"],
  ["trimming stops at the neighbouring tag", "{{ 1 }} \n {%- if true -%} \n {{ 2 }}{% end %}", "12"],
  [
    "a left trim takes no part in the line rule, so the newline after stays",
    "backend a\n  {%- if true %}\n  timeout connect 5s\n  {%- end %}\nend\n",
    "backend a\n  timeout connect 5s\nend\n",
  ],
  [
    "blanks before a right-trimmed tag stay when text follows on the next line",
    "a\n  {% if true -%}\n  b{% end %}\n",
    "a\n  b\n",
  ],
  ["the first line is treated like the others", "{% if true %}\na\n{% end %}\n", "a\n"],
  ["the last line without a newline is treated like the others", "a\n{% if true %}\nb\n  {% end %}  ", "a\nb\n"],
  ["raw keeps tags as text", "{% raw %}{{ x }}{% end raw %}", "{{ x }}"],
  ["raw with a marker holds another end", "{% raw A %}{% end raw %}{% end raw A %}", "{% end raw %}"],
  ["comments nest", "a{# x {# y #} z #}b", "ab"],
  ["closing delimiters in text are text", "}} %} x", "}} %} x"],
  ["braces inside a show tag do not close it", '{{ map[string]int{"a":1}["a"] }}', "1"],
  ["a first line for the shell is skipped", "#!/bin/x\na", "a"],
  ["a byte order mark is skipped", "\uFEFFa", "a"],
];
for (const [name, template, output] of cases) {
  test(name, () => {
    assert.is(render(template), output);
  });
}

test("a lone render removes its own newline and ends as the rendered text ends", () => {
  assert.is(render('a\n{{ render "x" }}\nb\n', { files: { x: "x" } }), "a\nxb\n");
  assert.is(render('a\n  {% show render "x" %}\nb\n', { files: { x: "x\n" } }), "a\nx\nb\n");
});

test("a lone render_glob keeps its newline", () => {
  assert.is(render('a\n{{ render_glob "x*" }}\nb\n', { files: { x1: "1\n", x2: "2\n" } }), "a\n1\n2\n\nb\n");
});

test.run();
