/**
 * Integer arithmetic, exact to 64 bits. An integer is a JavaScript number where that is exact (up to 2^53) and a BigInt
 * beyond; results are brought to the shorter form, so that equal integers are equal values. Results outside their type
 * wrap around.
 */
import { TemplateFault } from "./faults.ts";
import { kindOf } from "./text.ts";
import { FloatValue, numberIn } from "./values.ts";

export type Integer = number | bigint;

const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/** The shorter form of an integer. */
export function short(v: bigint): Integer {
  return v <= MAX_SAFE && v >= -MAX_SAFE ? Number(v) : v;
}

const wrap = (v: bigint): Integer => short(BigInt.asIntN(64, v));

/** Numbers beyond 2^53 that are no BigInt came as floats. */
export const isInteger = (v: unknown): v is Integer => typeof v === "bigint" || Number.isSafeInteger(v);

export function plus(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (sum <= MAX_SAFE && sum >= -MAX_SAFE) return sum;
  }
  return wrap(BigInt(a) + BigInt(b));
}

export function minus(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (difference <= MAX_SAFE && difference >= -MAX_SAFE) return difference;
  }
  return wrap(BigInt(a) - BigInt(b));
}

export function multiply(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (product <= MAX_SAFE && product >= -MAX_SAFE) return product;
  }
  return wrap(BigInt(a) * BigInt(b));
}

const byZero = (): never => {
  throw new TemplateFault("integer divide by zero");
};

export function divide(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") return b === 0 ? byZero() : Math.trunc(a / b);
  return b === 0 ? byZero() : wrap(BigInt(a) / BigInt(b));
}

export function modulo(a: Integer, b: Integer): Integer {
  if (typeof a === "number" && typeof b === "number") return b === 0 ? byZero() : a % b;
  return b === 0 ? byZero() : short(BigInt(a) % BigInt(b));
}

function exact(op: string, x: bigint, y: bigint): bigint {
  switch (op) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "&":
      return x & y;
    case "|":
      return x | y;
    case "^":
      return x ^ y;
    case "&^":
      return x & ~y;
    case "<<":
    case ">>": {
      if (y < 0n) throw new TemplateFault("negative shift amount");
      const by = y > 64n ? 64n : y;
      return op === "<<" ? x << by : x >> by;
    }
    default:
      if (y === 0n) throw new TemplateFault("integer divide by zero");
      return op === "/" ? x / y : x % y;
  }
}

export function bits(op: string, a: Integer, b: Integer): Integer {
  // JavaScript's own operators do for 32 bits.
  if (typeof a === "number" && typeof b === "number" && a === (a | 0) && b === (b | 0)) {
    if (op === "&") return a & b;
    if (op === "|") return a | b;
    if (op === "^") return a ^ b;
    if (op === "&^") return a & ~b;
    if (op === "<<" && b >= 0 && b < 22) return a * 2 ** b;
    if (op === ">>" && b >= 0 && b < 32) return a >> b;
  }
  return wrap(exact(op, BigInt(a), BigInt(b)));
}

/** Width in bits, negative for signed types. */
const WIDTHS: Readonly<Record<string, number>> = {
  int8: -8,
  int16: -16,
  int32: -32,
  int: -64,
  int64: -64,
  uint8: 8,
  uint16: 16,
  uint32: 32,
  uint: 64,
  uint64: 64,
};

/** An integer brought into its type's range, by wrapping. */
export function fit(type: string, v: bigint): Integer {
  const width = WIDTHS[type] ?? -64;
  return short(width < 0 ? BigInt.asIntN(-width, v) : BigInt.asUintN(width, v));
}

/** Whether an integer is in its type's range. */
export function fits(type: string, v: Integer): boolean {
  return fit(type, BigInt(v)) === v;
}

/** An operator on a type other than int and int64. */
export function sized(type: string, op: string, a: Integer, b: Integer): Integer {
  return fit(type, exact(op, BigInt(a), BigInt(b)));
}

/** `int(x)` and the like: floats are truncated, integers wrap. */
export function toInteger(v: unknown, type: string): Integer {
  const number = numberIn(v);
  if (number === undefined) throw new TemplateFault(`cannot convert ${kindOf(v)} to ${type}`, "use toint()");
  if (typeof number === "bigint") return fit(type, number);
  if (Number.isSafeInteger(number) && (type === "int" || type === "int64")) return number;
  // As on amd64: what no integer can hold becomes the least one.
  if (!Number.isFinite(number) || Math.abs(number) >= 2 ** 64) return fit(type, -(2n ** 63n));
  return fit(type, BigInt(Math.trunc(number)));
}

/** An operator on values whose types are only known now. Whole numbers are integers, unless they came as floats. */
export function arithmetic(op: string, a: unknown, b: unknown): unknown {
  if (isInteger(a) && isInteger(b)) {
    switch (op) {
      case "+":
        return plus(a, b);
      case "-":
        return minus(a, b);
      case "*":
        return multiply(a, b);
      case "/":
        return divide(a, b);
      case "%":
        return modulo(a, b);
      default:
        return bits(op, a, b);
    }
  }
  const x = numberIn(a);
  const y = numberIn(b);
  if (x === undefined || y === undefined)
    throw new TemplateFault(
      `operator ${op} not defined on ${kindOf(a)} and ${kindOf(b)}`,
      "convert with toint() or tofloat()",
    );
  return FloatValue.of(floats(op, Number(x), Number(y)));
}

function floats(op: string, x: number, y: number): number {
  switch (op) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "/":
      return x / y;
    default:
      throw new TemplateFault(`operator ${op} not defined on float64`);
  }
}

export function unary(op: string, x: unknown): unknown {
  if (isInteger(x)) return op === "-" ? minus(0, x) : op === "^" ? bits("^", x, -1) : x;
  const number = numberIn(x);
  if (number === undefined || op === "^") throw new TemplateFault(`operator ${op} not defined on ${kindOf(x)}`);
  return op === "-" ? FloatValue.of(-Number(number)) : x;
}

/** Equality of values of which one at least is a number: by value, whatever their types. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const x = numberIn(a);
  // oxlint-disable-next-line eqeqeq -- a BigInt equals the float of its value
  return x !== undefined && x == numberIn(b);
}
