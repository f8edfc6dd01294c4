/** Gives `warmer` its one actor: a render of the serving configuration that goes nowhere. */
import { fromPromise } from "xstate";
import { warmerMachine, warmerReads } from "../../machines/warmer.ts";
import type { WarmReply } from "../../machines/warmer.ts";
import { ControllerError } from "../errors.ts";
import type { Bus } from "./bus.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { Iterations } from "./iterations.ts";
import type { PlanShelf } from "./plan-shelf.ts";

export const wireWarmer = (iterations: Iterations, shelf: PlanShelf, bus: Bus, registry: ActorRegistry) =>
  onBus(
    warmerMachine.provide({
      actors: {
        render: fromPromise<WarmReply>(async ({ signal }) => {
          const { serving } = iterations;
          if (serving === undefined) throw new ControllerError("no configuration serves");
          const { result, problems } = await serving.render(signal);
          // A pod may run it: its baseline, when this replica leads before the pod was given the plan to keep.
          if (result !== undefined) shelf.put(result.plan);
          return { planId: result?.plan.id ?? "", message: problems.map((problem) => problem.text).join("\n") };
        }),
      },
    }),
    warmerReads,
    bus,
    registry,
  );
