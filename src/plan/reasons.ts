/**
 * Why a reload is needed: what changed and where, which object made it as far as that is known, and what would avoid it.
 * Reasons name sections, fields, files and objects, and values only where they can be no secret; never a file's content.
 */
import { RELOAD_RULES, type ReloadRuleName } from "./reload-rules.ts";

export interface ReloadReason {
  /** The kind of reload: a row of the table of docs/reloads.md; "" for how many more there are. */
  readonly rule: ReloadRuleName | "";
  /** A sentence's worth: `backend a changed its balance`. */
  readonly text: string;
  /** `roundrobin → leastconn`; "" where it may be a secret, or is not known. */
  readonly change: string;
  /** Section of haproxy.cfg, or the file, that only a reload changes; "" where it is the whole. */
  readonly section: string;
  /** What of it: a key of the backend's record, `servers.NAME.extra`, the template it stands in; "" where nothing finer is known. */
  readonly field: string;
  /** The object that made it, e.g. `Ingress default/web`; "" where no object did, or it is not known. */
  readonly object: string;
  /** What would avoid the reload next time. */
  readonly hint: string;
}

export type ReasonDetails = Partial<Pick<ReloadReason, "change" | "section" | "field" | "object">>;

export function reloadReason(rule: ReloadRuleName, text: string, details: ReasonDetails = {}): ReloadReason {
  const { hint } = RELOAD_RULES[rule];
  return { rule, text, change: "", section: "", field: "", object: "", ...details, hint };
}

/** How many more there are than those that are told. */
export function moreReasons(count: number): ReloadReason {
  return { rule: "", text: `and ${count} more`, change: "", section: "", field: "", object: "", hint: "" };
}

/** What happened, and where it comes from. */
export function tellCause({ text, change, field, object }: ReloadReason): string {
  const where = [object === "" ? "" : `from ${object}`, field].filter((part) => part !== "").join(", ");
  return `${text}${change === "" ? "" : `: ${change}`}${where === "" ? "" : ` (${where})`}`;
}

/** What would avoid it, or that nothing does; "" where there is nothing to say. */
export function tellHint({ hint }: ReloadReason): string {
  return hint === "" || hint.startsWith("nothing") ? hint : `to avoid it: ${hint}`;
}

/** One line that holds all of it: for statuses, Events, logs, the live page. */
export function tellReason(reason: ReloadReason): string {
  const hint = tellHint(reason);
  return hint === "" ? tellCause(reason) : `${tellCause(reason)}; ${hint}`;
}

/** Reasons that are kept of one difference; the last says how many more there are. */
export const MAX_REASONS = 8;

const LONGEST_VALUE = 60;

const shown = (value: string | number | undefined): string => {
  if (value === undefined || value === "") return "none";
  const text = String(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
};

/** `old → new`, each cut to a readable length. */
export function changeOf(before: string | number | undefined, after: string | number | undefined): string {
  return `${shown(before)} → ${shown(after)}`;
}

export const UNKNOWN_BASELINE = reloadReason("unknown-baseline", "no plan is known of what this pod runs");
export const OTHER_SCHEMA = reloadReason("other-schema", "the pod's plan has another schema version");
export const WORKER_BEHIND = reloadReason("worker-behind", "the worker does not run what is applied");
export const WHOLE_SET = reloadReason(
  "whole-set",
  "the pod's files were not what its plan says, so the whole set was sent",
);
export const REFUSED_PLAN = reloadReason(
  "refused-plan",
  "HAProxy refused the plan, so the pod went back to its last good one",
);
export const agentVersion = (skew: string): ReloadReason => reloadReason("agent-version", skew);
