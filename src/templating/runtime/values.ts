/** Values that plain JavaScript has no kind for: whole floats in an any, structs, pointers. Opaque to reads by name. */
import { TemplateFault } from "./faults.ts";
import { ownMember, setMember } from "./guards.ts";
import { Opaque } from "./host.ts";

/** A whole float64 in an any, where a plain number would be an int. Fractions are plain numbers. */
export class FloatValue extends Opaque {
  readonly #value: number;

  constructor(value: number) {
    super();
    this.#value = value;
    Object.freeze(this);
  }

  static is(value: unknown): value is FloatValue {
    return typeof value === "object" && value !== null && #value in value;
  }

  static number(value: FloatValue): number {
    return value.#value;
  }

  /** A float as an any holds it. */
  static of(value: number): number | FloatValue {
    return Number.isInteger(value) ? new FloatValue(value) : value;
  }
}

/** The number that a value is, if it is one: int, big int or float. */
export function numberIn(v: unknown): number | bigint | undefined {
  if (typeof v === "number" || typeof v === "bigint") return v;
  return FloatValue.is(v) ? FloatValue.number(v) : undefined;
}

/** A struct's fields are own members in the order of their declaration. */
export class StructValue extends Opaque {
  readonly #id: string;

  constructor(id: string, fields: object) {
    super();
    this.#id = id;
    for (const name of Object.keys(fields)) setMember(this, name, ownMember(fields, name));
    Object.seal(this);
  }

  static is(value: unknown): value is StructValue {
    return typeof value === "object" && value !== null && #id in value;
  }

  static id(value: StructValue): string {
    return value.#id;
  }

  /** The type's name without the place of its declaration. */
  static typeName(value: StructValue): string {
    return plainTypeName(`<${value.#id}>`);
  }
}

/** A type key as an author wrote it: `[]<T@file:5>` is `[]T`. */
export function plainTypeName(key: string): string {
  return key.replace(/@[^<>;{}]*:\d+/g, "").replace(/[<>]/g, "");
}

export class PointerValue extends Opaque {
  readonly #get: () => unknown;
  readonly #set: (value: unknown) => void;

  constructor(get: () => unknown, set: (value: unknown) => void) {
    super();
    this.#get = get;
    this.#set = set;
    Object.freeze(this);
  }

  static is(value: unknown): value is PointerValue {
    return typeof value === "object" && value !== null && #get in value;
  }

  static target(value: unknown): unknown {
    if (!PointerValue.is(value)) throw new TemplateFault("invalid memory address or nil pointer dereference");
    return value.#get();
  }

  static set(value: unknown, target: unknown): void {
    if (!PointerValue.is(value)) throw new TemplateFault("invalid memory address or nil pointer dereference");
    value.#set(target);
  }
}

const fixed = new WeakSet<object>();

/** Marks a list as an array of fixed length, which is copied where a slice is shared. */
export function fixedArray(list: unknown[]): unknown[] {
  fixed.add(list);
  return list;
}

export const isFixedArray = (v: unknown): v is unknown[] => typeof v === "object" && v !== null && fixed.has(v);

/** A value's own copy: structs and arrays with what they have inside; everything else is shared. */
export function copyValue(v: unknown): unknown {
  if (StructValue.is(v)) {
    const copy = new StructValue(StructValue.id(v), v);
    for (const [name, field] of Object.entries(v))
      if (typeof field === "object" && field !== null) setMember(copy, name, copyValue(field));
    return copy;
  }
  return isFixedArray(v) ? fixedArray(v.map(copyValue)) : v;
}
