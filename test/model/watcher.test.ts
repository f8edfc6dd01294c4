import { watcherMachine } from "../../machines/watcher.ts";
import { modelTests } from "./harness.ts";

const events = [
  { type: "STREAM.SYNCED" },
  { type: "STREAM.DIRTY" },
  { type: "STREAM.FAULTED", message: "gone", refused: true },
  { type: "STREAM.RECOVERED" },
  { type: "xstate.error.actor.stream", error: "defect" },
  { type: "xstate.after.window.watcher.live.refractory" },
  { type: "xstate.after.streamRestart.watcher.broken" },
];
const input = (windowMs: number) => ({
  watch: "w",
  alias: "things",
  windowMs,
  take: () => ({ count: 2, revision: 7 }),
});
const key = ({ faulted }: { faulted: boolean }) => ({ faulted });

modelTests({
  machine: watcherMachine,
  variant: "window",
  input: input(100),
  events,
  key,
  callbacks: ["stream"],
  partOf: ["window", "windowless"],
});
modelTests({
  machine: watcherMachine,
  variant: "windowless",
  input: input(0),
  events,
  key,
  callbacks: ["stream"],
  partOf: ["window", "windowless"],
});
