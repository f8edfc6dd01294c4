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
  /** Guards that answer one way only in this model, with the reason. */
  readonly oneSided?: Readonly<Record<string, string>>;
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

/** Runs what a chart does, and writes down what can be seen of it. */
class Replay {
  readonly log: string[] = [];
  readonly taken = new Set<string>();
  readonly guards = new Map<string, Set<boolean>>();
  readonly #deferred = new Map<string, Deferred>();
  readonly #clock = new SimulatedClock();
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
  const implementations = machine.implementations as unknown as Record<"actors" | "guards", Record<string, unknown>>;
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
    if (typeof guard !== "function" || "check" in guard) return guard;
    return (...args: unknown[]): boolean => {
      const answer = (guard as (...inner: unknown[]) => boolean)(...args);
      guards.set(name, (guards.get(name) ?? new Set<boolean>()).add(answer));
      return answer;
    };
  };
  return machine.provide({
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

function allTransitions(machine: AnyStateMachine): string[] {
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
const together = new Map<
  string,
  { readonly variants: Set<string>; readonly taken: Set<string>; readonly guards: Map<string, Set<boolean>> }
>();

/** Adds the chart's path tests to a suite of its own, and runs it. */
export function modelTests(options: ModelOptions): void {
  const { machine, events } = options;
  const name = options.variant === undefined ? machine.id : `${machine.id}.${options.variant}`;
  const test = suite(`model ${name}`);
  const key = (snapshot: AnyMachineSnapshot): string =>
    `${show(snapshot.value)}${options.key === undefined ? "" : ` ${show(options.key(snapshot.context as never))}`}`;
  const inert = observed(machine, new Map(), options.callbacks ?? [], [], new Map()).provide({
    actions: options.child === true ? silent(machine) : {},
  } as never);
  const possible = (snapshot: AnyMachineSnapshot, event: ModelEvent): boolean =>
    snapshot.status === "active" && snapshot.can(event) && options.skip?.(snapshot, event) !== true;

  test("does in every situation what its table says, takes every transition and answers every guard both ways", async () => {
    const paths = getShortestPaths(
      inert as never,
      {
        input: options.input,
        events: [...events],
        serializeState: key,
        filterEvents: possible,
        limit: options.limit ?? 20_000,
      } as never,
    ) as unknown as { state: AnyMachineSnapshot; steps: { event: ModelEvent }[] }[];
    const all = together.get(machine.id) ?? { variants: new Set(), taken: new Set(), guards: new Map() };
    together.set(machine.id, all);
    all.variants.add(options.variant ?? "");
    const { taken, guards } = all;
    const lines: string[] = [];
    const begin = new Replay(options);
    await tick();
    lines.push(`begins ${key(begin.snapshot)}`, ...begin.log.map((line) => `    ${line}`));
    const collect = (replay: Replay): void => {
      for (const name of replay.taken) taken.add(name);
      for (const [name, answers] of replay.guards) guards.set(name, new Set([...(guards.get(name) ?? []), ...answers]));
      replay.stop();
    };
    collect(begin);
    const situations = new Map<string, readonly ModelEvent[]>();
    for (const path of paths) {
      const walk: ModelEvent[] = [];
      const steps = path.steps.map((step) => step.event).filter((event) => event.type !== "xstate.init");
      walk.push(...steps);
      const situation = key(path.state);
      if (!situations.has(situation)) situations.set(situation, walk);
    }
    situations.set(key(begin.snapshot), []);
    for (const [situation, walk] of [...situations].sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push("", `in ${situation}`);
      for (const event of events) {
        const replay = new Replay(options);
        await tick();
        for (const step of walk) await replay.apply(step);
        assert.is(
          key(replay.snapshot),
          situation,
          `the path ${walk.map((step) => step.type).join(" > ")} leads to ${situation}`,
        );
        if (possible(replay.snapshot, event)) {
          replay.log.length = 0;
          await replay.apply(event);
          lines.push(
            `  ${showEvent(event)}`,
            `    → ${key(replay.snapshot)}`,
            ...replay.log.map((line) => `    ${line}`),
          );
        }
        collect(replay);
      }
    }
    const table = `${lines.join("\n")}\n`;
    golden(`${name}.txt`, table);
    if ((options.partOf ?? []).some((variant) => !all.variants.has(variant))) return;
    const missed = allTransitions(machine).filter((name) => !taken.has(name) && !/^\S+ xstate\.init/.test(name));
    assert.equal(missed, [], "transitions that no replayed path takes");
    for (const [guardName, guard] of Object.entries(machine.implementations.guards as Record<string, unknown>)) {
      if (typeof guard === "function" && "check" in guard) continue;
      const answers = [...(guards.get(guardName) ?? [])].sort((a, b) => Number(a) - Number(b));
      if (options.oneSided?.[guardName] === undefined)
        assert.equal(answers, [false, true], `answers of the guard ${guardName}`);
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

function golden(file: string, text: string): void {
  const directory = new URL("../golden/model/", import.meta.url);
  const path = new URL(file, directory);
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, text);
    return;
  }
  assert.ok(existsSync(path), `test/golden/model/${file} is missing; UPDATE_GOLDEN=1 writes it`);
  const wanted = readFileSync(path, "utf8");
  if (wanted === text) return;
  const was = wanted.split("\n");
  const is = text.split("\n");
  const at = is.findIndex((line, index) => line !== was[index]);
  const near = (lines: readonly string[]): string => lines.slice(Math.max(0, at - 3), at + 3).join("\n");
  assert.unreachable(
    `test/golden/model/${file} differs at line ${at + 1}:\n--- wanted\n${near(was)}\n--- found\n${near(is)}`,
  );
}
