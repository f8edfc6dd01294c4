/** Operators, conversions and truth. All integer arithmetic is emitted here, so that its range is decided in one place. */
import { literal, type Code } from "../emit/code.ts";
import type { Constant, Value } from "./scope.ts";
import {
  ANY,
  assignable,
  BOOL,
  defaultType,
  isBool,
  isFloat,
  isInteger,
  isNil,
  isNumber,
  isString,
  STRING,
  typeName,
  zeroOf,
  type Type,
} from "./types.ts";
import { UnitContext } from "./unit.ts";

const MAX_INT = 2n ** 63n - 1n;
const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ["int", [-MAX_INT - 1n, MAX_INT]],
  ["int64", [-MAX_INT - 1n, MAX_INT]],
  ["int32", [-(2n ** 31n), 2n ** 31n - 1n]],
  ["int16", [-32768n, 32767n]],
  ["int8", [-128n, 127n]],
  ["uint", [0n, 2n ** 64n - 1n]],
  ["uint64", [0n, 2n ** 64n - 1n]],
  ["uint32", [0n, 2n ** 32n - 1n]],
  ["uint16", [0n, 65535n]],
  ["uint8", [0n, 255n]],
]);

/** JavaScript text of a constant. */
export function constantCode(value: Constant): string {
  if (typeof value === "string") return literal(value);
  if (typeof value === "bigint") return value < 0n ? `(${value})` : String(value);
  if (typeof value === "number")
    return Number.isFinite(value)
      ? value < 0 || Object.is(value, -0)
        ? `(${value})`
        : String(value)
      : `$.infinity(${value > 0})`;
  return String(value);
}

export class Operators extends UnitContext {
  protected constantValue(value: Constant, type: Type): Value {
    return { code: constantCode(value), type, constant: value };
  }

  /** Converts a value for a place that wants `to`. `what` completes "cannot use … as type … in …". */
  protected convert(value: Value, to: Type, at: number, what: string): Code {
    const { type } = value;
    if (type.kind === "void") this.fail(at, "used as value, but it gives none");
    const how = assignable(type, to);
    if (how === "no") {
      const shown =
        typeof value.constant === "string"
          ? literal(value.constant)
          : value.constant === undefined
            ? "value"
            : String(value.constant);
      if (type.kind === "host" && to.kind === "any")
        this.fail(at, `cannot use ${typeName(type)} as a plain value in ${what}`, "call one of its methods instead");
      this.fail(
        at,
        `cannot use ${shown} (type ${typeName(type)}) as type ${typeName(to)} in ${what}`,
        this.conversionHint(type, to),
      );
    }
    if (value.constant !== undefined && isInteger(to)) return constantCode(this.fitConstant(value.constant, to, at));
    if (how === "yes") return value.code;
    return this.checked(value.code, to, at);
  }

  private conversionHint(from: Type, to: Type): string | undefined {
    if (isString(to)) return "convert with tostring()";
    if (isInteger(to)) return isFloat(from) ? "convert with int()" : "convert with toint()";
    if (isFloat(to)) return "convert with tofloat()";
    return undefined;
  }

  /** A check while running that an `any` holds the wanted type; nil gives the zero value. */
  protected checked(code: Code, to: Type, at: number): Code {
    const site = this.site(at);
    if (isString(to)) return [site, "$.asString(", code, ")"];
    if (isInteger(to)) return [site, "$.asInt(", code, ")"];
    if (isFloat(to)) return [site, "$.asFloat(", code, ")"];
    if (isBool(to)) return [site, "$.asBool(", code, ")"];
    if (to.kind === "slice") return [site, "$.asSlice(", code, ")"];
    if (to.kind === "map") return [site, "$.asMap(", code, ")"];
    if (to.kind === "func") return [site, "$.asFunc(", code, ")"];
    return code;
  }

  private fitConstant(value: Constant, to: Type, at: number): Constant {
    if (typeof value === "number") {
      if (!Number.isInteger(value)) this.fail(at, `constant ${value} truncated to integer`);
      return this.fitConstant(BigInt(value), to, at);
    }
    const range = to.kind === "basic" ? RANGES.get(to.name) : undefined;
    if (typeof value === "bigint" && range !== undefined && (value < range[0] || value > range[1]))
      this.fail(at, `constant ${value} overflows ${typeName(to)}`);
    return value;
  }

  /** JavaScript condition with the language's truth rules. */
  protected condition(value: Value, at: number): Code {
    if (isBool(value.type)) return value.code;
    if (isNil(value.type)) this.fail(at, "use of untyped nil as a condition");
    if (value.type.kind === "void") this.fail(at, "used as value, but it gives none");
    if (value.type.kind === "host") return ["(", value.code, " !== null)"];
    if (isString(value.type)) return ["(", value.code, ' !== "")'];
    if (isNumber(value.type)) return ["(", value.code, " !== 0)"];
    return ["$.truthy(", value.code, ")"];
  }

  protected logical(op: string, left: Value, right: Value, at: number): Value {
    if (op === "&&" || op === "||") {
      for (const side of [left, right]) {
        if (!isBool(side.type) && side.type.kind !== "any") {
          this.fail(
            at,
            `invalid operation: operator ${op} not defined on ${typeName(side.type)}`,
            `use "${op === "&&" ? "and" : "or"}" for truth of any value`,
          );
        }
      }
    }
    const js = op === "&&" || op === "and" ? " && " : " || ";
    return { code: ["(", this.condition(left, at), js, this.condition(right, at), ")"], type: BOOL };
  }

  protected unaryOperator(op: string, x: Value, at: number): Value {
    switch (op) {
      case "not":
        return { code: ["!", this.condition(x, at)], type: BOOL };
      case "!":
        if (!isBool(x.type) && x.type.kind !== "any")
          this.fail(
            at,
            `invalid operation: operator ! not defined on ${typeName(x.type)}`,
            'use "not" for truth of any value',
          );
        return { code: ["!", this.condition(x, at)], type: BOOL };
      case "-":
      case "+":
      case "^": {
        if (typeof x.constant === "bigint")
          return this.constantValue(op === "-" ? -x.constant : op === "^" ? ~x.constant : x.constant, x.type);
        if (typeof x.constant === "number" && op !== "^")
          return this.constantValue(op === "-" ? -x.constant : x.constant, x.type);
        if (!isNumber(x.type) && x.type.kind !== "any")
          this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(x.type)}`);
        return { code: [this.site(at), `$.unary(${literal(op)}, `, x.code, ")"], type: x.type };
      }
      default:
        // `*p` and `&x`: maps and slices are references already.
        return { code: x.code, type: x.type };
    }
  }

  private resultType(left: Value, right: Value): Type {
    if (left.type.kind !== "untyped") return left.type;
    if (right.type.kind !== "untyped") return right.type;
    if (isFloat(left.type) || isFloat(right.type)) return { kind: "untyped", name: "float" };
    return left.type.name === "rune" || right.type.name === "rune" ? { kind: "untyped", name: "rune" } : left.type;
  }

  private mismatch(op: string, left: Value, right: Value, at: number): never {
    this.fail(
      at,
      `invalid operation: mismatched types ${typeName(left.type)} and ${typeName(right.type)} for operator ${op}`,
      this.conversionHint(right.type, left.type),
    );
  }

  protected arithmetic(op: string, left: Value, right: Value, at: number): Value {
    for (const side of [left, right]) {
      if (isNil(side.type)) this.fail(at, `invalid operation: operator ${op} not defined on nil`);
      if (side.type.kind === "void") this.fail(at, "used as value, but it gives none");
    }
    if (op === "+" && (isString(left.type) || isString(right.type))) return this.concatenate(left, right, at);
    if (isNumber(left.type) && isNumber(right.type)) return this.numbers(op, left, right, at);
    if (left.type.kind === "any" || right.type.kind === "any") {
      const other = left.type.kind === "any" ? right : left;
      const usable = other.type.kind === "any" || isNumber(other.type) || op === "+";
      if (!usable) this.mismatch(op, left, right, at);
      return {
        code: [
          this.site(at),
          op === "+" ? "$.add(" : `$.arithmetic(${literal(op)}, `,
          left.code,
          ", ",
          right.code,
          ")",
        ],
        type: ANY,
      };
    }
    if (isBool(left.type) || left.type.kind === "slice" || left.type.kind === "map" || isString(left.type)) {
      this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(left.type)}`);
    }
    this.mismatch(op, left, right, at);
  }

  private concatenate(left: Value, right: Value, at: number): Value {
    if (typeof left.constant === "string" && typeof right.constant === "string") {
      return this.constantValue(left.constant + right.constant, left.type.kind === "untyped" ? right.type : left.type);
    }
    const text = (side: Value): Code => {
      if (isString(side.type)) return side.code;
      if (
        side.type.kind === "slice" ||
        side.type.kind === "map" ||
        side.type.kind === "func" ||
        side.type.kind === "host"
      )
        this.mismatch("+", left, right, at);
      return ["$.text(", side.code, ")"];
    };
    return { code: [this.site(at), "$.cat(", text(left), ", ", text(right), ")"], type: STRING };
  }

  private numbers(op: string, left: Value, right: Value, at: number): Value {
    const a = left.constant;
    const b = right.constant;
    const type = this.resultType(left, right);
    if (left.type.kind === "basic" && right.type.kind === "basic" && isInteger(left.type) !== isInteger(right.type))
      this.mismatch(op, left, right, at);
    if (
      isInteger(type) &&
      (typeof a === "number" ? !Number.isInteger(a) : typeof b === "number" && !Number.isInteger(b))
    ) {
      this.fail(at, `constant ${typeof a === "number" ? a : String(b)} truncated to integer`);
    }
    if ((op === "/" || op === "%") && isInteger(type) && (b === 0n || b === 0))
      this.fail(at, "invalid operation: division by zero");
    if (a !== undefined && b !== undefined) {
      const folded = foldNumbers(op, a, b, isFloat(type));
      if (folded === undefined) this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(type)}`);
      return this.constantValue(folded, type);
    }
    const shifted = op === "<<" || op === ">>" ? left.type : type;
    if (isFloat(type)) {
      if (!["+", "-", "*", "/"].includes(op))
        this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(type)}`);
      return { code: ["(", left.code, ` ${op} `, right.code, ")"], type: defaultType(type) };
    }
    if (op === "+" || op === "-") return { code: ["(", left.code, ` ${op} `, right.code, ")"], type: shifted };
    const helper =
      op === "*" ? "$.multiply(" : op === "/" ? "$.divide(" : op === "%" ? "$.modulo(" : `$.bits(${literal(op)}, `;
    return { code: [this.site(at), helper, left.code, ", ", right.code, ")"], type: defaultType(shifted) };
  }

  protected comparison(op: string, left: Value, right: Value, at: number): Value {
    const equality = op === "==" || op === "!=";
    for (const side of [left, right]) if (side.type.kind === "void") this.fail(at, "used as value, but it gives none");
    const nil = isNil(left.type) || isNil(right.type);
    if (nil) {
      const other = isNil(left.type) ? right : left;
      if (!equality || isNil(other.type)) this.fail(at, `invalid operation: operator ${op} not defined on nil`);
      if (isString(other.type) || isNumber(other.type) || isBool(other.type))
        this.fail(at, `invalid operation: cannot compare ${typeName(other.type)} with nil`, "it is never nil");
      return { code: ["(", other.code, op === "==" ? " === null)" : " !== null)"], type: BOOL };
    }
    const known = (side: Value): string | undefined =>
      isString(side.type) ? "string" : isNumber(side.type) ? "number" : isBool(side.type) ? "bool" : undefined;
    const a = known(left);
    const b = known(right);
    if (a !== undefined && b !== undefined) {
      if (a !== b) this.mismatch(op, left, right, at);
      if (equality) return { code: ["(", left.code, op === "==" ? " === " : " !== ", right.code, ")"], type: BOOL };
      if (a === "number") return { code: ["(", left.code, ` ${op} `, right.code, ")"], type: BOOL };
      if (a === "bool") this.fail(at, `invalid operation: operator ${op} not defined on bool`);
      return { code: ["($.compareText(", left.code, ", ", right.code, `) ${op} 0)`], type: BOOL };
    }
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const { kind } = side.type;
      if (
        (kind === "slice" || kind === "map" || kind === "func" || kind === "host") &&
        (other.type.kind !== "any" || !equality)
      ) {
        this.fail(at, `invalid operation: ${typeName(side.type)} can only be compared to nil`);
      }
    }
    if (equality) {
      const primitive = a ?? b;
      if (primitive !== undefined)
        return { code: ["(", left.code, op === "==" ? " === " : " !== ", right.code, ")"], type: BOOL };
      return {
        code: [this.site(at), op === "==" ? "" : "!", "$.equal(", left.code, ", ", right.code, ")"],
        type: BOOL,
      };
    }
    return { code: ["(", this.site(at), "$.compare(", left.code, ", ", right.code, `) ${op} 0)`], type: BOOL };
  }

  protected containment(container: Value, item: Value, at: number): Value {
    const { type } = container;
    if (isNumber(type) || isBool(type) || type.kind === "host" || type.kind === "func")
      this.fail(at, `invalid operation: operator contains not defined on ${typeName(type)}`);
    if (isString(type) && !isString(item.type) && !isNumber(item.type) && item.type.kind !== "any")
      this.mismatch("contains", container, item, at);
    return { code: [this.site(at), "$.contains(", container.code, ", ", item.code, ")"], type: BOOL };
  }

  /** `T(x)`. */
  protected conversion(to: Type, x: Value, at: number): Value {
    const { constant } = x;
    if (isInteger(to)) {
      if (isNumber(x.type) && constant !== undefined) return this.constantValue(this.fitConstant(constant, to, at), to);
      if (isString(x.type) || isBool(x.type))
        this.fail(at, `cannot convert a ${typeName(x.type)} to type ${typeName(to)}`, "use toint()");
      return { code: [this.site(at), "$.toInteger(", x.code, ")"], type: to };
    }
    if (isFloat(to)) {
      if (typeof constant === "bigint" || typeof constant === "number") return this.constantValue(Number(constant), to);
      if (isString(x.type) || isBool(x.type))
        this.fail(at, `cannot convert a ${typeName(x.type)} to type ${typeName(to)}`, "use tofloat()");
      return { code: [this.site(at), "$.toFloat(", x.code, ")"], type: to };
    }
    if (isString(to))
      return isString(x.type)
        ? { code: x.code, type: to, ...(constant === undefined ? {} : { constant }) }
        : { code: [this.site(at), "$.toText(", x.code, ")"], type: to };
    return { code: this.convert(x, to, at, "conversion"), type: to };
  }

  /** Default type of a value that is stored in a variable, with its code. */
  protected settled(value: Value, at: number): Value {
    if (value.type.kind === "void") this.fail(at, "used as value, but it gives none");
    if (isNil(value.type)) return { code: "null", type: ANY };
    if (value.type.kind !== "untyped") return value;
    const type = defaultType(value.type);
    return { code: this.convert(value, type, at, "assignment"), type };
  }

  protected zero(type: Type): Code {
    return zeroOf(type);
  }
}

function foldNumbers(op: string, a: Constant, b: Constant, float: boolean): Constant | undefined {
  if (float || typeof a === "number" || typeof b === "number") {
    const x = Number(a);
    const y = Number(b);
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
        return undefined;
    }
  }
  if (typeof a !== "bigint" || typeof b !== "bigint") return undefined;
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    case "&^":
      return a & ~b;
    case "<<":
      return b > 1000n ? undefined : a << b;
    case ">>":
      return a >> b;
    default:
      return undefined;
  }
}
