/**
 * What the type checker lets through in a chart: unknown delays (XState fires them at once, silently), unknown or inline
 * actions, guards, actors, invokes without an id or an onError, unreachable states, events that it says it reads and no state
 * handles.
 *
 * node .ci/machine-lint.ts   exit 1 when there is a fault; one line a fault.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { loadMachines } from "./machines.ts";

export interface MachineFault {
  readonly state: string;
  readonly rule: string;
  readonly detail: string;
}

/** Leaves: states that something rests in. */
const MAX_STATES = 25;

/** Faults of one chart, in the order of its states; `reads` are the events that it says it reads. */
export function lintMachine(machine: AnyStateMachine, reads: readonly string[] = []): MachineFault[] {
  const known = machine.implementations as unknown as Record<
    "actions" | "guards" | "actors" | "delays",
    Record<string, unknown>
  >;
  const faults: MachineFault[] = [];
  const handled = new Set<string>();
  const reached = new Set<AnyStateNode>();
  let states = 0;

  const fault = (node: AnyStateNode, rule: string, detail: string): void => {
    faults.push({ state: node.id, rule, detail });
  };

  const named = (node: AnyStateNode, reference: unknown, kind: "actions" | "guards"): void => {
    const type = typeof reference === "string" ? reference : (reference as { type?: unknown }).type;
    if (kind === "actions" && (type === "xstate.raise" || type === "xstate.cancel") && isPlain(reference)) return;
    if (typeof type === "string" && !type.startsWith("xstate.")) {
      if (!Object.hasOwn(known[kind], type)) fault(node, `unknown-${kind}`, type);
      return;
    }
    fault(node, `inline-${kind}`, typeof type === "string" ? type : "function");
  };

  /** `after` compiles to a raise on entry and a cancel on exit; a raise of a fixed event is data, too. */
  const isPlain = (reference: unknown): boolean => typeof (reference as { event?: unknown }).event !== "function";

  const enterDown = (node: AnyStateNode): void => {
    if (reached.has(node)) return;
    reached.add(node);
    if (node.type === "parallel") for (const child of Object.values(node.states)) enterDown(child);
    if (node.type === "compound") for (const target of node.initial.target ?? []) reach(target, node);
    for (const transitions of [...node.transitions.values(), node.always ?? []]) {
      for (const transition of transitions) for (const target of transition.target ?? []) reach(target, machine.root);
    }
  };
  const reach = (node: AnyStateNode, below: AnyStateNode): void => {
    for (let parent = node.parent; parent !== undefined && parent !== below.parent; parent = parent.parent) {
      if (!reached.has(parent)) enterFrame(parent);
    }
    enterDown(node);
  };
  /** Entered on the way to a descendant: its own transitions count, its initial child does not. */
  const enterFrame = (node: AnyStateNode): void => {
    reached.add(node);
    if (node.type === "parallel") for (const child of Object.values(node.states)) enterDown(child);
    for (const transitions of [...node.transitions.values(), node.always ?? []]) {
      for (const transition of transitions) for (const target of transition.target ?? []) reach(target, machine.root);
    }
  };

  const walk = (node: AnyStateNode): void => {
    if (node.type === "atomic" || node.type === "final") states += 1;
    for (const type of node.transitions.keys()) handled.add(type);
    for (const { delay } of node.after) {
      if (typeof delay !== "string" || !Object.hasOwn(known.delays, delay)) fault(node, "unknown-delay", String(delay));
    }
    for (const invoke of node.invoke) {
      if (typeof invoke.src !== "string" || invoke.src.startsWith("xstate.")) fault(node, "inline-actor", invoke.id);
      else if (!Object.hasOwn(known.actors, invoke.src)) fault(node, "unknown-actor", invoke.src);
      if (/^\d+\./.test(invoke.id)) fault(node, "unnamed-invoke", invoke.id);
      if (!node.transitions.has(`xstate.error.actor.${invoke.id}`)) fault(node, "invoke-without-onError", invoke.id);
    }
    for (const action of [...node.entry, ...node.exit]) named(node, action, "actions");
    for (const transitions of [...node.transitions.values(), node.always ?? []]) {
      for (const transition of transitions) {
        if (transition.guard !== undefined) named(node, transition.guard, "guards");
        for (const action of transition.actions) named(node, action, "actions");
      }
    }
    for (const child of Object.values(node.states)) walk(child);
    if (!reached.has(node) && node.type !== "history") fault(node, "unreachable", node.key);
  };

  enterDown(machine.root);
  walk(machine.root);
  if (states > MAX_STATES) fault(machine.root, "too-large", `${states} states; more than ${MAX_STATES} is two charts`);
  for (const type of reads) if (!handled.has(type)) fault(machine.root, "unhandled-event", type);
  return faults;
}

if (import.meta.main) {
  const loaded = await loadMachines();
  let count = 0;
  for (const { file, machine, reads } of loaded) {
    for (const { state, rule, detail } of lintMachine(machine, reads)) {
      count += 1;
      process.stderr.write(`machines/${file}: ${state}: ${rule}: ${detail}\n`);
    }
  }
  process.stdout.write(`machine lint: ${loaded.length} charts, ${count} faults\n`);
  process.exitCode = count === 0 && loaded.length > 0 ? 0 : 1;
}
