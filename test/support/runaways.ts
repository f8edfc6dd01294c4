/** Templates that would run for ever, or fill the memory, with what they end with. */
const doubled = '{% s := "aaaaaaaa" %}{% for i in seq(20) %}{% s = s + s %}{% end %}';
const times = (count: number, macro: string): string => `{{ ${macro}() }}`.repeat(count);
export const runaways: readonly (readonly [name: string, template: string, message: RegExp])[] = [
  ["an endless loop", "{% for %}{% end %}", /fuel limit/],
  ["an endless loop that writes", "{% for %}x{% end %}", /fuel limit|output limit/],
  ["a macro that writes for ever", "{% macro M %}{% for %}0123456789{% end %}{% end %}{{ M() }}", /more than 32 MiB/],
  ["a text that is taken for ever", "{% show itea; using %}{% for %}0123456789{% end %}{% end %}", /more than 32 MiB/],
  [
    "a recursion that branches",
    "{% macro M(n int) %}{% if n > 0 %}{{ M(n-1) }}{{ M(n-1) }}{% end %}{% end %}{{ M(100) }}",
    /fuel limit/,
  ],
  [
    "functions that call each other",
    "{%% var f any\n f = func(n int) int { if n == 0 { return 0 }\n return toint(f(n-1)) + toint(f(n-1)) }\n show f(100) %%}",
    /fuel limit/,
  ],
  [
    "macros that double each other",
    `{% macro A0 %}{% end %}${Array.from({ length: 60 }, (_, i) => `{% macro A${i + 1} %}{{ A${i}() }}{{ A${i}() }}{% end %}`).join("")}{{ A60() }}`,
    /without a pause/,
  ],
  [
    "long macros without loops that call each other",
    `{% x := 0 %}{% macro E %}{% x = x + 1 %}{% end %}{% macro A %}${times(2000, "E")}{% end %}{% macro B %}${times(1000, "A")}{% end %}{% macro C %}${times(1000, "B")}{% end %}{{ C() }}`,
    /without a pause/,
  ],
  [
    "a long callback without loops",
    `{% macro E %}{% end %}{{ len(map(seq(100000), func(x any) any { y := ""; ${"y = E();".repeat(2000)} return y })) }}`,
    /without a pause/,
  ],
  [
    "a snippet that renders itself by a computed name",
    '{% n := "main2" %}{{ render(n) }}',
    /nested more than 200 deep/,
  ],
  ["a huge sequence", "{{ len(seq(1000000000)) }}", /too many/],
  ["a list that grows for ever", "{% var l []any %}{% for %}{% l = append(l, 1) %}{% end %}", /4000000 elements/],
  ["a list that is made", "{% n := 1000000000 %}{% l := make([]int, n) %}", /too long/],
  [
    "a map that grows for ever",
    '{% m := map[string]any{} %}{% i := 0 %}{% for %}{% i++ %}{% m["k" + i] = "x" %}{% end %}',
    /500000 entries/,
  ],
  [
    "a map with numbers for keys",
    "{% m := map[int]any{} %}{% i := 0 %}{% for %}{% i++ %}{% m[i] = 1 %}{% end %}",
    /500000 entries/,
  ],
  ["a text that doubles", '{% s := "aaaaaaaa" %}{% for %}{% s = s + s %}{% end %}', /more than 32 MiB/],
  ["a text that is repeated", '{{ len(indent("a\\nb", 1000000000)) }}', /more than 32 MiB/],
  ["a wide format", '{{ sprintf("%1000000000d", 1) }}', /more than 32 MiB/],
  ["a long text that is replaced", `${doubled}{{ len(replace(s, "a", "bbbbbbbb")) }}`, /more than 32 MiB|output limit/],
  ["a long text that is ranged over", `${doubled}{% for c in s %}{% break %}{% end %}`, /without a pause/],
  ["a long text that is split", `${doubled}{{ len(split(s, "")) }}`, /without a pause/],
  ["a hard pattern on a long text", `${doubled}{{ regex_search(s, "(a*)*(b|a*)*c$") }}`, /without a pause/],
  [
    "a huge sort with a comparison",
    "{{ len(sort_by(seq(200000), func(a any, b any) int { return toint(b) - toint(a) })) }}",
    /without a pause/,
  ],
  ["a huge sort of texts", "{{ len(sort_strings(seq(200000))) }}", /without a pause/],
  [
    "a callback that loops for ever",
    "{{ len(map(seq(3), func(x any) any { for { }; return 1 })) }}",
    /without a pause/,
  ],
  ["callbacks that each make much", "{{ len(map(seq(100000), x => seq(1000))) }}", /without a pause/],
  [
    "a value that holds itself many times",
    "{% var l any = 1 %}{% for i in seq(60) %}{% l = []any{l, l} %}{% end %}{{ len(toJSON(l)) }}",
    /without a pause/,
  ],
  [
    "a list that is searched for ever",
    "{% l := seq(900000) %}{% for %}{% if l contains -1 %}{% end %}{% end %}",
    /fuel limit/,
  ],
];

/** What a computed name among them stands for. */
export const runawayFiles = { main2: '{% n := "main2" %}{{ render(n) }}' };
