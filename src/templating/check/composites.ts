/** Literals of lists, maps and structs; pointers to variables and parts of values. */
import { commas, literal, type Code } from "../emit/code.ts";
import { nearestName } from "../syntax/problems.ts";
import type { Expression } from "../syntax/tree.ts";
import { Fraction } from "./constants.ts";
import { Operators } from "./operators.ts";
import type { Symbol_, Value } from "./scope.ts";
import { ANY, INT, isFloat, isInteger, isString, isValueType, typeName, type StructType, type Type } from "./types.ts";

/** A property of an object literal. A computed name costs a call; only __proto__, or a name that is none, needs it. */
function property(key: Code): Code {
  const name = typeof key === "string" && /^"(?:[^"\\]|\\.)*"$/.test(key) && key !== '"__proto__"';
  return name ? [key, ": "] : ["[", key, "]: "];
}

export abstract class Composites extends Operators {
  protected abstract expression(x: Expression, hint?: Type): Value;
  protected abstract borrowed(x: Expression): Value;
  protected abstract variable(symbol: Symbol_, aliases: boolean): Value;
  protected abstract store(left: Expression, value: Value, at: number): Code;

  protected arrayLength(x: Expression): number {
    const value = this.expression(x);
    if (value.constant === undefined) this.fail(x.at, "the length of an array must be a constant");
    const length = this.fitIndex(value, x.at);
    if (length > 100_000n) this.fail(x.at, `array of ${length} elements is too large`);
    return Number(length);
  }

  // --- pointers ----------------------------------------------------------------------------------------------------

  /** `*p`. Objects of resources, and maps and slices, are references already: `*x` is x. */
  protected dereference(p: Value, at: number): Value {
    if (p.type.kind === "pointer") return { code: [this.site(at), "$.deref(", p.code, ")"], type: p.type.element };
    if (p.type.kind === "any") return { code: ["$.target(", p.code, ")"], type: ANY };
    if (p.type.kind === "map" || p.type.kind === "slice") return p;
    this.fail(at, `invalid operation: cannot indirect a value of type ${typeName(p.type)}`);
  }

  /** `&x`, `&T{…}`, `&list[i]`, `&s.field`. */
  protected address(x: Expression & { kind: "unary" }, hint: Type | undefined): Value {
    let inner = x.x;
    while (inner.kind === "paren") inner = inner.x;
    const pointer = (code: Code, element: Type): Value =>
      element.kind === "any" || element.kind === "host"
        ? { code, type: element }
        : { code, type: { kind: "pointer", element } };
    const get = (value: Value): Code => ["() => ", value.code];
    if (inner.kind === "composite") {
      const wanted = hint?.kind === "pointer" ? hint.element : hint;
      const value = this.expression(inner, wanted);
      // Maps and slices are references already.
      if (!isValueType(value.type)) return value;
      return pointer(["$.cell(", value.code, ")"], value.type);
    }
    if (inner.kind === "name") {
      const symbol = this.scope.lookup(inner.name);
      if (symbol?.kind !== "var") this.fail(x.at, `invalid operation: cannot take address of ${inner.name}`);
      if (symbol.type.kind === "map" || symbol.type.kind === "any") return this.variable(symbol, true);
      const set = this.store(inner, { code: "$v", type: symbol.type }, x.at);
      return pointer(["$.pointer(", get(this.variable(symbol, false)), ", ($v) => { ", set, " })"], symbol.type);
    }
    if (inner.kind === "index" || inner.kind === "selector") {
      const object = this.borrowed(inner.x);
      const base = this.structOf(object, inner.at);
      const { type } = base;
      const key: Code = inner.kind === "selector" ? literal(inner.name) : this.expression(inner.index).code;
      if (inner.kind === "selector" && type.kind === "struct")
        return pointer(["$.place(", base.code, ", ", key, ")"], this.field(type, inner.name, inner.at));
      if (inner.kind === "index" && (type.kind === "slice" || type.kind === "array"))
        return pointer([this.site(x.at), "$.place(", base.code, ", ", key, ")"], type.element);
      if (type.kind === "any") return this.expression(inner);
    }
    this.fail(x.at, "invalid operation: cannot take address of this expression");
  }

  /** What a selector or index looks into: the struct or array itself where a pointer to it is given. */
  protected structOf(object: Value, at: number): Value {
    return object.type.kind === "pointer" && isValueType(object.type.element) ? this.dereference(object, at) : object;
  }

  protected field(type: StructType, name: string, at: number): Type {
    const field = type.fields.get(name);
    if (field !== undefined) return field;
    const near = nearestName(name, type.fields.keys());
    this.fail(at, `${type.name} has no field ${name}`, near === undefined ? undefined : `did you mean "${near}"?`);
  }

  /** A constant index: a whole number, not negative. */
  protected fitIndex(index: Value, at: number): bigint {
    if (!isInteger(index.type) && !isFloat(index.type))
      this.fail(at, `invalid index: must be an integer, not ${typeName(index.type)}`);
    const value = this.fitConstant(index.constant!, INT, at) as bigint;
    if (value < 0n) this.fail(at, `invalid index ${value}: must not be negative`);
    return value;
  }

  // --- literals ----------------------------------------------------------------------------------------------------

  protected composite(x: Expression & { kind: "composite" }, hint: Type | undefined): Value {
    let type = hint;
    if (x.type?.kind === "array" && x.type.length === undefined) {
      // The length of [...]T is that of the literal.
      const element = this.type(x.type.element);
      type = { kind: "array", length: this.items(x, element, Infinity).length, element };
    } else if (x.type !== undefined) type = this.type(x.type);
    // In a list of pointers the elements are written without &.
    if (x.type === undefined && type?.kind === "pointer" && isValueType(type.element)) {
      const value = this.composite(x, type.element);
      return { code: ["$.cell(", value.code, ")"], type };
    }
    if (type?.kind === "slice") return { code: ["[", commas(this.items(x, type.element, Infinity)), "]"], type };
    if (type?.kind === "array") {
      const { length, element } = type;
      const items = this.items(x, element, length);
      return { code: [`$.array(${length}, () => (`, this.zero(element), "), [", commas(items), "])"], type };
    }
    if (type?.kind === "struct") return this.structLiteral(x, type);
    if (type?.kind === "map") {
      const { key: keyType, element: elementType } = type;
      const seen = new Set<unknown>();
      const pairs = x.elements.map((element) => {
        if (element.key === undefined) this.fail(element.value.at, "missing key in map literal");
        const key = this.expression(element.key, keyType);
        if (key.constant !== undefined) {
          const id = key.constant instanceof Fraction ? key.constant.toNumber() : key.constant;
          if (seen.has(id)) this.fail(element.key.at, `duplicate key ${JSON.stringify(String(id))} in map literal`);
          seen.add(id);
        }
        return [
          this.convert(key, keyType, element.key.at, "map key"),
          this.convert(this.expression(element.value, elementType), elementType, element.value.at, "map literal"),
        ] as const;
      });
      // A computed key makes even "__proto__" an own property.
      if (isString(keyType))
        return { code: ["({", commas(pairs.map(([key, value]): Code => [property(key), value])), "})"], type };
      const entries = commas(pairs.map(([key, value]): Code => ["[", key, ", ", value, "]"]));
      return { code: [this.site(x.at), "$.map([", entries, "])"], type };
    }
    this.fail(
      x.at,
      type === undefined ? "missing type in composite literal" : `invalid composite literal type ${typeName(type)}`,
    );
  }

  /** Elements of a slice or array literal in order; keys are positions, and gaps hold zero values. */
  private items(x: Expression & { kind: "composite" }, element: Type, length: number): Code[] {
    const items: Code[] = [];
    const seen = new Set<number>();
    let next = 0;
    for (const { key, value } of x.elements) {
      if (key !== undefined) {
        const index = this.expression(key);
        if (index.constant === undefined) this.fail(key.at, "index of a list literal must be a constant");
        const position = this.fitIndex(index, key.at);
        if (position > 100_000n) this.fail(key.at, "index of a list literal is too large");
        next = Number(position);
      }
      if (seen.has(next)) this.fail(value.at, `duplicate index ${next} in list literal`);
      if (next >= length) this.fail(value.at, `invalid index ${next}: out of bounds [0:${length}]`);
      seen.add(next);
      items[next++] = this.convert(this.expression(value, element), element, value.at, "slice literal");
    }
    return Array.from(items, (item) => item ?? this.zero(element));
  }

  private structLiteral(x: Expression & { kind: "composite" }, type: StructType): Value {
    const names = [...type.fields.keys()];
    const given = new Map<string, Code>();
    const named = x.elements.some((element) => element.key !== undefined);
    if (!named && x.elements.length > 0 && x.elements.length !== names.length)
      this.fail(x.at, `too ${x.elements.length < names.length ? "few" : "many"} values in ${type.name} literal`);
    x.elements.forEach(({ key, value }, i) => {
      if (named && key?.kind !== "name") this.fail(value.at, `mixture of fields and values in ${type.name} literal`);
      const at = key?.at ?? value.at;
      const name = key?.kind === "name" ? key.name : names[i]!;
      const field = this.field(type, name, at);
      if (given.has(name)) this.fail(at, `duplicate field ${name} in ${type.name} literal`);
      given.set(name, this.convert(this.expression(value, field), field, value.at, `${type.name} literal`));
    });
    const members = names.map((name): Code => [
      `[${literal(name)}]: `,
      given.get(name) ?? this.zero(type.fields.get(name)!),
    ]);
    return { code: [`$.struct(${literal(type.id)}, {`, commas(members), "})"], type };
  }
}
