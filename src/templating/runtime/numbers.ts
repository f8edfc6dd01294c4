/**
 * Integer arithmetic. Integers are JavaScript numbers, exact to 2^53; products and bit operations go through 64-bit
 * arithmetic, so that they wrap as in Go. A representation that is exact to 64 bits would change this file and the
 * integer operators of check/operators.ts, nothing else.
 */
import { TemplateFault } from "./faults.ts";
import { kindOf } from "./text.ts";

const wrap = (v: bigint): number => Number(BigInt.asIntN(64, v));

export function multiply(a: number, b: number): number {
  const product = a * b;
  return Number.isSafeInteger(product) || !Number.isInteger(a) || !Number.isInteger(b)
    ? product
    : wrap(BigInt(a) * BigInt(b));
}

export function divide(a: number, b: number): number {
  if (b === 0) throw new TemplateFault("integer divide by zero");
  return Math.trunc(a / b);
}

export function modulo(a: number, b: number): number {
  if (b === 0) throw new TemplateFault("integer divide by zero");
  return a % b;
}

export function bits(op: string, a: number, b: number): number {
  const x = BigInt(Math.trunc(a));
  const y = BigInt(Math.trunc(b));
  switch (op) {
    case "&":
      return wrap(x & y);
    case "|":
      return wrap(x | y);
    case "^":
      return wrap(x ^ y);
    case "&^":
      return wrap(x & ~y);
    default: {
      if (y < 0n) throw new TemplateFault("negative shift amount");
      const by = y > 64n ? 64n : y;
      return wrap(op === "<<" ? x << by : x >> by);
    }
  }
}

/** An operator on values whose types are only known now: whole numbers are integers. */
export function arithmetic(op: string, a: unknown, b: unknown): number {
  if (typeof a !== "number" || typeof b !== "number")
    throw new TemplateFault(
      `operator ${op} not defined on ${kindOf(a)} and ${kindOf(b)}`,
      "convert with toint() or tofloat()",
    );
  const integers = Number.isInteger(a) && Number.isInteger(b);
  switch (op) {
    case "-":
      return a - b;
    case "*":
      return multiply(a, b);
    case "/":
      return integers ? divide(a, b) : a / b;
    case "%":
      if (!integers) throw new TemplateFault("operator % not defined on float64");
      return modulo(a, b);
    default:
      return bits(op, a, b);
  }
}

export function unary(op: string, x: unknown): number {
  if (typeof x !== "number") throw new TemplateFault(`operator ${op} not defined on ${kindOf(x)}`);
  return op === "-" ? -x : op === "^" ? bits("^", x, -1) : x;
}
