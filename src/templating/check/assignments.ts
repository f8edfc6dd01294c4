/** Variables: declarations, definitions, assignments. */
import { commas, literal, type Code } from "../emit/code.ts";
import type { Expression, Statement } from "../syntax/tree.ts";
import { Calls } from "./calls.ts";
import type { Symbol_, Value } from "./scope.ts";
import { ANY, BOOL, isString, isValueType, typeKey, typeName, type Type } from "./types.ts";

export abstract class Assignments extends Calls {
  protected bind(symbol: Symbol_, code: Code): Code {
    if (symbol.name === "_") return [code, ";\n"];
    return [`let ${symbol.js} = `, code, () => (symbol.appended ? `, ${symbol.js}$o = false;\n` : ";\n")];
  }

  protected declaration(n: Statement & { kind: "var" }): Code {
    const type = n.type === undefined ? undefined : this.type(n.type);
    if (n.values.length === 1 && n.names.length > 1) {
      const { code, results } = this.multiple(n.values[0]!, n.names.length);
      const from = this.fresh("t");
      const symbols = n.names.map((name, i) => this.addName(name.name, type ?? results[i]!, name.at));
      return [
        `const ${from} = `,
        code,
        ";\n",
        symbols.map((symbol, i) =>
          symbol.name === "_" ? "" : this.bind(symbol, this.part(from, i, results[i]!, type, n.at)),
        ),
      ];
    }
    if (n.values.length === 0) {
      if (type === undefined) this.fail(n.at, "syntax error: missing type or value in declaration");
      return n.names.map((name) => this.bind(this.addName(name.name, type, name.at), this.zero(type)));
    }
    if (n.values.length !== n.names.length)
      this.fail(
        n.at,
        `assignment mismatch: ${n.names.length} variable${n.names.length === 1 ? "" : "s"} but ${n.values.length} value${n.values.length === 1 ? "" : "s"}`,
      );
    this.iota = n.iota;
    const values = n.values.map((x) => this.expression(x, type));
    this.iota = undefined;
    if (n.constant) return this.constants(n, values, type);
    const settled = values.map((value, i) =>
      type === undefined
        ? this.settled(value, n.values[i]!.at)
        : { code: this.convert(value, type, n.values[i]!.at, "assignment"), type },
    );
    for (const value of settled)
      if (this.host.declarations.isBound(value.type))
        this.fail(n.at, `cannot keep ${typeName(value.type)} in a variable`, "call its methods where they are needed");
    // All right sides are read before a name becomes visible.
    if (n.names.length === 1)
      return this.bind(this.addName(n.names[0]!.name, settled[0]!.type, n.names[0]!.at), settled[0]!.code);
    const temporaries = settled.map(() => this.fresh("t"));
    return [
      settled.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]),
      n.names.map((name, i) => this.bind(this.addName(name.name, settled[i]!.type, name.at), temporaries[i]!)),
    ];
  }

  protected constants(n: Statement & { kind: "var" }, values: readonly Value[], type: Type | undefined): Code {
    n.names.forEach((name, i) => {
      const value = values[i]!;
      if (value.constant === undefined) this.fail(n.values[i]!.at, "const initializer is not a constant", "use var");
      if (type !== undefined) this.convert(value, type, n.values[i]!.at, "constant declaration");
      const { constant } = type === undefined ? value : this.typedConstant(value.constant, type, name.at);
      this.addName(name.name, type ?? value.type, name.at, { kind: "const", constant: constant! });
    });
    return "";
  }

  protected part(from: string, i: number, type: Type, to: Type | undefined, at: number): Code {
    const value: Value = { code: `${from}[${i}]`, type };
    return to === undefined ? value.code : this.convert(value, to, at, "assignment");
  }

  /** An expression that gives `count` values: comma-ok forms and calls. The code yields an array. */
  protected multiple(x: Expression, count: number): { code: Code; results: readonly Type[] } {
    let inner = x;
    while (inner.kind === "paren") inner = inner.x;
    if (count === 2 && inner.kind === "index") {
      const object = this.borrowed(inner.x);
      if (object.type.kind === "map" || object.type.kind === "any") {
        const [keyType, element] = object.type.kind === "map" ? [object.type.key, object.type.element] : [ANY, ANY];
        const key = this.convert(this.expression(inner.index), keyType, inner.at, "map index");
        return {
          code: [this.site(inner.at), "$.lookup(", object.code, ", ", key, ", ", this.zero(element), ")"],
          results: [element, BOOL],
        };
      }
    }
    if (count === 2 && inner.kind === "selector") {
      const object = this.borrowed(inner.x);
      if (object.type.kind === "map" || object.type.kind === "any") {
        const element = object.type.kind === "map" ? object.type.element : ANY;
        return {
          code: [this.site(inner.at), "$.lookup(", object.code, `, ${literal(inner.name)}, `, this.zero(element), ")"],
          results: [element, BOOL],
        };
      }
    }
    if (count === 2 && inner.kind === "assert" && inner.type !== undefined) {
      const value = this.expression(inner.x);
      if (value.type.kind !== "any" && value.type.kind !== "error")
        this.fail(inner.at, `invalid type assertion: operand is not any but ${typeName(value.type)}`);
      const type = this.type(inner.type);
      return {
        code: ["$.assertOk(", value.code, `, ${literal(typeKey(type))}, `, this.zero(type), ")"],
        results: [type, BOOL],
      };
    }
    if (inner.kind === "call") {
      const value = this.call(inner, count);
      if (value.results !== undefined) return { code: value.code, results: value.results };
    }
    this.fail(x.at, `assignment mismatch: ${count} variables but 1 value`);
  }

  protected definition(n: Statement & { kind: "assign" }): Code {
    const names = n.left.map((left) => {
      if (left.kind !== "name") this.fail(left.at, "non-name on left side of :=", "assign with =");
      return left;
    });
    if (!names.some((name) => name.name !== "_" && !this.scope.names.has(name.name)))
      this.fail(n.at, "no new variables on left side of :=", "assign with =");
    const bindPart = (name: Expression & { kind: "name" }, value: Value): Code => {
      const existing = this.scope.names.get(name.name);
      if (existing !== undefined) return this.store(name, value, name.at);
      return name.name === "_" ? "" : this.bind(this.addName(name.name, value.type, name.at), value.code);
    };
    if (n.right.length === 1 && names.length > 1) {
      const { code, results } = this.multiple(n.right[0]!, names.length);
      const from = this.fresh("t");
      return [
        `const ${from} = `,
        code,
        ";\n",
        names.map((name, i) => bindPart(name, { code: `${from}[${i}]`, type: results[i]! })),
      ];
    }
    if (n.right.length !== names.length)
      this.fail(
        n.at,
        `assignment mismatch: ${names.length} variable${names.length === 1 ? "" : "s"} but ${n.right.length} value${n.right.length === 1 ? "" : "s"}`,
      );
    const values = n.right.map((x) => this.settled(this.expression(x), x.at));
    for (const value of values)
      if (this.host.declarations.isBound(value.type))
        this.fail(n.at, `cannot keep ${typeName(value.type)} in a variable`, "call its methods where they are needed");
    if (names.length === 1) return bindPart(names[0]!, values[0]!);
    const temporaries = values.map(() => this.fresh("t"));
    return [
      values.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]),
      names.map((name, i) => bindPart(name, { code: temporaries[i]!, type: values[i]!.type })),
    ];
  }

  protected assignment(n: Statement & { kind: "assign" }): Code {
    if (n.left.length === 1 && n.right.length === 1) {
      const [left, right] = [n.left[0]!, n.right[0]!];
      const own = this.selfAppend(left, right);
      if (own !== undefined) return own;
      return this.store(left, this.expression(right, this.targetType(left)), n.at);
    }
    return this.evaluatedOnce(n.left, (left) => this.assignSeveral(n, left));
  }

  private assignSeveral(n: Statement & { kind: "assign" }, left: readonly Expression[]): Code {
    if (n.right.length === 1) {
      const { code, results } = this.multiple(n.right[0]!, left.length);
      const from = this.fresh("t");
      return [
        "{\n",
        `const ${from} = `,
        code,
        ";\n",
        left.map((place, i) => this.store(place, { code: `${from}[${i}]`, type: results[i]! }, n.at)),
        "}\n",
      ];
    }
    if (n.right.length !== left.length)
      this.fail(n.at, `assignment mismatch: ${left.length} variables but ${n.right.length} values`);
    const values = n.right.map((x, i) => {
      const value = this.expression(x, this.targetType(left[i]!));
      return isValueType(value.type) ? this.settled(value, x.at) : value;
    });
    const temporaries = values.map(() => this.fresh("t"));
    return [
      "{\n",
      values.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]),
      left.map((place, i) => {
        const { type, constant } = values[i]!;
        const value: Value = { code: temporaries[i]!, type, ...(constant === undefined ? {} : { constant }) };
        return this.store(place, value, n.at);
      }),
      "}\n",
    ];
  }

  /**
   * Places of an assignment whose parts are evaluated once and before anything is assigned: `l[f()] += 1`, and in
   * `i, l[i] = 1, 2` the index is the old i.
   */
  protected evaluatedOnce(places: readonly Expression[], work: (places: readonly Expression[]) => Code): Code {
    const fixed = (x: Expression): boolean =>
      x.kind === "string" || x.kind === "int" || x.kind === "rune" || (places.length === 1 && steady(x));
    const needed = (x: Expression): boolean =>
      (x.kind === "index" && !(fixed(x.index) && steady(x.x))) || (x.kind === "selector" && !steady(x.x));
    const bare = places.map((x) => {
      let inner = x;
      while (inner.kind === "paren") inner = inner.x;
      return inner;
    });
    if (!bare.some(needed)) return work(places);
    return this.inScope(() => {
      const before: Code[] = [];
      const held = (x: Expression): Expression => {
        if (fixed(x) || (x.kind === "name" && steady(x) && this.scope.lookup(x.name) === undefined)) return x;
        const value = this.borrowed(x);
        if (value.constant !== undefined) return x;
        const name = this.fresh("$held");
        before.push([`const ${this.hold(name, value).js} = `, value.code, ";\n"]);
        return { kind: "name", name, at: x.at };
      };
      const mapped = bare.map((x): Expression => {
        if (x.kind === "index" && needed(x))
          return { ...x, x: steady(x.x) ? x.x : held(x.x), index: fixed(x.index) ? x.index : held(x.index) };
        return x.kind === "selector" && needed(x) ? { ...x, x: held(x.x) } : x;
      });
      return ["{\n", before, work(mapped), "}\n"];
    });
  }

  /** A name that no template can write, for a value as it is (a struct is not copied). */
  private hold(name: string, value: Value): Symbol_ {
    const symbol: Symbol_ = {
      name,
      kind: "var",
      js: this.fresh("h"),
      type: value.type,
      appended: false,
      imported: true,
    };
    this.scope.names.set(name, symbol);
    return symbol;
  }

  /** Type of the place an assignment goes to, for literals without a type of their own. */
  protected targetType(left: Expression): Type | undefined {
    return left.kind === "name" ? this.scope.lookup(left.name)?.type : undefined;
  }

  /** `x = append(x, …)` pushes in place while nothing else holds the slice: accumulating stays linear. */
  protected selfAppend(left: Expression, right: Expression): Code | undefined {
    if (
      left.kind !== "name" ||
      right.kind !== "call" ||
      right.fn.kind !== "name" ||
      right.fn.name !== "append" ||
      right.spread
    )
      return undefined;
    const first = right.args[0];
    const symbol = this.scope.lookup(left.name);
    if (
      first?.kind !== "name" ||
      first.name !== left.name ||
      symbol?.kind !== "var" ||
      symbol.imported === true ||
      this.scope.lookup("append") !== undefined
    )
      return undefined;
    if (symbol.type.kind !== "slice" && symbol.type.kind !== "any") return undefined;
    const { type } = this.appendTypes(symbol.type, first.at);
    const parts = this.appended(right, type);
    const items = commas(parts);
    symbol.appended = true;
    const { js } = symbol;
    return [
      `if (${js}$o) `,
      this.site(right.at),
      parts.length === 1 ? [`R_push($, ${js}, `, items] : [`$.push(${js}, [`, items, "]"],
      `); else { ${js} = `,
      this.site(right.at),
      `$.append(${js}, [`,
      items,
      `]); ${js}$o = $.owned(${js}); }\n`,
    ];
  }

  /** Assigns a value to a variable, map entry, slice element or member. */
  protected store(left: Expression, value: Value, at: number): Code {
    switch (left.kind) {
      case "paren":
        return this.store(left.x, value, at);
      case "name": {
        if (left.name === "_") return [this.settled(value, at).code, ";\n"];
        const symbol = this.scope.lookup(left.name);
        if (symbol === undefined) {
          if (this.host.declarations.globals[this.kind].has(left.name) || this.host.natives.has(left.name))
            this.fail(left.at, `cannot assign to ${left.name}`, "declare a variable with var");
          return this.undefinedName(left.name, left.at);
        }
        if (symbol.kind !== "var")
          this.fail(
            left.at,
            `cannot assign to ${left.name}`,
            `${left.name} is a ${symbol.kind === "const" ? "constant" : symbol.kind}`,
          );
        const code = this.convert(value, symbol.type, at, "assignment");
        return [`${symbol.js} = `, code, ";", () => (symbol.appended ? ` ${symbol.js}$o = false;\n` : "\n")];
      }
      case "unary": {
        if (left.op !== "*") this.fail(left.at, "cannot assign to this expression");
        const pointer = this.borrowed(left.x);
        if (pointer.type.kind !== "pointer" && pointer.type.kind !== "any")
          this.fail(left.at, `invalid operation: cannot indirect a value of type ${typeName(pointer.type)}`);
        const element = pointer.type.kind === "pointer" ? pointer.type.element : ANY;
        return [
          this.site(at),
          "$.setTarget(",
          pointer.code,
          ", ",
          this.convert(value, element, at, "assignment"),
          ");\n",
        ];
      }
      case "index": {
        const object = this.structOf(this.borrowed(left.x), left.at);
        const { type } = object;
        if (isString(type)) this.fail(left.at, "cannot assign to a byte of a string");
        if (type.kind !== "map" && type.kind !== "slice" && type.kind !== "array" && type.kind !== "any")
          this.fail(left.at, `cannot assign to an element of ${typeName(type)}`);
        const key =
          type.kind === "map"
            ? this.convert(this.expression(left.index), type.key, left.at, "map index")
            : this.expression(left.index).code;
        const element = type.kind === "map" || type.kind === "slice" || type.kind === "array" ? type.element : ANY;
        return [
          this.site(at),
          "$.set(",
          object.code,
          ", ",
          key,
          ", ",
          this.convert(value, element, at, "assignment"),
          ");\n",
        ];
      }
      case "selector": {
        const module = left.x.kind === "name" ? this.scope.lookup(left.x.name) : undefined;
        if (module?.kind === "module") {
          const symbol = module.exports!.get(left.name);
          if (symbol?.kind !== "var") this.fail(left.at, `cannot assign to ${module.name}.${left.name}`);
          return [`${symbol.js} = `, this.convert(value, symbol.type, at, "assignment"), ";\n"];
        }
        const object = this.structOf(this.borrowed(left.x), left.at);
        const { type } = object;
        if (type.kind === "struct") {
          const field = this.field(type, left.name, left.at);
          if (left.x.kind === "index" && isValueType(type) && this.isMapEntry(left.x))
            this.fail(left.at, "cannot assign to a field of a map entry", "change a copy and store it again");
          const code = this.convert(value, field, at, "assignment");
          return [this.site(at), "$.setField(", object.code, `, ${literal(left.name)}, `, code, ");\n"];
        }
        if (type.kind !== "any" && !(type.kind === "map" && isString(type.key)))
          this.fail(left.at, `cannot assign to a member of ${typeName(type)}`);
        return [
          this.site(at),
          "$.set(",
          object.code,
          `, ${literal(left.name)}, `,
          this.convert(value, type.kind === "map" ? type.element : ANY, at, "assignment"),
          ");\n",
        ];
      }
      default:
        this.fail(left.at, "cannot assign to this expression");
    }
  }

  private isMapEntry(x: Expression & { kind: "index" }): boolean {
    return this.borrowed(x.x).type.kind === "map";
  }
}

/** Reading it twice gives the same, and does nothing. */
function steady(x: Expression): boolean {
  switch (x.kind) {
    case "name":
    case "string":
    case "int":
    case "rune":
      return true;
    case "paren":
      return steady(x.x);
    case "selector":
      return steady(x.x);
    case "index":
      return steady(x.x) && steady(x.index);
    case "unary":
      return x.op === "*" && steady(x.x);
    default:
      return false;
  }
}
