/**
 * What the attached pages are told, ten times a second and in one piece: the page holds at any rate of events, because the rate of frames and
 * the size of each are bounded here. Names, counts and ids only: messages may quote what a template wrote, so they are not sent.
 * While no page is attached nothing is inspected and no timer runs.
 */
import { interval } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import type { AnyActorRef, InspectionEvent } from "xstate";
import type { ActorBoard } from "./actor-board.ts";
import type { EventHistory, Slot } from "./history.ts";
import type { RenderLives } from "./lives.ts";

/** One attached page. */
export interface Page {
  write(frame: string): void;
  /** Bytes that were written and have not left yet. */
  backlog(): number;
}

export interface LiveSources {
  readonly history: EventHistory;
  readonly lives: RenderLives;
  readonly board: ActorBoard;
  /** Who this is; told once. */
  readonly about: () => object;
  /** What is not an event: stores, pods, what is held. Looked at twice a second. */
  readonly panels: () => object;
  /** Default: every 100 ms. */
  readonly ticks?: Observable<unknown>;
}

const TICK_MS = 100;
const TICKS_BETWEEN_PANELS = 5;
const TICKS_BETWEEN_SIGNS_OF_LIFE = 100;
/** Events told one by one in a frame; of the others only how many of which kind. */
const EVENTS_TOLD = 40;
const EVENTS_AT_FIRST = 150;
const LIVES_TOLD = 12;
/** A page that takes nothing any more is left out until it has caught up. */
const BACKLOG_LIMIT = 1 << 20;

/** Fields of events that are numbers, names or words of ours. */
const TOLD: ReadonlySet<string> = new Set(
  (
    "alias count revision reason reasons coalescible planId seq iteration deployment total succeeded failed pending pod name mode " +
    "epoch generation verify pods candidates"
  ).split(" "),
);

export interface ToldEvent {
  readonly number: number;
  readonly at: number;
  readonly type: string;
  readonly source: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function toldEvent({ number, at, source, correlation, event }: Slot): ToldEvent {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    if (!TOLD.has(key)) continue;
    fields[key] = Array.isArray(value) && value.some((item) => typeof item === "object") ? value.length : value;
  }
  return { number, at, type: event.type, source, id: correlation, fields };
}

/** At most `limit`, oldest first; no kind drowns the others. */
export function choose(slots: readonly Slot[], limit: number): readonly Slot[] {
  if (slots.length <= limit) return slots;
  const kinds = new Map<string, number>();
  for (const { event } of slots) kinds.set(event.type, (kinds.get(event.type) ?? 0) + 1);
  const share = Math.max(1, Math.floor(limit / kinds.size));
  const taken = new Map<string, number>();
  const chosen: Slot[] = [];
  for (const slot of slots.toReversed()) {
    const count = taken.get(slot.event.type) ?? 0;
    if (count >= share) continue;
    taken.set(slot.event.type, count + 1);
    chosen.push(slot);
    if (chosen.length >= limit) break;
  }
  return chosen.reverse();
}

const frame = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

interface Attached {
  readonly page: Page;
  /** It was left out, and must be told everything anew. */
  behind: boolean;
}

export class LiveFeed {
  readonly #sources: LiveSources;
  readonly #pages = new Set<Attached>();
  readonly #inspectors = new Set<(event: InspectionEvent) => void>();
  #running: Subscription | undefined;
  #told = 0;
  #lives = -1;
  #panels = "";
  #tick = 0;
  #silent = 0;
  /** Events that no page was told one by one. */
  summarized = 0;

  constructor(sources: LiveSources) {
    this.#sources = sources;
  }

  get pages(): number {
    return this.#pages.size;
  }

  /** Tells the page everything, then what changes. Returns the function that ends it. */
  attach(page: Page): () => void {
    this.#begin();
    const attached: Attached = { page, behind: false };
    // The others get what is new in their own frame first: this one begins where that ends.
    this.#advance();
    this.#pages.add(attached);
    page.write(this.#everything());
    return () => {
      this.#pages.delete(attached);
      this.#end();
    };
  }

  /** Hears XState's own inspection events. Returns the function that ends it. */
  inspect(listener: (event: InspectionEvent) => void): () => void {
    this.#inspectors.add(listener);
    this.#begin();
    return () => {
      this.#inspectors.delete(listener);
      this.#end();
    };
  }

  /** The actors that live, for a tool that begins to look. */
  actors(): readonly AnyActorRef[] {
    return this.#sources.board.actors();
  }

  close(): void {
    this.#pages.clear();
    this.#inspectors.clear();
    this.#end();
  }

  #begin(): void {
    if (this.#running !== undefined) return;
    const { board, history, lives } = this.#sources;
    board.open((event) => {
      for (const listener of this.#inspectors) listener(event);
    });
    this.#told = history.count;
    this.#lives = lives.revision;
    this.#running = (this.#sources.ticks ?? interval(TICK_MS)).subscribe({
      next: () => this.#advance(),
      error: () => this.close(),
    });
  }

  #end(): void {
    if (this.#pages.size > 0 || this.#inspectors.size > 0) return;
    this.#running?.unsubscribe();
    this.#running = undefined;
    this.#sources.board.close();
  }

  #everything(): string {
    const { history, lives, board, about, panels } = this.#sources;
    const slots = choose(history.since(0), EVENTS_AT_FIRST);
    return frame("full", {
      about: about(),
      count: history.count,
      events: slots.map(toldEvent),
      actors: board.all(),
      lives: lives.list(),
      panels: panels(),
    });
  }

  #advance(): void {
    const { history, lives, board } = this.#sources;
    const { changed, gone } = board.look();
    if (this.#pages.size === 0) {
      this.#told = history.count;
      this.#lives = lives.revision;
      return;
    }
    this.#tick += 1;
    const slots = history.since(this.#told);
    const left = history.count - this.#told;
    const chosen = choose(slots, EVENTS_TOLD);
    this.summarized += left - chosen.length;
    this.#told = history.count;
    const flows: Record<string, number> = {};
    for (const { source, event } of slots) {
      const key = `${source} ${event.type}`;
      flows[key] = (flows[key] ?? 0) + 1;
    }
    const news = lives.list(this.#lives).slice(0, LIVES_TOLD);
    this.#lives = lives.revision;
    const panels = this.#panelsIfNew();
    this.#silent += 1;
    if (chosen.length + changed.length + gone.length + news.length === 0 && panels === undefined) {
      if (this.#silent < TICKS_BETWEEN_SIGNS_OF_LIFE) return;
    }
    this.#silent = 0;
    const text = frame("tick", {
      count: history.count,
      left: left - chosen.length,
      events: chosen.map(toldEvent),
      flows,
      actors: changed,
      gone,
      lives: news,
      ...(panels !== undefined && { panels }),
    });
    for (const attached of this.#pages) this.#tell(attached, text);
  }

  #tell(attached: Attached, text: string): void {
    const backlog = attached.page.backlog();
    if (attached.behind) {
      if (backlog > 0) return;
      attached.behind = false;
      attached.page.write(this.#everything());
    } else if (backlog > BACKLOG_LIMIT) attached.behind = true;
    else attached.page.write(text);
  }

  #panelsIfNew(): object | undefined {
    if (this.#tick % TICKS_BETWEEN_PANELS !== 0) return undefined;
    const panels = this.#sources.panels();
    const text = JSON.stringify(panels);
    if (text === this.#panels) return undefined;
    this.#panels = text;
    return panels;
  }
}
