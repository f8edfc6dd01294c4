import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../../src/errors.ts";
import { createEngine, type RunEnvironment, runSync } from "../../../src/templating/index.ts";

function engine(sources: Readonly<Record<string, string>>): ReturnType<typeof createEngine> {
  const components = Object.keys(sources).filter((name) => name.startsWith("inc-"));
  return createEngine({
    sources: Object.entries(sources).map(([name, text]) => ({ name, text })),
    entries: [
      { template: "main", kind: "root" },
      ...components.map((template) => ({ template, kind: "component" as const })),
    ],
    incremental: (name) => components.includes(name),
    globals: { root: { files: { type: "any" } }, component: { item: { type: "any" } } },
    hostTypes: {},
  });
}

function output(set: ReturnType<typeof createEngine>, template: string, more: Partial<RunEnvironment> = {}): string {
  let out = "";
  const sink = {
    text: (chunk: string) => {
      out += chunk;
    },
    mount: (name: string) => {
      out += `<${name}>`;
    },
  };
  runSync(set.start(template, { globals: {}, sink, due: () => false, ...more }));
  return out;
}

test("each kind of entry point sees its own names, and the error says where a name belongs", () => {
  const set = engine({ main: "{{ item }}{{ files }}", "inc-a": "{{ item }}{{ files }}" });
  assert.equal(
    set.problems.map((problem) => `${problem.template}:${problem.column}: ${problem.message} (${problem.hint})`),
    [
      "main:4: undefined: item (item is available in incremental snippets only)",
      "inc-a:14: undefined: files (files is not available in an incremental snippet)",
    ],
  );
});

test("an incremental snippet cannot render another one, nor inherit a context", () => {
  const set = engine({ main: '{{ render "inc-a" inherit_context }}', "inc-a": '{{ render "inc-b" }}', "inc-b": "" });
  assert.equal(
    set.problems.map((problem) => problem.message),
    [
      'incremental snippet "inc-a" cannot inherit a context',
      "an incremental snippet cannot render another incremental snippet",
    ],
  );
});

test("a shared snippet is compiled for each kind that renders it", () => {
  const set = engine({ main: '{{ render "plain" }}', plain: "p", "inc-a": '{{ render "plain" }}{{ item }}' });
  assert.equal(set.problems, []);
  assert.is(output(set, "main"), "p");
  assert.is(output(set, "inc-a", { globals: { item: "i" } }), "pi");
});

test("a mount stands between the texts around it, in loops and branches too", () => {
  const set = engine({
    main: 'a{% for i in seq(2) %}{% if true %}[{{ render "inc-a" }}]{% end %}{% end %}b',
    "inc-a": "",
  });
  assert.is(output(set, "main"), "a[<inc-a>][<inc-a>]b");
});

test("the text of an incremental snippet as a value is refused where the host gives none", () => {
  const set = engine({ main: '{% s := render "inc-a" %}{{ s }}', "inc-a": "" });
  assert.throws(
    () => output(set, "main"),
    (error: unknown) => error instanceof TemplateError && error.problem.column === 9,
  );
  assert.is(output(set, "main", { renderIncremental: () => "text" }), "text");
});

test("runs of one set do not see each other", () => {
  const set = engine({
    main: '{% import "lib" for Next %}{{ Next() }}{{ Next() }}{{ first_seen("k") }}',
    lib: "{% var n = 0 %}{% macro Next %}{% n++ %}{{ n }}{% end %}",
  });
  assert.equal(set.problems, []);
  assert.is(output(set, "main"), "12true");
  assert.is(output(set, "main"), "12true");
});

test("fail cannot be caught, errors of functions can", () => {
  const sort = "{% v, err := sort_by([]any{1, 2}, func(a any, b any) any { return F }) %}{{ err }}";
  assert.match(output(engine({ main: sort.replace("F", '"x"') }), "main"), /^sort_by: the function gives string/);
  assert.throws(() => output(engine({ main: sort.replace("F", 'fail("no")') }), "main"), /no$/);
});

test("a host function without an effect is not a statement", () => {
  const set = createEngine({
    sources: [{ name: "main", text: "{% seen(1) %}{% note(1) %}" }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: {
      root: { seen: { type: "func(x any) bool", effect: false }, note: { type: "func(x any) string" } },
      component: {},
    },
    hostTypes: {},
  });
  assert.equal(
    set.problems.map((problem) => problem.message),
    ["seen(…) evaluated but not used"],
  );
});

test("starting what is no entry point, or a set with problems, is refused", () => {
  assert.throws(() => engine({ main: "", other: "" }).start("other", {} as RunEnvironment), /not an entry point/);
  assert.throws(
    () => engine({ main: "{{ nope }}" }).start("main", {} as RunEnvironment),
    (error: unknown) => error instanceof TemplateError && error.code === "HAPTIC_E_TEMPLATE_COMPILE",
  );
});

test.run();
