/** Everything that watches and nothing that acts: history, correlation, renders' lives, metrics, log lines and the live page's feed. */
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
import type { ControllerPorts } from "./ports.ts";
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

export class Observation {
  readonly history = new EventHistory();
  readonly lives: RenderLives;
  readonly feed: LiveFeed;
  readonly metrics: ControllerMetrics;
  /** By pod id. */
  readonly lastApplies = new Map<string, LastApply>();
  readonly #correlator: Correlator;
  readonly #commentator: Commentator;
  readonly #wallClock: () => number;

  constructor({ ports, actors, metrics, about, panels }: ObservationDeps, bus: Bus) {
    const { clock, wallClock, log, haproxyVersion, version = "" } = ports;
    this.#wallClock = wallClock;
    this.#commentator = new Commentator(log);
    this.#correlator = new Correlator(Math.floor(wallClock()).toString(36).slice(-5));
    this.lives = new RenderLives({ now: () => clock.now(), wallClock }, (life) => {
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
      const id = this.#correlator.note(event, cause);
      this.history.add(wallClock(), event, source, id);
      this.lives.note(event, id);
      this.metrics.note(event);
      this.#commentator.note(event, source, id);
    });
  }

  /** The last events, newest first; with an id, those of that change, under whatever id it went on. */
  events(limit: number, correlationId: string | undefined): readonly PastEvent[] {
    if (correlationId === undefined) return this.history.last(limit);
    const ids = new Set([correlationId, this.#correlator.resolve(correlationId)]);
    return this.history.last(limit, ({ correlation }) => ids.has(correlation));
  }

  renderBegan(): void {
    const { id, merged } = this.#correlator.renderBegan();
    this.lives.renderBegan(id, merged);
  }

  renderMeasured(figures: RenderFigures): void {
    this.lives.renderMeasured(figures);
    this.metrics.renderMeasured(figures.cacheState);
  }

  applied(note: ApplyNote): void {
    this.lives.applied(note);
    this.metrics.applied(note);
    // A promotion changes nothing on the pod: what it took before says more.
    if (note.mode === "noop" && this.lastApplies.has(note.pod)) return;
    this.lastApplies.set(note.pod, { mode: note.mode, ok: note.ok, tookMs: note.tookMs, at: this.#wallClock() });
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
    this.feed.close();
    this.metrics.registry.clear();
  }
}
