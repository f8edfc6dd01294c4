/** HAProxy's verdicts by plan: asked once for each content, remembered. */
import type { CheckVerdict } from "../../machines/renderGate.ts";
import { ControllerError } from "../errors.ts";
import type { PlanFile, RenderPlan } from "../plan/types.ts";
import type { PlanShelf } from "./plan-shelf.ts";

/** Judges files with `haproxy -c -dr`; rejects when HAProxy could not be asked. */
export type CheckFiles = (
  files: Iterable<PlanFile>,
  signal: AbortSignal,
) => Promise<{ readonly accepted: boolean; readonly message: string; readonly tookMs: number }>;

export class Verdicts {
  readonly #verdicts = new Map<string, CheckVerdict>();
  readonly #check: CheckFiles;
  readonly #shelf: PlanShelf;
  readonly #onCheck: (planId: string, verdict: CheckVerdict) => void;
  #running: Promise<void> | undefined;
  #asked = 0;

  constructor(check: CheckFiles, shelf: PlanShelf, onCheck: (planId: string, verdict: CheckVerdict) => void) {
    this.#check = check;
    this.#shelf = shelf;
    this.#onCheck = onCheck;
  }

  of(planId: string): CheckVerdict | undefined {
    return this.#verdicts.get(planId);
  }

  async judge(planId: string, signal: AbortSignal): Promise<CheckVerdict> {
    const plan = this.#shelf.get(planId);
    if (plan === undefined && !this.#verdicts.has(planId))
      throw new ControllerError(`plan ${planId.slice(0, 12)} is not held any more`);
    return plan === undefined ? (this.#verdicts.get(planId) as CheckVerdict) : this.judgePlan(plan, signal);
  }

  /**
   * One check at a time; whoever waited for its turn looks first whether the verdict has come meanwhile. The plan must be on the shelf, and
   * stays there: a check may outlast many renders, and who hears that the plan has passed wants to have it.
   */
  async judgePlan(plan: RenderPlan, signal: AbortSignal): Promise<CheckVerdict> {
    this.#asked += 1;
    const asker = `judge:${this.#asked}`;
    this.#shelf.hold(asker, plan.id);
    try {
      return await this.#judge(plan, signal);
    } finally {
      this.#shelf.hold("judged", plan.id);
      this.#shelf.hold(asker, "");
    }
  }

  async #judge(plan: RenderPlan, signal: AbortSignal): Promise<CheckVerdict> {
    for (;;) {
      signal.throwIfAborted();
      const remembered = this.#verdicts.get(plan.id);
      if (remembered !== undefined) return remembered;
      if (this.#running === undefined) break;
      await Promise.race([this.#running, aborted(signal)]);
    }
    const running = this.#ask(plan, signal);
    this.#running = running
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        this.#running = undefined;
      });
    return running;
  }

  async #ask(plan: RenderPlan, signal: AbortSignal): Promise<CheckVerdict> {
    const files = [...plan.files.values()];
    const { accepted, message, tookMs } = await this.#check(files, signal);
    const verdict: CheckVerdict = { passed: accepted, message: accepted ? "" : message, tookMs };
    this.#verdicts.set(plan.id, verdict);
    // Oldest first; a verdict forgotten costs one check if its plan ever comes back.
    for (const id of this.#verdicts.keys()) {
      if (this.#verdicts.size <= 256) break;
      this.#verdicts.delete(id);
    }
    this.#onCheck(plan.id, verdict);
    return verdict;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener(
      "abort",
      () => {
        resolve();
      },
      { once: true },
    );
  });
