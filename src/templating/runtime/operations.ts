/** Operators, conversions and types, as emitted code calls them. */
import type { Type } from "../check/types.ts";
import { Budget } from "./budget.ts";
import { TemplateFault } from "./faults.ts";
import { bytesOfText, textOfBytes } from "./bytes.ts";
import { FunctionValue } from "./host.ts";
import { isMap, matcher } from "./matching.ts";
import * as numbers from "./numbers.ts";
import * as text from "./text.ts";
import { copyValue, FloatValue, isFixedArray, numberIn, plainTypeName, PointerValue, StructValue } from "./values.ts";

/** A character's code point; a byte that is no character is U+FFFD. */
export function runeOf(c: string): number {
  const point = c.codePointAt(0)!;
  return point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
}

export abstract class Operations extends Budget {
  // --- text --------------------------------------------------------------------------------------------------------

  show(v: unknown): string {
    return typeof v === "string" ? v : text.show(v);
  }

  text(v: unknown): string {
    return text.textOf(v);
  }

  add(a: unknown, b: unknown): unknown {
    if (numberIn(a) !== undefined && numberIn(b) !== undefined) return numbers.arithmetic("+", a, b);
    return this.cat(text.textOf(a), text.textOf(b));
  }

  toText(v: unknown): string {
    if (typeof v === "bigint") return "\uFFFD";
    if (typeof v === "number" && Number.isInteger(v))
      return v >= 0 && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff) ? String.fromCodePoint(v) : "\uFFFD";
    if (Array.isArray(v)) return this.bytesText(v);
    return this.asString(v);
  }

  /** `string(bytes)`. */
  bytesText(v: unknown): string {
    return textOfBytes(Uint8Array.from(this.#integers(v)));
  }

  runesText(v: unknown): string {
    return this.#integers(v)
      .map((rune) => this.toText(rune))
      .join("");
  }

  #integers(v: unknown): number[] {
    if (v === null) return [];
    if (!Array.isArray(v)) throw new TemplateFault(`cannot convert ${text.kindOf(v)} to string`, "use tostring()");
    this.charge(v.length);
    return Array.from(v as unknown[], (item) => {
      if (typeof item !== "number" || !Number.isInteger(item))
        throw new TemplateFault(`cannot convert a list of ${text.kindOf(item)} to string`, "use join()");
      return item;
    });
  }

  textBytes(v: unknown): unknown {
    if (Array.isArray(v) || v === null) return v;
    const s = this.asString(v);
    this.charge(s.length);
    return [...bytesOfText(s)];
  }

  textRunes(v: unknown): unknown {
    if (Array.isArray(v) || v === null) return v;
    const s = this.asString(v);
    this.charge(s.length);
    return Array.from(s, runeOf);
  }

  byteAt(s: string, i: unknown): number {
    return text.byteAt(s, i);
  }

  compareText(a: string, b: string): number {
    return text.compareText(a, b);
  }

  // --- numbers -----------------------------------------------------------------------------------------------------

  plus(a: numbers.Integer, b: numbers.Integer): numbers.Integer {
    return numbers.plus(a, b);
  }

  minus(a: numbers.Integer, b: numbers.Integer): numbers.Integer {
    return numbers.minus(a, b);
  }

  multiply(a: numbers.Integer, b: numbers.Integer): numbers.Integer {
    return numbers.multiply(a, b);
  }

  divide(a: numbers.Integer, b: numbers.Integer): numbers.Integer {
    return numbers.divide(a, b);
  }

  modulo(a: numbers.Integer, b: numbers.Integer): numbers.Integer {
    return numbers.modulo(a, b);
  }

  bits(op: string, a: numbers.Integer, b: unknown): numbers.Integer {
    return numbers.bits(op, a, this.asInt(b));
  }

  sized(type: string, op: string, a: numbers.Integer, b: unknown): numbers.Integer {
    return numbers.sized(type, op, a, this.asInt(b));
  }

  arithmetic(op: string, a: unknown, b: unknown): unknown {
    return numbers.arithmetic(op, a, b);
  }

  unary(op: string, x: unknown): unknown {
    return numbers.unary(op, x);
  }

  /** A float64 on its way into an any. */
  float(v: number): unknown {
    return FloatValue.of(v);
  }

  single(v: number): number {
    return Math.fround(v);
  }

  toInteger(v: unknown, type: string): numbers.Integer {
    return numbers.toInteger(v, type);
  }

  toFloat(v: unknown): number {
    const number = numberIn(v);
    if (number !== undefined) return Number(number);
    throw new TemplateFault(`cannot convert ${text.kindOf(v)} to float64`, "use tofloat()");
  }

  // --- types -------------------------------------------------------------------------------------------------------

  #wrong(v: unknown, wanted: string, hint: string): never {
    throw new TemplateFault(`cannot use a value of type ${text.kindOf(v)} as ${wanted}`, hint);
  }

  asString(v: unknown): string {
    if (typeof v === "string") return v;
    if (v === null) return "";
    return this.#wrong(v, "string", "convert with tostring()");
  }

  asInt(v: unknown): numbers.Integer {
    if (typeof v === "number" && Number.isSafeInteger(v)) return v;
    if (v === null) return 0;
    if (typeof v === "bigint") return v;
    if (numberIn(v) !== undefined) return numbers.toInteger(v, "int");
    return this.#wrong(v, "int", "convert with toint()");
  }

  asFloat(v: unknown): number {
    if (typeof v === "number") return v;
    if (v === null) return 0;
    const number = numberIn(v);
    return number === undefined ? this.#wrong(v, "float64", "convert with tofloat()") : Number(number);
  }

  asBool(v: unknown): boolean {
    if (typeof v === "boolean") return v;
    if (v === null) return false;
    return this.#wrong(v, "bool", "compare it, or use not not");
  }

  asSlice(v: unknown): unknown {
    if (v === null || Array.isArray(v)) return v;
    return this.#wrong(v, "a slice", "convert with toSlice()");
  }

  asMap(v: unknown): unknown {
    if (v === null || isMap(v)) return v;
    return this.#wrong(v, "a map", "check with a type assertion: m, ok := x.(map[string]any)");
  }

  asFunc(v: unknown): unknown {
    if (v === null || FunctionValue.is(v)) return v;
    return this.#wrong(v, "a function", "pass a function literal or a lambda");
  }

  asPointer(v: unknown, type: string): unknown {
    if (v === null || matcher(type)(v)) return v;
    return this.#wrong(v, plainTypeName(type), "take its address with &");
  }

  /** Checks a value against a parameter's type; nil gives the zero value. */
  checkType(v: unknown, type: Type): unknown {
    switch (type.kind) {
      case "slice":
        return this.asSlice(v);
      case "map":
        return this.asMap(v);
      case "func":
        return this.asFunc(v);
      case "basic":
        if (type.name === "string") return this.asString(v);
        if (type.name === "bool") return this.asBool(v);
        return type.name.startsWith("float") ? this.asFloat(v) : this.asInt(v);
      default:
        return this.plain(v);
    }
  }

  is(v: unknown, type: string): boolean {
    return matcher(type)(v);
  }

  assert(v: unknown, type: string): unknown {
    if (matcher(type)(v)) return type.startsWith("float") ? this.asFloat(v) : v;
    throw new TemplateFault(
      `interface conversion: any is ${text.kindOf(v)}, not ${plainTypeName(type)}`,
      `use the form v, ok := x.(${plainTypeName(type)})`,
    );
  }

  assertOk(v: unknown, type: string, zero: unknown): [unknown, boolean] {
    if (!matcher(type)(v)) return [zero, false];
    return [type.startsWith("float") ? this.asFloat(v) : v, true];
  }

  /** A resource's value, or nil when it is a zero value: an object is one when all its members are. */
  nonZero(v: unknown): unknown {
    return isZero(v) ? null : v;
  }

  truthy(v: unknown): boolean {
    switch (typeof v) {
      case "boolean":
        return v;
      case "string":
        return v !== "";
      case "number":
        return v !== 0;
      case "bigint":
        return true;
      default:
    }
    if (v === null || v === undefined) return false;
    if (Array.isArray(v)) return isFixedArray(v) ? v.some((item) => this.truthy(item)) : v.length > 0;
    if (v instanceof Map) return v.size > 0;
    if (FloatValue.is(v)) return FloatValue.number(v) !== 0;
    if (StructValue.is(v)) return Object.values(v).some((field) => this.truthy(field));
    return isMap(v) ? this.members(v) > 0 : true;
  }

  /** How many members a map has: they are listed for it. */
  protected members(map: object): number {
    const { length } = Object.keys(map);
    this.charge(length >> 2);
    return length;
  }

  same(a: unknown, b: unknown): boolean {
    return numbers.same(a, b);
  }

  equal(a: unknown, b: unknown): boolean {
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return numbers.same(a, b);
    if (FloatValue.is(a) || FloatValue.is(b)) return numbers.same(a, b);
    if (PointerValue.is(a) || PointerValue.is(b)) return a === b;
    if (StructValue.is(a) && StructValue.is(b)) {
      if (StructValue.id(a) !== StructValue.id(b)) return false;
      const others = Object.values(b);
      // All fields are compared, so that an uncomparable one is told whatever the others are.
      return Object.values(a)
        .map((field, i) => this.equal(field, others[i]))
        .every(Boolean);
    }
    if (isFixedArray(a) && isFixedArray(b))
      return a.length === b.length && a.map((item, i) => this.equal(item, b[i])).every(Boolean);
    if (StructValue.is(a) || StructValue.is(b)) return false;
    return this.#uncomparable(a);
  }

  #uncomparable(v: object): never {
    throw new TemplateFault(`comparing uncomparable type ${text.kindOf(v)}`, "compare members, or toJSON() of both");
  }

  compare(a: unknown, b: unknown): number {
    const x = numberIn(a);
    const y = numberIn(b);
    // NaN is neither less nor greater nor equal: the result is none of -1, 0 and 1.
    if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : x == y ? 0 : Number.NaN; // oxlint-disable-line eqeqeq -- forms of numbers
    if (typeof a === "string" && typeof b === "string") return text.compareText(a, b);
    throw new TemplateFault(
      `cannot order ${text.kindOf(a)} and ${text.kindOf(b)}`,
      "convert both with toint() or tostring()",
    );
  }

  // --- structs and pointers ----------------------------------------------------------------------------------------

  struct(id: string, fields: object): StructValue {
    return new StructValue(id, fields);
  }

  copy(v: unknown): unknown {
    return typeof v === "object" ? copyValue(v) : v;
  }

  setField(struct: unknown, name: string, value: unknown): void {
    if (!StructValue.is(struct)) throw new TemplateFault(`cannot assign to a field of ${text.kindOf(struct)}`);
    (struct as unknown as Record<string, unknown>)[name] = value;
  }

  pointer(get: () => unknown, set: (value: unknown) => void): PointerValue {
    return new PointerValue(get, set);
  }

  /** A pointer to a value of its own. */
  cell(value: unknown): PointerValue {
    let held = value;
    return new PointerValue(
      () => held,
      (next) => {
        held = next;
      },
    );
  }

  deref(pointer: unknown): unknown {
    return PointerValue.target(pointer);
  }

  setTarget(pointer: unknown, value: unknown): void {
    PointerValue.set(pointer, value);
  }

  /** `*x` of an any. */
  target(v: unknown): unknown {
    return PointerValue.is(v) ? PointerValue.target(v) : v;
  }

  /** An argument as natives and the host take it: floats as plain numbers, what a pointer points to. */
  plain(v: unknown): unknown {
    if (typeof v !== "object" || v === null) return v;
    if (FloatValue.is(v)) return FloatValue.number(v);
    return PointerValue.is(v) ? PointerValue.target(v) : v;
  }
}

/** Whether nothing but zeros, empty texts and nil is in a value of a resource. An empty slice is not nothing. */
function isZero(v: unknown): boolean {
  if (v === null || v === undefined || v === "" || v === 0 || v === false) return true;
  return isMap(v) && !(v instanceof Map) && Object.values(v).every(isZero);
}
