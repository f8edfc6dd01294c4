import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  callFunction,
  createEngine,
  drive,
  hostObject,
  pendingRead,
  RestartNeeded,
  runSync,
  sliceClock,
  type HostTypeDeclaration,
  type RunEnvironment,
  type Suspension,
  type TemplateRun,
} from "../../../src/templating/index.ts";

const hostTypes: Readonly<Record<string, HostTypeDeclaration>> = {
  Store: { methods: { Get: { signature: "func(key string) any", reads: true }, Size: "func() int" } },
  Stores: { members: { things: "Store" }, unknownHint: "watchedResources has things" },
  Shared: {
    methods: {
      ComputeIfAbsent: { signature: "func(key string, make func() any) (any, bool)", suspends: true },
      Try: "func(ok bool) (string, error)",
    },
  },
};

/** A store whose reads all miss first. */
function store(): { things: ReturnType<typeof hostObject>; asked: string[] } {
  const asked: string[] = [];
  const things = hostObject("Store", { Get: (key: string) => (asked.push(key), pendingRead(key)), Size: () => 3 });
  return { things, asked };
}

function shared(): ReturnType<typeof hostObject> {
  const values = new Map<string, unknown>();
  return hostObject("Shared", {
    *ComputeIfAbsent(key: string, make: unknown): Generator<Suspension, unknown, unknown> {
      if (values.has(key)) return [values.get(key), false];
      const made = yield* callFunction(make);
      values.set(key, made);
      return [made, true];
    },
    Try: (ok: boolean) => {
      if (!ok) throw new TypeError("a defect of the host");
      return "fine";
    },
  });
}

function start(
  text: string,
  more: Partial<RunEnvironment> = {},
  files: Readonly<Record<string, string>> = {},
): { run: TemplateRun; out: () => string; asked: string[]; chunks: string[] } {
  const set = createEngine({
    sources: [{ name: "main", text }, ...Object.entries(files).map(([name, body]) => ({ name, text: body }))],
    entries: [{ template: "main", kind: "root" }],
    incremental: (name) => name.startsWith("inc-"),
    globals: {
      root: { resources: { type: "Stores" }, shared: { type: "Shared" }, note: { type: "func(text string) string" } },
      component: {},
    },
    hostTypes,
  });
  assert.equal(
    set.problems.map((p) => p.text),
    [],
  );
  const { things, asked } = store();
  const chunks: string[] = [];
  const run = set.start("main", {
    globals: {
      resources: hostObject("Stores", {}, { things }),
      shared: shared(),
      note: (text: string) => text.toUpperCase(),
    },
    sink: { text: (chunk) => chunks.push(chunk), mount: (name) => chunks.push(`<${name}>`) },
    due: () => false,
    ...more,
  });
  return { run, out: () => chunks.join(""), asked, chunks };
}

test("a loop ends its slice when it is due and goes on where it was", () => {
  let slices = 0;
  const { run, out } = start("{% for i in seq(4000) %}{{ i }},{% end %}", { due: () => true });
  for (let step = run.next(); step.done !== true; step = run.next()) {
    assert.is(step.value.kind, "slice");
    slices++;
  }
  assert.ok(slices >= Math.floor(4000 / 257), String(slices));
  assert.is(out(), Array.from({ length: 4000 }, (_, i) => `${i},`).join(""));
});

test("a loop inside a macro inside an include inside a function can be suspended", () => {
  const files = {
    snip: '{% import "lib" for M %}{{ M(800) }}',
    lib: "{% macro M(n int) %}{% for i in seq(n) %}.{% end %}{% end %}",
  };
  const { run, out } = start('{% f := func() string { return render "snip" } %}{{ f() }}', { due: () => true }, files);
  let slices = 0;
  while (run.next().done !== true) slices++;
  assert.ok(slices >= 3, String(slices));
  assert.is(out(), ".".repeat(800));
});

test("reads that miss are answered by the driver, in order, wherever they stand", () => {
  const files = {
    lib: "{% macro M(k string) %}{{ resources.things.Get(k) }}{% end %}",
    snip: '{{ resources.things.Get("c") | tostring() }}',
  };
  const { run, out, asked } = start(
    '{% import "lib" for M %}{{ resources.things.Get("a") }}{{ M("b") }}{{ render "snip" }}{% var x = resources.things.Get("d") %}{{ x }}{{ resources.things.Size() }}',
    {},
    files,
  );
  runSync(run, (request) => `[${String(request)}]`);
  assert.is(out(), "[a][b][c][d]3");
  assert.equal(asked, ["a", "b", "c", "d"]);
});

test("a suspendable host method lets the function it is given read and loop", () => {
  const text =
    '{% var v, fresh = shared.ComputeIfAbsent("k", func() any {\n  var l []any\n  for i in seq(100) { l = append(l, resources.things.Get("x")) }\n  return l\n}) %}{{ len(v) }}{{ fresh }}{% var w, again = shared.ComputeIfAbsent("k", func() any { return nil }) %}{{ len(w) }}{{ again }}';
  const { run, out, asked } = start(text);
  runSync(run, () => 1);
  assert.is(out(), "100true100false");
  assert.is(asked.length, 100);
});

test("a read inside a callback of a native asks for a restart", () => {
  const { run } = start('{{ map([]any{1}, x => resources.things.Get("q")) | join("") }}');
  try {
    runSync(run);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, RestartNeeded);
    assert.is((error as RestartNeeded).request, "q");
  }
});

test("output comes in chunks of about 16 KiB, in the order of the text", () => {
  const files = { snip: "S" };
  const { run, chunks } = start('a{% for i in seq(3000) %}0123456789abcdef{% end %}{{ render "snip" }}b', {}, files);
  runSync(run);
  assert.ok(chunks.length >= 3);
  assert.ok(chunks.every((chunk) => chunk.length <= 16_384 + 16));
  assert.is(chunks.join(""), `a${"0123456789abcdef".repeat(3000)}Sb`);
});

test("an incremental snippet is mounted at the top level of a root and is text elsewhere", () => {
  const files = { "inc-a": "A", "inc-b": "B", plain: '{{ render "inc-a" }}' };
  const text =
    '1{{ render "inc-a" }}2{{ render_glob "inc-*" }}3{{ render "plain" }}4{% macro M %}{{ render "inc-a" }}{% end %}{{ M() }}{{ render "inc-b" | toLower() }}{% s := render "plain" %}{{ s }}';
  const { run, out } = start(text, { renderIncremental: (name) => `(${name})` }, files);
  runSync(run);
  assert.is(out(), "1<inc-a>2<inc-a><inc-b>3<inc-a>4(inc-a)(inc-b)(inc-a)");
});

test("a set knows what an entry point can mount", () => {
  const set = createEngine({
    sources: [
      { name: "main", text: '{{ render "inc-b" }}{{ render "x" }}' },
      { name: "x", text: '{{ render "inc-a" }}{{ render "inc-b" }}' },
      { name: "inc-a", text: "{{ item }}" },
      { name: "inc-b", text: "" },
    ],
    entries: [
      { template: "main", kind: "root" },
      { template: "inc-a", kind: "component" },
      { template: "inc-b", kind: "component" },
    ],
    incremental: (name) => name.startsWith("inc-"),
    globals: { root: {}, component: { item: { type: "any" } } },
    hostTypes: {},
  });
  assert.equal(set.problems, []);
  assert.equal(set.mounts("main"), ["inc-b", "inc-a"]);
  let out = "";
  runSync(
    set.start("inc-a", {
      globals: { item: "i" },
      sink: {
        text: (s) => {
          out += s;
        },
        mount: () => undefined,
      },
      due: () => false,
    }),
  );
  assert.is(out, "i");
});

test("the driver runs in slices on its clock, lets others run, and can be aborted", async () => {
  let time = 0;
  const now = (): number => (time += 1);
  const clock = sliceClock(3, now);
  const { run, out } = start("{% for i in seq(8000) %}.{% end %}", { due: clock.due });
  let pauses = 0;
  await drive(run, {
    clock,
    yieldTo: async () => {
      pauses++;
    },
  });
  assert.ok(pauses > 3, String(pauses));
  assert.is(out().length, 8000);

  const controller = new AbortController();
  const endless = start("{% for %}{% end %}", { due: () => true });
  try {
    await drive(endless.run, {
      clock,
      signal: controller.signal,
      yieldTo: async () => {
        controller.abort(new Error("superseded"));
      },
    });
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, "superseded");
  }
});

test("the driver answers reads asynchronously, and a failed answer is an error at the read", async () => {
  const clock = sliceClock(8, () => 0);
  const good = start('{{ resources.things.Get("a") }}', { due: clock.due });
  await drive(good.run, { clock, yieldTo: async () => undefined, answer: async (request) => `<${String(request)}>` });
  assert.is(good.out(), "<a>");
  const bad = start('x\n{{ resources.things.Get("a") }}', { due: clock.due });
  try {
    await drive(bad.run, {
      clock,
      yieldTo: async () => undefined,
      answer: async () => {
        throw new Error("no connection");
      },
    });
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, "main:2:24: no connection");
  }
});

test("a slice that does not come back is stopped by the watchdog", async () => {
  const clock = sliceClock(8, () => 0);
  const stuck = start('{{ note("x") }}', { due: clock.due });
  const set = createEngine({
    sources: [{ name: "main", text: '{{ note("x") }}' }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: { note: { type: "func(text string) string" } }, component: {} },
    hostTypes: {},
  });
  const endless = (): string => {
    for (;;);
  };
  const run = set.start("main", {
    globals: { note: endless },
    sink: { text: () => undefined, mount: () => undefined },
    due: clock.due,
  });
  const options = { clock, yieldTo: async () => undefined, watchdogMs: 300, template: "main" };
  await drive(stuck.run, options);
  assert.is(stuck.out(), "X");
  try {
    await drive(run, options);
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, "main:1:1: stopped after 300 ms without a pause");
  }
});

test("an error of the template passes the watchdog with its place", async () => {
  const clock = sliceClock(8, () => 0);
  const { run } = start('\n{{ fail("no") }}', { due: clock.due });
  try {
    await drive(run, { clock, yieldTo: async () => undefined, watchdogMs: 1000 });
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, "main:2:8: no");
  }
});

test("host functions are called with checked arguments", () => {
  const { run, out } = start('{{ note("abc") }}{% note("x") %}');
  runSync(run);
  assert.is(out(), "ABC");
});

test("a host function is not a value", () => {
  const set = createEngine({
    sources: [{ name: "main", text: '{% var f any = note %}{{ map([]any{1}, note) | join("") }}' }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: { note: { type: "func(text string) string" } }, component: {} },
    hostTypes: {},
  });
  assert.equal(
    set.problems.map((problem) => problem.message),
    ["note must be called", "note must be called"],
  );
});

test("a defect of the host is not taken for an error of the template", () => {
  const { run } = start("{% v, err := shared.Try(false) %}");
  assert.throws(
    () => runSync(run),
    (error: unknown) => error instanceof TypeError && error.message === "a defect of the host",
  );
});

test("an unknown member of a host object names what there is", () => {
  const set = createEngine({
    sources: [
      {
        name: "main",
        text: "{{ resources.thing.Get(1) }}{{ resources.things.Gett(1) }}{{ resources.zzz }}{% x := resources %}{{ resources.things.Get }}{{ keys(resources) }}",
      },
    ],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: { resources: { type: "Stores" } }, component: {} },
    hostTypes,
  });
  assert.equal(
    set.problems.map((p) => `${p.column}: ${p.message} (${p.hint ?? ""})`),
    [
      '13: Stores has no member thing (did you mean "things"?)',
      '48: Store has no member Gett (did you mean "Get"?)',
      "71: Stores has no member zzz (watchedResources has things)",
      "83: cannot keep Stores in a variable (call its methods where they are needed)",
      "117: method Store.Get must be called (write .Get(…))",
      "132: cannot use Stores as a plain value in argument to keys (call one of its methods instead)",
    ],
  );
});

test.run();
