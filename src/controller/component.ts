/** How a chart's actor meets the bus: it joins when it starts and leaves when it stops, wherever its lifetime is decided. */
import type { AnyActorRef, AnyStateMachine } from "xstate";
import type { Bus, SubscribeOptions } from "./bus.ts";
import type { BusEvent, BusEventType } from "./events.ts";

/** The actors that live now, by name; for snapshots, `/debug/vars` and the live page. */
export interface ActorRegistry {
  add(name: string, actor: AnyActorRef): void;
  remove(name: string, actor: AnyActorRef): void;
}

/**
 * The same machine, whose actors hear `reads` from the bus and whose emitted events go to it.
 * `machine` must be an instance of its own (the result of `provide`): its `start` is replaced.
 */
export function onBus<M extends AnyStateMachine>(
  machine: M,
  reads: readonly BusEventType[],
  bus: Bus,
  registry: ActorRegistry,
  { name = machine.id, atLeisure = [] }: SubscribeOptions & { readonly name?: string } = {},
): M {
  const start = machine.start.bind(machine);
  type Start = (snapshot: unknown, scope: { readonly self: AnyActorRef }) => void;
  (machine as { start: Start }).start = (snapshot, scope) => {
    const { self } = scope;
    const hear = (event: BusEvent): void => {
      self.send(event);
    };
    const leave = bus.subscribe(name, reads, hear, { atLeisure });
    const silence = self.on("*", (event: unknown) => {
      bus.publish(event as BusEvent, name);
    });
    registry.add(name, self);
    const end = (): void => {
      leave();
      silence.unsubscribe();
      registry.remove(name, self);
    };
    self.subscribe({ complete: end, error: end });
    (start as Start)(snapshot, scope);
  };
  return machine;
}

/** The same machine, whose actors are named in the registry (a child that talks to its parent only). */
export function registered<M extends AnyStateMachine>(machine: M, registry: ActorRegistry): M {
  const start = machine.start.bind(machine);
  type Start = (snapshot: unknown, scope: { readonly self: AnyActorRef }) => void;
  (machine as { start: Start }).start = (snapshot, scope) => {
    const { self } = scope;
    registry.add(self.id, self);
    const end = (): void => {
      registry.remove(self.id, self);
    };
    self.subscribe({ complete: end, error: end });
    (start as Start)(snapshot, scope);
  };
  return machine;
}
