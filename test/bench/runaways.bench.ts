/**
 * How long a template that runs away keeps the event loop from other work: the longest slice until it is stopped, with the
 * bounds and the watchdog of the controller. `cpu` rows are the thread's own time, without what others did on the machine.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../src/errors.ts";
import { createEngine, drive, sliceClock, type TemplateSource } from "../../src/templating/index.ts";
import { recordRow } from "../support/report.ts";
import { runawayFiles, runaways } from "../support/runaways.ts";

const ROUNDS = 3;
const SLICE_MS = 6;
const WATCHDOG_MS = 1000;

const now = (): number => performance.now();
const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Longest slice of one run, in ms of the clock and of the thread. */
async function stall(template: string): Promise<{ readonly wall: number; readonly cpu: number }> {
  const sources: TemplateSource[] = Object.entries({ main: template, ...runawayFiles }).map(([name, text]) => ({
    name,
    text,
  }));
  const set = createEngine({
    sources,
    entries: [{ template: "main", kind: "root" }],
    incremental: () => false,
    globals: { root: {}, component: {} },
    hostTypes: {},
  });
  assert.equal(
    set.problems.map((problem) => problem.text),
    [],
  );
  const slices = sliceClock(SLICE_MS, now);
  let sliceBegan = now();
  const clock = {
    due: slices.due,
    begin: () => {
      slices.begin();
      sliceBegan = now();
    },
  };
  const longest = { wall: 0, cpu: 0 };
  let began = cpu();
  const environment = {
    globals: {},
    sink: { text: () => undefined, mount: () => undefined },
    due: clock.due,
    // How long it runs in all has no part in the longest slice.
    limits: { fuel: 20_000_000 },
  };
  try {
    await drive(set.start("main", environment), {
      clock,
      yieldTo: async () => {
        await new Promise((resolve) => void setImmediate(resolve));
        began = cpu();
      },
      onSlice: (ms) => {
        longest.wall = Math.max(longest.wall, ms);
        longest.cpu = Math.max(longest.cpu, cpu() - began);
      },
      now,
      watchdogMs: WATCHDOG_MS,
    });
    assert.unreachable("it came to an end");
  } catch (error) {
    assert.instance(error, TemplateError, String(error));
    // The slice that was its last; onSlice hears of those that end in a pause.
    longest.wall = Math.max(longest.wall, now() - sliceBegan);
    longest.cpu = Math.max(longest.cpu, cpu() - began);
  }
  return longest;
}

for (const [name, template] of runaways) {
  test(`stall by ${name}`, async () => {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await stall(template));
    for (const kind of ["wall", "cpu"] as const) {
      const sorted = rounds.map((round) => round[kind]).sort((a, b) => a - b);
      const [p50, max] = [sorted[sorted.length >> 1]!, sorted.at(-1)!];
      recordRow({
        name: `T runaway, longest stall${kind === "cpu" ? ", CPU" : ""}: ${name}`,
        objects: 1,
        p50,
        p95: max,
        p99: max,
        max,
      });
    }
  });
}

test.run();
