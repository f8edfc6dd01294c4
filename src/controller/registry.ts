/** The actors that live now, by name: for tests, `/debug/vars/state` and the live page. */
import type { AnyActorRef } from "xstate";
import type { ActorRegistry } from "./component.ts";

export class LivingActors implements ActorRegistry {
  readonly #actors = new Map<string, AnyActorRef>();
  readonly #onAdded: (name: string) => void;

  constructor(onAdded: (name: string) => void) {
    this.#onAdded = onAdded;
  }

  add(name: string, actor: AnyActorRef): void {
    this.#actors.set(name, actor);
    this.#onAdded(name);
  }

  remove(name: string, actor: AnyActorRef): void {
    if (this.#actors.get(name) === actor) this.#actors.delete(name);
  }

  /** Names and actors. */
  list(): Iterable<readonly [name: string, actor: AnyActorRef]> {
    return this.#actors;
  }

  /** State value of one that lives. */
  state(name: string): unknown {
    return (this.#actors.get(name)?.getSnapshot() as { value?: unknown } | undefined)?.value;
  }

  /** State values by name, in the order of the names. */
  states(): Record<string, unknown> {
    return Object.fromEntries(
      [...this.#actors]
        .map(([name, actor]): [string, unknown] => [name, (actor.getSnapshot() as { value?: unknown }).value])
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }
}
