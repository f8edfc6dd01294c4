/** Untyped constants are exact: whole numbers of any size, and fractions of two whole numbers. */

export type Constant = string | bigint | Fraction | boolean;

/** Numerators and denominators of more bits than this are refused. */
const MAX_BITS = 4096;

/** A floating-point constant. The denominator is positive and the fraction reduced. */
export class Fraction {
  readonly n: bigint;
  readonly d: bigint;

  constructor(n: bigint, d = 1n) {
    const sign = d < 0n ? -1n : 1n;
    let [a, b] = [n < 0n ? -n : n, d * sign];
    while (b !== 0n) [a, b] = [b, a % b];
    const divisor = a === 0n ? 1n : a;
    this.n = (n * sign) / divisor;
    this.d = (d * sign) / divisor;
  }

  static of(value: bigint | Fraction): Fraction {
    return typeof value === "bigint" ? new Fraction(value) : value;
  }

  /** The exact value of a double; undefined for infinities and NaN. */
  static fromNumber(value: number): Fraction | undefined {
    if (!Number.isFinite(value)) return undefined;
    let d = 1n;
    let v = value;
    while (!Number.isInteger(v)) {
      v *= 2;
      d *= 2n;
    }
    return new Fraction(BigInt(v), d);
  }

  get whole(): bigint | undefined {
    return this.d === 1n ? this.n : undefined;
  }

  get tooLarge(): boolean {
    return bits(this.n) > MAX_BITS || bits(this.d) > MAX_BITS;
  }

  /** The nearest double, ties to even. */
  toNumber(): number {
    if (this.n === 0n) return 0;
    const n = this.n < 0n ? -this.n : this.n;
    // A quotient of more than 64 bits whose last bit stands for the rest rounds as the exact value does.
    const shift = Math.max(0, 66 - (bits(n) - bits(this.d)));
    const quotient = (n << BigInt(shift)) / this.d;
    const exact = quotient * this.d === n << BigInt(shift);
    const rounded = Number(exact ? quotient : quotient | 1n);
    const half = shift >> 1;
    const value = rounded * 2 ** -half * 2 ** -(shift - half);
    return this.n < 0n ? -value : value;
  }
}

function bits(v: bigint): number {
  return v === 0n ? 0 : (v < 0n ? -v : v).toString(16).length * 4;
}

/** A literal's whole number. */
export function parseInteger(text: string): bigint {
  const digits = text.replaceAll("_", "");
  return /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
}

/** A literal's fraction; undefined when its exponent is beyond all reason. */
export function parseFloat_(text: string): Fraction | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text.replaceAll("_", "")) ?? [];
  const scale = Number(exponent) - fraction.length;
  if (Math.abs(scale) > 1000) return undefined;
  const digits = BigInt(whole + fraction || "0");
  return scale >= 0 ? new Fraction(digits * 10n ** BigInt(scale)) : new Fraction(digits, 10n ** BigInt(-scale));
}

/** The value of an operation on two numeric constants; undefined where the operator has none, "large" beyond all bounds. */
export function foldNumbers(op: string, a: Constant, b: Constant): bigint | Fraction | undefined | "large" {
  if (typeof a === "bigint" && typeof b === "bigint") {
    if ((op === "<<" || op === ">>") && (b < 0n || b > 1000n)) return b < 0n ? undefined : "large";
    const value = foldIntegers(op, a, b);
    return value !== undefined && bits(value) > 516 ? "large" : value;
  }
  if (typeof a === "string" || typeof a === "boolean" || typeof b === "string" || typeof b === "boolean")
    return undefined;
  const x = Fraction.of(a);
  const y = Fraction.of(b);
  let value: Fraction | undefined;
  if (op === "+") value = new Fraction(x.n * y.d + y.n * x.d, x.d * y.d);
  else if (op === "-") value = new Fraction(x.n * y.d - y.n * x.d, x.d * y.d);
  else if (op === "*") value = new Fraction(x.n * y.n, x.d * y.d);
  else if (op === "/" && y.n !== 0n) value = new Fraction(x.n * y.d, x.d * y.n);
  return value?.tooLarge === true ? "large" : value;
}

function foldIntegers(op: string, a: bigint, b: bigint): bigint | undefined {
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return b === 0n ? undefined : a / b;
    case "%":
      return b === 0n ? undefined : a % b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    case "&^":
      return a & ~b;
    case "<<":
      return a << b;
    case ">>":
      return a >> b;
    default:
      return undefined;
  }
}

/** -1, 0 or 1. */
export function compareNumbers(a: bigint | Fraction, b: bigint | Fraction): number {
  const x = Fraction.of(a);
  const y = Fraction.of(b);
  const left = x.n * y.d;
  const right = y.n * x.d;
  return left < right ? -1 : left > right ? 1 : 0;
}
