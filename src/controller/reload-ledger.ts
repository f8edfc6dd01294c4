/** Why a pod's HAProxy was reloaded, as the controller tells it: reasons of the difference, of the pod's state, and the agent's own. */
import type { ApplyResult } from "../agent/api.ts";
import { objectName, reloadReason, type ReloadReason, tellReason } from "../plan/index.ts";
import type { Op } from "../plan/ops.ts";
import type { RenderPlan } from "../plan/types.ts";

export const tellReasons = (reasons: readonly ReloadReason[]): readonly string[] => reasons.map(tellReason);

/** What the agent reloads, or owes a reload, though no apply asked for it. */
export const agentReload = (reason: string): ReloadReason =>
  reloadReason("worker-other", `the agent makes the worker what it is to be: ${reason}`);

/** Why the agent reloads what was to go without. */
export function agentReasons(
  { op_results: results, failure, limit, reload_owed: owed }: ApplyResult,
  ops: readonly Op[],
  plan: RenderPlan | undefined,
): readonly ReloadReason[] {
  const at = results.findIndex((op) => !op.ok);
  const refused = results[at];
  if (refused !== undefined) {
    const op = ops[at]?.kind === refused.kind ? ops[at] : undefined;
    return [
      reloadReason(
        "operation-refused",
        `the operation ${refused.kind} could not be done at run time: ${refused.output}`,
        op === undefined ? { field: refused.kind } : { ...subjectOf(op, plan), field: refused.kind },
      ),
    ];
  }
  if (limit !== undefined) return [reloadReason("many-removals", limit)];
  if (failure !== undefined)
    return [reloadReason("operation-failed", `the agent could not finish without a reload: ${failure}`)];
  return owed === undefined ? [] : [agentReload(owed)];
}

/** What an operation is about, and whose that is. */
function subjectOf(op: Op, plan: RenderPlan | undefined): { readonly section: string; readonly object: string } {
  const { backend, server, path } = op;
  if (path !== undefined) return { section: path, object: plan?.origins?.objects.get(`file ${path}`) ?? "" };
  const origin = backend === undefined ? undefined : plan?.backends.get(backend)?.origin;
  return {
    section: `backend ${backend ?? ""}`,
    object: origin ?? (server === undefined ? "" : objectName("server", `${backend}/${server}`)),
  };
}

/** What an Event's message has room for, in characters: the API server refuses more than 1,024. */
const REASONS_ROOM = 960;

/** Whole reasons, as many as there is room for, and how many more there are. */
export function joinedReasons(reasons: readonly string[]): string {
  const told: string[] = [];
  let room = REASONS_ROOM;
  for (const reason of reasons) {
    room -= reason.length + 3;
    if (room < 0 && told.length > 0) break;
    told.push(reason.slice(0, REASONS_ROOM));
  }
  const last = /^and (\d+) more$/.exec(reasons.at(-1) ?? "");
  const left = reasons.length - told.length + (last === null ? 0 : Number(last[1]) - 1);
  return told.length === reasons.length ? told.join(" | ") : `${told.join(" | ")} | and ${left} more`;
}
