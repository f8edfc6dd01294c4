/** Operators, conversions and zero values of the oracle, on pairs of a value and its static type. */
import {
  ANY,
  BOOL,
  bounded,
  bytes,
  Composite,
  decimal,
  equal,
  FLOAT,
  fromBytes,
  Func,
  INT,
  isNumber,
  order,
  Pointer,
  settle,
  Slice,
  Stop,
  STRING,
  Table,
  text,
  truth,
  wrap,
  type Type,
  type Value,
} from "./values.ts";

/** A value with what is known of its type before the program runs. */
export interface Typed {
  readonly v: Value;
  readonly t: Type;
  /** All results of a call that gives several. */
  readonly all?: readonly Typed[];
}

export const isString = (t: Type): boolean => t.k === "string" || (t.k === "untyped" && t.of === "string");
export const isFloat = (t: Type): boolean => t.k === "float" || (t.k === "untyped" && t.of === "float");
export const isInt = (t: Type): boolean => t.k === "int" || (t.k === "untyped" && (t.of === "int" || t.of === "rune"));
const isBool = (t: Type): boolean => t.k === "bool" || (t.k === "untyped" && t.of === "bool");
const isNumeric = (t: Type): boolean => isInt(t) || isFloat(t);

/** The type a variable takes from a value without a type of its own. */
export function defaultType(t: Type): Type {
  if (t.k === "nil" || t.k === "void") return ANY;
  if (t.k !== "untyped") return t;
  if (t.of === "int") return INT;
  if (t.of === "rune") return { k: "int", name: "int32" };
  return t.of === "float" ? FLOAT : t.of === "string" ? STRING : BOOL;
}

export function zero(t: Type): Value {
  if (isString(t)) return "";
  if (isInt(t)) return 0n;
  if (isFloat(t)) return 0;
  if (t.k === "struct") return new Composite([...t.fields].map(([name, field]) => [name, zero(field)]));
  if (t.k === "array") return new Composite(Array.from({ length: t.n }, (_, i) => [BigInt(i), zero(t.e)]));
  return isBool(t) ? false : null;
}

const BITS: Readonly<Record<string, readonly [bits: number, signed: boolean]>> = {
  int: [64, true],
  int64: [64, true],
  int32: [32, true],
  int16: [16, true],
  int8: [8, true],
  uint: [64, false],
  uint64: [64, false],
  uint32: [32, false],
  uint16: [16, false],
  uint8: [8, false],
};

/** An integer cut to its type's size. */
export function fit(v: bigint, t: Type): bigint {
  const [size, signed] = BITS[t.k === "int" ? t.name : "int"]!;
  return signed ? BigInt.asIntN(size, v) : BigInt.asUintN(size, v);
}

/** A value on its way into a place of type `to`: an `any` must hold it, nil gives the zero value. */
export function convert(x: Typed, to: Type): Value {
  if (to.k === "any" || to.k === "error" || to.k === "host" || to.k === "void") return x.v;
  if (isFloat(to) && typeof x.v === "bigint") return Number(x.v);
  if (isInt(to) && x.t.k === "untyped" && typeof x.v === "number") return BigInt(x.v);
  if (isInt(to) && typeof x.v === "bigint") return fit(x.v, to);
  if (x.t.k !== "any") return x.v;
  if (x.v === null) return zero(to);
  const held = x.v;
  const fits =
    (isString(to) && typeof held === "string") ||
    (isInt(to) && isNumber(held)) ||
    (isFloat(to) && isNumber(held)) ||
    (isBool(to) && typeof held === "boolean") ||
    (to.k === "slice" && held instanceof Slice) ||
    (to.k === "map" && held instanceof Table) ||
    (to.k === "func" && held instanceof Func) ||
    ((to.k === "array" || to.k === "struct") && held instanceof Composite) ||
    (to.k === "pointer" && held instanceof Pointer);
  if (!fits) throw new Stop("type", "cannot use a value of this type here");
  if (isInt(to)) return typeof held === "bigint" ? fit(held, to) : BigInt(Math.trunc(held as number));
  return isFloat(to) ? Number(held) : held;
}

/** `T(x)` */
export function conversion(to: Type, x: Typed): Typed {
  if (isInt(to)) {
    const { v } = x;
    if (typeof v === "bigint") return { v: fit(v, to), t: to };
    if (typeof v === "number") return { v: fit(BigInt(Math.trunc(v)), to), t: to };
    throw new Stop("type", "cannot convert to an integer");
  }
  if (isFloat(to)) {
    if (isNumber(x.v)) return { v: Number(x.v), t: to };
    throw new Stop("type", "cannot convert to a float");
  }
  if (isString(to) && x.v instanceof Slice) {
    const items = x.v.items.map(Number);
    const runes = x.t.k === "slice" && x.t.e.k === "int" && x.t.e.name === "int32";
    return { v: runes ? String.fromCodePoint(...items) : fromBytes(Buffer.from(items)), t: to };
  }
  if (to.k === "slice" && to.e.k === "int" && typeof x.v === "string") {
    const items = to.e.name === "int32" ? [...x.v].map((c) => c.codePointAt(0)!) : [...bytes(x.v)];
    return { v: new Slice(items.map(BigInt)), t: to };
  }
  if (isString(to)) {
    const { v } = x;
    if (typeof v === "bigint") {
      const valid = v >= 0n && v <= 0x10ffffn && !(v >= 0xd800n && v <= 0xdfffn);
      return { v: valid ? String.fromCodePoint(Number(v)) : "\uFFFD", t: to };
    }
    return { v: convert({ v, t: x.t }, to), t: to };
  }
  return { v: convert(x, to), t: to };
}

export function concatenate(a: Value, b: Value): string {
  const [left, right] = [text(a), text(b)];
  bounded(left.length + right.length);
  // Bytes that are no text alone may be text together.
  return /[\udc80-\udcff]/.test(left + right) ? fromBytes(Buffer.concat([bytes(left), bytes(right)])) : left + right;
}

function integers(op: string, a: bigint, b: bigint): bigint {
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
    case "%":
      if (b === 0n) throw new Stop("division", "integer divide by zero");
      return op === "/" ? a / b : a % b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    case "&^":
      return a & ~b;
    case "<<":
    case ">>":
      if (b < 0n) throw new Stop("type", "negative shift amount");
      if (op === ">>") return a >> (b > 64n ? 64n : b);
      return b > 64n ? 0n : a << b;
    default:
      throw new Stop("unsupported", `operator ${op}`);
  }
}

function floats(op: string, a: number, b: number): number {
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    default:
      throw new Stop("type", `operator ${op} not defined on float64`);
  }
}

export function arithmetic(op: string, left: Typed, right: Typed): Typed {
  if (op === "+" && (isString(left.t) || isString(right.t)))
    return { v: concatenate(left.v, right.v), t: left.t.k === "untyped" && right.t.k === "untyped" ? left.t : STRING };
  if (isNumeric(left.t) && isNumeric(right.t)) {
    const shift = op === "<<" || op === ">>";
    let t: Type;
    if (shift || left.t.k !== "untyped") t = left.t;
    else if (right.t.k !== "untyped") t = right.t;
    else if (isFloat(left.t) || isFloat(right.t)) t = { k: "untyped", of: "float" };
    else t = left.t.of === "rune" || (right.t as { of: string }).of === "rune" ? { k: "untyped", of: "rune" } : left.t;
    if (isFloat(t)) return { v: floats(op, Number(left.v), Number(right.v)), t };
    const [a, b] = [left.v as bigint, right.v as bigint];
    const v = integers(op, a, b);
    if (t.k === "untyped") return { v, t };
    return { v: fit(v, t), t };
  }
  // An `any` is involved: what are not two numbers is put together as text.
  const [a, b] = [left.v, right.v];
  if (isNumber(a) && isNumber(b)) {
    if (typeof a === "bigint" && typeof b === "bigint") return { v: wrap(integers(op, a, b)), t: ANY };
    return { v: floats(op, Number(a), Number(b)), t: ANY };
  }
  if (op === "+") return { v: concatenate(left.v, right.v), t: ANY };
  throw new Stop("type", `operator ${op} not defined on these values`);
}

export function unary(op: string, x: Typed): Typed {
  switch (op) {
    case "not":
    case "!":
      return { v: !truth(x.v), t: BOOL };
    case "-":
    case "+":
    case "^": {
      const { v } = x;
      if (typeof v === "bigint") {
        const result = op === "-" ? -v : op === "^" ? ~v : v;
        return { v: x.t.k === "untyped" ? result : fit(result, x.t), t: x.t };
      }
      if (typeof v === "number" && op !== "^") return { v: op === "-" ? -v : v, t: x.t };
      throw new Stop("type", `operator ${op} not defined on this value`);
    }
    default:
      return x;
  }
}

export function comparison(op: string, left: Typed, right: Typed): Typed {
  if (left.t.k === "nil" || right.t.k === "nil") {
    const other = left.t.k === "nil" ? right.v : left.v;
    return { v: (other === null) === (op === "=="), t: BOOL };
  }
  if (op === "==" || op === "!=") return { v: equal(left.v, right.v) === (op === "=="), t: BOOL };
  if (isFloat(left.t) && isFloat(right.t)) {
    const [x, y] = [Number(left.v), Number(right.v)];
    return { v: op === "<" ? x < y : op === "<=" ? x <= y : op === ">" ? x > y : x >= y, t: BOOL };
  }
  const c = order(left.v, right.v);
  return { v: op === "<" ? c < 0 : op === "<=" ? c <= 0 : op === ">" ? c > 0 : c >= 0, t: BOOL };
}

export function contains(container: Value, item: Value): boolean {
  const wanted = settle(item);
  if (container === null) return false;
  if (typeof container === "string") {
    if (typeof wanted === "bigint") return container.includes(String.fromCodePoint(Number(wanted)));
    if (typeof wanted === "string") return bytes(container).includes(bytes(wanted));
    throw new Stop("type", "contains on a string");
  }
  if (container instanceof Slice)
    return container.items.some((own) =>
      typeof own === "object" || typeof wanted === "object" ? own === wanted : settle(own) === wanted,
    );
  if (container instanceof Table)
    return container.find(typeof wanted === "number" ? decimal(wanted) : wanted) !== undefined;
  throw new Stop("type", "contains");
}
