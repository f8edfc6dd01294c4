/** Checks rules that came as JSON: a misspelt one would do nothing and its test would pass. */
import { isFields } from "../objects.ts";
import type { Fields } from "../objects.ts";

const numbers: Readonly<Record<string, readonly string[]>> = {
  status: ["code"],
  cut: [],
  lost: [],
  slow: ["ms"],
  stale: ["behind"],
  stall: [],
  drop: ["afterMs"],
};
const optional: Readonly<Record<string, readonly string[]>> = { status: ["reason", "message", "retryAfter"] };
const lists = new Set(["verbs", "resources", "namespaces", "names"]);
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

function faultOf(fault: unknown): string | undefined {
  if (!isFields(fault) || typeof fault["type"] !== "string" || !Object.hasOwn(numbers, fault["type"])) {
    return `fault.type: one of ${Object.keys(numbers).join(", ")}`;
  }
  const { type, ...rest } = fault as Fields & { type: string };
  const needed = numbers[type] ?? [];
  const missing = needed.find((name) => typeof rest[name] !== "number");
  if (missing !== undefined) return `fault.${missing}: a number is needed for ${type}`;
  const strange = Object.keys(rest).find((name) => !needed.includes(name) && !(optional[type] ?? []).includes(name));
  return strange === undefined ? undefined : `fault.${strange}: ${type} has no such field`;
}

/** What is wrong with a rule; undefined when nothing is. */
export function faultMistake(rule: unknown): string | undefined {
  if (!isFields(rule)) return "a rule is an object";
  const { fault, match, count, probability, ...rest } = rule;
  for (const name of Object.keys(rest)) {
    if (!lists.has(name)) return `${name}: a rule has no such field`;
    if (!isTexts(rest[name])) return `${name}: a list of texts`;
  }
  const verb = isTexts(rest["verbs"]) ? rest["verbs"].find((name) => !VERBS.includes(name)) : undefined;
  if (verb !== undefined) return `verbs: ${verb} is none of ${VERBS.join(", ")}`;
  if (match !== undefined && typeof match !== "string") return "match: a text";
  if (count !== undefined && typeof count !== "number") return "count: a number";
  if (probability !== undefined && typeof probability !== "number") return "probability: a number";
  return faultOf(fault);
}
