/**
 * What XState's inspection tells of the charts that run, folded for the live page: present states, states passed through since the last look
 * (many last less than a millisecond), edges taken, events heard. Ids and types only: no context, no event's content.
 * Nothing is inspected, and nothing costs anything, until `open`.
 */
import type { AnyActorRef, AnyMachineSnapshot, AnyTransitionDefinition, InspectionEvent } from "xstate";

/** Where the living actors are found: the controller's registry. */
export interface ActorSource {
  list(): Iterable<readonly [name: string, actor: AnyActorRef]>;
}

export interface ActorView {
  readonly name: string;
  readonly machine: string;
  /** Name of the actor that began it; "" = none that is known. */
  readonly parent: string;
  /** Ids of the states it is in, in the chart's order, the root first. */
  readonly states: readonly string[];
  /** Ids of further states it was in since the last look. */
  readonly passed: readonly string[];
  /** Edges taken since the last look, as the chart's SVG names them. */
  readonly edges: readonly string[];
  /** Transitions taken since the page looks. */
  readonly steps: number;
  /** Types of the events heard last, the newest first. */
  readonly heard: readonly string[];
}

interface Sight {
  readonly name: string;
  passed: Set<string>;
  edges: Set<string>;
  steps: number;
  heard: string[];
}

const HEARD = 12;
/** Bound of what one look may tell of one actor. */
const MARKS = 64;

type System = AnyActorRef["system"];
type Machine = { readonly id: string; readonly root: AnyStateNodeLike };
interface AnyStateNodeLike {
  readonly id: string;
  readonly transitions: ReadonlyMap<string, readonly AnyTransitionDefinition[]>;
  readonly always?: readonly AnyTransitionDefinition[];
  readonly states: Readonly<Record<string, AnyStateNodeLike>>;
}

const machineOf = (actor: AnyActorRef): Machine | undefined => {
  const { logic } = actor as unknown as { readonly logic?: Partial<Machine> };
  return logic?.root === undefined ? undefined : (logic as Machine);
};

const statesOf = (actor: AnyActorRef): readonly string[] =>
  ((actor.getSnapshot() as AnyMachineSnapshot)._nodes ?? [])
    .toSorted((a, b) => a.order - b.order)
    .map((node) => node.id);

/** Names of a chart's edges as its SVG has them: `STATE#N`, N = place among the state's transitions and their targets. */
function edgesOf({ root }: Machine): ReadonlyMap<AnyTransitionDefinition, string> {
  const edges = new Map<AnyTransitionDefinition, string>();
  const visit = (node: AnyStateNodeLike): void => {
    let index = 0;
    for (const transition of [...node.transitions.values(), node.always ?? []].flat()) {
      edges.set(transition, `${node.id}#${index}`);
      index += Math.max(1, transition.target?.length ?? 0);
    }
    Object.values(node.states).forEach(visit);
  };
  visit(root);
  return edges;
}

export class ActorBoard {
  readonly #source: ActorSource;
  readonly #systems = new Map<System, { unsubscribe(): void }>();
  readonly #sights = new Map<AnyActorRef, Sight>();
  readonly #changed = new Set<AnyActorRef>();
  readonly #edges = new WeakMap<Machine, ReadonlyMap<AnyTransitionDefinition, string>>();
  #listener: ((event: InspectionEvent) => void) | undefined;

  /** Events that could not be told. */
  failures = 0;

  constructor(source: ActorSource) {
    this.#source = source;
  }

  /** Begins to inspect; `listener` hears every inspection event too. */
  open(listener?: (event: InspectionEvent) => void): void {
    this.#listener = listener;
    this.#meet();
  }

  /** Ends it and forgets everything. */
  close(): void {
    for (const subscription of this.#systems.values()) subscription.unsubscribe();
    this.#systems.clear();
    this.#sights.clear();
    this.#changed.clear();
    this.#listener = undefined;
  }

  /** Every actor that lives, in the order of the names. */
  all(): readonly ActorView[] {
    this.#meet();
    return [...this.#sights.keys()].map((actor) => this.#view(actor)).sort(byName);
  }

  actors(): readonly AnyActorRef[] {
    return [...this.#sights.keys()];
  }

  /** What changed since the last look: actors whose state moved or that are new, and names of those that ended. */
  look(): { readonly changed: readonly ActorView[]; readonly gone: readonly string[] } {
    const gone = this.#meet();
    const changed = [...this.#changed].map((actor) => this.#view(actor)).sort(byName);
    this.#changed.clear();
    for (const sight of this.#sights.values()) {
      if (sight.passed.size > 0) sight.passed = new Set();
      if (sight.edges.size > 0) sight.edges = new Set();
    }
    return { changed, gone };
  }

  /** Meets the actors that came, and says which went. */
  #meet(): readonly string[] {
    const living = new Map<AnyActorRef, string>();
    for (const [name, actor] of this.#source.list()) living.set(actor, name);
    const gone: string[] = [];
    for (const [actor, { name }] of this.#sights) {
      if (living.has(actor)) continue;
      this.#sights.delete(actor);
      this.#changed.delete(actor);
      gone.push(name);
    }
    const systems = new Set<System>();
    for (const [actor, name] of living) {
      systems.add(actor.system);
      if (!this.#systems.has(actor.system))
        this.#systems.set(actor.system, actor.system.inspect({ next: (event) => this.#hear(event) }));
      if (this.#sights.has(actor)) continue;
      this.#sights.set(actor, { name, passed: new Set(), edges: new Set(), steps: 0, heard: [] });
      this.#changed.add(actor);
    }
    for (const [system, subscription] of this.#systems) {
      if (systems.has(system)) continue;
      subscription.unsubscribe();
      this.#systems.delete(system);
    }
    // One of the same name took its place: the page keeps it.
    const names = new Set(living.values());
    return gone.filter((name) => !names.has(name));
  }

  /** XState would end the actor that something is told of. Whatever is wrong with what is shown, what is at work goes on. */
  #hear(event: InspectionEvent): void {
    try {
      this.#inspect(event);
    } catch {
      this.failures += 1;
    }
  }

  #inspect(event: InspectionEvent): void {
    const actor = event.actorRef as AnyActorRef;
    const sight = this.#sights.get(actor);
    if (sight !== undefined) {
      if (event.type === "@xstate.event") {
        sight.heard.unshift(event.event.type);
        if (sight.heard.length > HEARD) sight.heard.length = HEARD;
        this.#changed.add(actor);
      } else if (event.type === "@xstate.microstep") {
        sight.steps += event._transitions.length;
        const names = this.#edgesOf(actor);
        for (const transition of event._transitions) {
          const edge = names?.get(transition);
          if (edge !== undefined && sight.edges.size < MARKS) sight.edges.add(edge);
        }
        this.#pass(sight, event.snapshot as AnyMachineSnapshot);
        this.#changed.add(actor);
      }
    }
    this.#listener?.(event);
  }

  #pass(sight: Sight, snapshot: AnyMachineSnapshot): void {
    for (const { id } of snapshot._nodes ?? []) if (sight.passed.size < MARKS) sight.passed.add(id);
  }

  #edgesOf(actor: AnyActorRef): ReadonlyMap<AnyTransitionDefinition, string> | undefined {
    const machine = machineOf(actor);
    if (machine === undefined) return undefined;
    const known = this.#edges.get(machine);
    if (known !== undefined) return known;
    const edges = edgesOf(machine);
    this.#edges.set(machine, edges);
    return edges;
  }

  #view(actor: AnyActorRef): ActorView {
    const sight = this.#sights.get(actor) as Sight;
    const states = statesOf(actor);
    const parent = (actor as { readonly _parent?: AnyActorRef })._parent;
    return {
      name: sight.name,
      machine: machineOf(actor)?.id ?? "",
      parent: (parent === undefined ? undefined : this.#sights.get(parent)?.name) ?? "",
      states,
      passed: [...sight.passed].filter((id) => !states.includes(id)),
      edges: [...sight.edges],
      steps: sight.steps,
      heard: [...sight.heard],
    };
  }
}

const byName = (a: ActorView, b: ActorView): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
