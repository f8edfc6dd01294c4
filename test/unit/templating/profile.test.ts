import { test } from "uvu";
import * as assert from "uvu/assert";
import { createEngine, Profile, runSync, type TemplateSource } from "../../../src/templating/index.ts";

/** A clock that a template's `work` moves on. */
function measured(sources: readonly TemplateSource[], trace?: string[]) {
  let clock = 0;
  const set = createEngine({
    sources,
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: { work: { type: "func(ms int) string" } }, component: {} },
    hostTypes: {},
  });
  assert.equal(set.problems, []);
  const profile = new Profile(() => clock, trace === undefined ? undefined : (line) => trace.push(line));
  const start = () =>
    set.start("main", {
      globals: {
        work: (ms: number) => {
          clock += ms;
          return "";
        },
      },
      sink: { text: () => undefined, mount: () => undefined },
      due: () => true,
      profile,
    });
  return { profile, start, pass: (ms: number) => (clock += ms) };
}

const NESTED = [
  { name: "main", text: '{{ work(1) }}{% for i := 0; i < 3; i++ %}{{ render "inner" }}{% end %}{{ work(2) }}' },
  { name: "inner", text: '{{ work(10) }}{{ render "leaf" }}' },
  { name: "leaf", text: "{{ work(100) }}" },
];

test("a profile counts runs, and tells a template's own time from that of what it renders", () => {
  const { profile, start } = measured(NESTED);
  runSync(start());
  assert.equal(profile.rows(), [
    { template: "main", count: 1, totalMs: 333, selfMs: 3, maxMs: 333 },
    { template: "inner", count: 3, totalMs: 330, selfMs: 30, maxMs: 110 },
    { template: "leaf", count: 3, totalMs: 300, selfMs: 300, maxMs: 100 },
  ]);
});

test("time in which a run is suspended does not count", () => {
  const { profile, start, pass } = measured([
    { name: "main", text: "{% for i := 0; i < 4000; i++ %}{{ work(1) }}{% end %}" },
  ]);
  const run = start();
  let slices = 0;
  for (let step = run.next(); step.done !== true; step = run.next()) {
    slices++;
    pass(5_000);
  }
  assert.ok(slices > 3);
  assert.is(profile.rows()[0]!.totalMs, 4_000);
});

test("a run that fails or is given up leaves the profile usable", () => {
  const { profile, start } = measured([
    { name: "main", text: '{{ work(1) }}{{ render "inner" }}' },
    { name: "inner", text: '{% for i := 0; i < 400; i++ %}{{ work(1) }}{% end %}{{ fail("no") }}' },
  ]);
  assert.throws(() => runSync(start()), /no/);
  const given = start();
  given.next();
  given.return();
  assert.throws(() => runSync(start()), /no/);
  const [main, inner] = profile.rows();
  assert.is(main!.count, 3);
  assert.is(inner!.count, 3);
  assert.is(main!.maxMs, 401);
});

test("the trace shows nesting and times", () => {
  const trace: string[] = [];
  runSync(measured(NESTED.with(0, { name: "main", text: '{{ render "inner" }}' }), trace).start());
  assert.equal(trace, [
    "Rendering: main",
    "  Rendering: inner",
    "    Rendering: leaf",
    "    Completed: leaf (100.000ms)",
    "  Completed: inner (110.000ms)",
    "Completed: main (110.000ms)",
  ]);
});

test.run();
