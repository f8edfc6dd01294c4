/** Which names emitted code may read in place. */

const BUILT_INS = [
  Object,
  Array,
  String,
  Number,
  Boolean,
  Function,
  Symbol,
  BigInt,
  Map,
  Set,
  Promise,
  RegExp,
  Date,
  Error,
  ArrayBuffer,
];

/** Names that some built-in prototype or promise-like value answers to: such members are read by a guarded helper only. */
export const hostileNames: ReadonlySet<string> = new Set(
  [
    ...BUILT_INS.flatMap((constructor) => Object.getOwnPropertyNames(constructor.prototype)),
    "then",
    "toJSON",
    "caller",
    "callee",
    "arguments",
    "prototype",
    // Functions and errors answer to these, with a mere text. No value of a template is one, and members often have them.
  ].filter((name) => name !== "name" && name !== "message"),
);

const has = (object: object, key: string): boolean => Object.hasOwn(object, key);

/** Reads an own member of a plain object; undefined when there is none. */
export function ownMember(object: object, key: string): unknown {
  // What the prototype answers to is rare: most reads need no second look. Reading __proto__ itself may throw.
  if (key === "__proto__") return has(object, key) ? (object as Record<string, unknown>)[key] : undefined;
  const value = (object as Record<string, unknown>)[key];
  return value === undefined || has(object, key) ? value : undefined;
}

/** Writes an own member, whatever its name: prototypes are frozen, so an inherited name cannot just be assigned. */
export function setMember(object: object, key: string, value: unknown): void {
  if (key in object && !has(object, key))
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else (object as Record<string, unknown>)[key] = value;
}
