/** What of a server's keywords changed, in words. */
import { changeOf } from "./reasons.ts";
import { parseKeywords } from "./servers.ts";

/** Keywords whose values may be secrets. */
const CLOSED = new Set(["agent-send", "cookie", "hash-key"]);

/** `maxconn 10 → 12, check is new`; "" where the keywords are none that are known. */
export function changedKeywords(before: string | undefined, after: string | undefined): string {
  const [was, is] = [valuesByKeyword(before ?? ""), valuesByKeyword(after ?? "")];
  if (was === undefined || is === undefined) return "";
  const told: string[] = [];
  for (const [name, value] of is) {
    const old = was.get(name);
    if (old === undefined) told.push(value === "" || CLOSED.has(name) ? `${name} is new` : `${name} ${value} is new`);
    else if (old !== value) told.push(CLOSED.has(name) ? name : `${name} ${changeOf(old, value)}`);
  }
  for (const name of was.keys()) if (!is.has(name)) told.push(`${name} is gone`);
  if (told.length === 0) return "their order";
  return told.length <= 3 ? told.join(", ") : `${told.slice(0, 3).join(", ")} and ${told.length - 3} more`;
}

function valuesByKeyword(text: string): ReadonlyMap<string, string> | undefined {
  const weight = /(?:^|\s)weight\s+(\d+)(?=\s|$)/.exec(text);
  const rest = weight === null ? text : text.replace(weight[0], " ");
  const keywords = parseKeywords(rest, Number.MAX_SAFE_INTEGER);
  if (typeof keywords === "string") return undefined;
  const values = new Map(keywords.map(({ name, args }) => [name, args.join(" ")]));
  if (weight !== null) values.set("weight", weight[1]!);
  return values;
}
