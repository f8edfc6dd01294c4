/**
 * Which events belong together: an id that a change gets where it is first heard of, and keeps through trigger, render, verdict and
 * deployment. The charts know nothing of it: what an event follows from is told by its cause (the event in whose delivery it was said), by
 * the numbers it carries (render, deployment, plan), or, for a render, by the triggers that waited when it began.
 */
import type { ObservedEvent } from "./events.ts";

/** Plans, renders and deployments of which somebody may still speak. */
const KEPT = 512;

/** A map that forgets its oldest entries. */
class Recent<K> {
  readonly #entries = new Map<K, string>();

  set(key: K, id: string): void {
    this.#entries.delete(key);
    this.#entries.set(key, id);
    if (this.#entries.size <= KEPT) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  get(key: K): string | undefined {
    return this.#entries.get(key);
  }
}

export class Correlator {
  readonly #prefix: string;
  #count = 0;
  readonly #ids = new WeakMap<object, string>();
  readonly #bySeq = new Recent<number>();
  readonly #byPlan = new Recent<string>();
  readonly #byDeployment = new Recent<number>();
  readonly #merged = new Recent<string>();
  #config: string | undefined;
  /** Triggers that the next render answers; and the render that runs. */
  readonly #waiting = new Set<string>();
  #rendering: string | undefined;

  /** `prefix` tells the ids of one process from those of another. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The id of an event; `cause` is the event in whose delivery it was said. To be called once an event, in the bus's order. */
  note(event: ObservedEvent, cause: ObservedEvent | undefined): string {
    const id = this.#known(event) ?? (cause === undefined ? undefined : this.#ids.get(cause)) ?? this.#fresh();
    this.#ids.set(event, id);
    switch (event.type) {
      case "CONFIG.LOADED":
        this.#config = id;
        break;
      case "TERM.BEGAN":
        // What waited before it was rendered by another leader.
        this.#waiting.clear();
        break;
      case "RECONCILE.TRIGGERED":
        this.#waiting.add(id);
        // While nothing renders (this replica follows) triggers are not waited for without end.
        if (this.#waiting.size > KEPT) this.#waiting.delete(this.#waiting.values().next().value ?? id);
        break;
      case "PLAN.RENDERED":
        this.#bySeq.set(event.seq, id);
        this.#byPlan.set(event.planId, id);
        this.#rendering = undefined;
        break;
      case "RENDER.FAILED":
        this.#rendering = undefined;
        break;
      case "DEPLOYMENT.SCHEDULED":
        this.#byDeployment.set(event.deployment, id);
        // Pods speak of the plan: what they say now belongs to this deployment of it.
        this.#byPlan.set(event.planId, id);
        break;
      default:
    }
    return id;
  }

  /** A render begins: it answers every trigger that waits. Its id is that of the first; the others are merged into it. */
  renderBegan(): { readonly id: string; readonly merged: readonly string[] } {
    const [id = this.#fresh(), ...merged] = this.#waiting;
    this.#waiting.clear();
    this.#rendering = id;
    for (const other of merged) this.#merged.set(other, id);
    return { id, merged };
  }

  /** The id under which a change went on: its own, or that of the render that answered it together with others. */
  resolve(id: string): string {
    return this.#merged.get(id) ?? id;
  }

  #known(event: ObservedEvent): string | undefined {
    switch (event.type) {
      case "PLAN.RENDERED":
      case "RENDER.FAILED":
        return this.#rendering;
      case "PLAN.RELEASED":
      case "DEPLOYMENT.SCHEDULED":
        return this.#bySeq.get(event.seq);
      case "DEPLOYMENT.COMPLETED":
        return this.#byDeployment.get(event.deployment);
      case "PLAN.PASSED":
      case "PLAN.REFUSED":
      case "PLAN.UNPROVEN":
      case "GATE.HELD":
      case "GATE.PINNED":
      case "GATE.RECOVERED":
      case "POD.APPLIED":
      case "POD.FAILED":
      case "POD.REVERTED":
        return this.#byPlan.get(event.planId);
      case "ITERATION.ACCEPTED":
      case "ITERATION.REFUSED":
        return this.#config;
      default:
        return undefined;
    }
  }

  #fresh(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }
}
