/**
 * Path tests for charts. xstate/graph finds every reachable situation from the explicit events; each event that can happen in one is then
 * replayed on a real actor with a simulated clock, along a shortest path. What happened (next state, context that matters, emitted events,
 * messages to parent and children, actors started and stopped) is compared with the committed table in `test/golden/model`, which is
 * the oracle: a guard turned round or a transition led elsewhere changes it. Besides, every transition must have been taken, and every
 * guard have answered both ways.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createActor, fromCallback, fromPromise, setup, SimulatedClock } from "xstate";
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from "xstate";
import { getShortestPaths } from "xstate/graph";

export interface ModelEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface ModelOptions {
  readonly machine: AnyStateMachine;
  readonly input?: unknown;
  /** Everything that may happen, with `xstate.done.actor.ID` (output), `xstate.error.actor.ID` (error), `xstate.after.DELAY.STATE`. */
  readonly events: readonly ModelEvent[];
  /** The part of the context that tells situations apart, besides the state. */
  readonly key?: (context: never) => unknown;
  /** The chart reports to a parent. */
  readonly child?: boolean;
  /** Timers fire by their events: for charts whose regions have timers at the same time. */
  readonly timersByEvent?: boolean;
  /** Actors that are no promises but talk all their life. */
  readonly callbacks?: readonly string[];
  /** Events in a situation for which nothing is to be tried. */
  readonly skip?: (snapshot: AnyMachineSnapshot, event: ModelEvent) => boolean;
  readonly limit?: number;
  /** Name of this model of the chart when there are several; transitions and guards are then counted over all in `partOf`. */
  readonly variant?: string;
  readonly partOf?: readonly string[];
}

interface Deferred {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const show = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "function" ? undefined : part instanceof Error ? String(part) : part,
  ) ?? "undefined";
const showEvent = ({ type, ...fields }: ModelEvent): string =>
  `${type}${Object.keys(fields).length === 0 ? "" : ` ${show(fields)}`}`;

/** Simulated time that writes down which timers are set and cleared. */
class NotedClock extends SimulatedClock {
  readonly #log: string[];
  readonly #timers = new Map<number, number>();

  constructor(log: string[]) {
    super();
    this.#log = log;
  }

  override setTimeout(fire: () => void, timeout: number): number {
    const id = super.setTimeout(() => {
      this.#timers.delete(id);
      fire();
    }, timeout);
    this.#timers.set(id, timeout);
    this.#log.push(`sets a timer of ${timeout} ms`);
    return id;
  }

  override clearTimeout(id: number): void {
    const timeout = this.#timers.get(id);
    if (timeout !== undefined) this.#log.push(`clears a timer of ${timeout} ms`);
    this.#timers.delete(id);
    super.clearTimeout(id);
  }
}

/** Runs what a chart does, and writes down what can be seen of it. */
class Replay {
  readonly log: string[] = [];
  readonly taken = new Set<string>();
  readonly guards = new Map<string, Set<boolean>>();
  readonly #deferred = new Map<string, Deferred>();
  readonly #clock = new NotedClock(this.log);
  readonly #options: ModelOptions;
  readonly #actor: AnyActorRef;
  readonly #root: AnyActorRef;
  readonly #machine: AnyStateMachine;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#machine = observed(options.machine, this.guards, options.callbacks ?? [], this.log, this.#deferred);
    const inspect = (event: { type: string; _transitions?: readonly unknown[]; actorRef?: AnyActorRef }): void => {
      if (event.type !== "@xstate.microstep" || (options.child === true && event.actorRef?.id !== "subject")) return;
      for (const transition of event._transitions ?? []) this.taken.add(transitionName(transition as never));
    };
    if (options.child === true) {
      const parent = setup({ actors: { subject: this.#machine } }).createMachine({
        invoke: { id: "subject", src: "subject", input: options.input as never },
        on: { "*": { actions: ({ event }) => this.log.push(`to parent ${showEvent(event)}`) } },
      });
      const root = createActor(parent, { clock: this.#clock, inspect: inspect as never });
      root.subscribe({ error: (error: unknown) => this.log.push(`failed ${String(error)}`) });
      root.start();
      this.#root = root;
      this.#actor = root.getSnapshot().children["subject"] as AnyActorRef;
    } else {
      this.#actor = createActor(this.#machine, {
        clock: this.#clock,
        input: options.input,
        inspect: inspect as never,
      });
      this.#actor.subscribe({ error: (error: unknown) => this.log.push(`failed ${String(error)}`) });
      (this.#actor as unknown as { on(type: string, handler: (event: ModelEvent) => void): void }).on("*", (event) =>
        this.log.push(`emits ${showEvent(event)}`),
      );
      this.#actor.start();
      this.#root = this.#actor;
    }
  }

  get snapshot(): AnyMachineSnapshot {
    return this.#actor.getSnapshot() as AnyMachineSnapshot;
  }

  async apply(event: ModelEvent): Promise<void> {
    const done = /^xstate\.(done|error)\.actor\.(.+)$/.exec(event.type);
    const deferred = done === null ? undefined : this.#deferred.get(done[2] ?? "");
    if (event.type === "xstate.init") return;
    if (deferred !== undefined) {
      this.#deferred.delete(done?.[2] ?? "");
      if (done?.[1] === "done") deferred.resolve(event["output"]);
      else deferred.reject(event["error"]);
    } else if (event.type.startsWith("xstate.after.") && this.#options.timersByEvent !== true) {
      this.#clock.increment(this.#delay(event.type));
    } else this.#actor.send(event);
    await tick();
  }

  /** What was seen up to now is not the last step's. */
  forget(): void {
    this.log.length = 0;
    this.taken.clear();
    this.guards.clear();
  }

  stop(): void {
    this.#root.stop();
  }

  #delay(type: string): number {
    const name = type.split(".")[2] ?? "";
    const delay = (this.#machine.implementations.delays as Record<string, unknown>)[name];
    return typeof delay === "function"
      ? (delay as (args: object) => number)({ context: this.snapshot.context })
      : Number(delay);
  }
}

/** The machine with actors that wait to be told how they end, and guards whose answers are noted. */
function observed(
  machine: AnyStateMachine,
  guards: Map<string, Set<boolean>>,
  callbacks: readonly string[],
  log: string[],
  deferred: Map<string, Deferred>,
): AnyStateMachine {
  const implementations = machine.implementations as unknown as Record<
    "actions" | "actors" | "guards",
    Record<string, unknown>
  >;
  const wait = (name: string): unknown =>
    callbacks.includes(name) || typeof (implementations.actors[name] as { root?: unknown }).root === "object"
      ? fromCallback(({ self, receive, input }) => {
          log.push(`starts ${self.id}${input === undefined ? "" : ` ${show(input)}`}`);
          receive((event) => log.push(`to ${self.id} ${showEvent(event)}`));
          return () => log.push(`stops ${self.id}`);
        })
      : fromPromise(
          ({ self, signal, input }) =>
            new Promise((resolve, reject) => {
              log.push(`starts ${self.id}${input === undefined ? "" : ` ${show(input)}`}`);
              deferred.set(self.id, { resolve, reject });
              signal.addEventListener("abort", () => {
                if (deferred.get(self.id)?.resolve === resolve) log.push(`stops ${self.id}`);
              });
            }),
        );
  const watch = (name: string, guard: unknown): unknown => {
    if (typeof guard !== "function") return guard;
    const note = (answer: boolean): boolean => {
      guards.set(name, (guards.get(name) ?? new Set<boolean>()).add(answer));
      return answer;
    };
    if (!("check" in guard)) {
      return (...args: unknown[]): boolean => note((guard as (...inner: unknown[]) => boolean)(...args));
    }
    // Made by stateIn, and, or, not.
    const { check } = guard as { check: (snapshot: unknown, args: unknown, self: unknown) => boolean };
    return Object.assign(() => false, {
      check: (snapshot: unknown, args: unknown) => note(check(snapshot, args, guard)),
    });
  };
  const note = (name: string, action: unknown): unknown =>
    typeof action !== "function" || "resolve" in action
      ? action
      : (_: unknown, params: unknown) => log.push(`does ${name}${params === undefined ? "" : ` ${show(params)}`}`);
  return machine.provide({
    actions: Object.fromEntries(
      Object.entries(implementations.actions).map(([name, action]) => [name, note(name, action)]),
    ) as never,
    actors: Object.fromEntries(Object.keys(implementations.actors).map((name) => [name, wait(name)])) as never,
    guards: Object.fromEntries(
      Object.entries(implementations.guards).map(([name, guard]) => [name, watch(name, guard)]),
    ) as never,
  });
}

type Transition = { readonly eventType: string; readonly source: AnyStateNode };
const listOf = (node: AnyStateNode): Transition[] =>
  [...[...node.transitions.values()].flat(), ...(node.always ?? [])] as never;
const transitionName = (transition: Transition): string => {
  const { source, eventType } = transition;
  const same = listOf(source).filter((other) => other.eventType === eventType);
  // A copy of the definition is told by its place, which the copy keeps.
  const index = same.findIndex((other) => other === transition || sameTransition(other, transition));
  return `${source.id} ${eventType === "" ? "always" : eventType} #${index}`;
};
const sameTransition = (a: Transition, b: Transition): boolean => {
  const shape = ({
    guard,
    actions,
    target,
  }: {
    guard?: unknown;
    actions?: unknown;
    target?: readonly AnyStateNode[];
  }): string => show([guard, actions, target?.map((node) => node.id)]);
  return shape(a as never) === shape(b as never);
};

/** Names of all transitions of a chart, as `Seen.taken` has them. */
export function allTransitions(machine: AnyStateMachine): string[] {
  const names: string[] = [];
  const walk = (node: AnyStateNode): void => {
    const seen = new Map<string, number>();
    for (const { eventType } of listOf(node)) {
      const index = seen.get(eventType) ?? 0;
      seen.set(eventType, index + 1);
      names.push(`${node.id} ${eventType === "" ? "always" : eventType} #${index}`);
    }
    Object.values(node.states).forEach(walk);
  };
  walk(machine.root);
  return names;
}

/** What several models of one chart have taken together. */
interface Together {
  readonly variants: Set<string>;
  readonly taken: Set<string>;
  readonly guards: Map<string, Set<boolean>>;
}
const together = new Map<string, Together>();

export type Walk = readonly ModelEvent[];

/** What one replay showed: its lines of the table, and what of the chart it used in its last step. */
export interface Seen {
  readonly lines: readonly string[];
  readonly taken: ReadonlySet<string>;
  readonly guards: ReadonlyMap<string, ReadonlySet<boolean>>;
}

const keyOf =
  ({ key }: ModelOptions) =>
  (snapshot: AnyMachineSnapshot): string =>
    `${show(snapshot.value)}${key === undefined ? "" : ` ${show(key(snapshot.context as never))}`}`;

const isPossible = ({ skip }: ModelOptions, snapshot: AnyMachineSnapshot, event: ModelEvent): boolean =>
  snapshot.status === "active" && snapshot.can(event) && skip?.(snapshot, event) !== true;

/** A replay that has gone `walk`, and has forgotten what it saw on the way. */
async function walked(options: ModelOptions, machine: AnyStateMachine, situation: string, walk: Walk): Promise<Replay> {
  const replay = new Replay({ ...options, machine });
  await tick();
  for (const step of walk) await replay.apply(step);
  const found = keyOf(options)(replay.snapshot);
  replay.forget();
  if (found !== situation) {
    replay.stop();
    assert.is(found, situation, `the path ${walk.map((step) => step.type).join(" > ")} leads to ${situation}`);
  }
  return replay;
}

function seen(replay: Replay, lines: readonly string[]): Seen {
  const copy = { lines, taken: new Set(replay.taken), guards: new Map(replay.guards) };
  replay.stop();
  return copy;
}

/** The chart's start. */
export async function beginning(options: ModelOptions, machine: AnyStateMachine): Promise<Seen> {
  const replay = new Replay({ ...options, machine });
  await tick();
  return seen(replay, [`begins ${keyOf(options)(replay.snapshot)}`, ...replay.log.map((text) => `    ${text}`)]);
}

/** Which of the model's events something comes of in a situation; `lines` are their types. */
export async function possibilities(
  options: ModelOptions,
  machine: AnyStateMachine,
  situation: string,
  walk: Walk,
): Promise<Seen & { readonly events: readonly ModelEvent[] }> {
  const replay = await walked(options, machine, situation, walk);
  const events = options.events.filter((event) => isPossible(options, replay.snapshot, event));
  return { events, ...seen(replay, events.map(showEvent)) };
}

/** What comes of `event` in a situation. */
export async function step(
  options: ModelOptions,
  machine: AnyStateMachine,
  situation: string,
  walk: Walk,
  event: ModelEvent,
): Promise<Seen> {
  const replay = await walked(options, machine, situation, walk);
  await replay.apply(event);
  const next = keyOf(options)(replay.snapshot);
  return seen(replay, [`  ${showEvent(event)}`, `    → ${next}`, ...replay.log.map((text) => `    ${text}`)]);
}

/** Every situation that the model's events lead to, with a shortest way there. */
export function situationsOf(options: ModelOptions, machine: AnyStateMachine, first: string): Map<string, Walk> {
  const key = keyOf(options);
  const inert = observed(machine, new Map(), options.callbacks ?? [], [], new Map()).provide({
    actions: options.child === true ? silent(machine) : {},
  } as never);
  const paths = getShortestPaths(
    inert as never,
    {
      input: options.input,
      events: [...options.events],
      serializeState: key,
      filterEvents: (snapshot: AnyMachineSnapshot, event: ModelEvent) => isPossible(options, snapshot, event),
      limit: options.limit ?? 20_000,
    } as never,
  ) as unknown as { state: AnyMachineSnapshot; steps: { event: ModelEvent }[] }[];
  const situations = new Map<string, Walk>();
  for (const path of paths) {
    const situation = key(path.state);
    const steps = path.steps.map(({ event }) => event).filter(({ type }) => type !== "xstate.init");
    if (!situations.has(situation)) situations.set(situation, steps);
  }
  return situations.set(first.replace(/^begins /, ""), []);
}

/** Replays everything on `machine` and hands each replay over, with the lines of the table that it stands for. */
export async function tabulate(
  options: ModelOptions,
  machine: AnyStateMachine,
  each: (seen: Seen) => void,
): Promise<void> {
  const begun = await beginning(options, machine);
  each(begun);
  const situations = situationsOf(options, machine, begun.lines[0] ?? "");
  for (const [situation, walk] of [...situations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { events, ...rest } = await possibilities(options, machine, situation, walk);
    each({ ...rest, lines: ["", `in ${situation}`] });
    for (const event of events) each(await step(options, machine, situation, walk, event));
  }
}

/** All models that a test file declares, for the script that changes charts and looks whether a test notices. */
export const declaredModels: ModelOptions[] = [];

const modelName = ({ machine, variant }: ModelOptions): string =>
  variant === undefined ? machine.id : `${machine.id}.${variant}`;

/** Adds the chart's path tests to a suite of its own, and runs it. */
export function modelTests(options: ModelOptions): void {
  declaredModels.push(options);
  if (process.env["CHART_MUTATION"] === "1") return;
  const { machine } = options;
  const test = suite(`model ${modelName(options)}`);
  test("does in every situation what its table says, takes every transition and answers every guard both ways", async () => {
    const all = together.get(machine.id) ?? { variants: new Set(), taken: new Set(), guards: new Map() };
    together.set(machine.id, all);
    all.variants.add(options.variant ?? "");
    const lines: string[] = [];
    await tabulate(options, machine, (replayed) => {
      lines.push(...replayed.lines);
      for (const name of replayed.taken) all.taken.add(name);
      for (const [name, answers] of replayed.guards) {
        all.guards.set(name, new Set([...(all.guards.get(name) ?? []), ...answers]));
      }
    });
    compare(modelName(options), lines);
    if ((options.partOf ?? []).some((variant) => !all.variants.has(variant))) return;
    const missed = allTransitions(machine).filter((name) => !all.taken.has(name) && !/^\S+ xstate\.init/.test(name));
    assert.equal(missed, [], "transitions that no replayed path takes");
    for (const name of Object.keys(machine.implementations.guards)) {
      const answers = [...(all.guards.get(name) ?? [])].sort((a, b) => Number(a) - Number(b));
      assert.equal(answers, [false, true], `answers of the guard ${name}`);
    }
  });
  test.run();
}

/** Reports to a parent, as nothing: the search for paths has no parent. */
function silent(machine: AnyStateMachine): Record<string, unknown> {
  const actions = machine.implementations.actions as Record<string, { type?: string }>;
  return Object.fromEntries(
    Object.entries(actions)
      .filter(([, action]) => action?.type === "xstate.sendTo")
      .map(([name]) => [name, () => {}]),
  );
}

const tables = new URL("../golden/model/", import.meta.url);

/** The committed table of a model, by lines; undefined when there is none. */
function committedTable(name: string): readonly string[] | undefined {
  const path = new URL(`${name}.txt`, tables);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : undefined;
}

function compare(name: string, lines: readonly string[]): void {
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(tables, { recursive: true });
    writeFileSync(new URL(`${name}.txt`, tables), `${lines.join("\n")}\n`);
    return;
  }
  const wanted = committedTable(name);
  assert.ok(wanted, `test/golden/model/${name}.txt is missing; UPDATE_GOLDEN=1 writes it`);
  const at = Math.max(lines.length, wanted?.length ?? 0);
  for (let index = 0; index < at; index += 1) {
    if (lines[index] === wanted?.[index]) continue;
    const near = (all: readonly string[] | undefined): string =>
      (all ?? []).slice(Math.max(0, index - 3), index + 3).join("\n");
    assert.unreachable(
      `test/golden/model/${name}.txt differs at line ${index + 1}:\n--- wanted\n${near(wanted)}\n--- found\n${near(lines)}`,
    );
  }
}
