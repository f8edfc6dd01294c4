/**
 * From a change of an object to "in force on every pod": keeps what changed and when, hears what the controller applied
 * where, and tells how long it took. Pure; times are milliseconds of one monotonic clock.
 */

export interface Applied {
  readonly pod: string;
  readonly plan: string;
  /** runtime, file_only, reload, scheduled, noop … */
  readonly mode: string;
}

export interface InForce {
  /** Names of the objects that changed since the last time, oldest first, each once. */
  readonly objects: readonly string[];
  /** From the first change to the last pod's acknowledgement. */
  readonly tookMs: number;
  /** What the pods did: "reload" when one of them did, "scheduled" when one of them will, as the last one was just now. */
  readonly mode: string;
  readonly pods: number;
}

interface Change {
  readonly object: string;
  readonly at: number;
}

/** Changes that nothing follows from are forgotten after so long. */
const FORGET_MS = 2_000;

/** After so long a plan that was awaited has been overtaken. */
const OVERTAKEN_MS = 1_000;

export class InForceLedger {
  readonly #pods: number;
  #changes: Change[] = [];
  #unjudged: Change[] = [];
  #accepted: { readonly plan: string; readonly at: number; readonly changes: readonly Change[] } | undefined;
  #plan = "";
  #startedWith: readonly Change[] = [];
  #modes = new Map<string, string>();

  /** `pods`: how many pods a plan must reach. */
  constructor(pods: number) {
    this.#pods = pods;
  }

  changed(object: string, at: number): void {
    this.#changes = this.#changes.filter((change) => at - change.at < FORGET_MS);
    this.#changes.push({ object, at });
  }

  /** A part of the configuration changed: plans go on without it until it is accepted. */
  configurationChanged(object: string, at: number): void {
    this.#unjudged.push({ object, at });
  }

  /**
   * `plan` is the first that comes from the configuration as it was changed; one before it may still be on its way. A
   * change that alters no plan is in force at once: the pods have that plan, and no other will be applied for it.
   */
  configurationAccepted(plan: string, at: number): InForce | undefined {
    const changes = [...(this.#accepted?.changes ?? []), ...this.#unjudged];
    this.#unjudged = [];
    this.#accepted = undefined;
    if (plan !== this.#plan) {
      this.#accepted = { plan, at, changes };
      return undefined;
    }
    this.#startedWith = [...this.#startedWith, ...changes];
    return this.#settled(["noop"], at);
  }

  configurationRefused(): void {
    this.#unjudged = [];
  }

  /** The changes of the configuration that `plan` brings: it is the awaited one, or one that overtook that. */
  #acceptedBy(plan: string, at: number): readonly Change[] {
    const accepted = this.#accepted;
    if (accepted === undefined || (plan !== accepted.plan && at - accepted.at < OVERTAKEN_MS)) return [];
    this.#accepted = undefined;
    return accepted.changes;
  }

  /** A pod has a plan; the answer is there when it was the last pod to get it and something had changed. */
  applied({ pod, plan, mode }: Applied, at: number): InForce | undefined {
    if (mode === "noop" || mode === "rejected") return undefined;
    if (plan !== this.#plan) {
      // What changed before the first pod had the plan is what the plan is for, with what an earlier plan did not finish.
      const unfinished = this.#modes.size < this.#pods ? this.#startedWith : [];
      this.#startedWith = [...unfinished, ...this.#acceptedBy(plan, at), ...this.#changes];
      this.#changes = [];
      this.#plan = plan;
      this.#modes = new Map();
    }
    this.#modes.set(pod, mode);
    return this.#settled([...this.#modes.values(), mode], at);
  }

  /** The answer, once every pod has the plan. `modes`: what the pods did for it. */
  #settled(modes: readonly string[], at: number): InForce | undefined {
    if (this.#modes.size !== this.#pods || this.#startedWith.length === 0) return undefined;
    const first = Math.min(...this.#startedWith.map((change) => change.at));
    const objects = [...new Set(this.#startedWith.map(({ object }) => object))];
    this.#startedWith = [];
    return {
      objects,
      tookMs: at - first,
      mode: ["scheduled", "reload"].find((one) => modes.includes(one)) ?? modes.at(-1)!,
      pods: this.#modes.size,
    };
  }
}
