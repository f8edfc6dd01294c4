/**
 * Everything that watches and nothing that acts: history, correlation, renders' lives, metrics, log lines and the live page's feed.
 *
 * What happens on a change's way to its pods is put down with its moment, and looked at when it has been sent, two turns of the loop
 * later or before anything else is: what is told of a change does not keep it from its pods. All else, faults and the ends of terms among
 * it, is looked at when it happens, so that a process that ends abruptly has told of it. The order is that in which it was seen.
 */
import {
  ActorBoard,
  Commentator,
  ControllerMetrics,
  Correlator,
  EventHistory,
  LiveFeed,
  RenderLives,
} from "../observe/index.ts";
import type { ApplyNote, MetricSources, PastEvent, RenderFigures } from "../observe/index.ts";
import type { Bus } from "./bus.ts";
import type { ControllerPorts, Log } from "./ports.ts";
import type { LivingActors } from "./registry.ts";

export interface ObservationDeps {
  readonly ports: Pick<ControllerPorts, "clock" | "wallClock" | "log" | "haproxyVersion" | "version">;
  readonly actors: LivingActors;
  readonly metrics: Omit<MetricSources, "bus" | "live" | "version" | "haproxyVersion" | "wallClock">;
  /** Who this is, for the live page. */
  readonly about: () => object;
  /** Stores, pods, what is held: names, counts and ids. */
  readonly panels: () => object;
}

export interface LastApply {
  readonly mode: string;
  readonly ok: boolean;
  readonly tookMs: number;
  /** Wall-clock milliseconds. */
  readonly at: number;
}

/** What each change brings about until its applies are under way. */
const ON_THE_WAY: ReadonlySet<string> = new Set([
  "RESOURCES.CHANGED",
  "RECONCILE.TRIGGERED",
  "PLAN.RENDERED",
  "PLAN.RELEASED",
  // Of a plan that was judged before it is told before the deployment; else nobody waits for it.
  "PLAN.PASSED",
  "DEPLOYMENT.SCHEDULED",
]);

/** When something was seen: monotonic and wall-clock milliseconds. */
interface Moment {
  readonly now: number;
  readonly wall: number;
}

export class Observation {
  readonly history = new EventHistory();
  readonly lives: RenderLives;
  readonly feed: LiveFeed;
  readonly metrics: ControllerMetrics;
  /** By pod id. */
  readonly lastApplies = new Map<string, LastApply>();
  readonly #correlator: Correlator;
  readonly #commentator: Commentator;
  readonly #log: Log;
  readonly #moment: () => Moment;
  /** Seen, and not looked at yet. */
  #seen: { readonly at: Moment; readonly look: () => void }[] = [];
  /** When that was seen which is looked at. */
  #at: Moment;

  constructor({ ports, actors, metrics, about, panels }: ObservationDeps, bus: Bus) {
    const { clock, wallClock, log, haproxyVersion, version = "" } = ports;
    this.#log = log;
    this.#moment = () => ({ now: clock.now(), wall: wallClock() });
    this.#at = this.#moment();
    this.#commentator = new Commentator(log);
    this.#correlator = new Correlator(Math.floor(wallClock()).toString(36).slice(-5));
    const times = { now: () => this.#at.now, wallClock: () => this.#at.wall };
    this.lives = new RenderLives(times, (life) => {
      this.metrics.ended(life);
      this.#commentator.ended(life);
    });
    this.feed = new LiveFeed({
      history: this.history,
      lives: this.lives,
      board: new ActorBoard(actors),
      about,
      panels,
    });
    this.metrics = new ControllerMetrics({
      ...metrics,
      bus: () => bus.metrics(),
      live: () => ({ pages: this.feed.pages, summarized: this.feed.summarized }),
      version,
      haproxyVersion,
      wallClock,
    });
    bus.observe("observation", (event, { source, cause }) => {
      const look = (): void => {
        const id = this.#correlator.note(event, cause);
        this.history.add(this.#at.wall, event, source, id);
        this.lives.note(event, id);
        this.metrics.note(event);
        this.#commentator.note(event, source, id);
      };
      if (ON_THE_WAY.has(event.type)) this.#later(look);
      else this.#atOnce(look);
    });
  }

  #atOnce(look: () => void): void {
    this.#look();
    this.#tell(this.#moment(), look);
  }

  #tell(at: Moment, look: () => void): void {
    this.#at = at;
    try {
      look();
    } catch (error) {
      this.#log.error({ err: error }, "What was seen could not be told");
    }
  }

  #later(look: () => void): void {
    this.#seen.push({ at: this.#moment(), look });
    if (this.#seen.length > 1) return;
    setImmediate(() => {
      setImmediate(() => {
        this.#look();
      });
    });
  }

  #look(): void {
    const seen = this.#seen;
    this.#seen = [];
    for (const { at, look } of seen) this.#tell(at, look);
  }

  /** The last events, newest first; with an id, those of that change, under whatever id it went on. */
  events(limit: number, correlationId: string | undefined): readonly PastEvent[] {
    this.#look();
    if (correlationId === undefined) return this.history.last(limit);
    const ids = new Set([correlationId, this.#correlator.resolve(correlationId)]);
    return this.history.last(limit, ({ correlation }) => ids.has(correlation));
  }

  renderBegan(): void {
    this.#later(() => {
      const { id, merged } = this.#correlator.renderBegan();
      this.lives.renderBegan(id, merged);
    });
  }

  renderMeasured(figures: RenderFigures): void {
    this.#later(() => {
      this.lives.renderMeasured(figures);
      this.metrics.renderMeasured(figures.cacheState);
    });
  }

  applied(note: ApplyNote): void {
    this.#atOnce(() => {
      this.lives.applied(note);
      this.metrics.applied(note);
      // A promotion changes nothing on the pod: what it took before says more.
      if (note.mode === "noop" && this.lastApplies.has(note.pod)) return;
      this.lastApplies.set(note.pod, { mode: note.mode, ok: note.ok, tookMs: note.tookMs, at: this.#at.wall });
    });
  }

  reloadedItself(pod: string): void {
    this.metrics.reloadedItself(pod);
  }

  /** Pods that are gone are forgotten. */
  follow(pods: readonly { readonly id: string }[]): void {
    const known = new Set(pods.map(({ id }) => id));
    for (const id of this.lastApplies.keys()) if (!known.has(id)) this.lastApplies.delete(id);
  }

  checked(tookMs: number): void {
    this.metrics.checked(tookMs);
  }

  close(): void {
    this.#look();
    this.feed.close();
    this.metrics.registry.clear();
  }
}
