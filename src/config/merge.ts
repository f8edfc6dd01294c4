/** Deep merge of plain JSON: maps key by key, everything else is replaced by the later value. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonMap = { readonly [key: string]: Json };

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Merges `later` over `earlier`; neither is changed. Keys are taken as own properties, so that a key called `__proto__`
 * stays data.
 */
export function deepMerge(earlier: Json | undefined, later: Json | undefined): Json | undefined {
  if (later === undefined) return earlier;
  if (!isMap(earlier) || !isMap(later)) return later;
  const merged = new Map<string, Json>(Object.entries(earlier));
  for (const [key, value] of Object.entries(later)) {
    const both = deepMerge(merged.get(key), value);
    if (both !== undefined) merged.set(key, both);
  }
  return Object.fromEntries(merged);
}
