/**
 * Proves the charts' path tests: turns every guard round and leads every transition elsewhere, one at a time, and looks whether the
 * chart's table notices. Prints what nothing noticed; exit 1 when there is any.
 *
 * node .ci/mutate-charts.ts [CHART …]
 */
import { existsSync } from "node:fs";
import { createMachine, not } from "xstate";
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { loadMachines } from "./machines.ts";

process.env["CHART_MUTATION"] = "1";
const { committedTable, declaredModels, modelName, tabulate } = await import("../test/model/harness.ts");

interface Mutant {
  readonly what: string;
  readonly machine: AnyStateMachine;
}

type Config = Record<string, unknown>;
const isConfig = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A copy whose arrays and plain objects are its own; functions are shared. */
const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy);
  if (isConfig(value) && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)]));
  }
  return value;
};

/** Calls `visit` with each transition of a machine's configuration, as an object that may be changed. */
function eachTransition(config: Config, path: string, visit: (transition: Config, where: string) => void): void {
  const normalise = (holder: Config, key: string, where: string): void => {
    const given = holder[key];
    if (given === undefined) return;
    const list = (Array.isArray(given) ? given : [given]).map((one: unknown) =>
      typeof one === "string" ? { target: one } : one,
    );
    holder[key] = list;
    list.forEach((transition: unknown, index) => {
      if (isConfig(transition)) visit(transition, `${where}#${index}`);
    });
  };
  for (const [event] of Object.entries((config["on"] ?? {}) as Config))
    normalise(config["on"] as Config, event, `${path} on ${event} `);
  for (const [delay] of Object.entries((config["after"] ?? {}) as Config))
    normalise(config["after"] as Config, delay, `${path} after ${delay} `);
  normalise(config, "always", `${path} always `);
  const invokes =
    config["invoke"] === undefined ? [] : Array.isArray(config["invoke"]) ? config["invoke"] : [config["invoke"]];
  for (const invoke of invokes as Config[]) {
    normalise(invoke, "onDone", `${path} done(${String(invoke["id"])}) `);
    normalise(invoke, "onError", `${path} error(${String(invoke["id"])}) `);
  }
  for (const [key, state] of Object.entries((config["states"] ?? {}) as Config)) {
    if (isConfig(state)) eachTransition(state, `${path}.${key}`, visit);
  }
}

/** The states that are entered by entering this one. */
function entered(node: AnyStateNode): AnyStateNode[] {
  if (node.type === "parallel") return [node, ...Object.values(node.states).flatMap(entered)];
  return node.type === "compound" ? [node, ...(node.initial.target ?? []).flatMap(entered)] : [node];
}

/** Changes that make no difference to anybody, with the reason. */
const EQUIVALENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["done(render) #0", "done(render) #1", "error(render) #0"].map((edge) => [
      `coordinator.rendering ${edge}: leads to coordinator.waiting`,
      "waiting goes on to idle at once: whoever has rendered is ready, and stays so",
    ]),
  ),
  "statusWriter.backingOff after backoff #0: leads to statusWriter.writing":
    "differs only when the answer of `differs` changes meanwhile: test/model/statusWriter.test.ts shows that by hand",
  "eventRecorder.backingOff after backoff #0: leads to eventRecorder.recording":
    "differs only when the answer of `hasWork` changes meanwhile: test/model/eventRecorder.test.ts shows that by hand",
  "driftMonitor.waiting on DEPLOYMENT.COMPLETED #0: leads to driftMonitor.choosing":
    "choosing goes on to waiting at once: the interval is not 0",
  "driftMonitor.waiting after interval #0: leads to driftMonitor.choosing":
    "choosing goes on to waiting at once: the interval is not 0",
};

function mutantsOf(machine: AnyStateMachine): Mutant[] {
  const leaves: AnyStateNode[] = [];
  const nodes: AnyStateNode[] = [];
  const walk = (node: AnyStateNode): void => {
    nodes.push(node);
    if (node.type === "atomic" || node.type === "final") leaves.push(node);
    Object.values(node.states).forEach(walk);
  };
  walk(machine.root);
  const total: string[] = [];
  const count = copy(machine.config) as Config;
  eachTransition(count, machine.id, (_, where) => total.push(where));
  const mutants: Mutant[] = [];
  const make = (index: number, what: string, change: (transition: Config) => boolean): void => {
    const config = copy(machine.config) as Config;
    let at = 0;
    let changed = false;
    eachTransition(config, machine.id, (transition) => {
      if (at === index) changed = change(transition);
      at += 1;
    });
    if (!changed) return;
    try {
      mutants.push({
        what,
        machine: createMachine(config as never, machine.implementations as never) as AnyStateMachine,
      });
    } catch {
      // A chart that cannot be made at all is noticed by every import.
    }
  };
  total.forEach((where, index) => {
    make(index, `${where}: guard turned round`, (transition) => {
      if (transition["guard"] === undefined) return false;
      transition["guard"] = not(transition["guard"] as never);
      return true;
    });
    const to = (leaf: AnyStateNode): void => {
      if (EQUIVALENT[`${where}: leads to ${leaf.id}`] !== undefined) return;
      make(index, `${where}: leads to ${leaf.id}`, (transition) => {
        const target = transition["target"];
        if (typeof target !== "string") return false;
        const parent = where.split(" ")[0]?.split(".").slice(0, -1).join(".") ?? "";
        const name = target.startsWith("#")
          ? target.slice(1)
          : target.startsWith(".")
            ? `${where.split(" ")[0]}${target}`
            : `${parent}.${target}`;
        const meant = nodes.find(({ id }) => id === name);
        if (meant !== undefined && entered(meant).includes(leaf)) return false;
        transition["target"] = `#${leaf.id}`;
        return true;
      });
    };
    // Another state of the same region, so that only the target is wrong; and the first of the chart.
    const source = where.split(" ")[0] ?? "";
    const near = leaves.filter(
      (leaf) => leaf.id !== source && leaf.id.startsWith(source.split(".").slice(0, -1).join(".")),
    );
    for (const leaf of [near[0], near[near.length - 1]].filter(
      (one, place, all) => one !== undefined && all.indexOf(one) === place,
    )) {
      if (leaf !== undefined) to(leaf);
    }
  });
  return mutants;
}

class Noticed extends Error {}

async function notices(options: (typeof declaredModels)[number], machine: AnyStateMachine): Promise<boolean> {
  const wanted = committedTable(modelName(options));
  let at = 0;
  try {
    await tabulate(
      options,
      machine,
      (text) => {
        if (wanted?.[at] !== text) throw new Noticed(text);
        at += 1;
      },
      { taken: new Set(), guards: new Map() },
    );
  } catch {
    return true;
  }
  return at !== wanted?.length;
}

const names = process.argv.slice(2);
let survivors = 0;
let tried = 0;
for (const { file, machine } of await loadMachines()) {
  const chart = file.replace(/\.ts$/, "");
  const test = new URL(`../test/model/${chart}.test.ts`, import.meta.url);
  if ((names.length > 0 && !names.includes(chart)) || !existsSync(test)) continue;
  declaredModels.length = 0;
  await import(test.href);
  const models = declaredModels.filter((options) => options.machine.id === machine.id);
  if (models.length === 0) continue;
  let here = 0;
  const mutants = mutantsOf(machine);
  for (const mutant of mutants) {
    tried += 1;
    let noticed = false;
    for (const options of models) {
      noticed = await notices(options, mutant.machine);
      if (noticed) break;
    }
    if (noticed) continue;
    here += 1;
    process.stdout.write(`not noticed: ${mutant.what}\n`);
  }
  survivors += here;
  process.stdout.write(`${chart}: ${mutants.length} changes, ${here} not noticed\n`);
}
process.stdout.write(`charts: ${tried} changes, ${survivors} not noticed\n`);
process.exitCode = survivors === 0 && tried > 0 ? 0 : 1;
