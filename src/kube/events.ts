/** Events on objects (core v1): one object for each story, counted up while the same thing goes on happening. */
import { KubeError } from "../errors.ts";
import type { KubeObject } from "../stores/types.ts";
import type { KubeClient, ResourceTarget } from "./types.ts";

/** The object an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly uid: string;
}

export interface EventRecord {
  readonly subject: EventSubject;
  readonly type: "Normal" | "Warning";
  /** CamelCase, short, fixed: people filter by it. */
  readonly reason: string;
  readonly message: string;
}

export type EventOutcome =
  | {
      readonly written: "created" | "counted";
      readonly namespace: string;
      readonly name: string;
      readonly count: number;
    }
  | { readonly written: "failed"; readonly error: Error };

export interface EventWriterDeps {
  readonly client: KubeClient;
  /** Who says it, e.g. `haptic`, and which of its instances (pod name). */
  readonly component: string;
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** 0 ≤ value < 1 */
  readonly random: () => number;
}

/** The API server refuses longer ones. */
const LONGEST_MESSAGE = 1024;
const LONGEST_NAME = 253;
/** Stories remembered for counting; the oldest is forgotten first and would begin anew. */
const REMEMBERED = 1_000;

interface Story {
  readonly name: string;
  count: number;
}

/** Writes Events; remembers what it wrote so that repeats are counted. How often is the caller's business. */
export class EventWriter {
  readonly #deps: EventWriterDeps;
  readonly #stories = new Map<string, Story>();

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
  }

  /** Creates the Event, or counts up the one that said the same before. Never throws. */
  async write(record: EventRecord, signal?: AbortSignal): Promise<EventOutcome> {
    const { subject } = record;
    // An Event lives in its object's namespace; those of cluster-scoped objects live in `default`.
    const target: ResourceTarget = {
      apiVersion: "v1",
      resource: "events",
      namespace: subject.namespace === "" ? "default" : subject.namespace,
    };
    const message =
      record.message.length > LONGEST_MESSAGE ? `${record.message.slice(0, LONGEST_MESSAGE - 1)}…` : record.message;
    const key = JSON.stringify([
      subject.apiVersion,
      subject.kind,
      subject.namespace,
      subject.name,
      subject.uid,
      record.type,
      record.reason,
      message,
    ]);
    try {
      return (
        (await this.#count(target, key, signal)) ?? (await this.#create(target, key, { ...record, message }, signal))
      );
    } catch (error) {
      return { written: "failed", error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  async #count(target: ResourceTarget, key: string, signal?: AbortSignal): Promise<EventOutcome | undefined> {
    const story = this.#stories.get(key);
    if (story === undefined) return undefined;
    const count = story.count + 1;
    try {
      await this.#deps.client.mergePatch(
        target,
        story.name,
        { count, lastTimestamp: seconds(this.#deps.now()) },
        signal === undefined ? {} : { signal },
      );
    } catch (error) {
      // Events are kept for an hour only.
      if (!(error instanceof KubeError && error.status === 404)) throw error;
      this.#stories.delete(key);
      return undefined;
    }
    story.count = count;
    this.#remember(key, story);
    return { written: "counted", namespace: target.namespace!, name: story.name, count };
  }

  async #create(target: ResourceTarget, key: string, record: EventRecord, signal?: AbortSignal): Promise<EventOutcome> {
    const { component, instance, client } = this.#deps;
    const { subject } = record;
    const now = this.#deps.now();
    const suffix = `.${now.toString(16)}${Math.floor(this.#deps.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0")}`;
    const name = subject.name.slice(0, LONGEST_NAME - suffix.length).replace(/[-.]+$/, "") + suffix;
    const event: KubeObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: target.namespace! },
      involvedObject: {
        apiVersion: subject.apiVersion,
        kind: subject.kind,
        name: subject.name,
        ...(subject.namespace !== "" && { namespace: subject.namespace }),
        ...(subject.uid !== "" && { uid: subject.uid }),
      },
      type: record.type,
      reason: record.reason,
      message: record.message,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: seconds(now),
      lastTimestamp: seconds(now),
      count: 1,
    };
    await client.create(target, event, signal === undefined ? {} : { signal });
    this.#remember(key, { name, count: 1 });
    return { written: "created", namespace: target.namespace!, name, count: 1 };
  }

  #remember(key: string, story: Story): void {
    this.#stories.delete(key);
    this.#stories.set(key, story);
    if (this.#stories.size > REMEMBERED) this.#stories.delete(this.#stories.keys().next().value!);
  }
}

/** A time as `metav1.Time`: RFC 3339 in whole seconds. */
function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
