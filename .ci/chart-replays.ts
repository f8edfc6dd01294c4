/** Every replay of a model, once on the chart as it is; then again, on a changed chart, until one differs. */
import type { AnyStateMachine } from "xstate";
import { beginning, possibilities, situationsOf, step } from "../test/model/harness.ts";
import type { ModelEvent, ModelOptions, Seen, Walk } from "../test/model/harness.ts";
import type { Mutant } from "./chart-mutants.ts";

/** One replay, and what it shows on the chart as it is. */
export interface Row {
  readonly seen: Seen;
  readonly again: (machine: AnyStateMachine) => Promise<Seen>;
}

/** All replays of a model; together their lines are its table. */
export async function rowsOf(options: ModelOptions): Promise<Row[]> {
  const { machine } = options;
  const rows: Row[] = [];
  const add = async (again: Row["again"]): Promise<Seen> => {
    const seen = await again(machine);
    rows.push({ seen, again });
    return seen;
  };
  const begun = await add((subject) => beginning(options, subject));
  for (const [situation, walk] of situationsOf(options, machine, begun.lines[0] ?? "")) {
    await rowsIn(options, situation, walk, add);
  }
  return rows;
}

/** The replays of one situation. */
async function rowsIn(
  options: ModelOptions,
  situation: string,
  walk: Walk,
  add: (again: Row["again"]) => Promise<Seen>,
): Promise<void> {
  let events: readonly ModelEvent[] = [];
  await add(async (subject) => {
    const found = await possibilities(options, subject, situation, walk);
    if (subject === options.machine) events = found.events;
    return found;
  });
  for (const event of events) await add((subject) => step(options, subject, situation, walk, event));
}

async function differs(row: Row, machine: AnyStateMachine): Promise<boolean> {
  try {
    const { lines } = await row.again(machine);
    return lines.length !== row.seen.lines.length || lines.some((line, index) => line !== row.seen.lines[index]);
  } catch {
    return true;
  }
}

/** All replays, those first that are likeliest to show a change: that take the transition, ask the guard, or leave the same state. */
function* likeliestFirst(rows: readonly Row[], { transition, guard }: Mutant): Generator<Row> {
  const state = transition?.split(" ")[0] ?? "";
  const rank = ({ seen }: Row): number => {
    if (transition === undefined || seen.taken.has(transition)) return 0;
    const near = [...seen.taken].some((name) => name.startsWith(`${state} `));
    if (guard !== undefined && seen.guards.has(guard)) return near ? 1 : 2;
    return 3;
  };
  const ranked = rows.map((row) => ({ row, rank: rank(row) }));
  for (const wanted of [0, 1, 2, 3]) for (const one of ranked) if (one.rank === wanted) yield one.row;
}

/** Whether any replay of a changed chart differs. */
export async function isNoticed(rows: readonly Row[], mutant: Mutant, changed: AnyStateMachine): Promise<boolean> {
  for (const row of likeliestFirst(rows, mutant)) if (await differs(row, changed)) return true;
  return false;
}
