/**
 * The life of each render: what asked for it, how long it waited, what it cost, HAProxy's verdict, and what each pod made of it. Folded from
 * the bus and from the three things that the bus does not tell (a render begins, its figures, an apply's time). Names, counts and ids only.
 */
import type { ObservedEvent } from "./events.ts";

export type LifeState =
  | "rendering"
  | "waiting for HAProxy's verdict"
  | "waiting for its turn"
  | "deploying"
  | "in force"
  | "in force on some pods"
  | "nothing to deploy"
  | "replaced by a newer one"
  | "refused by HAProxy"
  | "failed";

export interface PodOutcome {
  readonly pod: string;
  readonly mode: string;
  readonly ok: boolean;
  /** Of the apply itself; undefined = none was needed. */
  readonly tookMs: number | undefined;
  /** When the pod answered, milliseconds after the first trigger. */
  readonly atMs: number;
  /** Why a reload was needed. */
  readonly reasons: readonly string[];
}

export interface RenderFigures {
  readonly cacheState: string;
  readonly components: number;
  readonly executed: number;
}

/** All `…Ms` but `tookMs` are milliseconds after the first trigger. */
export interface RenderLife {
  /** Correlation id. */
  readonly id: string;
  /** Wall-clock milliseconds of the first trigger. */
  readonly at: number;
  readonly state: LifeState;
  readonly reasons: readonly string[];
  /** Alias → changes that were told of it. */
  readonly changes: Readonly<Record<string, number>>;
  /** Triggers of other ids that this render answered too. */
  readonly merged: number;
  readonly renderBeganMs: number;
  readonly renderedMs: number | undefined;
  readonly releasedMs: number | undefined;
  readonly judgedMs: number | undefined;
  readonly passed: boolean | undefined;
  readonly scheduledMs: number | undefined;
  readonly completedMs: number | undefined;
  readonly seq: number;
  readonly planId: string;
  readonly deployment: number;
  readonly figures: RenderFigures | undefined;
  readonly pods: readonly PodOutcome[];
}

type Draft = { -readonly [Key in keyof RenderLife]: RenderLife[Key] } & {
  /** Monotonic milliseconds of the first trigger. */
  readonly began: number;
  pods: PodOutcome[];
  /** Grows with each change: whoever looks again sees whether there is news. */
  revision: number;
  ended: boolean;
};

interface Trigger {
  readonly began: number;
  readonly at: number;
  readonly reasons: Set<string>;
  readonly changes: Map<string, number>;
}

export interface Times {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Wall-clock milliseconds. */
  readonly wallClock: () => number;
}

/** An answered apply, as it is told to metrics and lives. */
export interface ApplyNote {
  readonly pod: string;
  readonly planId: string;
  readonly mode: string;
  readonly ok: boolean;
  readonly reasons: readonly string[];
  readonly tookMs: number;
}

const UNANSWERED = 256;

export class RenderLives {
  readonly #times: Times;
  readonly #limit: number;
  readonly #onEnd: (life: RenderLife) => void;
  readonly #triggers = new Map<string, Trigger>();
  readonly #lives = new Map<string, Draft>();
  /** Applies that were answered, until the chart tells of them: by pod and plan. */
  readonly #applies = new Map<string, ApplyNote>();
  #rendering: Draft | undefined;
  /** The plan that every pod took last; "" while a deployment runs. */
  #inForce = "";
  #revision = 0;

  /** `onEnd` hears of each life that came to its end: in force, refused, failed. */
  constructor(times: Times, onEnd: (life: RenderLife) => void = () => {}, limit = 60) {
    this.#times = times;
    this.#onEnd = onEnd;
    this.#limit = limit;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Newest first; with `after`, only those that changed since that revision. */
  list(after = -1): readonly RenderLife[] {
    return [...this.#lives.values()]
      .filter(({ revision }) => revision > after)
      .map(viewOf)
      .reverse();
  }

  note(event: ObservedEvent, id: string): void {
    switch (event.type) {
      case "RESOURCES.CHANGED": {
        const { changes } = this.#trigger(id);
        changes.set(event.alias, (changes.get(event.alias) ?? 0) + event.count);
        return;
      }
      case "RECONCILE.TRIGGERED":
        this.#trigger(id).reasons.add(event.reason);
        return;
      case "TERM.BEGAN":
        // What asked for a render before was another leader's.
        this.#triggers.clear();
        return;
      case "PLAN.RENDERED":
        return this.#change(id, (life, atMs) => {
          this.#rendering = undefined;
          life.planId = event.planId;
          life.seq = event.seq;
          life.renderedMs = atMs;
          life.state = "waiting for HAProxy's verdict";
        });
      case "RENDER.FAILED":
        return this.#change(id, (life) => {
          this.#rendering = undefined;
          life.state = "failed";
          this.#end(life);
        });
      case "PLAN.RELEASED":
        return this.#change(id, (life, atMs) => {
          life.releasedMs ??= atMs;
          life.state = event.planId === this.#inForce ? "nothing to deploy" : "waiting for its turn";
          if (life.state === "nothing to deploy") this.#end(life);
        });
      case "DEPLOYMENT.SCHEDULED":
        return this.#change(id, (life, atMs) => {
          life.scheduledMs ??= atMs;
          life.deployment = event.deployment;
          this.#inForce = "";
          life.state = "deploying";
          this.#replaceOlderThan(life);
        });
      case "POD.APPLIED":
      case "POD.FAILED":
        return this.#change(id, (life, atMs) => {
          const apply = this.#take(event.pod, event.planId);
          const mode = event.type === "POD.APPLIED" ? event.mode : "failed";
          life.pods = [
            ...life.pods.filter(({ pod }) => pod !== event.pod),
            {
              pod: event.pod,
              mode: mode === "" ? "unchanged" : mode,
              ok: event.type === "POD.APPLIED",
              tookMs: apply?.tookMs,
              atMs,
              reasons: apply?.reasons ?? [],
            },
          ];
        });
      case "DEPLOYMENT.COMPLETED":
        return this.#change(id, (life, atMs) => {
          if (life.state !== "deploying") return;
          life.completedMs = atMs;
          const everywhere = event.succeeded === event.total;
          if (everywhere) this.#inForce = event.planId;
          life.state = everywhere ? "in force" : "in force on some pods";
          this.#end(life);
        });
      case "PLAN.PASSED":
      case "PLAN.REFUSED":
        return this.#change(id, (life, atMs) => {
          life.judgedMs ??= atMs;
          life.passed = event.type === "PLAN.PASSED";
          if (event.type !== "PLAN.REFUSED") return;
          life.state = "refused by HAProxy";
          this.#end(life);
        });
      default:
    }
  }

  /** A render begins, answering the triggers of `id` and of those merged into it. */
  renderBegan(id: string, merged: readonly string[]): void {
    const triggers = [id, ...merged].map((one) => this.#triggers.get(one)).filter((one) => one !== undefined);
    const began = Math.min(this.#times.now(), ...triggers.map((trigger) => trigger.began));
    const changes = new Map<string, number>();
    for (const trigger of triggers)
      for (const [alias, count] of trigger.changes) changes.set(alias, (changes.get(alias) ?? 0) + count);
    for (const one of [id, ...merged]) this.#triggers.delete(one);
    this.#revision += 1;
    this.#rendering = {
      id,
      began,
      at: triggers[0]?.at ?? this.#times.wallClock(),
      state: "rendering",
      reasons: [...new Set(triggers.flatMap((trigger) => [...trigger.reasons]))],
      changes: Object.fromEntries(changes),
      merged: merged.length,
      renderBeganMs: this.#times.now() - began,
      renderedMs: undefined,
      releasedMs: undefined,
      judgedMs: undefined,
      passed: undefined,
      scheduledMs: undefined,
      completedMs: undefined,
      seq: 0,
      planId: "",
      deployment: 0,
      figures: undefined,
      pods: [],
      revision: this.#revision,
      ended: false,
    };
    this.#lives.delete(id);
    this.#lives.set(id, this.#rendering);
    for (const oldest of this.#lives.keys()) {
      if (this.#lives.size <= this.#limit) break;
      this.#lives.delete(oldest);
    }
  }

  /** Figures of the render that runs. */
  renderMeasured(figures: RenderFigures): void {
    if (this.#rendering !== undefined) this.#rendering.figures = figures;
  }

  applied(note: ApplyNote): void {
    this.#applies.set(`${note.pod} ${note.planId}`, note);
    for (const oldest of this.#applies.keys()) {
      if (this.#applies.size <= UNANSWERED) break;
      this.#applies.delete(oldest);
    }
  }

  #take(pod: string, planId: string): ApplyNote | undefined {
    const key = `${pod} ${planId}`;
    const note = this.#applies.get(key);
    this.#applies.delete(key);
    return note;
  }

  #trigger(id: string): Trigger {
    const known = this.#triggers.get(id);
    if (known !== undefined) return known;
    const trigger = {
      began: this.#times.now(),
      at: this.#times.wallClock(),
      reasons: new Set<string>(),
      changes: new Map<string, number>(),
    };
    this.#triggers.set(id, trigger);
    // Changes that nobody renders (while following, or of HAProxy's own pods) are forgotten in their turn.
    for (const oldest of this.#triggers.keys()) {
      if (this.#triggers.size <= UNANSWERED) break;
      this.#triggers.delete(oldest);
    }
    return trigger;
  }

  #change(id: string, change: (life: Draft, atMs: number) => void): void {
    const life = this.#lives.get(id);
    if (life === undefined) return;
    change(life, this.#times.now() - life.began);
    this.#revision += 1;
    life.revision = this.#revision;
  }

  /** A life ends once, whatever is heard of it later (a plan in force may still be refused). */
  #end(life: Draft): void {
    if (life.ended) return;
    life.ended = true;
    this.#onEnd(viewOf(life));
  }

  /** One deployment at a time, the newest wins: what waited before it will not be deployed any more. */
  #replaceOlderThan(newer: Draft): void {
    for (const life of this.#lives.values()) {
      if (life === newer || life.seq > newer.seq) continue;
      const waits = life.state === "waiting for its turn" || life.state === "waiting for HAProxy's verdict";
      if (!waits && life.state !== "deploying") continue;
      life.state = life.planId === newer.planId ? "nothing to deploy" : "replaced by a newer one";
      this.#end(life);
      life.revision = this.#revision + 1;
    }
  }
}

function viewOf({ began: _began, revision: _revision, ended: _ended, ...life }: Draft): RenderLife {
  return life;
}
