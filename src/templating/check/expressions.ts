/** Checks expressions and lowers them to code. */
import { commas, literal, type Code } from "../emit/code.ts";
import { globMatches } from "../runtime/glob.ts";
import { hostileNames } from "../runtime/guards.ts";
import { nearestName } from "../syntax/problems.ts";
import type { Expression, RenderExpression, Statement } from "../syntax/tree.ts";
import { constantCode, Operators } from "./operators.ts";
import type { Value } from "./scope.ts";
import { ANY, isInteger, isString, STRING, typeName, UINT8, type FunctionType, type Type } from "./types.ts";

/** Whether `x["name"]` may be read in place: no built-in prototype knows the name, and no array or string index is like it. */
function plainName(name: string): boolean {
  return !hostileNames.has(name) && !/^\d/.test(name);
}

export abstract class Expressions extends Operators {
  protected abstract call(x: Expression & { kind: "call" }, wanted: number): Value;
  protected abstract functionLiteral(
    params: readonly { name: string; type: Type; at: number }[],
    type: FunctionType,
    body: readonly Statement[],
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
        return this.constantValue(Number(x.text.replaceAll("_", "")), { kind: "untyped", name: "float" });
      case "rune":
        return this.constantValue(BigInt(x.text.codePointAt(0)!), { kind: "untyped", name: "rune" });
      case "paren":
        return this.expression(x.x, hint);
      case "name":
        return this.name(x.name, x.at, true);
      case "unary":
        return this.unaryOperator(x.op, this.expression(x.x), x.at);
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
        return { code: [this.site(x.at), "$.assert(", value.code, `, ${literal(typeName(type))})`], type };
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
        return { code: this.functionLiteral(params, type, x.body), type };
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
      if (symbol.macro !== undefined) {
        const { macro } = symbol;
        const type: FunctionType = {
          kind: "func",
          params: macro.params.map((p) => p.type),
          variadic: macro.params.at(-1)?.variadic ?? false,
          results: [STRING],
        };
        return { code: { node: "reference", fn: macro.node, target: macro.target }, type };
      }
      if (!aliases) return { code: symbol.js, type: symbol.type };
      return {
        code: () => (symbol.appended ? `(${symbol.js}$o = false, ${symbol.js})` : symbol.js),
        type: symbol.type,
      };
    }
    if (name === "true" || name === "false")
      return this.constantValue(name === "true", { kind: "untyped", name: "bool" });
    if (name === "nil") return { code: "null", type: { kind: "untyped", name: "nil" } };
    const type = this.host.declarations.globals[this.kind].get(name);
    // A function of the host is no value: it is called with arguments that were checked here.
    if (type?.kind === "func") this.fail(at, `${name} must be called`, `write ${name}(…), or a lambda that calls it`);
    if (type !== undefined) return { code: this.global(name), type };
    const native = this.host.natives.get(name);
    if (native !== undefined) return { code: `$.native(${literal(name)})`, type: native.type };
    if (name === "len" || name === "append" || name === "delete" || name === "make")
      this.fail(at, `${name} must be called`);
    return this.undefinedName(name, at);
  }

  /** Reads an expression that is only looked into, never kept. */
  protected borrowed(x: Expression): Value {
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
    const object = this.borrowed(x.x);
    const { type } = object;
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

  /** `m.name`: a missing link gives nil, or the zero value of a typed map. */
  private member(object: Value, name: string, element: Type, at: number, plainObject: boolean): Value {
    const zero = this.zero(element);
    if (plainObject && plainName(name))
      return { code: ["(", object.code, `?.[${literal(name)}] ?? `, zero, ")"], type: element };
    return { code: [this.site(at), "$.get(", object.code, `, ${literal(name)}, `, zero, ")"], type: element };
  }

  private index(x: Expression & { kind: "index" }): Value {
    const object = this.borrowed(x.x);
    const { type } = object;
    if (type.kind === "map") {
      const key = this.convert(this.expression(x.index), type.key, x.at, "map index");
      if (isString(type.key) && x.index.kind === "string")
        return this.member(object, x.index.text, type.element, x.at, true);
      return {
        code: [this.site(x.at), "$.get(", object.code, ", ", key, ", ", this.zero(type.element), ")"],
        type: type.element,
      };
    }
    const index = this.expression(x.index);
    if (type.kind === "slice" || isString(type)) {
      if (
        index.type.kind !== "any" &&
        !isInteger(index.type) &&
        !(typeof index.constant === "number" && Number.isInteger(index.constant))
      ) {
        this.fail(x.at, `invalid index: must be an integer, not ${typeName(index.type)}`);
      }
      if (typeof index.constant === "bigint" && index.constant < 0n)
        this.fail(x.at, `invalid index ${index.constant}: must not be negative`);
      if (isString(type))
        return { code: [this.site(x.at), "$.byteAt(", object.code, ", ", index.code, ")"], type: UINT8 };
      return {
        code: [this.site(x.at), "$.at(", object.code, ", ", index.code, ")"],
        type: (type as Type & { kind: "slice" }).element,
      };
    }
    if (type.kind === "any")
      return { code: [this.site(x.at), "$.index(", object.code, ", ", index.code, ")"], type: ANY };
    this.fail(x.at, `invalid operation: type ${typeName(type)} does not support indexing`);
  }

  private sliced(x: Expression & { kind: "slice" }): Value {
    const object = this.borrowed(x.x);
    const bound = (part: Expression | undefined): Code => {
      if (part === undefined) return "null";
      const value = this.expression(part);
      if (value.type.kind !== "any" && !isInteger(value.type))
        this.fail(part.at, `invalid slice index: must be an integer, not ${typeName(value.type)}`);
      return value.code;
    };
    const { type } = object;
    if (!isString(type) && type.kind !== "slice" && type.kind !== "any")
      this.fail(x.at, `cannot slice a value of type ${typeName(type)}`);
    return {
      code: [this.site(x.at), "$.slice_(", object.code, ", ", bound(x.low), ", ", bound(x.high), ")"],
      type: isString(type) ? STRING : type,
    };
  }

  private composite(x: Expression & { kind: "composite" }, hint: Type | undefined): Value {
    const type = x.type === undefined ? hint : this.type(x.type);
    if (type?.kind === "slice") {
      const items = x.elements.map((element) => {
        if (element.key !== undefined) this.fail(element.key.at, "keys in slice literals are not supported");
        return this.convert(
          this.expression(element.value, type.element),
          type.element,
          element.value.at,
          "slice literal",
        );
      });
      return { code: ["[", commas(items), "]"], type };
    }
    if (type?.kind === "map") {
      const seen = new Set<unknown>();
      const pairs = x.elements.map((element) => {
        if (element.key === undefined) this.fail(element.value.at, "missing key in map literal");
        const key = this.expression(element.key, type.key);
        if (key.constant !== undefined) {
          if (seen.has(key.constant))
            this.fail(element.key.at, `duplicate key ${JSON.stringify(String(key.constant))} in map literal`);
          seen.add(key.constant);
        }
        return [
          this.convert(key, type.key, element.key.at, "map key"),
          this.convert(this.expression(element.value, type.element), type.element, element.value.at, "map literal"),
        ] as const;
      });
      // A computed key makes even "__proto__" an own property.
      if (isString(type.key))
        return { code: ["({", commas(pairs.map(([key, value]): Code => ["[", key, "]: ", value])), "})"], type };
      return { code: ["$.map([", commas(pairs.map(([key, value]): Code => ["[", key, ", ", value, "]"])), "])"], type };
    }
    this.fail(
      x.at,
      type === undefined ? "missing type in composite literal" : `invalid composite literal type ${typeName(type)}`,
    );
  }

  private defaulted(x: Expression & { kind: "default" }): Value {
    const { x: left } = x;
    if (left.kind === "render")
      return this.rendered(left) === undefined ? this.expression(x.otherwise) : this.expression(left);
    const name = left.kind === "name" ? left : left.kind === "call" && left.fn.kind === "name" ? left.fn : undefined;
    if (name === undefined)
      this.fail(
        x.at,
        "default needs a name, a call or a render on its left",
        "use fallback() for values that may be nil",
      );
    const declared =
      this.scope.lookup(name.name) !== undefined ||
      this.host.declarations.globals[this.kind].has(name.name) ||
      this.host.natives.has(name.name);
    return declared ? this.expression(left) : this.expression(x.otherwise);
  }

  // --- render ------------------------------------------------------------------------------------------------------

  /** Names a render stands for, in order; undefined when a literal path does not exist. */
  protected rendered(x: RenderExpression): string[] | undefined {
    if (x.path === undefined)
      this.fail(
        x.pathAt,
        `render${x.glob ? "_glob" : ""} with a computed name is not supported`,
        "choose with if or switch between literal names",
      );
    if (x.glob) {
      const { path } = x;
      const names = globMatches(path, this.host.snippetNames());
      if (names === undefined) this.fail(x.pathAt, `syntax error in pattern ${JSON.stringify(path)}`);
      return names;
    }
    const name = this.resolvePath(x.path);
    return name === undefined ? undefined : [name];
  }

  /** A path is rooted with `/`, relative to the current name's directory, or a plain name. */
  protected resolvePath(path: string): string | undefined {
    if (path.startsWith("/")) return this.host.source(path.slice(1)) === undefined ? undefined : path.slice(1);
    const directory = this.source.name.slice(0, this.source.name.lastIndexOf("/") + 1);
    if (directory !== "" && this.host.source(directory + path) !== undefined) return directory + path;
    return this.host.source(path) === undefined ? undefined : path;
  }

  protected missingTemplate(word: string, path: string, at: number): never {
    const near = nearestName(path, this.host.snippetNames());
    this.fail(
      at,
      `${word} path ${JSON.stringify(path)} does not exist`,
      near === undefined ? undefined : `did you mean "${near}"?`,
    );
  }

  private renderedText(x: RenderExpression): Code {
    if (x.inheritContext) this.fail(x.at, "render … inherit_context has no value of its own", "write it in {{ }}");
    const names = this.rendered(x) ?? this.missingTemplate("render", x.path!, x.pathAt);
    if (names.length === 0) return '""';
    const parts = names.map((name): Code => {
      if (this.host.isIncremental(name)) {
        this.refuseMountInComponent(x);
        this.mounts.add(name);
        return [this.site(x.at), `$.incremental(${literal(name)})`];
      }
      const key = this.host.requireUnit(name, this.place(x.at));
      if (key === undefined) return '""';
      this.includes.add(key);
      return { node: "delegate", code: [this.site(x.at), `$.renderText(${literal(key)})`] };
    });
    return parts.length === 1 ? parts[0]! : ["(", parts.flatMap((part, i) => (i === 0 ? [part] : [" + ", part])), ")"];
  }

  protected refuseMountInComponent(x: RenderExpression): void {
    if (this.kind === "component")
      this.fail(
        x.at,
        "an incremental snippet cannot render another incremental snippet",
        "render it from a root template",
      );
  }
}

function parseInteger(text: string): bigint {
  const digits = text.replaceAll("_", "");
  if (/^0[0-7]+$/.test(digits)) return BigInt(`0o${digits.slice(1)}`);
  return BigInt(digits);
}
