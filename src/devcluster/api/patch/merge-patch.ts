/** JSON merge patch (RFC 7386). */
import { isFields, own, setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";

/** The patched value; nothing of `target` is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null) delete result[key];
    else setOwn(result, key, mergePatch(own(result, key), value));
  }
  return result;
}
