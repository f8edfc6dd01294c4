import { eventRecorderMachine, eventRecorderReads } from "../../machines/eventRecorder.ts";
import { modelTests } from "./harness.ts";

const events = [
  ...eventRecorderReads.map((type) => ({ type })),
  { type: "xstate.done.actor.record", output: 3 },
  { type: "xstate.error.actor.record", error: "unreachable" },
  { type: "xstate.after.backoff.eventRecorder.backingOff" },
];
const input = (hasWork: boolean) => ({ hasWork: () => hasWork, backoffMs: (attempt: number) => 100 * attempt });
const key = ({ attempt }: { attempt: number }) => Math.min(attempt, 2);
const partOf = ["work", "nothing"];

modelTests({ machine: eventRecorderMachine, variant: "work", partOf, input: input(true), events, key });
modelTests({ machine: eventRecorderMachine, variant: "nothing", partOf, input: input(false), events, key });
