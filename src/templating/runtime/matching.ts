/** Whether a value of an any has a type, given by its key (check/types.ts). Lists and maps match by what they hold. */
import { ownMember } from "./guards.ts";
import { ErrorValue, FunctionValue, Opaque } from "./host.ts";
import { fits, isInteger } from "./numbers.ts";
import { FloatValue, isFixedArray, PointerValue, StructValue } from "./values.ts";

type Match = (v: unknown) => boolean;

/** Maps are plain objects and Maps; everything that is Opaque has no members. */
export const isMap = (v: unknown): v is object =>
  typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof Opaque);

const matches = new Map<string, Match>();
/** Keys of structs say where they are declared, so sets that are compiled again and again make new ones. */
const MOST_MATCHES = 2_000;

export function matcher(key: string): Match {
  let match = matches.get(key);
  if (match === undefined) {
    match = make(key, false);
    if (matches.size >= MOST_MATCHES) matches.clear();
    matches.set(key, match);
  }
  return match;
}

/** `inside` = of a typed list or map, where numbers of float types are plain. */
function make(key: string, inside: boolean): Match {
  switch (key) {
    case "any":
      return (v) => v !== null && v !== undefined;
    case "string":
      return (v) => typeof v === "string";
    case "bool":
      return (v) => typeof v === "boolean";
    case "error":
      return (v) => ErrorValue.is(v);
    case "float64":
    case "float32":
      return inside
        ? (v) => typeof v === "number" || FloatValue.is(v)
        : (v) => (typeof v === "number" && !Number.isSafeInteger(v)) || FloatValue.is(v);
    default:
  }
  if (key.startsWith("[]")) {
    const element = make(key.slice(2), true);
    const any = key === "[]any";
    return (v) => Array.isArray(v) && !isFixedArray(v) && (any || v.every(element));
  }
  const array = /^\[(\d+)\]/.exec(key);
  if (array !== null) {
    const element = make(key.slice(array[0].length), true);
    const length = Number(array[1]);
    return (v) => isFixedArray(v) && v.length === length && v.every(element);
  }
  if (key.startsWith("map[")) {
    const end = closing(key, 3);
    const textKeys = key.slice(4, end) === "string";
    const name = key.slice(end + 1);
    const element = make(name, true);
    return (v) =>
      isMap(v) &&
      textKeys === !(v instanceof Map) &&
      (name === "any" || (v instanceof Map ? [...v.values()] : Object.values(v)).every(element));
  }
  if (key.startsWith("*")) {
    const target = make(key.slice(1), true);
    return (v) => PointerValue.is(v) && target(PointerValue.target(v));
  }
  if (key.startsWith("<")) return (v) => StructValue.is(v) && `<${StructValue.id(v)}>` === key;
  if (key.startsWith("{")) return (v) => isMap(v) && (key === "{}" || key === resourceKey(v));
  if (key.startsWith("func(")) return (v) => FunctionValue.is(v);
  return (v) => isInteger(v) && fits(key, v);
}

/** The key of the resource that an object is, `{apiVersion/kind}`. */
const resourceKey = (v: object): string => `{${String(ownMember(v, "apiVersion"))}/${String(ownMember(v, "kind"))}}`;

/** Index of the bracket that closes the one at `open`. */
function closing(key: string, open: number): number {
  let depth = 0;
  for (let i = open; i < key.length; i++) {
    if (key[i] === "[") depth++;
    else if (key[i] === "]" && --depth === 0) return i;
  }
  return key.length;
}
