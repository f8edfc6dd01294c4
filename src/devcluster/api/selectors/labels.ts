/** Label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h`. */
import { badRequest } from "../status.ts";

export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

type Requirement = (value: string | undefined) => boolean;

const KEY = String.raw`[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?`;
const SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s*\(([^()]*)\)$`);
const EQUALS = new RegExp(String.raw`^(${KEY})\s*(==|=|!=|>|<)\s*([-A-Za-z0-9_.]*)$`);
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`);

/** Splits at commas outside parentheses. */
function terms(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") depth++;
    else if (text[i] === ")") depth--;
    else if (text[i] === "," && depth === 0) {
      found.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  found.push(text.slice(start).trim());
  return found;
}

function requirement(term: string): [string, Requirement] {
  const set = SET.exec(term);
  if (set !== null) {
    const values = new Set((set[3] as string).split(",").map((v) => v.trim()));
    const wanted = set[2] === "in";
    return [set[1] as string, (value) => (value !== undefined && values.has(value)) === wanted];
  }
  const equals = EQUALS.exec(term);
  if (equals !== null) {
    const [, key = "", operator, operand = ""] = equals;
    if (operator === "!=") return [key, (value) => value !== operand];
    if (operator === ">") return [key, (value) => value !== undefined && Number(value) > Number(operand)];
    if (operator === "<") return [key, (value) => value !== undefined && Number(value) < Number(operand)];
    return [key, (value) => value === operand];
  }
  const exists = EXISTS.exec(term);
  if (exists !== null) return [exists[2] as string, (value) => (value === undefined) === (exists[1] === "!")];
  throw badRequest(`unable to parse requirement: found '${term}', expected: identifier`);
}

/** Undefined when the selector selects everything. */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  if (text.trim() === "") return undefined;
  const requirements = terms(text).map(requirement);
  return (labels) =>
    requirements.every(([key, holds]) =>
      holds(labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined),
    );
}
