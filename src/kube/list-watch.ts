/**
 * list + watch as an Observable that never ends: a paged list, a watch from its resourceVersion with bookmarks, and again
 * from the last resourceVersion seen when the stream ends, breaks or falls silent. A new list only where the server no
 * longer knows that version (410), or where the versions it names show that it is not the same server any more.
 */
import { Observable, type Subscriber } from "rxjs";
import { KubeError } from "../errors.ts";
import type { KubeObject } from "../stores/types.ts";
import { unreachable, watchRefusal } from "./answers.ts";
import { Backoff, WATCH_BACKOFF, type BackoffOptions } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { LineSplitter } from "./json-lines.ts";
import { readPages } from "./list.ts";
import { objectName, resourcePath } from "./resource-path.ts";
import type { KubeTransport } from "./transport.ts";
import type { ResourceTarget, WatchOptions, WatchSignal } from "./types.ts";

export interface ListWatchDeps {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  /** 0 ≤ value < 1 */
  readonly random: () => number;
  readonly backoff?: Omit<BackoffOptions, "random">;
  /** Called once a request, for the counters. */
  readonly counted?: (verb: "list" | "watch") => void;
}

const DEFAULT_IDLE_LIMIT_MS = 90_000;
/** How long events may be handed on before other work of the process gets a turn. */
const SLICE_MS = 4;

type RelistReason = Extract<WatchSignal, { type: "RELIST" }>["reason"];

interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject;
}

/** Each subscription is a list+watch of its own; unsubscribing aborts its request at once. */
export function listWatch(
  deps: ListWatchDeps,
  target: ResourceTarget,
  options: WatchOptions = {},
): Observable<WatchSignal> {
  return new Observable<WatchSignal>((subscriber) => {
    const session = new ListWatchSession(deps, target, options, subscriber);
    session.run().catch((error: unknown) => {
      // run() catches whatever a server can cause; this is a defect.
      if (!session.stopped) subscriber.error(error);
    });
    return () => session.stop();
  });
}

/** A reason to read the list anew, instead of an error. */
class Relist extends Error {
  readonly reason: RelistReason;

  constructor(reason: RelistReason) {
    super(reason);
    this.reason = reason;
  }
}

class ListWatchSession {
  readonly #deps: ListWatchDeps;
  readonly #target: ResourceTarget;
  readonly #options: WatchOptions;
  readonly #subscriber: Subscriber<WatchSignal>;
  readonly #abort = new AbortController();
  readonly #backoff: Backoff;
  readonly #idleLimitMs: number;
  /** Resume here; undefined = a list is needed. */
  #version: string | undefined;
  #reason: RelistReason = "start";
  /** The last attempt did not end as it should: perhaps the server is not the one that our version is of. */
  #doubtful = false;
  /** The last signal was a FAULT: who listens is told when all is well again, also where nothing else happens. */
  #faulted = false;
  /** The last attempt ended with the wish for a new list. */
  #relisted = false;

  constructor(deps: ListWatchDeps, target: ResourceTarget, options: WatchOptions, subscriber: Subscriber<WatchSignal>) {
    this.#deps = deps;
    this.#target = target;
    this.#options = options;
    this.#subscriber = subscriber;
    this.#backoff = new Backoff({ ...(deps.backoff ?? WATCH_BACKOFF), random: deps.random });
    this.#idleLimitMs = options.idleLimitMs ?? DEFAULT_IDLE_LIMIT_MS;
  }

  get stopped(): boolean {
    return this.#abort.signal.aborted;
  }

  stop(): void {
    this.#abort.abort();
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      const started = this.#deps.clock.now();
      let failure: unknown;
      try {
        if (this.#version === undefined) await this.#list();
        else if (this.#doubtful) await this.#probe(this.#version);
        this.#doubtful = !(await this.#watch());
      } catch (error) {
        failure = error;
        this.#doubtful = true;
      }
      if (this.stopped) return;
      await this.#pause(failure, this.#deps.clock.now() - started);
    }
  }

  /** Says what went wrong, if anything, and waits before the next attempt. */
  async #pause(failure: unknown, livedMs: number): Promise<void> {
    const expired = failure instanceof KubeError && failure.status === 410;
    if (expired || failure instanceof Relist) {
      this.#version = undefined;
      this.#reason = expired ? "expired" : (failure as Relist).reason;
      // The first new list comes at once; a server that answers each watch so is not asked in a loop.
      const again = this.#relisted;
      this.#relisted = true;
      if (this.#backoff.lived(livedMs)) this.#backoff.reset();
      else if (again) await this.#sleep(this.#backoff.next(livedMs));
      return;
    }
    this.#relisted = false;
    // Servers end watches from time to time, and connections break: after a while of service the next attempt comes at once,
    // since until then nothing is heard. It tells whether anything is wrong.
    if ((failure === undefined || isBroken(failure)) && this.#backoff.lived(livedMs)) {
      this.#backoff.reset();
      return;
    }
    const what = objectName(this.#target);
    const error =
      failure instanceof Error
        ? failure
        : new KubeError(
            "HAPTIC_E_KUBE_UNAVAILABLE",
            `watch ${what}: the server ended the watch after ${Math.round(livedMs)} ms`,
          );
    const retryInMs = Math.max(this.#backoff.next(livedMs), (error as Partial<KubeError>).retryAfterMs ?? 0);
    this.#faulted = true;
    this.#emit({ type: "FAULT", error, retryInMs });
    await this.#sleep(retryInMs);
  }

  async #list(): Promise<void> {
    this.#emit({ type: "RELIST", reason: this.#reason });
    let version = "";
    const pages = readPages(this.#deps.transport, this.#target, this.#options, this.#abort.signal, () =>
      this.#deps.counted?.("list"),
    );
    for await (const page of pages) {
      this.#emit({ type: "PAGE", objects: page.items });
      version = page.resourceVersion;
      if (this.stopped) return;
    }
    this.#version = version;
    this.#faulted = false;
    this.#emit({ type: "SYNCED", resourceVersion: version });
  }

  /**
   * Asks for one object, to see that the server answers and is past our version. One that is behind (a restored or a new
   * server) would wait for that version in silence.
   */
  async #probe(version: string): Promise<void> {
    const pages = readPages(this.#deps.transport, this.#target, { pageSize: 1 }, this.#abort.signal, () =>
      this.#deps.counted?.("list"),
    );
    const first = await pages.next();
    await pages.return();
    if (!first.done && goesBack(version, first.value.resourceVersion)) throw new Relist("stale");
  }

  /** Watches until the server ends the stream. False = it was given up for its silence. */
  async #watch(): Promise<boolean> {
    const { clock, random, transport } = this.#deps;
    const what = `watch ${objectName(this.#target)}`;
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    this.#abort.signal.addEventListener("abort", stop, { once: true });
    if (this.stopped) stop();
    // One timer that looks how old the last line is, not a new timer a line.
    let heardAt = clock.now();
    let timer: unknown;
    const guard = (): void => {
      const quiet = clock.now() - heardAt;
      if (quiet < this.#idleLimitMs) timer = clock.setTimeout(guard, this.#idleLimitMs - quiet);
      else abort.abort();
    };
    guard();
    try {
      this.#deps.counted?.("watch");
      const body = await transport.stream({
        method: "GET",
        path: resourcePath(this.#target),
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: this.#version,
          // Spread, so that many watches opened together do not end together.
          timeoutSeconds: Math.round(300 + random() * 300),
          labelSelector: this.#options.labelSelector,
          fieldSelector: this.#options.fieldSelector,
        },
        signal: abort.signal,
        what,
      });
      if (this.#faulted && this.#version !== undefined) {
        this.#faulted = false;
        this.#emit({ type: "BOOKMARK", resourceVersion: this.#version });
      }
      const lines = new LineSplitter();
      let sliceStart = clock.now();
      for await (const chunk of body) {
        heardAt = clock.now();
        for (const line of lines.push(chunk as Buffer)) {
          this.#take(line, what);
          if (this.stopped) return true;
          if (clock.now() - sliceStart >= SLICE_MS) {
            await breathe();
            if (this.stopped) return true;
            sliceStart = clock.now();
          }
        }
      }
      return true;
    } catch (error) {
      // Silence is no fault yet: kube-apiserver sends no bookmarks as long as the resource saw no change since the watch
      // began. The next attempt tells whether the connection was dead.
      if (abort.signal.aborted && !this.stopped) return false;
      throw error instanceof Relist ? error : unreachable(what, error);
    } finally {
      clock.clearTimeout(timer);
      this.#abort.signal.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  #take(line: string, what: string): void {
    let event: WatchEvent;
    try {
      event = JSON.parse(line) as WatchEvent;
    } catch (cause) {
      throw new KubeError("HAPTIC_E_KUBE_PROTOCOL", `${what}: an event is not JSON`, { cause });
    }
    if (event.type === "ERROR") throw watchRefusal(what, event.object);
    const version = event.object?.metadata?.resourceVersion;
    if (version === undefined)
      throw new KubeError("HAPTIC_E_KUBE_PROTOCOL", `${what}: an event has no resourceVersion`);
    if (goesBack(this.#version, version)) throw new Relist("stale");
    if (event.type === "BOOKMARK") this.#emit({ type: "BOOKMARK", resourceVersion: version });
    else this.#emit({ type: event.type, object: event.object });
    this.#version = version;
  }

  #emit(signal: WatchSignal): void {
    if (!this.stopped) this.#subscriber.next(signal);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#deps.clock.clearTimeout(timer);
        this.#abort.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.#deps.clock.setTimeout(done, ms);
      this.#abort.signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** The connection ended, or there was none; the server has refused nothing. */
function isBroken(failure: unknown): boolean {
  return failure instanceof KubeError && failure.code === "HAPTIC_E_KUBE_UNREACHABLE";
}

/** Lets timers, sockets and other work of the process run. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Versions of one server grow (decimal numbers): a smaller one comes from another or a restored server. */
function goesBack(from: string | undefined, to: string): boolean {
  if (from === undefined || !/^\d+$/.test(from) || !/^\d+$/.test(to)) return false;
  return to.length === from.length ? to < from : to.length < from.length;
}
