/** Operators, conversions and truth. All integer arithmetic is emitted here, so that its range is decided in one place. */
import { literal, type Code } from "../emit/code.ts";
import { compareNumbers, foldNumbers, Fraction, type Constant } from "./constants.ts";
import type { Value } from "./scope.ts";
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
  isValueType,
  sameType,
  STRING,
  typeKey,
  typeName,
  zeroOf,
  type Type,
} from "./types.ts";
import { UnitContext } from "./unit.ts";

const MAX_INT = 2n ** 63n - 1n;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
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

/**
 * JavaScript text of a constant. Whole numbers that a double does not hold exactly are BigInts; the runtime keeps integers
 * the same way.
 */
export function constantCode(value: Constant): string {
  if (typeof value === "string") return literal(value);
  if (typeof value === "bigint") {
    const text = value >= -MAX_SAFE && value <= MAX_SAFE ? String(value) : `${value}n`;
    return value < 0n ? `(${text})` : text;
  }
  if (value instanceof Fraction) {
    const number = value.toNumber();
    return number < 0 ? `(${number})` : String(number);
  }
  return String(value);
}

export function constantText(value: Constant): string {
  return value instanceof Fraction ? String(value.toNumber()) : String(value);
}

export abstract class Operators extends UnitContext {
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
            : constantText(value.constant);
      if (type.kind === "host" && to.kind === "any")
        this.fail(at, `cannot use ${typeName(type)} as a plain value in ${what}`, "call one of its methods instead");
      this.fail(
        at,
        `cannot use ${shown} (type ${typeName(type)}) as type ${typeName(to)} in ${what}`,
        this.conversionHint(type, to),
      );
    }
    const { constant } = value;
    if (constant !== undefined) {
      if (isInteger(to)) return constantCode(this.fitConstant(constant, to, at));
      const float = isFloat(to) || (to.kind === "any" && isFloat(type));
      if (float && (typeof constant === "bigint" || constant instanceof Fraction)) {
        const number = this.fitFloat(constant, isFloat(to) ? to : defaultType(type), at);
        return to.kind === "any" && number.whole !== undefined
          ? ["$.float(", constantCode(number), ")"]
          : constantCode(number);
      }
      if (typeof constant === "bigint" && to.kind === "any") this.fitConstant(constant, defaultType(type), at);
    }
    if (how === "check") return this.checked(value.code, to, at);
    // In an any, a whole float64 would look like an int.
    if (to.kind === "any" && isFloat(type)) return ["$.float(", value.code, ")"];
    return isValueType(type) ? ["$.copy(", value.code, ")"] : value.code;
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
    if (to.kind === "map" || to.kind === "object") return [site, "$.asMap(", code, ")"];
    if (to.kind === "func") return [site, "$.asFunc(", code, ")"];
    if (isValueType(to)) return [site, "$.copy($.assert(", code, `, ${literal(typeKey(to))}))`];
    if (to.kind === "pointer") return [site, "$.asPointer(", code, `, ${literal(typeKey(to))})`];
    return code;
  }

  protected fitConstant(value: Constant, to: Type, at: number): Constant {
    if (value instanceof Fraction) {
      const { whole } = value;
      if (whole === undefined) this.fail(at, `constant ${constantText(value)} truncated to integer`);
      return this.fitConstant(whole, to, at);
    }
    const range = to.kind === "basic" ? RANGES.get(to.name) : undefined;
    if (typeof value === "bigint" && range !== undefined && (value < range[0] || value > range[1]))
      this.fail(at, `constant ${value} overflows ${typeName(to)}`);
    return value;
  }

  /** The double nearest to a constant, as a constant. */
  private fitFloat(value: bigint | Fraction, to: Type, at: number): Fraction {
    const number = Fraction.of(value).toNumber();
    const single = to.kind === "basic" && to.name === "float32" ? Math.fround(number) : number;
    const rounded = Fraction.fromNumber(single);
    if (rounded === undefined) this.fail(at, `constant overflows ${typeName(to)}`);
    return rounded;
  }

  /** A constant of a numeric type: typed ones have their type's range and precision. */
  protected typedConstant(value: Constant, type: Type, at: number): Value {
    if (type.kind !== "basic" || typeof value === "string" || typeof value === "boolean")
      return this.constantValue(value, type);
    return this.constantValue(isFloat(type) ? this.fitFloat(value, type, at) : this.fitConstant(value, type, at), type);
  }

  /** JavaScript condition with the language's truth rules. */
  protected condition(value: Value, at: number): Code {
    if (isBool(value.type)) return value.code;
    if (isNil(value.type)) this.fail(at, "use of untyped nil as a condition");
    if (value.type.kind === "void") this.fail(at, "used as value, but it gives none");
    if (value.type.kind === "host") return ["(", value.code, " !== null)"];
    if (value.type.kind === "object") return ["($.nonZero(", value.code, ") !== null)"];
    if (isString(value.type)) return ["(", value.code, ' !== "")'];
    if (isNumber(value.type)) return ["(", value.code, " !== 0)"];
    return ["R_truthy($, ", value.code, ")"];
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
        if (typeof x.constant === "bigint") {
          const value = op === "-" ? -x.constant : op === "^" ? ~x.constant : x.constant;
          return this.typedConstant(value, x.type, at);
        }
        if (x.constant instanceof Fraction && op !== "^")
          return this.constantValue(op === "-" ? new Fraction(-x.constant.n, x.constant.d) : x.constant, x.type);
        if ((!isNumber(x.type) && x.type.kind !== "any") || (op === "^" && isFloat(x.type)))
          this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(x.type)}`);
        if (op === "+") return x;
        if (isFloat(x.type)) return { code: ["(-", x.code, ")"], type: x.type };
        const type = defaultType(x.type);
        if (x.type.kind === "any" || isWord(type))
          return { code: [this.site(at), `$.unary(${literal(op)}, `, x.code, ")"], type };
        const zero = op === "-" ? "0" : "-1";
        const sized = op === "-" ? "-" : "^";
        return {
          code: [this.site(at), `$.sized(${literal(typeName(type))}, ${literal(sized)}, ${zero}, `, x.code, ")"],
          type,
        };
      }
      default:
        return x;
    }
  }

  protected resultType(left: Value, right: Value): Type {
    if (left.type.kind !== "untyped") return left.type;
    if (right.type.kind !== "untyped") return right.type;
    if (isFloat(left.type) || isFloat(right.type)) return { kind: "untyped", name: "float" };
    return left.type.name === "rune" || right.type.name === "rune" ? { kind: "untyped", name: "rune" } : left.type;
  }

  protected mismatch(op: string, left: Value, right: Value, at: number): never {
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
          this.plainOperand(left, at),
          ", ",
          this.plainOperand(right, at),
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

  /** An operand next to one whose type is only known while running. */
  private plainOperand(value: Value, at: number): Code {
    return isNumber(value.type) ? this.convert(value, ANY, at, "operation") : value.code;
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
        side.type.kind === "host" ||
        side.type.kind === "pointer" ||
        isValueType(side.type)
      )
        this.mismatch("+", left, right, at);
      return ["$.text(", side.type.kind === "untyped" ? this.convert(side, ANY, at, "operation") : side.code, ")"];
    };
    const constant = whole(left.constant, -1) ?? whole(right.constant, 0);
    const code: Code =
      constant === undefined
        ? [this.site(at), "$.cat(", text(left), ", ", text(right), ")"]
        : [this.site(at), "R_grown($, ", text(left), " + ", text(right), `, ${constant})`];
    return { code, type: STRING };
  }

  private numbers(op: string, left: Value, right: Value, at: number): Value {
    const a = left.constant;
    const b = right.constant;
    const shift = op === "<<" || op === ">>";
    const type = shift ? left.type : this.resultType(left, right);
    if (
      !shift &&
      left.type.kind === "basic" &&
      right.type.kind === "basic" &&
      isInteger(left.type) !== isInteger(right.type)
    )
      this.mismatch(op, left, right, at);
    if (isInteger(type)) {
      for (const constant of [a, b])
        if (constant instanceof Fraction && constant.whole === undefined)
          this.fail(at, `constant ${constantText(constant)} truncated to integer`);
    }
    if (op === "/" || op === "%") {
      const zero = b === 0n || (b instanceof Fraction && b.n === 0n);
      if (zero && (isInteger(type) || a !== undefined)) this.fail(at, "invalid operation: division by zero");
    }
    if (shift && typeof b === "bigint" && b < 0n) this.fail(at, "invalid operation: negative shift count");
    if (a !== undefined && b !== undefined) {
      // Numbers that are written as fractions but are whole behave as integers where the type is one.
      const whole = (c: Constant): Constant => (c instanceof Fraction && isInteger(type) ? (c.whole ?? c) : c);
      const exact = (c: Constant): Constant => (isFloat(type) && typeof c === "bigint" ? Fraction.of(c) : c);
      const folded = foldNumbers(op, exact(whole(a)), exact(whole(b)));
      if (folded === "large") this.fail(at, "constant is too large");
      if (folded === undefined) this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(type)}`);
      return this.typedConstant(folded, type, at);
    }
    if (isFloat(type)) {
      if (!["+", "-", "*", "/"].includes(op))
        this.fail(at, `invalid operation: operator ${op} not defined on ${typeName(type)}`);
      const to = defaultType(type);
      const code: Code = [
        "(",
        this.convert(left, to, at, "operation"),
        ` ${op} `,
        this.convert(right, to, at, "operation"),
        ")",
      ];
      return { code: to.kind === "basic" && to.name === "float32" ? ["$.single(", code, ")"] : code, type: to };
    }
    const to = defaultType(type);
    const x = this.convert(left, to, at, "operation");
    const y = shift ? right.code : this.convert(right, to, at, "operation");
    const helper = WORD_OPERATORS.get(op) ?? `$.bits(${literal(op)}, `;
    if (isWord(to)) return { code: [this.site(at), helper, x, ", ", y, ")"], type: to };
    return {
      code: [this.site(at), `$.sized(${literal(typeName(to))}, ${literal(op)}, `, x, ", ", y, ")"],
      type: to,
    };
  }

  protected comparison(op: string, left: Value, right: Value, at: number): Value {
    const equality = op === "==" || op === "!=";
    for (const side of [left, right]) if (side.type.kind === "void") this.fail(at, "used as value, but it gives none");
    const nil = isNil(left.type) || isNil(right.type);
    if (nil) {
      const other = isNil(left.type) ? right : left;
      if (isValueType(other.type)) this.fail(at, `invalid operation: cannot compare ${typeName(other.type)} with nil`);
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
      const folded = this.foldComparison(op, left.constant, right.constant);
      if (folded !== undefined) return { code: String(folded), type: BOOL, constant: folded };
      if (a === "number") {
        const type = defaultType(this.resultType(left, right));
        const side = (value: Value): Code =>
          value.constant === undefined ? value.code : this.convert(value, type, at, "comparison");
        const js = op === "==" ? "===" : op === "!=" ? "!==" : op;
        return { code: ["(", side(left), ` ${js} `, side(right), ")"], type: BOOL };
      }
      if (equality) return { code: ["(", left.code, op === "==" ? " === " : " !== ", right.code, ")"], type: BOOL };
      if (a === "bool") this.fail(at, `invalid operation: operator ${op} not defined on bool`);
      return { code: ["($.compareText(", left.code, ", ", right.code, `) ${op} 0)`], type: BOOL };
    }
    if (equality && (isValueType(left.type) || left.type.kind === "pointer") && sameType(left.type, right.type))
      return {
        code: [this.site(at), op === "==" ? "" : "!", "$.equal(", left.code, ", ", right.code, ")"],
        type: BOOL,
      };
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const { kind } = side.type;
      if ((kind === "struct" || kind === "array" || kind === "pointer") && (other.type.kind !== "any" || !equality))
        this.mismatch(op, left, right, at);
      if (
        (kind === "slice" || kind === "map" || kind === "func" || kind === "host") &&
        (other.type.kind !== "any" || !equality)
      ) {
        this.fail(at, `invalid operation: ${typeName(side.type)} can only be compared to nil`);
      }
    }
    if (equality) {
      const primitive = a ?? b;
      if (primitive === "number") {
        const [x, y] = [this.plainNumber(left, at), this.plainNumber(right, at)];
        return { code: [op === "==" ? "" : "!", "$.same(", x, ", ", y, ")"], type: BOOL };
      }
      if (primitive !== undefined)
        return { code: ["(", left.code, op === "==" ? " === " : " !== ", right.code, ")"], type: BOOL };
      return {
        code: [this.site(at), op === "==" ? "" : "!", "R_equal($, ", left.code, ", ", right.code, ")"],
        type: BOOL,
      };
    }
    return { code: ["(", this.site(at), "$.compare(", left.code, ", ", right.code, `) ${op} 0)`], type: BOOL };
  }

  /** Code of one side of a comparison: constants that are whole are written as such. */
  private plainNumber(value: Value, at: number): Code {
    return isFloat(value.type) && value.constant !== undefined
      ? this.convert(value, defaultType(value.type), at, "comparison")
      : value.code;
  }

  private foldComparison(op: string, a: Constant | undefined, b: Constant | undefined): boolean | undefined {
    const numeric = (c: Constant | undefined): c is bigint | Fraction => typeof c === "bigint" || c instanceof Fraction;
    if (!numeric(a) || !numeric(b)) return undefined;
    const order = compareNumbers(a, b);
    switch (op) {
      case "==":
        return order === 0;
      case "!=":
        return order !== 0;
      case "<":
        return order < 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      default:
        return order >= 0;
    }
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
    if (x.type.kind === "host") this.fail(at, `cannot convert ${typeName(x.type)} to type ${typeName(to)}`);
    if (isInteger(to)) {
      if (isNumber(x.type) && constant !== undefined) return this.typedConstant(constant, to, at);
      if (isString(x.type) || isBool(x.type))
        this.fail(at, `cannot convert a ${typeName(x.type)} to type ${typeName(to)}`, "use toint()");
      return { code: [this.site(at), "$.toInteger(", x.code, `, ${literal(typeName(to))})`], type: to };
    }
    if (isFloat(to)) {
      if (typeof constant === "bigint" || constant instanceof Fraction) return this.typedConstant(constant, to, at);
      if (isString(x.type) || isBool(x.type))
        this.fail(at, `cannot convert a ${typeName(x.type)} to type ${typeName(to)}`, "use tofloat()");
      const code: Code = [this.site(at), "$.toFloat(", x.code, ")"];
      return { code: typeName(to) === "float32" ? ["$.single(", code, ")"] : code, type: to };
    }
    if (isString(to)) {
      if (isString(x.type)) return { code: x.code, type: to, ...(constant === undefined ? {} : { constant }) };
      if (isFloat(x.type) || isBool(x.type) || x.type.kind === "map" || x.type.kind === "func")
        this.fail(at, `cannot convert a ${typeName(x.type)} to type string`, "use tostring()");
      if (x.type.kind === "slice" && isInteger(x.type.element)) {
        const runes = typeName(x.type.element) === "int32";
        return { code: [this.site(at), runes ? "$.runesText(" : "$.bytesText(", x.code, ")"], type: to };
      }
      return { code: [this.site(at), "$.toText(", x.code, ")"], type: to };
    }
    if (to.kind === "slice" && (isString(x.type) || x.type.kind === "any") && isInteger(to.element)) {
      const name = typeName(to.element);
      if (name === "uint8" || name === "int32")
        return { code: [this.site(at), name === "uint8" ? "$.textBytes(" : "$.textRunes(", x.code, ")"], type: to };
    }
    return { code: this.convert(x, to, at, "conversion"), type: to };
  }

  /** Default type of a value that is stored in a variable, with its code. */
  protected settled(value: Value, at: number): Value {
    if (value.type.kind === "void") this.fail(at, "used as value, but it gives none");
    if (isNil(value.type)) return { code: "null", type: ANY };
    if (isValueType(value.type)) return { code: ["$.copy(", value.code, ")"], type: value.type };
    if (value.type.kind !== "untyped") return value;
    const type = defaultType(value.type);
    return { code: this.convert(value, type, at, "assignment"), type };
  }

  protected zero(type: Type): Code {
    return zeroOf(type);
  }
}

/**
 * Length of a constant text whose first or last character is no byte of a part of a character, which might belong together
 * with what the text is put to.
 */
function whole(constant: Constant | undefined, at: 0 | -1): number | undefined {
  if (typeof constant !== "string" || constant === "") return undefined;
  const unit = constant.charCodeAt(at === 0 ? 0 : constant.length - 1);
  return unit >= 0xd800 && unit <= 0xdfff ? undefined : constant.length;
}

/** int and int64: what the runtime's plain operators work on. */
const isWord = (t: Type): boolean => t.kind === "basic" && (t.name === "int" || t.name === "int64");

const WORD_OPERATORS: ReadonlyMap<string, string> = new Map([
  ["+", "R_plus($, "],
  ["-", "R_minus($, "],
  ["*", "$.multiply("],
  ["/", "$.divide("],
  ["%", "$.modulo("],
]);
