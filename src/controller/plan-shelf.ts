/**
 * The plans that may serve as a baseline or wait to be sent, by id. Bounded: the oldest that nobody asked for lately goes first, but never
 * one that somebody holds: a pod whose baseline was forgotten in a burst of renders would need the full set and a reload.
 */
import type { RenderPlan } from "../plan/types.ts";

export class PlanShelf {
  readonly #plans = new Map<string, RenderPlan>();
  readonly #held = new Map<string, string>();
  readonly #limit: number;

  constructor(limit = 4) {
    this.#limit = limit;
  }

  put(plan: RenderPlan): void {
    this.#plans.delete(plan.id);
    this.#plans.set(plan.id, plan);
    if (this.#plans.size <= this.#limit) return;
    const held = new Set(this.#held.values());
    for (const id of this.#plans.keys()) {
      if (this.#plans.size <= this.#limit) return;
      if (!held.has(id) && id !== plan.id) this.#plans.delete(id);
    }
  }

  get(id: string): RenderPlan | undefined {
    const plan = this.#plans.get(id);
    if (plan !== undefined) {
      this.#plans.delete(id);
      this.#plans.set(id, plan);
    }
    return plan;
  }

  /** `holder` needs this plan, and none that it held before; "" = it needs none any more. */
  hold(holder: string, id: string): void {
    if (id === "") this.#held.delete(holder);
    else this.#held.set(holder, id);
  }
}
