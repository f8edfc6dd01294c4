/** Checks expressions and lowers them to code. */
import { literal, type Code } from "../emit/code.ts";
import { hostileNames } from "../runtime/guards.ts";
import { nearestName } from "../syntax/problems.ts";
import type { Expression, Named, RenderExpression, Statement } from "../syntax/tree.ts";
import { Composites } from "./composites.ts";
import { parseFloat_, parseInteger } from "./constants.ts";
import { constantCode } from "./operators.ts";
import type { MacroInfo, Symbol_, Value } from "./scope.ts";
import { terminates } from "./terminating.ts";
import {
  ANY,
  isFloat,
  isInteger,
  isString,
  isValueType,
  STRING,
  typeKey,
  typeName,
  UINT8,
  type FunctionType,
  type ObjectType,
  type Type,
} from "./types.ts";

/** Whether `x["name"]` may be read in place: no built-in prototype knows the name, and no array or string index is like it. */
function plainName(name: string): boolean {
  return !hostileNames.has(name) && !/^\d/.test(name);
}

/** Functions of the language itself: no values. */
export const BUILTINS: ReadonlySet<string> = new Set(
  "len cap append copy delete make new panic recover print println complex real imag".split(" "),
);

/** The list of a watched resource, which its bare alias stands for: `resources.ALIAS.List()`. */
function listOf(alias: string, at: number): Expression & { kind: "call" } {
  const store: Expression = { kind: "selector", x: { kind: "name", name: "resources", at }, name: alias, at };
  return {
    kind: "call",
    fn: { kind: "selector", x: store, name: "List", at },
    args: [],
    spread: false,
    piped: false,
    at,
  };
}

export abstract class Expressions extends Composites {
  /** Row of the constant group being declared. */
  protected iota: number | undefined;
  protected abstract call(x: Expression & { kind: "call" }, wanted: number): Value;
  protected abstract functionLiteral(
    params: readonly { name: string; type: Type; at: number }[],
    type: FunctionType,
    body: readonly Statement[],
    resultNames?: readonly Named[],
  ): Code;

  /** Checks one expression. `hint` is the type of the place it goes to, for literals without one and lambdas. */
  protected expression(x: Expression, hint?: Type): Value {
    switch (x.kind) {
      case "bad":
        return { code: "null", type: ANY };
      case "string":
        return this.constantValue(x.text, { kind: "untyped", name: "string" });
      case "int":
        return this.constantValue(parseInteger(x.text), { kind: "untyped", name: "int" });
      case "float":
        return this.constantValue(parseFloat_(x.text) ?? this.fail(x.at, "constant is too large"), {
          kind: "untyped",
          name: "float",
        });
      case "rune":
        return this.constantValue(BigInt(x.text.codePointAt(0)!), { kind: "untyped", name: "rune" });
      case "paren":
        return this.expression(x.x, hint);
      case "name":
        return this.name(x.name, x.at, true);
      case "unary":
        if (x.op === "&") return this.address(x, hint);
        if (x.op === "*") return this.dereference(this.borrowed(x.x), x.at);
        return this.unaryOperator(x.op, this.borrowed(x.x), x.at);
      case "binary":
        return this.binary(x);
      case "call":
        return this.call(x, 1);
      case "selector":
        return this.selector(x);
      case "index":
        return this.index(x);
      case "slice":
        return this.sliced(x);
      case "assert": {
        if (x.type === undefined) this.fail(x.at, "syntax error: use of .(type) outside type switch");
        const value = this.expression(x.x);
        if (value.type.kind !== "any" && value.type.kind !== "error")
          this.fail(x.at, `invalid type assertion: operand is not any but ${typeName(value.type)}`);
        const type = this.type(x.type);
        const code: Code = [this.site(x.at), "$.assert(", value.code, `, ${literal(typeKey(type))})`];
        return { code: isFloat(type) ? ["$.asFloat(", code, ")"] : code, type };
      }
      case "composite":
        return this.composite(x, hint);
      case "func": {
        const params = x.params.map((p) => ({
          name: p.name,
          type: p.type === undefined ? ANY : this.type(p.type),
          at: p.at,
        }));
        const type: FunctionType = {
          kind: "func",
          params: params.map((p) => p.type),
          variadic: x.params.at(-1)?.variadic ?? false,
          results: x.results.map((r) => this.type(r)),
        };
        if (type.results.length > 0 && !terminates(x.body))
          this.fail(x.at, "missing return", "the function must end with return, on each way through it");
        return { code: this.functionLiteral(params, type, x.body, x.resultNames), type };
      }
      case "lambda": {
        const wanted = hint?.kind === "func" ? hint.params[0] : undefined;
        const param = { name: x.param, type: wanted ?? ANY, at: x.at };
        const type: FunctionType = { kind: "func", params: [param.type], variadic: false, results: [ANY] };
        return { code: this.functionLiteral([param], type, [{ kind: "return", values: [x.body], at: x.at }]), type };
      }
      case "type":
        this.fail(x.at, "type is not an expression");
      // eslint-disable-next-line no-fallthrough -- fail never returns
      case "render":
        return { code: this.renderedText(x), type: STRING };
      case "default":
        return this.defaulted(x);
    }
  }

  /** A name read as a value. `aliases`: the value may be kept somewhere, so that the variable no longer owns its slice. */
  protected name(name: string, at: number, aliases: boolean): Value {
    const symbol = this.scope.lookup(name);
    if (symbol !== undefined) {
      if (symbol.constant !== undefined)
        return { code: constantCode(symbol.constant), type: symbol.type, constant: symbol.constant };
      if (symbol.kind === "module") this.fail(at, `use of package ${name} without selector`);
      if (symbol.kind === "type") this.fail(at, `${name} is a type, not an expression`);
      if (symbol.macro !== undefined) {
        const { macro } = symbol;
        return this.macroValue(macro);
      }
      return this.variable(symbol, aliases);
    }
    if (name === "true" || name === "false")
      return this.constantValue(name === "true", { kind: "untyped", name: "bool" });
    if (name === "iota" && this.iota !== undefined)
      return this.constantValue(BigInt(this.iota), { kind: "untyped", name: "int" });
    if (name === "nil") return { code: "null", type: { kind: "untyped", name: "nil" } };
    const type = this.host.declarations.globals[this.kind].get(name);
    if (type === undefined && !this.host.natives.has(name) && this.host.declarations.resources.has(name))
      return this.call(listOf(name, at), 1);
    // A function of the host is no value: it is called with arguments that were checked here.
    if (type?.kind === "func") this.fail(at, `${name} must be called`, `write ${name}(…), or a lambda that calls it`);
    if (type !== undefined) return { code: this.global(name), type, path: this.global(name) };
    const native = this.host.natives.get(name);
    if (native !== undefined) return { code: `$.native(${literal(name)})`, type: native.type };
    if (BUILTINS.has(name)) this.fail(at, `${name} must be called`);
    return this.undefinedName(name, at);
  }

  /** A variable's value; where it may be kept, the variable no longer owns its slice. */
  protected variable(symbol: Symbol_, aliases: boolean): Value {
    if (!aliases) return { code: symbol.js, type: symbol.type };
    return {
      code: () => (symbol.appended ? `(${symbol.js}$o = false, ${symbol.js})` : symbol.js),
      type: symbol.type,
    };
  }

  private macroValue(macro: MacroInfo): Value {
    const type: FunctionType = {
      kind: "func",
      params: macro.params.map((p) => p.type),
      variadic: macro.params.at(-1)?.variadic ?? false,
      results: [STRING],
    };
    return { code: { node: "reference", fn: macro.node, target: macro.target }, type };
  }

  /** Reads an expression that is only looked into, never kept. */
  protected borrowed(x: Expression): Value {
    if (x.kind === "paren") return this.borrowed(x.x);
    return x.kind === "name" ? this.name(x.name, x.at, false) : this.expression(x);
  }

  private binary(x: Expression & { kind: "binary" }): Value {
    switch (x.op) {
      case "&&":
      case "||":
      case "and":
      case "or":
        return this.logical(x.op, this.borrowed(x.left), this.borrowed(x.right), x.at);
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.comparison(x.op, this.borrowed(x.left), this.borrowed(x.right), x.at);
      case "contains":
        return this.containment(this.borrowed(x.left), this.borrowed(x.right), x.at);
      default: {
        const [left, right] = [this.borrowed(x.left), this.borrowed(x.right)];
        if (x.op === "|" && right.type.kind === "func" && (x.right.kind === "name" || x.right.kind === "selector")) {
          const hint = `write ${x.right.name}() with parentheses`;
          this.fail(x.right.at, "syntax error: the right side of a pipe must be a call", hint);
        }
        return this.arithmetic(x.op, left, right, x.at);
      }
    }
  }

  private selector(x: Expression & { kind: "selector" }): Value {
    const module = x.x.kind === "name" ? this.scope.lookup(x.x.name) : undefined;
    if (module?.kind === "module") {
      const symbol = module.exports!.get(x.name);
      if (symbol === undefined) this.fail(x.at, `undefined: ${module.name}.${x.name}`);
      if (symbol.constant !== undefined)
        return { code: constantCode(symbol.constant), type: symbol.type, constant: symbol.constant };
      if (symbol.kind === "type") this.fail(x.at, `${module.name}.${x.name} is a type, not an expression`);
      return symbol.macro === undefined ? this.variable(symbol, true) : this.macroValue(symbol.macro);
    }
    const object = this.structOf(this.borrowed(x.x), x.at);
    const { type } = object;
    if (type.kind === "object") return this.objectField(object, type, x.name, x.at);
    if (type.kind === "struct") return this.member(object, x.name, this.field(type, x.name, x.at), x.at, true);
    if (type.kind === "map" && (isString(type.key) || type.key.kind === "any"))
      return this.member(object, x.name, type.element, x.at, isString(type.key));
    if (type.kind === "any") return this.member(object, x.name, ANY, x.at, true);
    if (type.kind === "host") {
      const host = this.host.declarations.hostTypes.get(type.name)!;
      const member = host.members.get(x.name);
      if (member !== undefined)
        return {
          code: [this.site(x.at), "$.member(", object.code, `, ${literal(type.name)}, ${literal(x.name)})`],
          type: member,
          ...(object.path === undefined ? {} : { path: `${object.path}.${x.name}` }),
        };
      if (host.methods.has(x.name))
        this.fail(x.at, `method ${typeName(type)}.${x.name} must be called`, `write .${x.name}(…)`);
      this.unknownMember(type.name, x.name, x.at);
    }
    this.fail(x.at, `cannot select ${x.name} of a value of type ${typeName(type)}`);
  }

  protected unknownMember(typeName_: string, name: string, at: number): never {
    const host = this.host.declarations.hostTypes.get(typeName_)!;
    const near = nearestName(name, [...host.members.keys(), ...host.methods.keys()]);
    this.fail(
      at,
      `${typeName_} has no member ${name}`,
      near === undefined ? host.unknownHint : `did you mean "${near}"?`,
    );
  }

  /** A field of a resource, by its JSON name or Go-style name; what is absent gives the zero value. */
  private objectField(object: Value, type: ObjectType, name: string, at: number): Value {
    const field = type.field(name);
    if (field !== undefined) {
      // A schema is a promise about data from elsewhere: values are checked where they come in.
      const { code } = this.member(object, field.json, ANY, at, true);
      return { code: this.checked(code, field.type, at), type: field.type };
    }
    if (type.open) return this.member(object, name, ANY, at, true);
    const near = nearestName(name, type.names());
    const hint = near === undefined ? `it has ${type.names().join(", ")}` : `did you mean "${near}"?`;
    this.fail(at, `${typeName(type)} has no field ${name}`, hint);
  }

  /** `m.name`: a missing link gives nil, or the zero value of a typed map. */
  private member(object: Value, name: string, element: Type, at: number, plainObject: boolean): Value {
    const zero = isValueType(element) ? "null" : this.zero(element);
    if (isValueType(element) && object.type.kind === "map") {
      const code: Code = [
        this.site(at),
        "$.entry(",
        object.code,
        `, ${literal(name)}, () => `,
        this.zero(element),
        ")",
      ];
      return { code, type: element };
    }
    if (plainObject && plainName(name)) return { code: this.plainMember(object.code, name, zero, at), type: element };
    return { code: [this.site(at), "$.get(", object.code, `, ${literal(name)}, `, zero, ")"], type: element };
  }

  /** Read in place; only where nothing is found is it asked whether there was something to read from. */
  private plainMember(object: Code, name: string, zero: Code, at: number): Code {
    const again = typeof object === "string" && /^[\w$]+$/.test(object) ? object : "$r";
    const first: Code = again === "$r" ? ["($r = ", object, ")"] : object;
    return ["(", first, `?.[${literal(name)}] ?? `, this.site(at), `$.get(${again}, ${literal(name)}, `, zero, "))"];
  }

  private index(x: Expression & { kind: "index" }): Value {
    const object = this.structOf(this.borrowed(x.x), x.at);
    const { type } = object;
    if (type.kind === "map") {
      const key = this.convert(this.expression(x.index), type.key, x.at, "map index");
      if (isValueType(type.element)) {
        const code: Code = [
          this.site(x.at),
          "$.entry(",
          object.code,
          ", ",
          key,
          ", () => ",
          this.zero(type.element),
          ")",
        ];
        return { code, type: type.element };
      }
      if (isString(type.key) && x.index.kind === "string")
        return this.member(object, x.index.text, type.element, x.at, true);
      return {
        code: [this.site(x.at), "$.get(", object.code, ", ", key, ", ", this.zero(type.element), ")"],
        type: type.element,
      };
    }
    if (type.kind === "object" && x.index.kind === "string") return this.objectField(object, type, x.index.text, x.at);
    const index = this.expression(x.index);
    if (type.kind === "object")
      return { code: [this.site(x.at), "$.index(", object.code, ", ", index.code, ")"], type: ANY };
    if (type.kind === "slice" || type.kind === "array" || isString(type)) {
      const constant = index.constant === undefined ? undefined : this.fitIndex(index, x.at);
      if (index.type.kind !== "any" && constant === undefined && !isInteger(index.type))
        this.fail(x.at, `invalid index: must be an integer, not ${typeName(index.type)}`);
      const length = type.kind === "array" ? type.length : Infinity;
      if (constant !== undefined && constant >= length)
        this.fail(x.at, `invalid index ${constant}: out of bounds [0:${length}]`);
      const at: Code = constant === undefined ? index.code : constantCode(constant);
      if (isString(type)) return { code: [this.site(x.at), "$.byteAt(", object.code, ", ", at, ")"], type: UINT8 };
      return {
        code: [this.site(x.at), "R_at($, ", object.code, ", ", at, ")"],
        type: (type as Type & { kind: "slice" | "array" }).element,
      };
    }
    if (type.kind === "any")
      return { code: [this.site(x.at), "$.index(", object.code, ", ", index.code, ")"], type: ANY };
    this.fail(x.at, `invalid operation: type ${typeName(type)} does not support indexing`);
  }

  private sliced(x: Expression & { kind: "slice" }): Value {
    // The variable gives up its slice: a later append to it must not be seen through this part.
    const object = this.structOf(this.expression(x.x), x.at);
    const bound = (part: Expression | undefined): Code => {
      if (part === undefined) return "null";
      const value = this.expression(part);
      if (value.constant !== undefined) return constantCode(this.fitIndex(value, part.at));
      if (value.type.kind !== "any" && !isInteger(value.type))
        this.fail(part.at, `invalid slice index: must be an integer, not ${typeName(value.type)}`);
      return value.code;
    };
    const { type } = object;
    if (!isString(type) && type.kind !== "slice" && type.kind !== "array" && type.kind !== "any")
      this.fail(x.at, `cannot slice a value of type ${typeName(type)}`);
    if (x.max !== undefined && isString(type)) this.fail(x.at, "a string has no capacity to slice to");
    const max: Code = x.max === undefined ? "" : [", ", bound(x.max)];
    return {
      code: [this.site(x.at), "$.slice_(", object.code, ", ", bound(x.low), ", ", bound(x.high), max, ")"],
      type: isString(type) ? STRING : type.kind === "array" ? { kind: "slice", element: type.element } : type,
    };
  }

  protected abstract defaulted(x: Expression & { kind: "default" }): Value;
  protected abstract renderedText(x: RenderExpression): Code;
}
