/** The calls that units recorded, as the outcome of a render tells them. */
import type { CallNotice, RecordedCall } from "./types.ts";
import { byOrder, type Instance, type Root } from "./unit.ts";

export class Notices {
  readonly #calling = new Set<Instance>();
  #gathered: readonly CallNotice[] | undefined;

  /** A root ran. */
  rootRan(): void {
    this.#gathered = undefined;
  }

  /** An instance's result changed, or it is gone. */
  instanceChanged(instance: Instance, gone = false): void {
    const calls = !gone && instance.result.calls.length > 0;
    if (!calls && !this.#calling.has(instance)) return;
    if (calls) this.#calling.add(instance);
    else this.#calling.delete(instance);
    this.#gathered = undefined;
  }

  /** Of roots, then of instances in order; equal ones of a template once. */
  all(roots: readonly Root[]): readonly CallNotice[] {
    return (this.#gathered ??= this.#gather(roots));
  }

  #gather(roots: readonly Root[]): readonly CallNotice[] {
    const notices = new Map<string, CallNotice>();
    const add = (template: string, calls: readonly RecordedCall[]): void => {
      for (const call of calls) {
        const message = `${call.call} ${call.subject}: recorded, not carried out yet`;
        notices.set(JSON.stringify([template, call]), { call, template, message });
      }
    };
    for (const root of roots) add(root.spec.template, root.result.calls);
    const instances = [...this.#calling].sort(byOrder);
    for (const instance of instances) add(instance.snippet, instance.result.calls);
    return [...notices.values()];
  }
}
