/** Gives `eventRecorder` its one actor: what waits in the ledger, written one by one. */
import { fromPromise } from "xstate";
import { eventRecorderMachine, eventRecorderReads } from "../../machines/eventRecorder.ts";
import { EventWriter } from "../kube/index.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { EventLedger } from "./event-ledger.ts";
import type { ControllerPorts } from "./ports.ts";

/** The object or its namespace is gone, the right is not given, the Event is refused as such: nobody can be told. */
const FINAL: ReadonlySet<number> = new Set([403, 404, 422]);
const statusOf = (error: unknown): number => (error as { status?: number }).status ?? 0;

export function wireEventRecorder(ports: ControllerPorts, ledger: EventLedger, bus: Bus, registry: ActorRegistry) {
  const writer = new EventWriter({
    client: ports.kube,
    component: "haptic",
    instance: ports.identity,
    now: ports.wallClock,
    random: ports.random,
  });
  return onBus(
    eventRecorderMachine.provide({
      actors: {
        record: fromPromise<number>(async ({ signal }) => {
          let count = 0;
          for (let write = ledger.next(); write !== undefined; write = ledger.next()) {
            signal.throwIfAborted();
            const { object: subject, type, reason, message } = write;
            const outcome = await writer.write({ subject, type, reason, message }, signal);
            if (outcome.written === "failed" && !FINAL.has(statusOf(outcome.error))) throw outcome.error;
            ledger.done(write);
            count += 1;
          }
          return count;
        }),
      },
    }),
    eventRecorderReads,
    bus,
    registry,
    { atLeisure: eventRecorderReads },
  );
}
