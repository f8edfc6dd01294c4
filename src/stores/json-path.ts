/**
 * The JSONPath subset that `indexBy`, `ignoreFields` and `fieldSelector` take: dotted keys (`metadata.namespace`), dots
 * inside a key escaped (`metadata.labels.kubernetes\.io/service-name`), quoted keys (`metadata.annotations['a.b/c']`),
 * array elements (`spec.rules[0].host`, `[-1]` = the last) and every element (`endpoints[*].zone`, `.*`).
 */
import { JsonPathError } from "../errors.ts";

export type PathSegment =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "index"; readonly index: number }
  | { readonly type: "all" };

/** A parsed expression. Reading and trimming with it never throw, whatever the object looks like. */
export interface JsonPath {
  readonly text: string;
  readonly segments: readonly PathSegment[];
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses a whole expression. Throws JsonPathError (HAPTIC_E_JSON_PATH) that names the expression and the column. */
export function parseJsonPath(text: string): JsonPath {
  const { segments, end } = parsePrefix(text);
  if (end < text.length) throw problem(text, end, `unexpected "${text[end]}"`);
  return { text, segments };
}

/** Parses an expression up to the first `=` outside quotes; `end` is the offset of that `=`, or the text's length. */
export function parsePrefix(text: string): { segments: PathSegment[]; end: number } {
  const segments: PathSegment[] = [];
  let at = text.startsWith("$") ? 1 : 0;
  let expectKey = true;
  if (text[at] === ".") at++;
  while (at < text.length && text[at] !== "=") {
    if (text[at] === "[") {
      at = readBracket(text, at, segments);
    } else if (text[at] === ".") {
      if (expectKey) throw problem(text, at, "a field name is missing before this dot");
      at++;
      expectKey = true;
      continue;
    } else {
      if (!expectKey) throw problem(text, at, `expected "." or "[" before "${text[at]}"`);
      at = readKey(text, at, segments);
    }
    expectKey = false;
  }
  if (segments.length === 0) throw problem(text, at, "the expression names no field");
  if (expectKey) throw problem(text, at, "a field name is missing after the last dot");
  return { segments, end: at };
}

function readKey(text: string, from: number, segments: PathSegment[]): number {
  let at = from;
  let key = "";
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === "\\") {
      at++;
      if (at >= text.length) throw problem(text, at, "a backslash must be followed by the character it escapes");
      key += text[at]!;
    } else if (char === "." || char === "[" || char === "=") {
      break;
    } else if ("{}]()'\"".includes(char) || /\s/.test(char)) {
      throw problem(text, at, `"${char}" is not part of a field name`);
    } else {
      key += char;
    }
  }
  segments.push(key === "*" && text[from] === "*" ? { type: "all" } : { type: "key", key });
  return at;
}

function readBracket(text: string, from: number, segments: PathSegment[]): number {
  let at = from + 1;
  const quote = text[at];
  if (quote === "'" || quote === '"') {
    let key = "";
    for (at++; at < text.length && text[at] !== quote; at++) {
      if (text[at] === "\\" && at + 1 < text.length) at++;
      key += text[at]!;
    }
    if (text[at] !== quote) throw problem(text, from, "this quoted name has no end");
    segments.push({ type: "key", key });
    at++;
  } else {
    const inner = /^(\*|-?\d{1,9})/.exec(text.slice(at))?.[0];
    if (inner === undefined) throw problem(text, at, 'expected a number, "*" or a quoted name');
    segments.push(inner === "*" ? { type: "all" } : { type: "index", index: Number(inner) });
    at += inner.length;
  }
  if (text[at] !== "]") throw problem(text, at, 'expected "]"');
  return at + 1;
}

function problem(text: string, at: number, what: string): JsonPathError {
  return new JsonPathError(text, at + 1, what);
}

/** The first value the path selects; undefined when there is none. */
export function firstValue(path: JsonPath, value: unknown): unknown {
  return firstFrom(path.segments, 0, value);
}

function firstFrom(segments: readonly PathSegment[], from: number, start: unknown): unknown {
  let value = start;
  for (let i = from; i < segments.length; i++) {
    const segment = segments[i]!;
    if (segment.type === "key") {
      // Own fields only: `constructor` or `__proto__` in an expression must not reach a prototype.
      if (!isObject(value) || !Object.hasOwn(value, segment.key)) return undefined;
      value = value[segment.key];
    } else if (segment.type === "index") {
      if (!Array.isArray(value)) return undefined;
      value = value.at(segment.index);
    } else {
      for (const member of membersOf(value)) {
        const found = firstFrom(segments, i + 1, member);
        if (found !== undefined) return found;
      }
      return undefined;
    }
  }
  return value;
}

/** Every value the path selects, in document order (members of an object by name). */
export function allValues(path: JsonPath, value: unknown): unknown[] {
  let found: unknown[] = [value];
  for (const segment of path.segments) {
    const next: unknown[] = [];
    for (const item of found) {
      if (segment.type === "all") next.push(...membersOf(item));
      else if (segment.type === "index") {
        if (Array.isArray(item) && item.at(segment.index) !== undefined) next.push(item.at(segment.index));
      } else if (isObject(item) && Object.hasOwn(item, segment.key)) next.push(item[segment.key]);
    }
    found = next;
  }
  return found;
}

function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  return Object.keys(value)
    .toSorted()
    .map((key) => value[key]);
}

/**
 * The value without what the path selects. Only the containers on the way are copied; when nothing is selected the very
 * same value comes back. An array element that is selected is taken out.
 */
export function withoutPath<T>(value: T, path: JsonPath): T {
  return without(value, path.segments, 0) as T;
}

function without(value: unknown, segments: readonly PathSegment[], at: number): unknown {
  const segment = segments[at]!;
  const last = at === segments.length - 1;
  if (Array.isArray(value)) {
    if (segment.type === "key") return value;
    const index = segment.type === "index" ? (segment.index < 0 ? value.length + segment.index : segment.index) : -1;
    if (segment.type === "index" && (index < 0 || index >= value.length)) return value;
    if (last) return segment.type === "all" ? (value.length === 0 ? value : []) : value.toSpliced(index, 1);
    let copy: unknown[] | undefined;
    for (let i = segment.type === "all" ? 0 : index; i < (segment.type === "all" ? value.length : index + 1); i++) {
      const item = without(value[i], segments, at + 1);
      if (item !== value[i]) (copy ??= value.slice())[i] = item;
    }
    return copy ?? value;
  }
  if (!isObject(value) || segment.type === "index") return value;
  if (segment.type === "all") {
    if (last) return Object.keys(value).length === 0 ? value : {};
    let copy: Json = value;
    for (const key of Object.keys(value)) {
      const item = without(value[key], segments, at + 1);
      if (item !== value[key]) copy = copyWith(copy, key, item);
    }
    return copy;
  }
  if (!Object.hasOwn(value, segment.key)) return value;
  if (last) return copyWith(value, segment.key, undefined);
  const item = without(value[segment.key], segments, at + 1);
  return item === value[segment.key] ? value : copyWith(value, segment.key, item);
}

/** A copy with one field replaced, or left out for `undefined` (JSON knows no undefined). Keeps the order of the keys. */
function copyWith(object: Json, key: string, item: unknown): Json {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    const field = name === key ? item : object[name];
    if (field === undefined) continue;
    // A plain assignment to `__proto__` would set the prototype instead of a field.
    if (name === "__proto__")
      Object.defineProperty(copy, name, { value: field, enumerable: true, configurable: true, writable: true });
    else copy[name] = field;
  }
  return copy;
}

/** Whether trimming `ignored` takes away (a part of) what `needed` reads: such a pair of expressions is a mistake. */
export function trims(ignored: JsonPath, needed: JsonPath): boolean {
  if (ignored.segments.length > needed.segments.length) return false;
  return ignored.segments.every((segment, i) => {
    const other = needed.segments[i]!;
    if (segment.type === "all" || other.type === "all") return true;
    if (segment.type === "key") return other.type === "key" && other.key === segment.key;
    return other.type === "index" && (other.index === segment.index || other.index < 0 !== segment.index < 0);
  });
}
