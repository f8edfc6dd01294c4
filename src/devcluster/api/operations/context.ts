/** What every operation works with. */
import type { ApiObject, Fields } from "../objects.ts";
import type { ResourceName } from "../status.ts";
import type { Database } from "../storage/database.ts";
import type { Registry } from "../resources/registry.ts";
import type { RuleContext } from "../resources/definition.ts";
import type { Allocator } from "./allocator.ts";
import type { Disguise } from "./asking.ts";

/** What goes on behind a deletion that was answered (see collector.ts). */
export interface Aftermath {
  /** `owner` is gone. */
  gone(owner: ApiObject): void;
  /** The object under `key` is marked as deleted. */
  marked(resource: ResourceName, key: string): void;
}

export interface ApiState {
  readonly database: Database;
  readonly registry: Registry;
  readonly allocator: Allocator;
  readonly aftermath: Aftermath;
  readonly now: () => number;
  readonly random: () => number;
  readonly uid: () => string;
}

/** Options of one write, as its query (or DeleteOptions) gave them. */
export interface WriteOptions {
  readonly fieldManager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly subresource: "" | "status";
  /** Set where the request is for a document that stands for the object (scale). */
  readonly disguise?: Disguise;
  /** The options as they were sent, for webhooks. */
  readonly sent: Fields;
  /** Collects `Warning:` headers. */
  readonly warn: (text: string) => void;
}

export const defaultWriteOptions: WriteOptions = {
  fieldManager: "unknown",
  fieldValidation: "Warn",
  dryRun: false,
  force: false,
  subresource: "",
  sent: {},
  warn: () => undefined,
};

export const ruleContext = (state: ApiState, options: WriteOptions): RuleContext => ({
  now: state.now(),
  random: state.random,
  warn: options.warn,
  store: (resource) => state.database.store(resource),
  allocateIP: () => state.allocator.ip(),
  allocateNodePort: () => state.allocator.nodePort(),
});
