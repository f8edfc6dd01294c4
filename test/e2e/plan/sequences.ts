/** A sequence of random changes on one pod: how each went, and whether the worker became what its files say. */
import { generator } from "../../support/random.ts";
import { change, type Step } from "./changes.ts";
import type { Dice } from "./dice.ts";
import type { Change, Rig } from "./rig.ts";
import { nameOf, SITES, startModel, type Material, type Targets } from "./start.ts";

export interface SequenceOptions {
  readonly changes: number;
  readonly seed: number;
  /** 3.0, 3.2, 3.4 */
  readonly version: number;
  /** Comparisons with a fresh HAProxy, the last one at the end. */
  readonly comparisons: number;
  readonly say?: (line: string) => void;
}

export interface Outcome {
  /** By group of changes, how often each mode. */
  readonly modes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What was not as it must be; [] = the proof holds. */
  readonly complaints: readonly string[];
}

export async function runSequence(
  rig: Rig,
  material: Material,
  targets: Targets,
  options: SequenceOptions,
): Promise<Outcome> {
  const dice: Dice = { random: generator(options.seed), material, targets };
  const model = startModel(material, targets);
  const modes: Record<string, Record<string, number>> = {};
  const complaints: string[] = [];
  const names = ["base", ...SITES].flatMap((site) => [nameOf(site), `also-${nameOf(site)}`]);
  const recent: string[] = [];
  const complain = (text: string): void => {
    complaints.push(text);
    options.say?.(`    ${text}`);
  };
  const first = await rig.apply(model);
  if (first.mode !== "reload") throw new Error(`the first set: ${first.mode} ${first.message}`);
  const every = Math.max(1, Math.floor(options.changes / options.comparisons));
  for (let turn = 1; turn <= options.changes; turn++) {
    const step = change(model, dice);
    // Mostly a pod is at rest when a change comes; some come while the one before is under way.
    const rested = dice.random() < 0.85;
    if (rested) await rig.settle();
    const done = await rig.apply(model);
    if (dice.random() < 0.2) rig.promote();
    const counts = (modes[step.group] ??= {});
    counts[done.mode] = (counts[done.mode] ?? 0) + 1;
    recent.push(
      `${turn}. ${step.names.join(" + ")}: ${done.mode} ${done.reasons.join("; ")} ${done.message}`.trimEnd(),
    );
    if (recent.length > every) recent.shift();
    const wrong = judge(step, done, rested, options.version);
    if (wrong !== undefined) complain(`change ${recent.at(-1)!}: ${wrong}`);
    if (turn % every !== 0 && turn !== options.changes) continue;
    const differences = await rig.differences(names);
    for (const difference of differences) complain(`after change ${turn}: ${difference}`);
    if (differences.length > 0) {
      for (const line of recent) complain(`  had been ${line}`);
      return { modes, complaints };
    }
    options.say?.(`  ${turn} changes, the worker is what a fresh HAProxy is`);
  }
  return { modes, complaints };
}

function judge(step: Step, { mode, reasons }: Change, rested: boolean, version: number): string | undefined {
  if (mode === "rejected") return "it was refused";
  const reloaded = mode === "reload" || mode === "scheduled";
  if (reloaded && reasons.length === 0) return "nobody says why it was reloaded";
  if (rested && reloaded && step.since !== undefined && step.since <= version)
    return `it needs no reload since ${step.since.toFixed(1)}`;
  return undefined;
}

/** One row a group: `servers  runtime 120, reload 3`. */
export function tableOf(modes: Outcome["modes"]): string[] {
  const total: Record<string, number> = {};
  const row = (name: string, counts: Readonly<Record<string, number>>): string =>
    `  ${name.padEnd(16)} ${Object.entries(counts)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([mode, count]) => `${mode} ${count}`)
      .join(", ")}`;
  const rows = Object.entries(modes)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, counts]) => {
      for (const [mode, count] of Object.entries(counts)) total[mode] = (total[mode] ?? 0) + count;
      return row(name, counts);
    });
  return [...rows, row("all", total)];
}
