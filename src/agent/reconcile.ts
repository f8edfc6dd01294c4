/** After a start or a new worker: what does the worker lack of the claimed set, and how does it get it? */
import type { Holding } from "./holding.ts";
import { adoptStarted, operateEntry } from "./changes.ts";
import { differsFrom } from "./read-back.ts";

/** A worker that started within this time after the link was turned may have read either set, in microseconds. */
const MARGIN_MICROS = 20_000;

/**
 * Redoes operations so that the worker is what the tail claims; true when only a reload can (also when one is owed).
 *
 * - Same worker: the last entry may lack its operations.
 * - Another worker, started after the last fold: it has the folded set; all later entries are redone.
 * - Another worker, started before: which set it has read is not known.
 */
export async function reconcile(holding: Holding): Promise<boolean> {
  holding.settle();
  const { model } = holding;
  const folded = holding.tree.folded;
  if (model.planId === "" || folded === undefined) return false;
  const same = holding.sameWorker;
  if (!same) {
    if (holding.worker.startMicros <= folded.foldedAt + MARGIN_MICROS)
      return owe(holding, "it is not known which set this worker has read");
    if (model.owed !== null) {
      if (holding.unfolded.length > 0) return true;
      adoptStarted(holding);
      return false;
    }
    if (holding.unfolded.length === 0) {
      adoptStarted(holding);
      return false;
    }
  }
  if (model.owed !== null) return true;
  const entries = same ? holding.unfolded.filter((entry) => holding.doneBy(entry.seq) === undefined) : holding.unfolded;
  for (const entry of entries) {
    const { ok, outcomes } = await operateEntry(holding, entry, undefined, true);
    if (!ok) return owe(holding, outcomes.find((outcome) => !outcome.ok)?.output ?? "an operation was refused");
    const { pid, startMicros } = holding.worker;
    holding.append({ type: "done", seq: holding.number(), entry: entry.seq, worker: { pid, startMicros } });
  }
  if (entries.length === 0) return false;
  const difference = await differsFrom(
    holding,
    entries.flatMap((entry) => entry.ops),
  );
  if (difference === undefined) return false;
  holding.note({ what: "divergence", ...difference });
  return owe(holding, `the worker was read back: ${difference.text}`);
}

function owe(holding: Holding, reason: string): boolean {
  holding.append({ type: "owed", seq: holding.number(), reason });
  return true;
}
