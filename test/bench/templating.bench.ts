/** The template engine alone: compiling, a whole render in slices, one small component. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createEngine, drive, hostObject, runSync, sliceClock } from "../../src/templating/index.ts";
import { recordRow } from "../support/report.ts";

const LIB = `{% macro Name(item any) string %}{{ item.metadata.namespace }}_{{ item.metadata.name }}{% end %}
{% macro Servers(endpoints []any) string -%}
{% for i, e := range endpoints %}
  server s{{ i }} {{ e.address }}:{{ e | dig("port") | fallback(80) }} check
{%- end %}
{%- end %}`;
const COMPONENT = `{%- import "lib" for Name, Servers -%}
backend {{ Name(item) }}
  balance {{ item | dig("spec", "balance") | fallback("roundrobin") }}
{{- Servers(slices.Fetch(item.metadata.namespace, item.metadata.name)) }}
`;
const ROOT = `{% import "lib" for Name, Servers %}
{%- for _, item := range items %}
{%- if first_seen(item.metadata.namespace, item.metadata.name) %}
backend {{ Name(item) }}
  balance {{ item | dig("spec", "balance") | fallback("roundrobin") }}
{%- for key in []any{"a", "b", "c", "d"} %}
{%- var value = item | dig("metadata", "annotations", key) | fallback("") | tostring() -%}
{%- if value | toLower() != "" %}
  http-request set-header X-{{ key | toUpper() }} {{ value }}
{%- end %}
{%- end %}
{{- Servers(slices.Fetch(item.metadata.namespace, item.metadata.name)) }}
{%- end %}
{%- end %}
`;

const any = { type: "any" };
const globals = {
  root: { items: any, slices: { type: "Store" } },
  component: { item: any, slices: { type: "Store" } },
};
const hostTypes = { Store: { methods: { Fetch: { signature: "func(keys ...any) []any", reads: true } } } };

function compile(): ReturnType<typeof createEngine> {
  const set = createEngine({
    sources: [
      { name: "lib", text: LIB },
      { name: "root", text: ROOT },
      { name: "component", text: COMPONENT },
    ],
    entries: [
      { template: "root", kind: "root" },
      { template: "component", kind: "component" },
    ],
    incremental: (name) => name === "component",
    globals,
    hostTypes,
  });
  assert.equal(set.problems, []);
  return set;
}

const endpoints = [{ address: "10.0.0.1" }, { address: "10.0.0.2", port: 8080 }, { address: "10.0.0.3" }];
const slices = hostObject("Store", { Fetch: () => endpoints });
const itemOf = (i: number): object => ({
  metadata: { namespace: `ns-${i % 50}`, name: `app-${i}`, annotations: { a: "x", c: `${i}` } },
  spec: i % 2 === 0 ? { balance: "leastconn" } : {},
});

function row(name: string, objects: number, samples: number[]): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
  recordRow({ name, objects, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) });
}

function timed(rounds: number, work: () => void): number[] {
  return Array.from({ length: rounds }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
}

test("compiling a set", () => {
  row(
    "T compile three templates",
    3,
    timed(50, () => void compile()),
  );
});

for (const objects of [100, 1000, 5000]) {
  test(`a root over ${objects} objects, in slices of 8 ms`, async () => {
    const set = compile();
    const items = Array.from({ length: objects }, (_, i) => itemOf(i));
    const clock = sliceClock(8, () => performance.now());
    const samples: number[] = [];
    const longest: number[] = [];
    let length = 0;
    for (let round = 0; round < 15; round++) {
      const chunks: Buffer[] = [];
      const started = performance.now();
      let slice = 0;
      const run = set.start("root", {
        globals: { items, slices },
        sink: { text: (chunk) => chunks.push(Buffer.from(chunk)), mount: () => undefined },
        due: clock.due,
      });
      await drive(run, {
        clock,
        yieldTo: () => new Promise((resolve) => void setImmediate(resolve)),
        now: () => performance.now(),
        onSlice: (ms) => {
          slice = Math.max(slice, ms);
        },
      });
      samples.push(performance.now() - started);
      longest.push(slice);
      length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    }
    assert.ok(length > objects * 100);
    row("T render one root", objects, samples.slice(3));
    row("T render one root, longest slice", objects, longest.slice(3));
  });
}

test("one component", () => {
  const set = compile();
  const sink = { text: () => undefined, mount: () => undefined };
  const one = (i: number): void =>
    runSync(set.start("component", { globals: { item: itemOf(i), slices }, sink, due: () => false }));
  for (let i = 0; i < 2000; i++) one(i);
  let i = 0;
  row(
    "T render one component",
    1,
    timed(2000, () => one(i++)),
  );
});

test.run();
