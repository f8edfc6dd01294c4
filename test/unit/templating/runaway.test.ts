// runner: limit 240 s
import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../../src/errors.ts";
import { drive, sliceClock } from "../../../src/templating/index.ts";
import { runawayFiles, runaways } from "../../support/runaways.ts";
import { compile, render } from "./engine.ts";

/**
 * Templates that would run for ever, or fill the memory. Each ends with an error that says why, within a bounded amount of
 * work, and pauses on its way. Times are not judged: the machine may be busy; a stretch without a pause is bounded by the
 * work it may do.
 */
for (const [name, template, message] of runaways) {
  test(`${name} is stopped`, async () => {
    const set = compile(template, { files: runawayFiles });
    assert.equal(
      set.problems.map((problem) => problem.text),
      [],
    );
    const clock = sliceClock(6, () => performance.now());
    const environment = {
      globals: {},
      sink: { text: () => undefined, mount: () => undefined },
      due: clock.due,
      limits: { fuel: 60_000_000 },
    };
    let served = 0;
    try {
      await drive(set.start("main", environment), {
        clock,
        yieldTo: () => new Promise((resolve) => setImmediate(resolve)),
        onSlice: () => served++,
        now: () => performance.now(),
        watchdogMs: 20_000,
      });
      assert.unreachable("it came to an end");
    } catch (error) {
      assert.instance(error, TemplateError, String(error));
      assert.is((error as TemplateError).code.replace("_RUN", "_LIMIT"), "HAPTIC_E_TEMPLATE_LIMIT");
      assert.match((error as TemplateError).message, message);
    }
    // What is stopped by its fuel has let others run all the time.
    if (message.source === "fuel limit") assert.ok(served > 3, String(served));
  });
}

test("straight code is charged for its length, wherever it stands", () => {
  const limited = { environment: { limits: { fuel: 10_000 } } };
  const long = `{% macro E %}{% end %}${"{{ E() }}".repeat(2000)}`;
  const many = '{% for i in seq(300) %}{{ render "part" }}{% end %}';
  assert.is(render(many, { ...limited, files: { part: "x" } }), "x".repeat(300));
  assert.throws(() => render(many, { ...limited, files: { part: long } }), /fuel limit/);
  const macro = `{% macro M %}${long}{% end %}`.replace("{% macro E %}{% end %}", "");
  for (const [before, called] of [
    ["", '{{ "x" }}'],
    [`{% macro E %}{% end %}${macro}`, "{{ M() }}"],
    [long, long.slice(long.indexOf("{{"))],
    [`{% macro E %}{% end %}{% f := func() any { y := ""; ${"y = E(); ".repeat(2000)} return y } %}`, "{{ f() }}"],
  ] as const) {
    const looped = `${before}{% for i in seq(300) %}${called}{% end %}`;
    if (before === "") assert.is(render(looped, limited), "x".repeat(300));
    else assert.throws(() => render(looped, limited), /fuel limit/);
  }
});

test("looking through a long text or at a large map is charged for its size", () => {
  const text = '{% s := "aaaaaaaé" %}{% for i in seq(10) %}{% s = s + s %}{% end %}';
  const map = '{% m := map[string]any{} %}{% for i in seq(2000) %}{% m["k" + i] = 1 %}{% end %}{% var v any = m %}';
  const limited = { environment: { limits: { fuel: 20_000 } } };
  for (const [before, use] of [
    [text, "{{ len(s) }}"],
    [text, "{{ s[100:200] }}"],
    [text, '{{ s contains "x" }}'],
    [map, "{{ len(m) }}"],
    [map, "{% if v %}x{% end %}"],
  ] as const) {
    render(before + use, limited);
    assert.throws(() => render(`${before}{% for i in seq(200) %}${use}{% end %}`, limited), /fuel limit/, use);
  }
});

test("a callback may do what fits into a slice", async () => {
  const set = compile("{{ len(map(seq(2000), func(x any) any { n := 0; for i in seq(50) { n += i }; return n })) }}");
  let out = "";
  const sink = { text: (chunk: string) => void (out += chunk), mount: () => undefined };
  const clock = sliceClock(6, () => performance.now());
  await drive(set.start("main", { globals: {}, sink, due: clock.due }), { clock, yieldTo: async () => undefined });
  assert.is(out, "2000");
});

test.run();
