/** The `Validated` condition of the configuration object: what the events say of it, and the status that brings it there. Pure. */
import type { Condition, HAProxyTemplateConfig } from "../config/index.ts";
import type { BusEvent } from "./events.ts";

type Reason = "ValidationSucceeded" | "ConfigInvalid" | "HAProxyValidationFailed";

export interface Verdict {
  readonly status: "True" | "False";
  readonly reason: Reason;
  readonly message: string;
}

/** What is known of the newest configuration, and of the renders of the serving one. */
export interface ConditionBook {
  /** Generation that the verdict speaks of; 0 = none yet. */
  readonly generation: number;
  readonly config: Verdict | undefined;
  /** The serving configuration does not render any more with what is watched now. */
  readonly render: string;
  /** HAProxy refused the newest render of the serving configuration. */
  readonly refusal: string;
}

export const EMPTY_BOOK: ConditionBook = { generation: 0, config: undefined, render: "", refusal: "" };

/** CRD limit of `validationMessage` and of a condition's message, in characters. */
const MAX_MESSAGE = 32_768;
const PASSED: Verdict = {
  status: "True",
  reason: "ValidationSucceeded",
  message: "The configuration is valid and in force",
};

export function noteEvent(book: ConditionBook, event: BusEvent): ConditionBook {
  const failed = (generation: number, reason: Reason, message: string): ConditionBook => ({
    ...book,
    generation: generation === 0 ? book.generation : generation,
    config: { status: "False", reason, message },
  });
  switch (event.type) {
    case "CONFIG.INVALID":
      return failed(event.generation, "ConfigInvalid", event.message);
    case "CONFIG.HELD":
      return failed(event.generation, "ConfigInvalid", `Holding the last-good configuration: ${event.message}`);
    case "ITERATION.REFUSED":
      return failed(event.generation, event.reason, event.message);
    case "ITERATION.ACCEPTED":
      return { generation: event.generation, config: PASSED, render: "", refusal: "" };
    case "RENDER.FAILED":
      return { ...book, render: event.message };
    case "PLAN.RENDERED":
      return book.render === "" ? book : { ...book, render: "" };
    case "PLAN.REFUSED":
      return { ...book, refusal: event.message };
    case "PLAN.PASSED":
      return book.refusal === "" ? book : { ...book, refusal: "" };
    default:
      return book;
  }
}

/** undefined = nothing can be said yet. */
export function verdictOf(book: ConditionBook): Verdict | undefined {
  if (book.config?.status !== "True") return book.config;
  if (book.render !== "") return { status: "False", reason: "ConfigInvalid", message: book.render };
  if (book.refusal !== "") return { status: "False", reason: "HAProxyValidationFailed", message: book.refusal };
  return book.config;
}

const cut = (text: string): string => (text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE - 1)}…`);

const liveCondition = (config: HAProxyTemplateConfig): Condition | undefined =>
  config.status?.conditions?.find((condition) => condition.type === "Validated");

/** Whether the object says something else than the book; times do not count. */
export function conditionDiffers(book: ConditionBook, config: HAProxyTemplateConfig | undefined): boolean {
  const verdict = verdictOf(book);
  if (verdict === undefined || config === undefined || book.generation === 0) return false;
  const live = liveCondition(config);
  return (
    live === undefined ||
    live.status !== verdict.status ||
    live.reason !== verdict.reason ||
    live.message !== cut(verdict.message) ||
    live.observedGeneration !== book.generation ||
    config.status?.observedGeneration !== book.generation
  );
}

/** The status to apply (server-side apply: conditions of others stay). `now` is RFC 3339. */
export function conditionStatus(book: ConditionBook, config: HAProxyTemplateConfig, now: string): unknown {
  const verdict = verdictOf(book);
  if (verdict === undefined) return {};
  const live = liveCondition(config);
  const message = cut(verdict.message);
  const valid = verdict.status === "True";
  const lastValidated = valid ? now : config.status?.lastValidated;
  return {
    observedGeneration: book.generation,
    validationStatus: valid ? "Valid" : "Invalid",
    validationMessage: message,
    validationErrors: valid
      ? []
      : message
          .split("\n")
          .filter((line) => line.trim() !== "")
          .slice(0, 256),
    ...(lastValidated !== undefined && { lastValidated }),
    conditions: [
      {
        type: "Validated",
        status: verdict.status,
        reason: verdict.reason,
        message,
        observedGeneration: book.generation,
        lastTransitionTime: live?.status === verdict.status ? live.lastTransitionTime : now,
      },
    ],
  };
}
