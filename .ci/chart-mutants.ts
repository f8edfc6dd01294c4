/** Changes a chart one place at a time: guards, targets, actions, initial states. The chart itself stays as it is. */
import { createMachine, not } from "xstate";
import type { AnyStateMachine, AnyStateNode } from "xstate";

export interface Mutant {
  /** Place and change; unique in a chart. */
  readonly what: string;
  /** The transition it touches, as the path tests name it; undefined for changes of states. */
  readonly transition: string | undefined;
  /** Only the guard is another: it shows wherever the guard is asked, not only where the transition is taken. */
  readonly guard: string | undefined;
  /** Undefined when the changed chart cannot even be made. */
  readonly make: () => AnyStateMachine | undefined;
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

/** A transition in a configuration: `holder[key]` is the list that it is in at `index`. */
interface Place {
  readonly node: AnyStateNode;
  readonly where: string;
  readonly transition: string;
  readonly holder: Config;
  readonly key: string;
  readonly index: number;
}

const listOf = (given: unknown): unknown[] => (given === undefined ? [] : Array.isArray(given) ? given : [given]);

/** Calls `visit` with each transition of a configuration, whose lists it brings into one form: lists of objects. */
function eachTransition(config: Config, node: AnyStateNode, visit: (place: Place) => void): void {
  const under = (holder: Config | undefined, key: string, event: string, label: string): void => {
    if (holder?.[key] === undefined) return;
    const list = listOf(holder[key]).map((one) => (typeof one === "string" ? { target: one } : one));
    holder[key] = list;
    list.forEach((_, index) => {
      const place = { where: `${node.id} ${label} #${index}`, transition: `${node.id} ${event} #${index}` };
      visit({ ...place, node, holder, key, index });
    });
  };
  const on = config["on"] as Config | undefined;
  for (const event of Object.keys(on ?? {})) under(on, event, event, `on ${event}`);
  const after = config["after"] as Config | undefined;
  for (const delay of Object.keys(after ?? {}))
    under(after, delay, `xstate.after.${delay}.${node.id}`, `after ${delay}`);
  under(config, "always", "always", "always");
  under(config, "onDone", `xstate.done.state.${node.id}`, "done");
  for (const invoke of listOf(config["invoke"]) as Config[]) {
    const id = String(invoke["id"]);
    under(invoke, "onDone", `xstate.done.actor.${id}`, `done(${id})`);
    under(invoke, "onError", `xstate.error.actor.${id}`, `error(${id})`);
  }
  eachState(config, node, (state, child) => eachTransition(state, child, visit));
}

function eachState(config: Config, node: AnyStateNode, visit: (state: Config, child: AnyStateNode) => void): void {
  for (const [key, state] of Object.entries((config["states"] ?? {}) as Config)) {
    const child = node.states[key];
    if (isConfig(state) && child !== undefined) visit(state, child);
  }
}

/** The state that a transition's `target` means, as XState looks it up. */
function targetOf(place: Place): AnyStateNode | undefined {
  const [type, ordinal] = [place.transition.split(" ")[1] ?? "", place.index];
  const list = type === "always" ? (place.node.always ?? []) : (place.node.transitions.get(type) ?? []);
  return list[ordinal]?.target?.[0];
}

const siblings = (node: AnyStateNode): AnyStateNode[] =>
  Object.values(node.parent?.states ?? {}).filter((other) => other !== node);

/** States that a transition might have led to by mistake: beside its target; for one that leads nowhere, beside its state. */
function wrongTargets(place: Place): AnyStateNode[] {
  const target = targetOf(place);
  if (target !== undefined) {
    const beside = siblings(target).filter((other) => target.parent?.type !== "parallel" || other !== place.node);
    return beside.length > 0 ? beside : target === place.node ? [] : [place.node];
  }
  const beside = siblings(place.node);
  return (beside.length > 0 ? beside : Object.values(place.node.states)).slice(0, 1);
}

const nameOf = (reference: unknown): string =>
  typeof reference === "string" ? reference : String((reference as { type?: unknown }).type);

/** Every change of a chart. */
export function mutantsOf(machine: AnyStateMachine): Mutant[] {
  const mutants: Mutant[] = [];
  const made = (config: Config): AnyStateMachine | undefined => {
    try {
      // A changed chart may step round in a circle.
      const bounded = { ...config, options: { maxIterations: 100 } };
      return createMachine(bounded as never, machine.implementations as never) as AnyStateMachine;
    } catch {
      return undefined;
    }
  };
  const fresh = (): Config => copy(machine.config) as Config;

  eachTransition(fresh(), machine.root, (original) => {
    const { where } = original;
    const given = (original.holder[original.key] as Config[])[original.index] ?? {};
    const add = (change: string, edit: (transition: Config, place: Place) => void, guard?: string): void => {
      mutants.push({
        what: `${where}: ${change}`,
        transition: original.transition,
        guard,
        make: () => {
          const config = fresh();
          const found: Place[] = [];
          eachTransition(config, machine.root, (place) => {
            if (place.where === where) found.push(place);
          });
          for (const place of found) edit((place.holder[place.key] as Config[])[place.index] ?? {}, place);
          return made(config);
        },
      });
    };
    if (given["guard"] !== undefined) {
      const edit = (transition: Config): void => void (transition["guard"] = not(transition["guard"] as never));
      add("guard turned round", edit, nameOf(given["guard"]));
    }
    add("dropped", (_, { holder, key, index }) => {
      const rest = (holder[key] as Config[]).toSpliced(index, 1);
      // An empty list would forbid the event, no list lets the states above have it.
      if (rest.length === 0) delete holder[key];
      else holder[key] = rest;
    });
    for (const state of wrongTargets(original)) {
      add(`leads to ${state.id}`, (transition) => void (transition["target"] = `#${state.id}`));
    }
    if (given["target"] !== undefined) add("leads nowhere", (transition) => void delete transition["target"]);
    if (given["reenter"] === true) add("does not reenter", (transition) => void delete transition["reenter"]);
    listOf(given["actions"]).forEach((action, index) => {
      const edit = (transition: Config): void =>
        void (transition["actions"] = listOf(transition["actions"]).toSpliced(index, 1));
      add(`without action ${index} ${nameOf(action)}`, edit);
    });
  });

  const states = (config: Config, node: AnyStateNode, visit: (state: Config, at: AnyStateNode) => void): void => {
    visit(config, node);
    eachState(config, node, (state, child) => states(state, child, visit));
  };
  states(fresh(), machine.root, (original, node) => {
    const add = (change: string, edit: (state: Config) => void): void => {
      mutants.push({
        what: `${node.id}: ${change}`,
        transition: undefined,
        guard: undefined,
        make: () => {
          const config = fresh();
          states(config, machine.root, (state, at) => void (at.id === node.id && edit(state)));
          return made(config);
        },
      });
    };
    for (const key of ["entry", "exit"]) {
      listOf(original[key]).forEach((action, index) => {
        add(`${key} without action ${index} ${nameOf(action)}`, (state) => {
          state[key] = listOf(state[key]).toSpliced(index, 1);
        });
      });
    }
    if (typeof original["initial"] !== "string") return;
    for (const child of Object.keys(node.states).filter((key) => key !== original["initial"])) {
      add(`begins in ${child}`, (state) => void (state["initial"] = child));
    }
  });
  return mutants;
}
