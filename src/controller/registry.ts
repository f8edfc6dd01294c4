/**
 * The actors that live now, by name: for tests, `/debug/vars/state` and the live page. Where two have one name (the watch of a configuration
 * that serves and that of one which is tried), the newer one is shown while it lives.
 */
import type { AnyActorRef } from "xstate";
import type { ActorRegistry } from "./component.ts";

export class LivingActors implements ActorRegistry {
  readonly #actors = new Map<string, AnyActorRef>();
  /** Older actors of the same name, the oldest first. */
  readonly #hidden = new Map<string, AnyActorRef[]>();
  readonly #onAdded: (name: string) => void;

  constructor(onAdded: (name: string) => void) {
    this.#onAdded = onAdded;
  }

  add(name: string, actor: AnyActorRef): void {
    const older = this.#actors.get(name);
    if (older !== undefined && older !== actor) this.#hidden.set(name, [...(this.#hidden.get(name) ?? []), older]);
    this.#actors.set(name, actor);
    this.#onAdded(name);
  }

  remove(name: string, actor: AnyActorRef): void {
    const hidden = (this.#hidden.get(name) ?? []).filter((other) => other !== actor);
    if (this.#actors.get(name) === actor) {
      const former = hidden.pop();
      if (former === undefined) this.#actors.delete(name);
      else this.#actors.set(name, former);
    }
    if (hidden.length === 0) this.#hidden.delete(name);
    else this.#hidden.set(name, hidden);
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
