import { test } from "uvu";
import * as assert from "uvu/assert";
import { assign, createMachine, fromPromise, raise, setup } from "xstate";
import type { AnyStateMachine } from "xstate";
import { chartOf, toMermaid } from "../../../.ci/chart-model.ts";
import { lintMachine } from "../../../.ci/machine-lint.ts";

const rules = (machine: unknown): string[] =>
  lintMachine(machine as AnyStateMachine).map(({ rule, detail }) => `${rule} ${detail}`);
const work = fromPromise(() => Promise.resolve(1));

test("a chart in order has no fault", () => {
  const machine = setup({
    actors: { work },
    delays: { later: 10 },
    actions: { note: () => {} },
    guards: { fit: () => true },
  }).createMachine({
    id: "ok",
    initial: "a",
    states: {
      a: { invoke: { id: "work", src: "work", onDone: { target: "b", guard: "fit" }, onError: "b" }, entry: "note" },
      b: { after: { later: "a" }, exit: raise({ type: "GO" }) },
    },
  });
  assert.equal(rules(machine), []);
});

test("an unknown delay, action, guard or actor is named", () => {
  const machine = createMachine({
    id: "unknown",
    initial: "a",
    states: {
      a: { after: { later: "b" }, entry: "note", on: { GO: { target: "b", guard: "fit" } } },
      b: { invoke: { id: "work", src: "work", onError: "a" } },
    },
  });
  assert.equal(rules(machine), [
    "unknown-delay later",
    "unknown-actions note",
    "unknown-guards fit",
    "unknown-actor work",
  ]);
});

test("inline actions, guards and actors, an invoke without name or onError, and a bare number of ms are named", () => {
  const machine = createMachine({
    id: "inline",
    initial: "a",
    states: {
      a: { after: { 10: "b" }, entry: assign({}), on: { GO: { target: "b", guard: () => true } } },
      b: { invoke: { src: work } },
    },
  });
  const found = rules(machine).map((line) => line.split(" ")[0]);
  assert.equal(found, [
    "unknown-delay",
    "inline-actions",
    "inline-guards",
    "inline-actor",
    "unnamed-invoke",
    "invoke-without-onError",
  ]);
});

test("a state that nothing leads to is named, one entered on the way to a descendant is not", () => {
  const machine = createMachine({
    id: "reach",
    initial: "a",
    states: {
      a: { on: { GO: "#reach.b.inner" } },
      b: { initial: "first", states: { first: {}, inner: {} } },
      c: {},
    },
  });
  assert.equal(rules(machine), ["unreachable first", "unreachable c"]);
});

test("an event that the component says it reads and no state handles is named", () => {
  const machine = createMachine({ id: "deaf", initial: "a", states: { a: { on: { "A.HEARD": {} } } } });
  const found = lintMachine(machine, ["A.HEARD", "B.MISSED"]);
  assert.equal(found, [{ state: "deaf", rule: "unhandled-event", detail: "B.MISSED" }]);
});

test("more states than one page shows are too many for one chart", () => {
  const names = Array.from({ length: 31 }, (_, index) => `s${index}`);
  const states = Object.fromEntries(
    names.map((name, index) => [name, index < 30 ? { on: { GO: names[index + 1]! } } : {}]),
  );
  const machine = createMachine({ id: "large", initial: "s0", states } as never);
  assert.equal(rules(machine), ["too-large 31 states; more than 25 is two charts"]);
});

test("Mermaid text shows guards, actions and the initial state, with no sign that it would misread", () => {
  const machine = setup({ guards: { fit: () => true }, actions: { note: () => {} } }).createMachine({
    id: "draw",
    initial: "a",
    states: { a: { on: { "X:Y": { target: "b", guard: "fit", actions: "note" } } }, b: {} },
  });
  const text = toMermaid(chartOf(machine));
  assert.match(text, /\[\*\] --> draw_a/);
  assert.match(text, /draw_a --> draw_b: X∶Y \[fit\] \/ note/);
});

test.run();
