/** Gives `coordinator` its one actor: a render of the serving configuration. */
import { fromPromise } from "xstate";
import { coordinatorMachine, coordinatorReads } from "../../machines/coordinator.ts";
import type { RenderReply, RenderRequest } from "../../machines/coordinator.ts";
import { ControllerError } from "../errors.ts";
import type { Bus } from "./bus.ts";
import type { ConfigNotes } from "./config-notes.ts";
import { onBus } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { Iterations } from "./iterations.ts";
import type { PlanShelf } from "./plan-shelf.ts";
import type { Observation } from "./observation.ts";
import type { Log } from "./ports.ts";
import type { Records } from "./records.ts";
import type { Term } from "./term.ts";

export interface CoordinatorDeps {
  readonly iterations: Iterations;
  readonly term: Term;
  readonly shelf: PlanShelf;
  readonly records: Records;
  readonly notes: Pick<ConfigNotes, "noteCalls">;
  readonly observation: Pick<Observation, "renderBegan" | "renderMeasured">;
  readonly log: Log;
}

export async function renderServing(deps: CoordinatorDeps, signal: AbortSignal): Promise<RenderReply> {
  const { iterations, term, shelf, records, notes, observation, log } = deps;
  const { serving, count } = iterations;
  observation.renderBegan();
  if (serving === undefined) throw new ControllerError("no configuration serves");
  const { result, problems, isolated } = await serving.render(signal);
  records.noteObjects(isolated, result?.events ?? []);
  if (result === undefined) {
    return { kind: "failed", iteration: count, message: problems.map((problem) => problem.text).join("\n") };
  }
  notes.noteCalls(result.notCarriedOut ?? []);
  const { plan, cacheState, stats } = result;
  const seq = term.nextRender();
  shelf.put(plan);
  observation.renderMeasured({ cacheState, components: stats.components, executed: stats.executed });
  log.debug({ plan: plan.id.slice(0, 12), seq, cacheState, ...stats }, "Rendered");
  return { kind: "rendered", planId: plan.id, seq, iteration: count };
}

export const wireCoordinator = (deps: CoordinatorDeps, bus: Bus, registry: ActorRegistry) =>
  onBus(
    coordinatorMachine.provide({
      actors: { render: fromPromise<RenderReply, RenderRequest>(({ signal }) => renderServing(deps, signal)) },
    }),
    coordinatorReads,
    bus,
    registry,
  );
