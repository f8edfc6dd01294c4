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
  const actions = names.map((name) => [
    name,
    (_args: unknown, params: unknown) => ran.push(params === undefined ? name : `${name} ${JSON.stringify(params)}`),
  ]);
  drive(machine.provide({ actions: Object.fromEntries(actions) as never }), input, events, (error) =>
    ran.push(`failed ${String(error)}`),
  );
  return ran;
}

/** Where the events lead, sent in order. */
export function stateAfter(
  machine: AnyStateMachine,
  input: unknown,
  events: readonly { readonly type: string }[],
): unknown {
  return drive(machine, input, events, (error) => {
    throw error;
  });
}

function drive(
  machine: AnyStateMachine,
  input: unknown,
  events: readonly { readonly type: string }[],
  onError: (error: unknown) => void,
): unknown {
  const known = machine.implementations.actors as Record<string, { readonly root?: unknown }>;
  const idle = Object.entries(known).map(([name, logic]) => [
    name,
    logic.root === undefined ? fromPromise(() => new Promise(() => undefined)) : fromCallback(() => undefined),
  ]);
  const observed = machine.provide({ actors: Object.fromEntries(idle) as never });
  const actor = createActor(observed, { input, clock: new SimulatedClock() });
  actor.subscribe({ error: onError });
  actor.start();
  for (const event of events) actor.send(event);
  const { value } = actor.getSnapshot();
  actor.stop();
  return value;
}
