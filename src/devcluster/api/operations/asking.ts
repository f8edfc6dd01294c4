/**
 * Operations that may have to ask: a write is a generator that yields its questions to the admission webhooks and goes on
 * with their answer. Code in this process runs it unasked and gets its result at once; requests run it asked (admission/).
 */
import type { ApiObject, Fields } from "../objects.ts";
import type { View } from "../resources/definition.ts";

/** A subresource whose document is not the object itself: what webhooks are shown instead of it. */
export interface Disguise {
  readonly subresource: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  show(object: ApiObject): Fields;
  /** The object after a webhook changed what it was shown. */
  read(object: ApiObject, shown: Fields): ApiObject;
}

export interface Question {
  readonly phase: "mutating" | "validating";
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly view: View;
  readonly subresource: string;
  readonly disguise: Disguise | undefined;
  readonly namespace: string;
  /** "" while a generated name is not known, and for each object of a deleted collection. */
  readonly name: string;
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions as they were sent. */
  readonly options: Fields;
  readonly warn: (text: string) => void;
}

/** Yields questions; the answer to a mutating one is the changed object, undefined where nothing was changed. */
export type Asking<T> = Generator<Question, T, ApiObject | undefined>;

/** Runs an operation without asking anybody. */
export function unasked<T>(steps: Asking<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next(undefined);
  return step.value;
}
