/** Freezing and comparing of plain JSON, which may nest deeper than calls can go. */

type Json = Readonly<Record<string, unknown>>;

/** Calls are the faster way down; no usual object is nested deeper than this. */
const SHALLOW = 64;

/** Freezes a plain JSON value through and through and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const deeper: object[] = [];
  freezeDown(value, 0, deeper);
  for (let next = deeper.pop(); next !== undefined; next = deeper.pop()) freezeDown(next, 0, deeper);
  return value;
}

function freezeDown(value: object, depth: number, deeper: object[]): void {
  if (depth > SHALLOW) {
    deeper.push(value);
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value as unknown[])
      if (typeof item === "object" && item !== null) freezeDown(item, depth + 1, deeper);
  } else {
    for (const key in value) {
      const item = (value as Json)[key];
      if (typeof item === "object" && item !== null) freezeDown(item, depth + 1, deeper);
    }
  }
  Object.freeze(value);
}

/**
 * Whether two objects say the same, `metadata.resourceVersion` left aside: the server raises it also for changes of fields
 * that were trimmed away. The order of keys does not matter.
 */
export function sameContent(a: Json, b: Json): boolean {
  if (a === b) return true;
  const pending: unknown[] = [];
  if (!sameFields(a, b, undefined, "metadata", pending)) return false;
  if (!sameFields((a["metadata"] ?? {}) as Json, (b["metadata"] ?? {}) as Json, "resourceVersion", undefined, pending))
    return false;
  return samePending(pending);
}

/** Whether two plain JSON values are equal; the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  return samePending([a, b]);
}

function samePending(pending: unknown[]): boolean {
  while (pending.length > 0) {
    const b = pending.pop();
    const a = pending.pop();
    if (a === b) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) if (!compareOrDefer(a[i], b[i], pending)) return false;
    } else if (Array.isArray(b) || !sameFields(a as Json, b as Json, undefined, undefined, pending)) return false;
  }
  return true;
}

function sameFields(
  a: Json,
  b: Json,
  ignored: string | undefined,
  later: string | undefined,
  pending: unknown[],
): boolean {
  let count = 0;
  for (const key in a) {
    if (key === ignored) continue;
    count++;
    if (!Object.hasOwn(b, key)) return false;
    if (key !== later && !compareOrDefer(a[key], b[key], pending)) return false;
  }
  for (const key in b) if (key !== ignored) count--;
  return count === 0;
}

function compareOrDefer(a: unknown, b: unknown, pending: unknown[]): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  pending.push(a, b);
  return true;
}
