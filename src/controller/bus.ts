/**
 * The one bus and its one order. `publish` appends to a FIFO that a trampoline drains: a subscriber that answers E1 with E2 does not
 * make others see E2 first. A subscriber that throws is caught, counted and named; the others still get the event.
 *
 * Who subscribes at leisure hears the same events in the same order, some turns of the process's loop later: a change is on its way to the
 * pods before those are told of it who write it down.
 */
import type { BusEvent, BusEventOf, BusEventType } from "./events.ts";

export interface BusMetrics {
  readonly published: number;
  /** Events that wait right now. */
  readonly depth: number;
  /** Longest time in ms that an event waited in the FIFO, since the start. */
  readonly maxAgeMs: number;
  /** Handler failures by subscriber name. */
  readonly failures: Readonly<Record<string, number>>;
  /** Subscriptions and observers that are active. */
  readonly subscribers: number;
}

/** How an event came onto the bus; for observers. */
export interface Origin {
  /** Name of the component that said it; "" = none of the charts. */
  readonly source: string;
  /** The event in whose delivery it was said; undefined = it came by itself (a timer, an answer from outside). */
  readonly cause: BusEvent | undefined;
}

export interface BusOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Hears of a subscriber that threw. Must not throw itself. */
  readonly onFailure: (subscriber: string, event: BusEvent, error: unknown) => void;
}

export interface SubscribeOptions {
  /** Types that may wait until what is under way has been begun; default: none. */
  readonly atLeisure?: readonly BusEventType[];
}

interface Subscription {
  readonly name: string;
  readonly handle: (event: BusEvent, origin: Origin) => void;
  readonly atLeisure: readonly BusEventType[];
  active: boolean;
}

interface Entry extends Origin {
  readonly event: BusEvent;
  readonly at: number;
  /** Who is to hear of it at leisure; undefined = everybody else. */
  readonly only?: Subscription;
}

export class Bus {
  readonly #options: BusOptions;
  readonly #byType = new Map<BusEventType, Subscription[]>();
  readonly #all: Subscription[] = [];
  readonly #failures = new Map<string, number>();
  #queue: Entry[] = [];
  #atLeisure: Entry[] = [];
  #delivering: BusEvent | undefined;
  #head = 0;
  #draining = false;
  #published = 0;
  #maxAgeMs = 0;

  constructor(options: BusOptions) {
    this.#options = options;
  }

  /** Appends the event; delivers it before returning, unless a delivery is under way: then after that. */
  publish(event: BusEvent, source = ""): void {
    this.#published += 1;
    this.#queue.push({ event, at: this.#options.now(), source, cause: this.#delivering });
    this.#drain();
  }

  /** Hears the named types. Returns the function that ends the subscription (at once, also in the middle of a delivery). */
  subscribe<T extends BusEventType>(
    name: string,
    types: readonly T[],
    handle: (event: BusEventOf<T>) => void,
    { atLeisure = [] }: SubscribeOptions = {},
  ): () => void {
    const subscription: Subscription = { name, handle: handle as (event: BusEvent) => void, atLeisure, active: true };
    for (const type of types) this.#byType.set(type, [...(this.#byType.get(type) ?? []), subscription]);
    return () => {
      subscription.active = false;
      for (const type of types) {
        this.#byType.set(
          type,
          (this.#byType.get(type) ?? []).filter((other) => other !== subscription),
        );
      }
    };
  }

  /** Hears everything, before those that named their types: for ledgers and logs, which answer nothing. */
  observe(name: string, handle: (event: BusEvent, origin: Origin) => void): () => void {
    const subscription: Subscription = { name, handle, atLeisure: [], active: true };
    this.#all.push(subscription);
    return () => {
      subscription.active = false;
      this.#all.splice(this.#all.indexOf(subscription), 1);
    };
  }

  metrics(): BusMetrics {
    return {
      published: this.#published,
      depth: this.#queue.length - this.#head + this.#atLeisure.length,
      maxAgeMs: this.#maxAgeMs,
      failures: Object.fromEntries(this.#failures),
      subscribers: new Set([this.#all, ...this.#byType.values()].flat()).size,
    };
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      for (let entry = this.#queue[this.#head]; entry !== undefined; entry = this.#queue[this.#head]) {
        this.#head += 1;
        this.#delivering = entry.event;
        if (entry.only !== undefined) {
          this.#hand(entry.only, entry);
          continue;
        }
        this.#maxAgeMs = Math.max(this.#maxAgeMs, this.#options.now() - entry.at);
        this.#deliver(entry);
      }
    } finally {
      this.#delivering = undefined;
      this.#queue = [];
      this.#head = 0;
      this.#draining = false;
    }
  }

  #deliver(entry: Entry): void {
    for (const subscription of this.#all.slice()) this.#hand(subscription, entry);
    for (const subscription of this.#byType.get(entry.event.type) ?? []) {
      if (subscription.atLeisure.includes(entry.event.type)) this.#keep({ ...entry, only: subscription });
      else this.#hand(subscription, entry);
    }
  }

  #keep(entry: Entry): void {
    this.#atLeisure.push(entry);
    if (this.#atLeisure.length > 1) return;
    // After what is sent in this turn, and after what waits for the end of this turn to be sent.
    setImmediate(() => {
      setImmediate(() => {
        this.#queue.push(...this.#atLeisure);
        this.#atLeisure = [];
        this.#drain();
      });
    });
  }

  #hand(subscription: Subscription, { event, source, cause }: Entry): void {
    if (!subscription.active) return;
    try {
      subscription.handle(event, { source, cause });
    } catch (error) {
      this.#failures.set(subscription.name, (this.#failures.get(subscription.name) ?? 0) + 1);
      this.#options.onFailure(subscription.name, event, error);
    }
  }
}
