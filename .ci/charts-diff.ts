/**
 * Says in words what a change did to the charts' behaviour: states and transitions that came, went or lead elsewhere, guards, delays and
 * actions that are others or decide otherwise. `npm run charts -- --diff REF` compares the working tree with a git revision.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyStateMachine } from "xstate";
import { chartOf } from "./chart-model.ts";
import type { ChartNode, ChartTransition } from "./chart-model.ts";
import { loadMachines } from "./machines.ts";

const root = resolve(import.meta.dirname, "..");

/** What is compared of a machine. */
interface Behaviour {
  readonly chart: ChartNode;
  /** Source text of each named guard, delay and action: `guard ready` → text. */
  readonly code: ReadonlyMap<string, string>;
}

const textOf = (implementation: unknown): string => {
  if (typeof implementation === "number") return String(implementation);
  if (typeof implementation !== "function") return JSON.stringify(implementation) ?? "";
  // What `assign`, `emit`, `enqueueActions` were given is kept beside the function that they make.
  const inner = implementation as unknown as Readonly<Record<string, unknown>>;
  const given = ["assignment", "event", "collect", "check", "guards", "delay", "target"].flatMap((key) => {
    const value = inner[key];
    if (value === undefined) return [];
    return [typeof value === "function" ? String(value) : textOfParts(value)];
  });
  return given.length > 0 ? given.join("\n") : String(implementation);
};

const textOfParts = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "function" ? String(part) : part)) ?? "";

const squeeze = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "").replace(/\s+/g, " ");

function behaviourOf(machine: AnyStateMachine): Behaviour {
  const { guards, delays, actions } = machine.implementations as unknown as Readonly<
    Record<"guards" | "delays" | "actions", Readonly<Record<string, unknown>>>
  >;
  const code = new Map<string, string>();
  for (const [kind, named] of Object.entries({ guard: guards, delay: delays, action: actions })) {
    for (const [name, implementation] of Object.entries(named ?? {}))
      code.set(`${kind} ${name}`, squeeze(textOf(implementation)));
  }
  return { chart: chartOf(machine), code };
}

const flatten = (node: ChartNode): readonly ChartNode[] => [node, ...node.states.flatMap(flatten)];
const brief = (id: string): string => (id.includes(".") ? id.slice(id.indexOf(".") + 1) : id);
const guarded = ({ event, guard }: ChartTransition): string => `${event}${guard === undefined ? "" : ` [${guard}]`}`;
const targetOf = ({ target }: ChartTransition): string => (target === undefined ? "stays" : `→ ${brief(target)}`);
const placeOf = ({ target }: ChartTransition): string => (target === undefined ? "where it is" : brief(target));
const listed = (names: readonly string[]): string => (names.length === 0 ? "nothing" : names.join(", "));
const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i]);

/** Pairs transitions of one event: first those that are equal, then of the same guard, then of the same target, then in their order. */
function pairUp(
  before: readonly ChartTransition[],
  after: readonly ChartTransition[],
): readonly (readonly [ChartTransition | undefined, ChartTransition | undefined])[] {
  const left = [...before];
  const right = [...after];
  const pairs: [ChartTransition | undefined, ChartTransition | undefined][] = [];
  const match = (alike: (a: ChartTransition, b: ChartTransition) => boolean): void => {
    for (const old of left.slice()) {
      const index = right.findIndex((now) => alike(old, now));
      if (index < 0) continue;
      pairs.push([old, right.splice(index, 1)[0]]);
      left.splice(left.indexOf(old), 1);
    }
  };
  match((a, b) => a.guard === b.guard && a.target === b.target && same(a.actions, b.actions));
  match((a, b) => a.guard === b.guard && a.target === b.target);
  match((a, b) => a.guard === b.guard);
  match((a, b) => a.target === b.target && a.target !== undefined);
  match(() => true);
  return [...pairs, ...left.map((old) => [old, undefined] as const), ...right.map((now) => [undefined, now] as const)];
}

function compareTransitions(before: ChartNode, after: ChartNode): string[] {
  const at = `${brief(after.id)}: `;
  const lines: string[] = [];
  for (const event of new Set([...before.transitions, ...after.transitions].map((transition) => transition.event))) {
    const of = (node: ChartNode): ChartTransition[] => node.transitions.filter((one) => one.event === event);
    for (const [old, now] of pairUp(of(before), of(after))) {
      if (old === undefined && now !== undefined) {
        lines.push(
          `${at}transition added: ${guarded(now)} ${targetOf(now)}${now.actions.length > 0 ? ` / ${now.actions.join(", ")}` : ""}`,
        );
      } else if (now === undefined && old !== undefined) {
        lines.push(`${at}transition gone: ${guarded(old)} ${targetOf(old)}`);
      } else if (old !== undefined && now !== undefined) {
        if (old.target !== now.target)
          lines.push(`${at}${guarded(now)} is retargeted from ${placeOf(old)} to ${placeOf(now)}`);
        if (old.guard !== now.guard)
          lines.push(
            `${at}${event} ${targetOf(now)} is guarded by ${now.guard ?? "nothing"} instead of ${old.guard ?? "nothing"}`,
          );
        if (!same(old.actions, now.actions))
          lines.push(
            `${at}${guarded(now)} ${targetOf(now)} does ${listed(now.actions)} instead of ${listed(old.actions)}`,
          );
      }
    }
    const order = (node: ChartNode): string[] => of(node).map((one) => `${guarded(one)} ${targetOf(one)}`);
    const [then, now] = [order(before), order(after)];
    if (!same(then, now) && same(then.toSorted(), now.toSorted()))
      lines.push(`${at}${event} tries its transitions in another order: ${now.join("; ")}`);
  }
  return lines;
}

function compareStates(before: ChartNode, after: ChartNode): string[] {
  const at = `${brief(after.id)}: `;
  const lines: string[] = [];
  if (before.type !== after.type) lines.push(`${at}is ${after.type} now, was ${before.type}`);
  if (before.initial !== after.initial)
    lines.push(`${at}begins in ${brief(after.initial ?? "nothing")}, began in ${brief(before.initial ?? "nothing")}`);
  for (const [what, then, now] of [
    ["on entry", before.entry, after.entry],
    ["on exit", before.exit, after.exit],
    ["invoked actors", before.invoke, after.invoke],
  ] as const) {
    if (!same(then, now)) lines.push(`${at}${what}: ${listed(now)} instead of ${listed(then)}`);
  }
  return [...lines, ...compareTransitions(before, after)];
}

/** Lines in words; none = the same behaviour as far as a chart tells it. */
export function compareMachines(before: AnyStateMachine, after: AnyStateMachine): string[] {
  const [then, now] = [behaviourOf(before), behaviourOf(after)];
  const old = new Map(flatten(then.chart).map((node) => [node.id, node]));
  const fresh = new Map(flatten(now.chart).map((node) => [node.id, node]));
  const lines: string[] = [];
  for (const [id, node] of fresh) {
    if (old.has(id)) continue;
    lines.push(`state added: ${brief(id)}`);
    for (const transition of node.transitions)
      lines.push(`${brief(id)}: transition added: ${guarded(transition)} ${targetOf(transition)}`);
  }
  for (const id of old.keys()) if (!fresh.has(id)) lines.push(`state gone: ${brief(id)}`);
  for (const [id, node] of fresh) {
    const former = old.get(id);
    if (former !== undefined) lines.push(...compareStates(former, node));
  }
  for (const [name, text] of now.code) {
    const former = then.code.get(name);
    if (former === undefined)
      lines.push(`${name} added${name.startsWith("delay") && /^\d+$/.test(text) ? `: ${text} ms` : ""}`);
    else if (former !== text) {
      const isNumber = /^\d+$/.test(text) && /^\d+$/.test(former);
      const verb = name.startsWith("guard") ? "decides" : name.startsWith("delay") ? "is reckoned" : "works";
      lines.push(isNumber ? `${name} is ${text} ms, was ${former} ms` : `${name} ${verb} otherwise (its code changed)`);
    }
  }
  for (const name of then.code.keys()) if (!now.code.has(name)) lines.push(`${name} gone`);
  return lines;
}

/** Machines of a revision, loaded from a tree of its own that is gone afterwards. */
async function machinesOf(revision: string): Promise<Awaited<ReturnType<typeof loadMachines>>> {
  const folder = mkdtempSync(join(tmpdir(), "haptic-charts-"));
  try {
    const git = (...args: readonly string[]): Buffer =>
      execFileSync("git", args, { cwd: root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
    // Charts name types of the sources; types are gone when they run, so charts and package.json are enough.
    const tree = git("archive", "--format=tar", revision, "--", "machines", "package.json");
    mkdirSync(join(folder, "tree"));
    execFileSync("tar", ["-x", "-C", join(folder, "tree")], { input: tree });
    symlinkSync(join(root, "node_modules"), join(folder, "tree", "node_modules"));
    return await loadMachines(pathToFileURL(join(folder, "tree", "machines/")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The whole report. Throws when there is no such revision. */
export async function describeChange(revision: string): Promise<string> {
  const before = new Map((await machinesOf(revision)).map(({ machine }) => [machine.id, machine]));
  const after = new Map((await loadMachines()).map(({ machine }) => [machine.id, machine]));
  const parts: string[] = [];
  for (const [id, machine] of after) {
    const former = before.get(id);
    const lines =
      former === undefined
        ? [`chart added, with ${flatten(chartOf(machine)).length} states`]
        : compareMachines(former, machine);
    if (lines.length > 0) parts.push(`${id}\n${lines.map((line) => `  ${line}\n`).join("")}`);
  }
  for (const id of before.keys()) if (!after.has(id)) parts.push(`${id}\n  chart gone\n`);
  return parts.length === 0
    ? `No chart behaves otherwise than at ${revision}.\n`
    : `Since ${revision}:\n\n${parts.join("\n")}`;
}
