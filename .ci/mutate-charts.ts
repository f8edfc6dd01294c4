/**
 * Proves the charts' tests: changes every chart one place at a time (a guard turned round, a transition dropped or led elsewhere, an action
 * left out, another initial state) and looks whether a test notices: a line of a table in test/golden/model that comes out differently,
 * or a test written by hand in the chart's file of test/model/.
 *
 * Each model's replays run once on the chart as it is, and it is noted what each used. On a changed chart they run again until one differs,
 * those first that use the changed place: mostly the first one tells. Where none differs, the whole table is the same, as it is made of
 * nothing else.
 *
 * node .ci/mutate-charts.ts [--chart NAME]… [--list] [--bounded N [--seed S]]
 *
 * Exit 1 when a change goes unnoticed that .ci/mutations-allowed.ts does not explain, when an explanation there fits no unnoticed change
 * any more, or when a transition is taken by no replay. `--bounded` tries N changes, drawn by the seed (default: the day), and leaves the
 * explanations of the others alone; `--list` tries none.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { AnyStateMachine } from "xstate";
import { mutantsOf } from "./chart-mutants.ts";
import type { Row } from "./chart-replays.ts";
import { loadMachines } from "./machines.ts";
import { allowed } from "./mutations-allowed.ts";

const { values: flags } = parseArgs({
  options: {
    chart: { type: "string", multiple: true },
    list: { type: "boolean" },
    bounded: { type: "string" },
    seed: { type: "string" },
  },
});

/** Milliseconds that tests by hand may take before they count as failed: a changed chart may never do what they wait for. */
const HAND_LIMIT = 5_000;

type UvuRun = () => Promise<readonly [errors: string | true, ...counts: number[]]>;
const queue: (UvuRun | null)[] = [];
Object.assign(globalThis, { UVU_DEFER: 1, UVU_INDEX: 0, UVU_QUEUE: [queue] });
process.env["CHART_MUTATION"] = "1";
const { allTransitions, declaredModels } = await import("../test/model/harness.ts");
const { isNoticed, rowsOf } = await import("./chart-replays.ts");

/** Runs the tests by hand with `original` changed in place: they import it. */
async function failsByHand(
  suites: readonly UvuRun[],
  original: AnyStateMachine,
  mutant: AnyStateMachine,
): Promise<boolean> {
  const kept = { ...original };
  const write = process.stdout.write.bind(process.stdout);
  Object.assign(original, mutant);
  process.stdout.write = () => true;
  let timer: NodeJS.Timeout | undefined;
  // What nobody catches ends a test's process.
  let fail = (): void => {};
  const failed = new Promise<readonly [string]>((resolve) => {
    fail = () => resolve(["failed"]);
    timer = setTimeout(fail, HAND_LIMIT);
  });
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  try {
    for (const run of suites) if ((await Promise.race([run(), failed]))[0] !== true) return true;
    // What a changed chart throws at its end, it throws in the next turn.
    return await Promise.race([new Promise<false>((resolve) => setImmediate(resolve, false)), failed.then(() => true)]);
  } finally {
    clearTimeout(timer);
    process.off("uncaughtException", fail);
    process.off("unhandledRejection", fail);
    process.stdout.write = write;
    Object.assign(original, kept);
  }
}

/** mulberry32: small, good enough to draw by. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const charts = (await loadMachines()).filter(({ machine }) => flags.chart?.includes(machine.id) !== false);
const plan = charts.map(({ machine }) => ({ machine, mutants: mutantsOf(machine) }));
for (const { mutants } of plan) {
  const names = mutants.map(({ what }) => what);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two changes have one name: ${twice}`);
}
if (flags.list === true) {
  for (const { mutants } of plan) for (const { what } of mutants) process.stdout.write(`${what}\n`);
  // Nothing is tried.
  plan.length = 0;
}
const chosen = new Set(plan.flatMap(({ mutants }) => mutants));
if (flags.bounded !== undefined) {
  const seed = Number(flags.seed ?? new Date().toISOString().slice(0, 10).replaceAll("-", ""));
  const random = generator(seed);
  const order = [...chosen].map((mutant) => ({ mutant, at: random() })).sort((a, b) => a.at - b.at);
  chosen.clear();
  for (const { mutant } of order.slice(0, Number(flags.bounded))) chosen.add(mutant);
  process.stdout.write(`seed ${seed}: ${chosen.size} of ${order.length} changes\n`);
}

const faults: string[] = [];
const fault = (text: string): void => {
  faults.push(text);
  process.stdout.write(`  ${text}\n`);
};
const stale = new Set(allowed.keys());
const sum = { changes: 0, noticed: 0, explained: 0, unmade: 0 };
const columns = (name: string, ...cells: readonly (string | number)[]): string =>
  `${name.padEnd(15)}${cells.map((cell) => String(cell).padStart(10)).join("")}\n`;
if (flags.list !== true)
  process.stdout.write(columns("chart", "changes", "noticed", "by hand", "explained", "unmade", "replays", "s"));

for (const { machine, mutants } of plan) {
  const wanted = mutants.filter((mutant) => chosen.has(mutant));
  const began = performance.now();
  for (const { what } of mutants)
    if (flags.bounded !== undefined && !wanted.some((one) => one.what === what)) stale.delete(what);
  if (wanted.length === 0) continue;
  const file = new URL(`../test/model/${machine.id}.test.ts`, import.meta.url);
  if (!existsSync(file)) {
    fault(`${machine.id} has no test/model/${machine.id}.test.ts`);
    continue;
  }
  declaredModels.length = 0;
  queue.length = 0;
  await import(file.href);
  const suites = queue.filter((run): run is UvuRun => run !== null);
  const models = declaredModels.filter((options) => options.machine.id === machine.id);
  const rows: Row[] = [];
  for (const options of models) rows.push(...(await rowsOf(options)));
  const taken = new Set(rows.flatMap(({ seen }) => [...seen.taken]));
  const missed = allTransitions(machine).filter((name) => !taken.has(name));
  for (const name of missed) fault(`${name} is taken by no replay`);

  const count = { noticed: 0, byHand: 0, explained: 0, unmade: 0 };
  for (const mutant of wanted) {
    const changed = mutant.make();
    if (changed === undefined) {
      count.unmade += 1;
      continue;
    }
    let noticed = await isNoticed(rows, mutant, changed);
    if (!noticed && (await failsByHand(suites, machine, changed))) {
      noticed = true;
      count.byHand += 1;
    }
    if (noticed) count.noticed += 1;
    else if (allowed.has(mutant.what)) {
      stale.delete(mutant.what);
      count.explained += 1;
    } else fault(`not noticed: ${mutant.what}`);
  }
  sum.changes += wanted.length;
  sum.noticed += count.noticed;
  sum.explained += count.explained;
  sum.unmade += count.unmade;
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(
    columns(
      machine.id,
      wanted.length,
      count.noticed,
      count.byHand,
      count.explained,
      count.unmade,
      rows.length,
      seconds,
    ),
  );
}

if (flags.list !== true) {
  const asked = (what: string): boolean => flags.chart?.some((chart) => /^[^.: ]+/.exec(what)?.[0] === chart) !== false;
  for (const what of [...stale].filter(asked)) {
    fault(`.ci/mutations-allowed.ts explains what is noticed, or is no change any more: ${what}`);
  }
  process.stdout.write(
    `charts: ${sum.changes} changes, ${sum.noticed} noticed, ${sum.explained} explained, ${sum.unmade} cannot be made, ${faults.length} faults\n`,
  );
  process.exitCode = faults.length === 0 && sum.changes > 0 ? 0 : 1;
}
// Tests by hand on a changed chart may have left something running.
process.stdout.write("", () => process.exit());
