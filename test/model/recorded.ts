/** Drives a chart by hand and writes down which of its plain actions ran: for stories that the path tables scatter. */
import { createActor, fromCallback, fromPromise, SimulatedClock, type AnyStateMachine } from "xstate";

/** The named actions that ran, with their parameters, while the events were sent in order. */
export function recordedActions(
  machine: AnyStateMachine,
  input: unknown,
  names: readonly string[],
  events: readonly { readonly type: string }[],
): string[] {
  const ran: string[] = [];
  const known = machine.implementations.actors as Record<string, { readonly root?: unknown }>;
  const idle = Object.entries(known).map(([name, logic]) => [
    name,
    logic.root === undefined ? fromPromise(() => new Promise(() => undefined)) : fromCallback(() => undefined),
  ]);
  const actions = names.map((name) => [
    name,
    (_args: unknown, params: unknown) => ran.push(params === undefined ? name : `${name} ${JSON.stringify(params)}`),
  ]);
  const observed = machine.provide({
    actors: Object.fromEntries(idle) as never,
    actions: Object.fromEntries(actions) as never,
  });
  const actor = createActor(observed, { input, clock: new SimulatedClock() });
  actor.subscribe({ error: (error) => ran.push(`failed ${String(error)}`) });
  actor.start();
  for (const event of events) actor.send(event);
  actor.stop();
  return ran;
}
