/** What HAProxy said of the renders of this term: the newest accepted plan, a refusal, whether it is pinned. No I/O. */
import type { CoordinatorEmitted } from "../../machines/coordinator.ts";
import type { RenderGateEmitted } from "../../machines/renderGate.ts";
import type { GateNews } from "./status.ts";

export type PlanNews =
  | Extract<CoordinatorEmitted, { type: "PLAN.RENDERED" }>
  | Extract<RenderGateEmitted, { type: `PLAN.${string}` | `GATE.${string}` }>;

interface Accepted {
  /** "" = none yet. */
  readonly planId: string;
  /** RFC 3339. */
  readonly at: string;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** Entries of a memory. */
const REMEMBERED = 32;

/** Keeps the newest entries. */
export function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= REMEMBERED) return;
    map.delete(oldest);
  }
}

export class PlanBook {
  readonly #now: () => number;
  readonly #wallTime: () => string;
  readonly #renderedAt = new Map<string, string>();
  #accepted: Accepted = { planId: "", at: "", since: 0 };
  #judging = "";
  #refused = "";
  #refusal: string | undefined;
  #isPinned: boolean | undefined;

  constructor(now: () => number, wallTime: () => string) {
    this.#now = now;
    this.#wallTime = wallTime;
  }

  /** A term begins or ends: its gate does not count any more. */
  begin(): void {
    this.#accepted = { planId: "", at: "", since: 0 };
    this.#judging = "";
    this.#refused = "";
    this.#refusal = undefined;
    this.#isPinned = undefined;
  }

  note(event: PlanNews): void {
    switch (event.type) {
      case "PLAN.RENDERED":
        // Of a plan that it refused last the gate says nothing again.
        this.#judging = event.planId === this.#refused ? "" : event.planId;
        return remember(this.#renderedAt, event.planId, this.#wallTime());
      case "PLAN.PASSED":
        this.#judged(event.planId);
        this.#refusal = "";
        this.#isPinned = false;
        if (this.#accepted.planId !== event.planId)
          this.#accepted = { planId: event.planId, at: this.#wallTime(), since: this.#now() };
        return;
      case "PLAN.REFUSED":
        this.#judged(event.planId);
        this.#refused = event.planId;
        this.#refusal = event.message;
        this.#isPinned ??= false;
        return;
      case "PLAN.UNPROVEN":
        return this.#judged(event.planId);
      case "GATE.PINNED":
        this.#isPinned = true;
        return;
      default:
    }
  }

  #judged(planId: string): void {
    if (this.#judging === planId) this.#judging = "";
  }

  get accepted(): Accepted {
    return this.#accepted;
  }

  /** HAProxy is being asked about a render. */
  get isJudging(): boolean {
    return this.#judging !== "";
  }

  get gate(): GateNews {
    return { refusal: this.#refusal, isPinned: this.#isPinned };
  }

  /** RFC 3339; undefined = not remembered. */
  renderedAt(planId: string): string | undefined {
    return this.#renderedAt.get(planId);
  }
}
