/**
 * The plans that may serve as a baseline, by id: what was rendered last and what pods were seen with. Bounded: the oldest that
 * nobody asked for lately goes first.
 */
import type { RenderPlan } from "../plan/types.ts";

export class PlanShelf {
  readonly #plans = new Map<string, RenderPlan>();
  readonly #limit: number;

  constructor(limit = 16) {
    this.#limit = limit;
  }

  put(plan: RenderPlan): void {
    this.#plans.delete(plan.id);
    this.#plans.set(plan.id, plan);
    for (const id of this.#plans.keys()) {
      if (this.#plans.size <= this.#limit) return;
      this.#plans.delete(id);
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

  has(id: string): boolean {
    return this.#plans.has(id);
  }
}
