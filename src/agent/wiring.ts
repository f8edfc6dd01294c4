/** Gives the agent's charts their actors and actions. */
import { createActor, fromPromise, type ActorRefFrom } from "xstate";
import { agentApplyMachine } from "../../machines/agentApply.ts";
import { agentReloadMachine } from "../../machines/agentReload.ts";
import { agentRemovalsMachine } from "../../machines/agentRemovals.ts";
import { agentMachine, type FoldEnd } from "../../machines/agent.ts";
import type { Desk } from "./desk.ts";
import type { Holding } from "./holding.ts";
import { readBack } from "./read-back.ts";
import { reconcile } from "./reconcile.ts";
import { removePending } from "./removals.ts";
import type { StartDesk } from "./start-desk.ts";

export interface AgentDeps {
  readonly holding: Holding;
  readonly desk: Desk;
  readonly starts: StartDesk;
  readonly reloadIntervalMs: number;
  readonly onReady: () => void;
  /** `what` failed; the charts go on. */
  readonly onFailure: (what: string, error: unknown) => void;
  readonly onReloadStarted: () => void;
  /** The old worker's connection ended during a reload. */
  readonly onHandover: () => void;
  /** Milliseconds that the next reload has to wait for old workers. */
  readonly weigh: () => Promise<number>;
  /** Files have been written, and nobody waits. */
  readonly tidyMemory: () => void;
}

export type AgentActor = ActorRefFrom<typeof agentMachine>;

interface ById {
  readonly id: number;
}

interface ByReload {
  readonly id: number | undefined;
}

/** An actor in its first state; call `start()`. */
export function wireAgent(deps: AgentDeps): AgentActor {
  const { holding, desk, starts } = deps;
  const apply = agentApplyMachine.provide({
    actors: {
      stage: fromPromise(({ input }: { input: ById }) => desk.stage(input.id)),
      write: fromPromise(({ input }: { input: ById }) => desk.write(input.id)),
      operate: fromPromise(({ input }: { input: ById }) => desk.operate(input.id)),
      commit: fromPromise(({ input }: { input: ById }) => desk.commit(input.id)),
      owe: fromPromise(({ input }: { input: ById }) => desk.owe(input.id)),
    },
    actions: {
      answerFailure: (_, { id, error }) => desk.fail(id, error),
      tellFailure: (_, { id, error }) => {
        deps.onFailure("apply", error);
        desk.tellFailure(id, error);
      },
    },
  });
  const reload = agentReloadMachine.provide({
    actors: {
      take: fromPromise(({ input }: { input: ByReload }) => {
        deps.onReloadStarted();
        return desk.takeForReload(input.id);
      }),
      load: fromPromise(async ({ input }: { input: ByReload }) => {
        const ok = await desk.load(input.id);
        holding.note({ what: "reload", result: ok ? "loaded" : "refused" });
        return ok;
      }),
      adopt: fromPromise(() => desk.adopt()),
      restore: fromPromise(({ input }: { input: ByReload }) => {
        holding.note({ what: "rollback" });
        return desk.restore(input.id);
      }),
      answer: fromPromise(({ input }) => {
        if (input.end === "lost") holding.note({ what: "reload", result: "lost" });
        return desk.endReload(input.id, input.end);
      }),
    },
    actions: { answerFailure: (_, { id, error }) => desk.fail(id, error) },
  });
  const removals = agentRemovalsMachine.provide({
    actors: {
      remove: fromPromise(({ input, signal }: { input: { cut: boolean }; signal: AbortSignal }) =>
        removePending(holding, input.cut, signal),
      ),
    },
  });
  const machine = agentMachine.provide({
    actors: {
      recover: fromPromise(async () => {
        await holding.recover();
      }),
      attach: fromPromise(async () => {
        await holding.attach();
      }),
      reconcile: fromPromise(() => reconcile(holding)),
      apply,
      schedule: fromPromise(({ input }: { input: ById }) => desk.schedule(input.id)),
      reload,
      fold: fromPromise(async ({ signal }): Promise<FoldEnd> => {
        // Before the files hold what a new worker, loaded behind our back, may not have taken. Not at once after the
        // operations: the answer to whoever waits for the change would share HAProxy with it.
        await holding.checkWorker();
        if (signal.aborted) return "whole";
        // An apply that is under way is read back with the next fold.
        const isOther = await readBack(holding).catch((error: unknown) => {
          deps.onFailure("readBack", error);
          return false;
        });
        await holding.fold();
        if (isOther) return "diverged";
        return holding.dirty ? "more" : holding.model.owed === null ? "whole" : "owed";
      }),
      prepareStart: fromPromise(({ input }: { input: ById }) => starts.serve(input.id)),
      removals,
      weigh: fromPromise(() => deps.weigh()),
    },
    actions: {
      refuseBusy: (_, { id }) => desk.refuse([id], "too many applies are waiting"),
      refuseWaiting: (_, { ids }) => desk.refuse(ids, "HAProxy is not there"),
      answerFailure: (_, { id, error }) => {
        desk.fail(id, error);
        if (id !== undefined) starts.fail(id, error);
      },
      noteHandover: () => deps.onHandover(),
      tidyMemory: () => deps.tidyMemory(),
      markReady: () => deps.onReady(),
      logFailure: (_, { what, error }) => deps.onFailure(what, error),
    },
  });
  return createActor(machine, {
    input: { reloadIntervalMs: deps.reloadIntervalMs, maxWaiting: 8, reloadAttempts: 500 },
  });
}
