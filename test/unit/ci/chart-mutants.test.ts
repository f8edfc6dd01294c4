import { test } from "uvu";
import * as assert from "uvu/assert";
import { and, setup } from "xstate";
import type { AnyStateMachine } from "xstate";
import { mutantsOf } from "../../../.ci/chart-mutants.ts";
import { isNoticed, rowsOf } from "../../../.ci/chart-replays.ts";
import { declaredModels, tabulate } from "../../model/harness.ts";
import type { ModelOptions } from "../../model/harness.ts";

const machine = setup({
  guards: { big: () => true, red: () => true, both: and(["big", "red"]) },
  actions: { note: () => {}, bow: () => {} },
  delays: { later: 10 },
}).createMachine({
  id: "toy",
  initial: "a",
  on: { RESET: ".a" },
  states: {
    a: {
      entry: "bow",
      on: { GO: [{ guard: "both", target: "b", actions: "note" }, { actions: "note" }] },
    },
    b: { after: { later: { target: "b", reenter: true } }, always: { guard: "big", target: "c.y" } },
    c: { initial: "x", states: { x: {}, y: { on: { BACK: "#toy.a" } } } },
  },
}) as AnyStateMachine;

test("every guard is turned round; every transition is dropped, led elsewhere and freed of its actions", () => {
  assert.equal(
    mutantsOf(machine)
      .map(({ what }) => what)
      .sort(),
    [
      "toy on RESET #0: dropped",
      "toy on RESET #0: leads nowhere",
      "toy on RESET #0: leads to toy.b",
      "toy on RESET #0: leads to toy.c",
      "toy.a on GO #0: dropped",
      "toy.a on GO #0: guard turned round",
      "toy.a on GO #0: leads nowhere",
      "toy.a on GO #0: leads to toy.a",
      "toy.a on GO #0: leads to toy.c",
      "toy.a on GO #0: without action 0 note",
      "toy.a on GO #1: dropped",
      "toy.a on GO #1: leads to toy.b",
      "toy.a on GO #1: without action 0 note",
      "toy.a: entry without action 0 bow",
      "toy.b after later #0: does not reenter",
      "toy.b after later #0: dropped",
      "toy.b after later #0: leads nowhere",
      "toy.b after later #0: leads to toy.a",
      "toy.b after later #0: leads to toy.c",
      "toy.b always #0: dropped",
      "toy.b always #0: guard turned round",
      "toy.b always #0: leads nowhere",
      "toy.b always #0: leads to toy.c.x",
      "toy.c.y on BACK #0: dropped",
      "toy.c.y on BACK #0: leads nowhere",
      "toy.c.y on BACK #0: leads to toy.b",
      "toy.c.y on BACK #0: leads to toy.c",
      "toy.c: begins in y",
      "toy: begins in b",
      "toy: begins in c",
    ],
  );
});

test("a changed chart does what its name says, and the chart itself stays as it is", () => {
  const before = JSON.stringify(machine.config);
  for (const mutant of mutantsOf(machine)) {
    const changed = mutant.make();
    assert.ok(changed, mutant.what);
    assert.not.equal(changed?.config, machine.config, mutant.what);
  }
  assert.is(JSON.stringify(machine.config), before);
  const named = (what: string): AnyStateMachine =>
    mutantsOf(machine)
      .find((one) => one.what === what)!
      .make()!;
  const next = (changed: AnyStateMachine, type: string): unknown => {
    const from = changed.resolveState({ value: "a", context: {} });
    return changed.getTransitionData(from as never, { type }).map(({ target }) => target?.[0]?.id);
  };
  assert.equal(next(machine, "GO"), ["toy.b"]);
  assert.equal(next(named("toy.a on GO #0: guard turned round"), "GO"), [undefined]);
  assert.equal(next(named("toy.a on GO #0: leads to toy.c"), "GO"), ["toy.c"]);
  assert.equal(next(named("toy.a on GO #0: dropped"), "GO"), [undefined]);
});

test("what no event of a model leads to goes unnoticed, the rest is noticed", async () => {
  const events = [{ type: "GO" }, { type: "RESET" }];
  const rows = await rowsOf({ machine, events });
  const unnoticed: string[] = [];
  for (const mutant of mutantsOf(machine)) {
    if (!(await isNoticed(rows, mutant, mutant.make()!))) unnoticed.push(mutant.what);
  }
  // The second choice is never reached, b goes on at once (but sets its timer), nobody sends BACK, c is never begun.
  const counts = new Map<string, number>();
  for (const what of unnoticed) counts.set(what.split(":")[0]!, (counts.get(what.split(":")[0]!) ?? 0) + 1);
  assert.equal(Object.fromEntries(counts), {
    "toy.a on GO #1": 3,
    "toy.b after later #0": 4,
    "toy.c.y on BACK #0": 4,
    "toy.c": 1,
  });
});

/** The whole table of a model with a changed chart, or that it cannot be made. */
async function tableOf(options: ModelOptions, changed: AnyStateMachine): Promise<string> {
  const lines: string[] = [];
  try {
    await tabulate(options, changed, (seen) => lines.push(...seen.lines));
    return lines.join("\n");
  } catch (error) {
    return String(error);
  }
}

test("replays in any order notice what the whole table notices, and no more", async () => {
  process.env["CHART_MUTATION"] = "1";
  await import("../../model/podProbe.test.ts");
  await import("../../model/watcher.test.ts");
  delete process.env["CHART_MUTATION"];
  const models = [{ machine, events: [{ type: "GO" }, { type: "RESET" }] }, ...declaredModels];
  assert.is(models.length, 4);
  for (const options of models) {
    const rows = await rowsOf(options);
    const table = await tableOf(options, options.machine);
    for (const mutant of mutantsOf(options.machine)) {
      const changed = mutant.make()!;
      const wanted = (await tableOf(options, changed)) !== table;
      assert.is(await isNoticed(rows, mutant, changed), wanted, mutant.what);
    }
  }
});

test.run();
