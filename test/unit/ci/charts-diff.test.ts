import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { assign, setup } from "xstate";
import type { AnyStateMachine } from "xstate";
import { compareMachines } from "../../../.ci/charts-diff.ts";

interface Difference {
  readonly pause?: number;
  readonly limit?: number;
  readonly on?: object;
  readonly extra?: object;
  readonly entry?: string;
  readonly step?: number;
}

const door = ({
  pause = 100,
  limit = 3,
  on = {},
  extra = {},
  entry = "ring",
  step = 1,
}: Difference = {}): AnyStateMachine =>
  setup({
    types: { context: {} as { knocks: number }, events: {} as { type: "KNOCK" } | { type: "CLOSE" } },
    guards: {
      often: limit === 3 ? ({ context }) => context.knocks > 3 : ({ context }) => context.knocks > 5,
      never: () => false,
    },
    delays: { pause },
    actions: {
      ring: () => {},
      sing: () => {},
      count: assign(step === 1 ? ({ context }) => ({ knocks: context.knocks + 1 }) : { knocks: step }),
    },
  }).createMachine({
    id: "door",
    context: { knocks: 0 },
    initial: "closed",
    states: {
      closed: {
        entry: entry as "ring",
        on: { KNOCK: [{ guard: "often", target: "open" }, { actions: "count" }], ...on },
      },
      open: { after: { pause: "closed" }, on: { CLOSE: "closed" } },
      ...extra,
    },
  } as never) as unknown as AnyStateMachine;

const compare = (change: Difference): string[] => compareMachines(door(), door(change));

test("equal charts differ in nothing", () => {
  assert.equal(compare({}), []);
});

test("a delay of another length is told with both numbers", () => {
  assert.equal(compare({ pause: 250 }), ["delay pause is 250 ms, was 100 ms"]);
});

test("a guard and an action whose code changed are named", () => {
  assert.equal(compare({ limit: 5 }), ["guard often decides otherwise (its code changed)"]);
  assert.equal(compare({ step: 2 }), ["action count works otherwise (its code changed)"]);
});

test("a state that came is told with its way out, one that went is told as gone", () => {
  const wider = { extra: { locked: { on: { KNOCK: "open" } } } };
  assert.equal(compareMachines(door(), door(wider)), ["state added: locked", "locked: transition added: KNOCK → open"]);
  assert.equal(compareMachines(door(wider), door()), ["state gone: locked"]);
});

test("transitions are told as added, gone, retargeted, guarded otherwise, and doing something else", () => {
  assert.equal(compare({ on: { CLOSE: "open" } }), ["closed: transition added: CLOSE → open"]);
  assert.equal(compareMachines(door({ on: { CLOSE: "open" } }), door()), ["closed: transition gone: CLOSE → open"]);
  const knock = (...transitions: object[]): string[] => compare({ on: { KNOCK: transitions } });
  assert.equal(knock({ guard: "often", target: "closed" }, { actions: "count" }), [
    "closed: KNOCK [often] is retargeted from open to closed",
  ]);
  assert.equal(knock({ guard: "never", target: "open" }, { actions: "count" }), [
    "closed: KNOCK → open is guarded by never instead of often",
  ]);
  assert.equal(knock({ guard: "often", target: "open" }, { actions: "sing" }), [
    "closed: KNOCK stays does sing instead of count",
  ]);
  assert.equal(knock({ actions: "count" }, { guard: "often", target: "open" }), [
    "closed: KNOCK tries its transitions in another order: KNOCK stays; KNOCK [often] → open",
  ]);
});

test("another action on entry is told", () => {
  assert.equal(compare({ entry: "sing" }), ["closed: on entry: sing instead of ring"]);
});

test("the command compares the working tree with a revision, and says when there is none such", () => {
  const root = resolve(import.meta.dirname, "../../..");
  const folder = mkdtempSync(join(tmpdir(), "haptic-charts-diff-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    for (const path of ["package.json", ".ci", "machines/podProbe.ts"]) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      cpSync(join(root, path), join(folder, path), { recursive: true });
    }
    const git = (...args: string[]): void => {
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: folder });
    };
    git("init", "-q");
    git("add", "package.json", "machines");
    git("commit", "-q", "-m", "Begin");
    const diff = (revision: string) =>
      spawnSync(process.execPath, [".ci/charts.ts", "--diff", revision], { cwd: folder, encoding: "utf8" });
    assert.is(diff("HEAD").stdout, "No chart behaves otherwise than at HEAD.\n");
    const file = join(folder, "machines/podProbe.ts");
    const text = readFileSync(file, "utf8");
    const changed = text.replace(/\bonError: \{\s*target: "[A-Za-z]+",/, (found) =>
      found.replace(/"[A-Za-z]+"/, '"probing"'),
    );
    assert.is.not(changed, text, "the chart has such a transition");
    writeFileSync(file, changed);
    assert.match(
      diff("HEAD").stdout,
      /^Since HEAD:\n\npodProbe\n {2}probing: error\(probe\) is retargeted from \w+ to probing\n/,
    );
    const unknown = diff("nosuch");
    assert.is(unknown.status, 1);
    assert.match(unknown.stderr, /cannot compare with nosuch/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
