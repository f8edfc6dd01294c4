/** What a start of HAProxy needs of the files: all that was accepted, or the set that HAProxy is known to take. */
import { join } from "node:path";
import { bootstrapModel } from "./bootstrap.ts";
import type { Holding } from "./holding.ts";
import { PRIVATE_DIR } from "./paths.ts";

/**
 * The files hold all that was accepted. Where that cannot be done (the disk is full), HAProxy starts from the set in force all
 * the same, and the agent brings the worker what the journal holds besides.
 * @throws the reason when there is no set at all.
 */
export async function foldForStart(holding: Holding): Promise<void> {
  try {
    await holding.fold();
  } catch (error) {
    if (holding.tree.folded === undefined) throw error;
  }
}

/**
 * The files become the last known good set's, or the bootstrap's when there is none or it is in force already. Runs while
 * HAProxy is down.
 */
export async function returnToLastGood(holding: Holding): Promise<void> {
  const { model, tree } = holding;
  await holding.fold();
  const name = tree.lkgName;
  const set =
    name !== undefined && tree.lkgPlanId !== model.planId
      ? { ...tree.readSet(name).model, files: tree.filesOf(name) }
      : bootstrapModel({
          config: holding.options.config,
          workerSocket: holding.options.workerSocket,
          listenSocket: join(holding.options.baseDir, PRIVATE_DIR, "bootstrap.sock"),
        });
  await holding.replace({
    ...model,
    files: set.files,
    planId: set.planId,
    token: set.token,
    runningPlanId: "",
    workerOpsPlanId: "",
    worker: null,
    owed: null,
    former: null,
    pendingServers: new Set(),
    pendingBackends: new Set(),
    generation: model.generation + 1,
  });
}
