import { agentMachine } from "../../machines/agent.ts";
import { modelTests } from "./harness.ts";

const done = (actor: string, output?: unknown) => ({ type: `xstate.done.actor.${actor}`, output });
const failed = (actor: string) => ({ type: `xstate.error.actor.${actor}`, error: "defect" });
const apply = { type: "APPLY.REQUESTED", id: 1 };
const start = { type: "START.REQUESTED", id: 2 };
const lost = { type: "WORKER.LOST" };
const input = { reloadIntervalMs: 5_000, maxWaiting: 1, reloadAttempts: 3 };
const key = ({ applies, starts, current }: Record<string, unknown>) => ({ applies, starts, current });
const partOf = ["beginning", "work", "pacing", "files", "removals"];
const begun = [done("recover"), done("attach"), done("reconcile", false)];
/** One wrapper asks at a time. */
const skip = ({ context }: { context: unknown }, { type }: { type: string }): boolean =>
  type === "START.REQUESTED" && (context as { starts: unknown[] }).starts.length > 0;
const common = { machine: agentMachine, timersByEvent: true, partOf, input, key, skip };

modelTests({
  ...common,
  variant: "beginning",
  events: [
    ...begun,
    done("reconcile", true),
    failed("recover"),
    failed("attach"),
    failed("reconcile"),
    { type: "xstate.after.recoverRetry.agent.broken" },
    { type: "xstate.after.attachRetry.agent.detached.pausing" },
    apply,
    start,
    done("prepareStart"),
    failed("prepareStart"),
    lost,
  ],
});

modelTests({
  ...common,
  variant: "work",
  events: [
    ...begun,
    apply,
    start,
    done("apply", { id: 1, next: "done" }),
    done("apply", { id: 1, next: "reload" }),
    failed("apply"),
    done("reload", { id: 1, end: "loaded" }),
    done("reload", { id: 1, end: "lost" }),
    failed("reload"),
    done("prepareStart"),
    failed("prepareStart"),
    lost,
  ],
});

modelTests({
  ...common,
  variant: "pacing",
  events: [
    ...begun,
    done("reconcile", true),
    apply,
    done("apply", { id: 1, next: "reload" }),
    done("schedule"),
    failed("schedule"),
    done("reload", { id: 1, end: "refused" }),
    { type: "xstate.after.reloadInterval.agent.ready.pacing.quiet" },
    { type: "xstate.after.reloadInterval.agent.ready.pacing.pending" },
  ],
});

modelTests({
  ...common,
  variant: "files",
  events: [
    ...begun,
    apply,
    done("apply", { id: 1, next: "done" }),
    { type: "xstate.after.foldDelay.agent.ready.files.dirty" },
    done("fold", true),
    done("fold", false),
    failed("fold"),
  ],
});

modelTests({
  ...common,
  variant: "removals",
  events: [...begun, { type: "REMOVALS.QUEUED" }, failed("removals"), lost],
});
