import { statusWriterMachine, statusWriterReads } from "../../machines/statusWriter.ts";
import { modelTests } from "./harness.ts";

const events = [
  ...statusWriterReads.map((type) => ({ type })),
  { type: "xstate.done.actor.write" },
  { type: "xstate.error.actor.write", error: "conflict" },
  { type: "xstate.after.backoff.statusWriter.backingOff" },
];
const input = (differs: boolean) => ({ differs: () => differs, backoffMs: (attempt: number) => 100 * attempt });
const key = ({ attempt }: { attempt: number }) => Math.min(attempt, 2);
const partOf = ["differs", "same"];

modelTests({ machine: statusWriterMachine, variant: "differs", partOf, input: input(true), events, key });
modelTests({ machine: statusWriterMachine, variant: "same", partOf, input: input(false), events, key });
