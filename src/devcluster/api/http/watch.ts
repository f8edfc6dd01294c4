/** Watches: changes from a revision on, one line of JSON each, until the client, its time limit or the server ends it. */
import type { ServerResponse } from "node:http";
import type { Fields } from "../objects.ts";
import { shownObject } from "../operations/encode.ts";
import type { ApiState } from "../operations/context.ts";
import type { View } from "../resources/definition.ts";
import { StatusError, fieldForbidden, optionsInvalid } from "../status.ts";
import type { Change } from "../storage/record.ts";
import type { ResourceStore } from "../storage/resource-store.ts";
import { partialMetadata, tableOf, tableRow } from "../tables/table.ts";
import type { IncludeObject } from "../tables/table.ts";
import { listPage, readRevision } from "./list.ts";
import type { Form } from "./negotiate.ts";
import type { ApiRequest } from "./request.ts";
import type { Selection } from "./selection.ts";
import { eventLine, eventOf } from "./watch-lines.ts";
import type { WatchEvent } from "./watch-lines.ts";

export interface WatchOptions {
  readonly view: View;
  readonly selection: Selection;
  readonly form: Form;
  readonly include: IncludeObject;
}

/** How often a watch that wants bookmarks gets one. */
const BOOKMARK_MS = 60_000;
/** A client that reads nothing while so much waits for it is cut off; it resumes from its last revision. */
const BACKLOG = 64 * 1024 * 1024;

/** All watches that are open; faults act on them. */
export class Watches {
  readonly #open = new Set<Watch>();
  #stalled = false;

  get size(): number {
    return this.#open.size;
  }

  add(watch: Watch): void {
    this.#open.add(watch);
    watch.hold(this.#stalled || watch.stalledBy !== undefined);
  }

  delete(watch: Watch): void {
    this.#open.delete(watch);
  }

  /** Cuts every watch in mid-stream. */
  drop(): void {
    for (const watch of this.#open) watch.cut();
  }

  /** Holds every event back until it is called with false. */
  stall(on: boolean): void {
    this.#stalled = on;
    for (const watch of this.#open) watch.hold(on || watch.stalledBy !== undefined);
  }

  /** Gives the watches that a rule held what they missed. */
  release(rule: number): void {
    for (const watch of this.#open) {
      if (watch.stalledBy !== rule) continue;
      watch.stalledBy = undefined;
      watch.hold(this.#stalled);
    }
  }
}

interface Plan {
  readonly initial: readonly WatchEvent[];
  readonly pending: readonly Change[];
  readonly endMark: boolean;
  readonly bookmarks: boolean;
}

const refusedMatch = (why: string): StatusError =>
  optionsInvalid("ListOptions", fieldForbidden("resourceVersionMatch", why));

/** What a watch begins with; "expired" when its revision is too old. */
function planOf(
  state: ApiState,
  options: WatchOptions,
  store: ResourceStore,
  query: URLSearchParams,
): Plan | "expired" {
  const { view, selection } = options;
  const text = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch");
  const send = query.get("sendInitialEvents");
  const bookmarks = query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1";
  if (send !== null && match !== "NotOlderThan") {
    throw refusedMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (send === null && match !== null) {
    throw refusedMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  const revision = text === "" ? 0 : readRevision(text, 500);
  const wantsInitial = send === "true" || (send === null && revision === 0);
  if (wantsInitial) {
    const page = listPage(state, view, selection, new URLSearchParams());
    const initial = page.records.map((stored) => ({ type: "ADDED", stored }) as const);
    return { initial, pending: [], endMark: bookmarks, bookmarks };
  }
  if (revision === 0) return { initial: [], pending: [], endMark: false, bookmarks };
  const pending = store.history.since(revision);
  return pending === undefined ? "expired" : { initial: [], pending, endMark: false, bookmarks };
}

export class Watch {
  readonly #state: ApiState;
  readonly #options: WatchOptions;
  readonly #response: ServerResponse;
  readonly #store: ResourceStore;
  #first = true;
  #held: Buffer[] | undefined;
  #timers: NodeJS.Timeout[] = [];
  #stop: () => void = () => undefined;
  /** The fault that holds this watch. */
  stalledBy: number | undefined;

  constructor(state: ApiState, options: WatchOptions, response: ServerResponse) {
    this.#state = state;
    this.#options = options;
    this.#response = response;
    this.#store = state.database.store(options.view.definition);
  }

  start({ query, mishaps }: ApiRequest, watches: Watches): void {
    this.stalledBy = mishaps.stalledBy;
    const plan = planOf(this.#state, this.#options, this.#store, query);
    const future = Number(query.get("resourceVersion") ?? "0");
    this.#response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
    this.#response.socket?.setNoDelay(true);
    if (plan === "expired") {
      this.#end(expiredLine(query.get("resourceVersion") ?? "", this.#store.history.floor));
      return;
    }
    watches.add(this);
    this.#response.flushHeaders();
    for (const event of plan.initial) this.#event(event);
    for (const change of plan.pending) this.#change(change);
    if (plan.endMark) this.#bookmark(true);
    const unlisten = this.#store.listen((change) => {
      if (change.revision > future) this.#change(change);
    });
    const unclose = this.#store.onClose(() => this.#end());
    const seconds = Number(query.get("timeoutSeconds") ?? "0");
    if (seconds > 0) this.#later(seconds * 1000, () => this.#end());
    if (seconds > 2 && plan.bookmarks) this.#later(seconds * 1000 - 1500, () => this.#bookmark(false));
    if (mishaps.dropAfterMs !== undefined) this.#later(mishaps.dropAfterMs, () => this.cut());
    if (plan.bookmarks) this.#every(BOOKMARK_MS, () => this.#bookmark(false));
    this.#stop = () => {
      unlisten();
      unclose();
      for (const timer of this.#timers) clearTimeout(timer);
      watches.delete(this);
    };
    this.#response.once("close", this.#stop);
  }

  /** Ends the connection without the end of the answer. */
  cut(): void {
    this.#stop();
    this.#response.destroy();
  }

  /** Holds back what comes from now on, or sends what was held. */
  hold(on: boolean): void {
    const held = this.#held;
    if (on) this.#held ??= [];
    else {
      this.#held = undefined;
      for (const bytes of held ?? []) this.#write(bytes);
    }
  }

  #later(ms: number, action: () => void): void {
    this.#timers.push(setTimeout(action, ms).unref());
  }

  #every(ms: number, action: () => void): void {
    this.#timers.push(setInterval(action, ms).unref());
  }

  #change(change: Change): void {
    const event = eventOf(this.#options.view, change, this.#options.selection);
    if (event !== undefined) this.#event(event);
  }

  #event(event: WatchEvent): void {
    const { view, form, include } = this.#options;
    if (form === "object") {
      this.#write(eventLine(view, event));
      return;
    }
    const object = shownObject(view, event.stored);
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? "" };
    const shown =
      form === "table"
        ? tableOf(view, metadata, [tableRow(view, object, this.#state.now(), include)], this.#first)
        : partialMetadata(object);
    this.#first = false;
    this.#json({ type: event.type, object: shown });
  }

  #bookmark(initialEnd: boolean): void {
    const { view, form } = this.#options;
    const resourceVersion = String(this.#store.revision);
    const metadata: Fields = { resourceVersion };
    if (initialEnd) metadata["annotations"] = { "k8s.io/initial-events-end": "true" };
    const kind = form === "object" ? view.definition.kind : "PartialObjectMetadata";
    const apiVersion = form === "object" ? view.apiVersion : "meta.k8s.io/v1";
    const plain = { kind, apiVersion, metadata };
    if (form !== "table") {
      this.#json({ type: "BOOKMARK", object: plain });
      return;
    }
    const row = { cells: view.columns.map(() => null), object: plain };
    this.#json({ type: "BOOKMARK", object: tableOf(view, { resourceVersion }, [row], this.#first) });
    this.#first = false;
  }

  #json(value: unknown): void {
    this.#write(Buffer.from(`${JSON.stringify(value)}\n`));
  }

  #write(bytes: Buffer): void {
    if (this.#held !== undefined) {
      this.#held.push(bytes);
      return;
    }
    this.#response.write(bytes);
    if (this.#response.writableLength > BACKLOG) this.cut();
  }

  #end(last?: Buffer): void {
    this.#stop();
    if (last === undefined) this.#response.end();
    else this.#response.end(last);
  }
}

const expiredLine = (wanted: string, oldest: number): Buffer =>
  Buffer.from(
    `${JSON.stringify({
      type: "ERROR",
      object: new StatusError(410, "Expired", `too old resource version: ${wanted} (${oldest})`).toStatus(),
    })}\n`,
  );

/** Answers a watch request; returns once it has begun. */
export function serveWatch(state: ApiState, request: ApiRequest, options: WatchOptions, watches: Watches): void {
  new Watch(state, options, request.response).start(request, watches);
}
