/** Looking into values by dotted paths, for functions that take one. */
import { entryOf } from "../runtime/text.ts";

/** Member of a map, or null; slices and other values have none. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return entryOf(value, key);
}

/** `a.b.[0]`, with an optional leading `$.`; a missing link gives null. `""` and `$` are the value itself. */
export function atPath(value: unknown, path: string): unknown {
  const bare = path.replace(/^\$\.?/, "");
  if (bare === "") return value;
  let at: unknown = value;
  for (const step of bare.split(".")) {
    const element = /^\[(\d+)\]$/.exec(step);
    if (element !== null) at = Array.isArray(at) ? ((at[Number(element[1])] as unknown) ?? null) : null;
    else at = memberOf(at, step);
    if (at === null) return null;
  }
  return at;
}
