/** Programs that must be stopped or interrupted, for the proof that the bounds of a run hold. */
import { TemplateError } from "../../src/errors.ts";
import {
  createEngine,
  hostObject,
  readSchemas,
  type CompiledSet,
  type Suspension,
} from "../../src/templating/index.ts";

function compile(text: string): CompiledSet {
  return createEngine({
    sources: [{ name: "main", text }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: {}, component: {} },
    hostTypes: {},
  });
}

interface Seen {
  readonly error: string | undefined;
  readonly looks: number;
  readonly slices: number;
  readonly chunks: readonly number[];
  readonly output: string;
}

function run(text: string, limits: { fuel?: number; outputBytes?: number; depth?: number } = {}): Seen {
  const set = compile(text);
  if (set.problems.length > 0) throw new Error(set.problems[0]!.text);
  let [looks, slices, output] = [0, 0, ""];
  const chunks: number[] = [];
  const sink = {
    text: (chunk: string) => {
      chunks.push(chunk.length);
      output += chunk;
    },
    mount: () => undefined,
  };
  const due = (): boolean => ++looks % 2 === 0;
  let error: string | undefined;
  try {
    const steps = set.start("main", {
      globals: {},
      sink,
      due,
      limits: { fuel: 100_000, outputBytes: 1_000_000, ...limits },
    });
    for (let step: IteratorResult<Suspension, void> = steps.next(); step.done !== true; step = steps.next()) slices++;
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    error = thrown.code;
  }
  return { error, looks, slices, chunks, output };
}

const STOPPED: readonly string[] = [
  "{% for %}{% end %}",
  "{% for i := 0; i < 1000000; i++ %}{% end %}",
  "{% macro M(n int) %}{{ M(n + 1) }}{% end %}{{ M(0) }}",
  "{% var f func(int) int %}{% f = func(n int) int { return f(n + 1) } %}{{ f(0) }}",
  "{% var f = func() int { for { } } %}{{ f() }}",
  '{% var s = "ab" %}{% for i := 0; i < 60; i++ %}{% s += s %}{% end %}',
  '{% var s any = "ab" %}{% for i := 0; i < 60; i++ %}{% s = s + s %}{% end %}',
  "{{ len(seq(1000000)) }}",
  "{% var l = []int{1} %}{% for i := 0; i < 60; i++ %}{% l = append(l, l...) %}{% end %}",
  '{% for i := 0; i < 30000; i++ %}{{ "0123456789012345678901234567890123456789" }}{% end %}',
  "{% macro M %}{% for i := 0; i < 200000; i++ %}{% end %}{% end %}{{ M() }}",
  '{% var l = seq(400) %}{{ l | map(x => l | filter(y => y == x) | join(",")) | join("") }}',
  "{% var m = make([]int, 3000000) %}{{ len(m) }}",
];

/** Incremental snippets: mounted in order at the top, asked for as text everywhere else. */
function brokenMount(): string | undefined {
  const text =
    'a{{ render "inc" }}b{% macro M %}{{ render "inc" }}{% end %}{{ M() }}{{ (render "inc") + "." }}{{ render "plain" }}{% var n = "inc" %}{{ render n }}{% var t = render n %}{{ t }}';
  const set = createEngine({
    sources: [
      { name: "main", text },
      { name: "inc", text: "x" },
      { name: "plain", text: '({{ render "inc" }})' },
    ],
    entries: [
      { template: "main", kind: "root" },
      { template: "inc", kind: "component" },
    ],
    incremental: (name) => name === "inc",
    globals: { root: {}, component: {} },
    hostTypes: {},
  });
  if (set.problems.length > 0) return set.problems[0]!.text;
  const mounted = (renderIncremental: object): string => {
    let output = "";
    const sink = {
      text: (chunk: string) => {
        output += chunk;
      },
      mount: (name: string) => {
        output += `<${name}>`;
      },
    };
    try {
      for (const _ of set.start("main", { globals: {}, sink, due: () => false, ...renderIncremental })) continue;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return error.code;
    }
    return output;
  };
  const output = mounted({ renderIncremental: (name: string) => `[${name}]` });
  if (output !== "a<inc>b[inc][inc].(<inc>)<inc>[inc]") return `mounts give ${output}`;
  return mounted({}) === "HAPTIC_E_TEMPLATE_RUN" ? undefined : "an incremental text is made of nothing";
}

/** Resources with a schema: an optional zero is nil to dig, an object of nothing but zeros is false. */
function brokenType(): string | undefined {
  const fields = { count: "integer", name: "string", on: "boolean", need: "integer" };
  const nested = { type: "object", properties: { a: { type: "integer" }, b: { type: "string" } } };
  const properties = {
    ...Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }])),
    sub: nested,
    list: { type: "array", items: { type: "string" } },
  };
  const schema = {
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", required: ["need"], properties } } },
  };
  const names = { plural: "things", kind: "Thing" };
  const definition = {
    kind: "CustomResourceDefinition",
    spec: { group: "example.org", names, versions: [{ name: "v1", schema }] },
  };
  const things = readSchemas([definition]).resource("example.org/v1", "things", "things");
  const shown = Object.keys(properties).map((name) => `{{ toJSON(dig(t, "spec", "${name}")) }}`);
  const text = `{% for _, t := range resources.List() %}${shown.join(" ")} {% if t.spec %}t{% else %}f{% end %}{% if t.spec.sub %}t{% else %}f{% end %};{% end %}`;
  const set = createEngine({
    sources: [{ name: "main", text }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    resources: new Map([["things", things]]),
    globals: { root: { resources: { type: "Things" } }, component: {} },
    hostTypes: { Things: { methods: { List: "func() []resources.things.T" } } },
  });
  if (set.problems.length > 0) return set.problems[0]!.text;
  const specs = [
    { count: 0, name: "", on: false, need: 0, sub: { a: 0, b: "" }, list: [] },
    { count: 1, name: "n", on: true, need: 2, sub: { a: 0, b: "x" }, list: ["l"] },
    {},
  ];
  const objects = specs.map((spec) => ({ apiVersion: "example.org/v1", kind: "Thing", metadata: { name: "a" }, spec }));
  let output = "";
  const sink = {
    text: (chunk: string) => {
      output += chunk;
    },
    mount: () => undefined,
  };
  const globals = { resources: hostObject("Things", { List: () => objects }) };
  for (const _ of set.start("main", { globals, sink, due: () => false })) continue;
  const wanted = 'null null null 0 null [] tf;1 "n" true 2 {"a":0,"b":"x"} ["l"] tt;null null null null null null ff;';
  return output === wanted ? undefined : `typed resources give ${output}`;
}

/** What a host gives beside its declarations: nothing is nil, and an object of another type has no methods here. */
function brokenHost(): string | undefined {
  const set = createEngine({
    sources: [{ name: "main", text: "{{ toJSON(nothing()) }}{{ things.Get() }}" }],
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: { nothing: { type: "func() any" }, things: { type: "Things" } }, component: {} },
    hostTypes: { Things: { methods: { Get: "func() string" } } },
  });
  if (set.problems.length > 0) return set.problems[0]!.text;
  const given = (type: string): string => {
    let output = "";
    const globals = { nothing: () => undefined, things: hostObject(type, { Get: () => "got" }) };
    const sink = { text: (chunk: string) => void (output += chunk), mount: () => undefined };
    try {
      for (const _ of set.start("main", { globals, sink, due: () => false })) continue;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return error.code;
    }
    return output;
  };
  const outputs = `${given("Things")} ${given("Others")}`;
  return outputs === "nullgot HAPTIC_E_TEMPLATE_RUN" ? undefined : `host objects give ${outputs}`;
}

/** What does not hold; undefined = all does. */
export function brokenBound(): string | undefined {
  for (const text of STOPPED) {
    const { error } = run(text);
    if (error !== "HAPTIC_E_TEMPLATE_LIMIT") return `${text} ends with ${error}`;
  }
  const long = run("{% for i := 0; i < 5000; i++ %}{{ i }},{% end %}");
  if (long.error !== undefined || long.output.length !== 23_890)
    return `a long loop gives ${long.output.length} (${long.error})`;
  if (long.looks < 7 || long.looks > 60) return `the clock was looked at ${long.looks} times`;
  if (long.slices < 3 || long.slices > 30) return `${long.slices} slices`;
  const nested = run(
    "{% var f func(int) int %}{% f = func(n int) int { if n < 1 { return 0 }; return f(n - 1) + 1 } %}{% macro M(n int) %}{% if n > 0 %}{{ M(n - 1) }}{% end %}{% end %}{% for i := 0; i < 50; i++ %}{{ f(40) }}{{ M(40) }}{% end %}",
  );
  if (nested.error !== undefined || nested.looks < 20 || nested.looks > 800)
    return `the clock was looked at ${nested.looks} times in calls`;
  const wide = run('{% for i := 0; i < 3000; i++ %}{{ "0123456789012345678901234567890123456789" }}{% end %}');
  if (wide.chunks.length < 4 || Math.max(...wide.chunks) > 40_000) return `chunks of ${wide.chunks.join()}`;
  if (
    run(
      "{% macro M(n int) %}{% if n > 0 %}{{ M(n - 1) }}{% end %}{% end %}{% for i := 0; i < 9; i++ %}{{ M(40) }}{% end %}",
      { depth: 50 },
    ).error !== undefined
  )
    return "calls that end count as nested";
  if (
    run("{% macro M(n int) %}{% if n > 0 %}{{ M(n - 1) }}{% end %}{% end %}{{ M(60) }}", { depth: 50 }).error ===
    undefined
  )
    return "calls nest deeper than allowed";
  return brokenMount() ?? brokenType() ?? brokenHost();
}
