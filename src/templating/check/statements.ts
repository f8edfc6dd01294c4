/** Checks statements and lowers them to code. */
import { commas, literal, type Code, type FunctionNode } from "../emit/code.ts";
import type { Case, Expression, MacroStatement, RenderExpression, Statement } from "../syntax/tree.ts";
import { Calls } from "./calls.ts";
import { Scope, type MacroInfo, type Symbol_, type Value } from "./scope.ts";
import {
  ANY, BOOL, ERROR, INT, isBool, isInteger, isNumber, isString, RUNE, STRING, typeName, VOID, type FunctionType, type Type,
} from "./types.ts";
import { CheckFault } from "./unit.ts";

interface Jump {
  readonly label: string | undefined;
  readonly js: string;
  readonly loop: boolean;
}

export class Statements extends Calls {
  private jumps: Jump[] = [];
  /** JavaScript label that `return` leaves, while a snippet is compiled in its caller's context. */
  private inlineEnd: string | undefined;
  private inlining: string[] = [];

  protected list(statements: readonly Statement[]): Code[] {
    return statements.map((statement) => this.statement(statement));
  }

  protected block(statements: readonly Statement[]): Code[] {
    return this.inScope(() => this.list(statements));
  }

  /** A statement with a problem is recorded and left out, so that the rest is checked too. */
  protected statement(n: Statement): Code {
    try {
      return this.lower(n);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      this.declareAfterFault(n);
      return "";
    }
  }

  /** Names a faulty statement would have declared, so that their uses are not reported as well. */
  private declareAfterFault(n: Statement): void {
    const names =
      n.kind === "var" ? n.names.map((name) => name.name) : n.kind === "assign" && n.define ? n.left.flatMap((left) => (left.kind === "name" ? [left.name] : [])) : n.kind === "import" ? n.names.map((name) => name.name) : [];
    for (const name of names) if (!this.scope.names.has(name)) this.addName(name, ANY, n.at);
  }

  private lower(n: Statement): Code {
    switch (n.kind) {
      case "text":
        if (this.frame.kind === "import" && n.text.trim() !== "") this.fail(n.at + (n.text.length - n.text.trimStart().length), "syntax error: unexpected text in imported file", "an imported file holds only declarations");
        return this.frame.kind === "import" ? "" : ["o += ", literal(n.text), ";\n"];
      case "show":
        if (this.frame.kind === "literal") this.fail(n.at, "show is not allowed in a function literal", "return the text, or use a macro");
        if (this.frame.kind === "import") this.fail(n.at, "syntax error: unexpected show in imported file", "an imported file holds only declarations");
        return n.values.map((value) => this.show(value));
      case "expression":
        return this.expressionStatement(n.x);
      case "var":
        return this.declaration(n);
      case "assign":
        return n.define ? this.definition(n) : this.assignment(n);
      case "update": {
        const current = this.borrowed(n.x);
        if (!isNumber(current.type) && current.type.kind !== "any" && !(n.op === "+" && isString(current.type))) this.fail(n.at, `invalid operation: operator ${n.op} not defined on ${typeName(current.type)}`);
        const operand: Value = n.value === undefined ? { code: "1", type: { kind: "untyped", name: "int" }, constant: 1n } : this.expression(n.value);
        return this.store(n.x, this.arithmetic(n.op, current, operand, n.at), n.at);
      }
      case "if":
        return this.inScope(() => {
          const init = n.init === undefined ? "" : this.statement(n.init);
          const condition = this.guarded(n.condition);
          const then = this.block(n.then);
          const code: Code[] = ["if (", condition, ") {\n", then, "}"];
          if (n.otherwise !== undefined) code.push(" else {\n", this.block(n.otherwise), "}");
          return init === "" ? [code, "\n"] : ["{\n", init, code, "\n}\n"];
        });
      case "for":
        return this.forLoop(n);
      case "range":
        return this.rangeLoop(n);
      case "switch":
        return this.switchStatement(n);
      case "jump":
        return this.jump(n);
      case "return":
        return this.returnStatement(n);
      case "block":
        return ["{\n", this.block(n.body), "}\n"];
      case "sequence":
        return this.list(n.body);
      case "macro":
        return this.macro(n);
      case "import":
        return this.importStatement(n);
    }
  }

  /** A condition whose own problem does not hide those of the block. */
  private guarded(x: Expression): Code {
    try {
      return this.condition(this.borrowed(x), x.at);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      return "false";
    }
  }

  // --- output ------------------------------------------------------------------------------------------------------

  private show(x: Expression): Code {
    if (x.kind === "render") return this.showRender(x);
    if (x.kind === "default" && x.x.kind === "render") {
      const names = this.rendered(x.x);
      return names === undefined || (x.x.glob && names.length === 0) ? this.show(x.otherwise) : this.showRender(x.x);
    }
    const value = this.expression(x);
    const { type } = value;
    if (isString(type) || isInteger(type) || isBool(type)) {
      return typeof value.constant === "bigint" || typeof value.constant === "string" || typeof value.constant === "boolean"
        ? ["o += ", literal(String(value.constant)), ";\n"]
        : ["o += ", value.code, ";\n"];
    }
    if (type.kind === "slice" || type.kind === "map" || type.kind === "func" || type.kind === "host" || type.kind === "void" || (type.kind === "untyped" && type.name === "nil")) {
      const hint = type.kind === "slice" ? "use join() or a for loop" : type.kind === "map" ? "use toJSON() or show its members" : type.kind === "func" ? "call it with ()" : undefined;
      this.fail(x.at, `cannot show value of type ${typeName(type)}`, hint);
    }
    return ["o += ", this.site(x.at), "$.show(", value.code, ");\n"];
  }

  private showRender(x: RenderExpression): Code {
    const names = this.rendered(x) ?? this.missingTemplate("render", x.path!, x.pathAt);
    return names.map((name): Code => {
      if (x.inheritContext) return this.inline(name, x);
      if (this.host.isIncremental(name)) {
        this.refuseMountInComponent(x);
        this.mounts.add(name);
        const { kind } = this.frame;
        if (kind === "main") return ["o = $.flush(o);\n", this.site(x.at), `$.mount(${literal(name)});\n`];
        return ["o += ", this.site(x.at), `$.incremental(${literal(name)});\n`];
      }
      const key = this.host.requireUnit(name, this.place(x.at));
      if (key === undefined) return "";
      this.includes.add(key);
      if (this.frame.kind === "main") return ["o = $.flush(o);\n", { node: "delegate", code: [this.site(x.at), `$.include(${literal(key)})`] }, ";\n"];
      return ["o += ", { node: "delegate", code: [this.site(x.at), `$.renderText(${literal(key)})`] }, ";\n"];
    });
  }

  /** `inherit_context`: the snippet is compiled in the scope of the call; its own names stay inside. */
  private inline(name: string, x: RenderExpression): Code {
    const source = this.host.source(name)!;
    if (this.inlining.includes(name)) this.fail(x.pathAt, `render cycle: ${[...this.inlining, name].join(" → ")}`);
    if (this.host.isIncremental(name)) this.fail(x.pathAt, `incremental snippet ${JSON.stringify(name)} cannot inherit a context`);
    const outer = [this.source, this.from, this.inlineEnd] as const;
    const from = this.place(x.at);
    const end = this.fresh("end");
    this.inlining.push(name);
    try {
      this.source = source;
      this.from = from;
      this.inlineEnd = end;
      return [`${end}: {\n`, this.block(this.host.tree(source)), "}\n"];
    } finally {
      [this.source, this.from, this.inlineEnd] = outer;
      this.inlining.pop();
    }
  }

  private expressionStatement(x: Expression): Code {
    let inner = x;
    while (inner.kind === "paren") inner = inner.x;
    if (inner.kind !== "call") {
      const hint = inner.kind === "render" ? "show it with {{ }}" : "show it with {{ }} or assign it";
      this.fail(x.at, "expression evaluated but not used", hint);
    }
    const value = this.call(inner, 0);
    return [value.code, ";\n"];
  }

  // --- variables ---------------------------------------------------------------------------------------------------

  private bind(symbol: Symbol_, code: Code): Code {
    if (symbol.name === "_") return [code, ";\n"];
    return [`let ${symbol.js} = `, code, () => (symbol.appended ? `, ${symbol.js}$o = false;\n` : ";\n")];
  }

  private declaration(n: Statement & { kind: "var" }): Code {
    const type = n.type === undefined ? undefined : this.type(n.type);
    if (n.values.length === 1 && n.names.length > 1) {
      const { code, results } = this.multiple(n.values[0]!, n.names.length);
      const from = this.fresh("t");
      const symbols = n.names.map((name, i) => this.addName(name.name, type ?? results[i]!, name.at));
      return [`const ${from} = `, code, ";\n", symbols.map((symbol, i) => (symbol.name === "_" ? "" : this.bind(symbol, this.part(from, i, results[i]!, type, n.at))))];
    }
    if (n.values.length === 0) {
      if (type === undefined) this.fail(n.at, "syntax error: missing type or value in declaration");
      return n.names.map((name) => this.bind(this.addName(name.name, type, name.at), this.zero(type)));
    }
    if (n.values.length !== n.names.length) this.fail(n.at, `assignment mismatch: ${n.names.length} variable${n.names.length === 1 ? "" : "s"} but ${n.values.length} value${n.values.length === 1 ? "" : "s"}`);
    const values = n.values.map((x) => this.expression(x, type));
    if (n.constant) return this.constants(n, values, type);
    const settled = values.map((value, i) => (type === undefined ? this.settled(value, n.values[i]!.at) : { code: this.convert(value, type, n.values[i]!.at, "assignment"), type }));
    for (const value of settled) if (value.type.kind === "host") this.fail(n.at, `cannot keep ${typeName(value.type)} in a variable`, "call its methods where they are needed");
    // All right sides are read before a name becomes visible.
    if (n.names.length === 1) return this.bind(this.addName(n.names[0]!.name, settled[0]!.type, n.names[0]!.at), settled[0]!.code);
    const temporaries = settled.map(() => this.fresh("t"));
    return [
      settled.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]),
      n.names.map((name, i) => this.bind(this.addName(name.name, settled[i]!.type, name.at), temporaries[i]!)),
    ];
  }

  private constants(n: Statement & { kind: "var" }, values: readonly Value[], type: Type | undefined): Code {
    n.names.forEach((name, i) => {
      const value = values[i]!;
      if (value.constant === undefined) this.fail(n.values[i]!.at, "const initializer is not a constant", "use var");
      if (type !== undefined) this.convert(value, type, n.values[i]!.at, "constant declaration");
      this.addName(name.name, type ?? value.type, name.at, { kind: "const", constant: value.constant });
    });
    return "";
  }

  private part(from: string, i: number, type: Type, to: Type | undefined, at: number): Code {
    const value: Value = { code: `${from}[${i}]`, type };
    return to === undefined ? value.code : this.convert(value, to, at, "assignment");
  }

  /** An expression that gives `count` values: comma-ok forms and calls. The code yields an array. */
  private multiple(x: Expression, count: number): { code: Code; results: readonly Type[] } {
    let inner = x;
    while (inner.kind === "paren") inner = inner.x;
    if (count === 2 && inner.kind === "index") {
      const object = this.borrowed(inner.x);
      if (object.type.kind === "map" || object.type.kind === "any") {
        const [keyType, element] = object.type.kind === "map" ? [object.type.key, object.type.element] : [ANY, ANY];
        const key = this.convert(this.expression(inner.index), keyType, inner.at, "map index");
        return { code: [this.site(inner.at), "$.lookup(", object.code, ", ", key, `, ${this.zero(element) as string})`], results: [element, BOOL] };
      }
    }
    if (count === 2 && inner.kind === "selector") {
      const object = this.borrowed(inner.x);
      if (object.type.kind === "map" || object.type.kind === "any") {
        const element = object.type.kind === "map" ? object.type.element : ANY;
        return { code: [this.site(inner.at), "$.lookup(", object.code, `, ${literal(inner.name)}, ${this.zero(element) as string})`], results: [element, BOOL] };
      }
    }
    if (count === 2 && inner.kind === "assert" && inner.type !== undefined) {
      const value = this.expression(inner.x);
      const type = this.type(inner.type);
      return { code: ["$.assertOk(", value.code, `, ${literal(typeName(type))}, ${this.zero(type) as string})`], results: [type, BOOL] };
    }
    if (inner.kind === "call") {
      const value = this.call(inner, count);
      if (value.results !== undefined) return { code: value.code, results: value.results };
    }
    this.fail(x.at, `assignment mismatch: ${count} variables but 1 value`);
  }

  private definition(n: Statement & { kind: "assign" }): Code {
    const names = n.left.map((left) => {
      if (left.kind !== "name") this.fail(left.at, "non-name on left side of :=", "assign with =");
      return left;
    });
    if (!names.some((name) => name.name !== "_" && !this.scope.names.has(name.name))) this.fail(n.at, "no new variables on left side of :=", "assign with =");
    const bindPart = (name: Expression & { kind: "name" }, value: Value): Code => {
      const existing = this.scope.names.get(name.name);
      if (existing !== undefined) return this.store(name, value, name.at);
      return name.name === "_" ? "" : this.bind(this.addName(name.name, value.type, name.at), value.code);
    };
    if (n.right.length === 1 && names.length > 1) {
      const { code, results } = this.multiple(n.right[0]!, names.length);
      const from = this.fresh("t");
      return [`const ${from} = `, code, ";\n", names.map((name, i) => bindPart(name, { code: `${from}[${i}]`, type: results[i]! }))];
    }
    if (n.right.length !== names.length) this.fail(n.at, `assignment mismatch: ${names.length} variable${names.length === 1 ? "" : "s"} but ${n.right.length} value${n.right.length === 1 ? "" : "s"}`);
    const values = n.right.map((x) => this.settled(this.expression(x), x.at));
    for (const value of values) if (value.type.kind === "host") this.fail(n.at, `cannot keep ${typeName(value.type)} in a variable`, "call its methods where they are needed");
    if (names.length === 1) return bindPart(names[0]!, values[0]!);
    const temporaries = values.map(() => this.fresh("t"));
    return [values.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]), names.map((name, i) => bindPart(name, { code: temporaries[i]!, type: values[i]!.type }))];
  }

  private assignment(n: Statement & { kind: "assign" }): Code {
    if (n.left.length === 1 && n.right.length === 1) {
      const [left, right] = [n.left[0]!, n.right[0]!];
      const own = this.selfAppend(left, right);
      if (own !== undefined) return own;
      return this.store(left, this.expression(right, this.targetType(left)), n.at);
    }
    if (n.right.length === 1) {
      const { code, results } = this.multiple(n.right[0]!, n.left.length);
      const from = this.fresh("t");
      return ["{\n", `const ${from} = `, code, ";\n", n.left.map((left, i) => this.store(left, { code: `${from}[${i}]`, type: results[i]! }, n.at)), "}\n"];
    }
    if (n.right.length !== n.left.length) this.fail(n.at, `assignment mismatch: ${n.left.length} variables but ${n.right.length} values`);
    const values = n.right.map((x, i) => this.expression(x, this.targetType(n.left[i]!)));
    const temporaries = values.map(() => this.fresh("t"));
    return [
      "{\n",
      values.map((value, i): Code => [`const ${temporaries[i]!} = `, value.code, ";\n"]),
      n.left.map((left, i) => this.store(left, { code: temporaries[i]!, type: values[i]!.type }, n.at)),
      "}\n",
    ];
  }

  /** Type of the place an assignment goes to, for literals without a type of their own. */
  private targetType(left: Expression): Type | undefined {
    return left.kind === "name" ? this.scope.lookup(left.name)?.type : undefined;
  }

  /** `x = append(x, …)` pushes in place while nothing else holds the slice: accumulating stays linear. */
  private selfAppend(left: Expression, right: Expression): Code | undefined {
    if (left.kind !== "name" || right.kind !== "call" || right.fn.kind !== "name" || right.fn.name !== "append" || right.spread) return undefined;
    const first = right.args[0];
    const symbol = this.scope.lookup(left.name);
    if (first?.kind !== "name" || first.name !== left.name || symbol?.kind !== "var" || this.scope.lookup("append") !== undefined) return undefined;
    if (symbol.type.kind !== "slice" && symbol.type.kind !== "any") return undefined;
    const { type } = this.appendTypes(symbol.type, first.at);
    const items = commas(this.appended(right, type));
    symbol.appended = true;
    const { js } = symbol;
    return [`if (${js}$o) `, this.site(right.at), `$.push(${js}, [`, items, `]); else { ${js} = `, this.site(right.at), `$.append(${js}, [`, items, `]); ${js}$o = true; }\n`];
  }

  /** Assigns a value to a variable, map entry, slice element or member. */
  private store(left: Expression, value: Value, at: number): Code {
    switch (left.kind) {
      case "paren":
        return this.store(left.x, value, at);
      case "name": {
        if (left.name === "_") return [this.settled(value, at).code, ";\n"];
        const symbol = this.scope.lookup(left.name);
        if (symbol === undefined) {
          if (this.host.declarations.globals[this.kind].has(left.name) || this.host.natives.has(left.name)) this.fail(left.at, `cannot assign to ${left.name}`, "declare a variable with var");
          return this.undefinedName(left.name, left.at);
        }
        if (symbol.kind !== "var") this.fail(left.at, `cannot assign to ${left.name}`, `${left.name} is a ${symbol.kind === "const" ? "constant" : symbol.kind}`);
        const code = this.convert(value, symbol.type, at, "assignment");
        return [`${symbol.js} = `, code, ";", () => (symbol.appended ? ` ${symbol.js}$o = false;\n` : "\n")];
      }
      case "index": {
        const object = this.borrowed(left.x);
        const { type } = object;
        if (type.kind !== "map" && type.kind !== "slice" && type.kind !== "any") this.fail(left.at, `cannot assign to an element of ${typeName(type)}`);
        const key = type.kind === "map" ? this.convert(this.expression(left.index), type.key, left.at, "map index") : this.expression(left.index).code;
        const element = type.kind === "map" || type.kind === "slice" ? type.element : ANY;
        return [this.site(at), "$.set(", object.code, ", ", key, ", ", this.convert(value, element, at, "assignment"), ");\n"];
      }
      case "selector": {
        const object = this.borrowed(left.x);
        const { type } = object;
        if (type.kind !== "any" && !(type.kind === "map" && isString(type.key))) this.fail(left.at, `cannot assign to a member of ${typeName(type)}`);
        return [this.site(at), "$.set(", object.code, `, ${literal(left.name)}, `, this.convert(value, type.kind === "map" ? type.element : ANY, at, "assignment"), ");\n"];
      }
      default:
        this.fail(left.at, "cannot assign to this expression");
    }
  }

  // --- loops and branches ------------------------------------------------------------------------------------------

  private tick(at: number): Code {
    return [this.site(at), { node: "tick", flushes: this.frame.kind === "main" }];
  }

  private inLoop<T>(label: string | undefined, loop: boolean, js: string, work: () => T): T {
    this.jumps.push({ label, js, loop });
    try {
      return work();
    } finally {
      this.jumps.pop();
    }
  }

  private jump(n: Statement & { kind: "jump" }): Code {
    const target = this.jumps.findLast((jump) => (n.label === undefined ? n.word === "break" || jump.loop : jump.label === n.label));
    if (target === undefined) {
      if (n.label !== undefined) this.fail(n.at, `${n.word} label not defined: ${n.label}`);
      this.fail(n.at, n.word === "break" ? "break is not in a loop or switch" : "continue is not in a loop");
    }
    if (n.word === "continue" && !target.loop) this.fail(n.at, `invalid continue label ${n.label ?? ""}`);
    return `${n.word} ${target.js};\n`;
  }

  private forLoop(n: Statement & { kind: "for" }): Code {
    return this.inScope(() => {
      const js = this.fresh("loop");
      const before = new Set(this.scope.names.keys());
      const init = n.init === undefined ? "" : this.statement(n.init);
      const variables = [...this.scope.names.values()].filter((symbol) => !before.has(symbol.name) && symbol.kind === "var");
      const condition = n.condition === undefined ? undefined : this.guarded(n.condition);
      const post = n.post === undefined ? undefined : this.statement(n.post);
      const body = this.inLoop(n.label, true, js, () => this.block(n.body));
      // Loop variables are fresh in each turn: JavaScript copies those of the `let` in the loop's head.
      const again = this.fresh("again");
      const copies = variables.map((symbol): Code => [`, ${symbol.js} = ${symbol.js}$0`, () => (symbol.appended ? `, ${symbol.js}$o = false` : "")]);
      return [
        "{\n",
        init,
        variables.map((symbol) => `const ${symbol.js}$0 = ${symbol.js};\n`),
        `${js}: for (let ${again} = false`,
        copies,
        "; ; ) {\n",
        post === undefined ? "" : [`if (${again}) {\n`, post, `} else ${again} = true;\n`],
        condition === undefined ? "" : ["if (!(", condition, ")) break;\n"],
        this.tick(n.at),
        body,
        "}\n}\n",
      ];
    });
  }

  private rangeLoop(n: Statement & { kind: "range" }): Code {
    const subject = this.guardedValue(n.subject);
    const { type } = subject;
    if (isNumber(type) || isBool(type) || type.kind === "func" || type.kind === "host" || (type.kind === "untyped" && type.name === "nil") || type.kind === "void") {
      this.fail(n.subject.at, `cannot range over a value of type ${typeName(type)}`, isNumber(type) ? "range over seq(n)" : undefined);
    }
    const js = this.fresh("loop");
    const list = this.fresh("a");
    const i = this.fresh("i");
    let keyType: Type = INT;
    let valueType: Type = ANY;
    let source: Code;
    let key: Code = i;
    let value: Code = `${list}[${i}]`;
    const named = (x: Expression | undefined): boolean => x !== undefined && !(x.kind === "name" && x.name === "_");
    if (type.kind === "map" || isString(type) || (type.kind === "any" && named(n.key))) {
      // Both lists come from one helper: sorted keys of a map, byte offsets and runes of a string.
      [keyType, valueType] = type.kind === "map" ? [type.key, type.element] : isString(type) ? [INT, RUNE] : [ANY, ANY];
      source = [this.site(n.subject.at), "$.pairs(", subject.code, ")"];
      key = `$.keyAt(${list}, ${i})`;
      value = `${list}.values[${i}]`;
    } else {
      if (type.kind === "slice") valueType = type.element;
      source = [this.site(n.subject.at), "$.list(", subject.code, ")"];
    }
    const length = key === i ? `${list}.length` : `${list}.values.length`;
    return this.inScope(() => {
      const bind = (x: Expression | undefined, code: Code, as: Type): Code => {
        if (x === undefined || !named(x)) return "";
        if (!n.define) return this.store(x, { code, type: as }, x.at);
        if (x.kind !== "name") this.fail(x.at, "non-name on left side of :=");
        return this.bind(this.addName(x.name, as, x.at), code);
      };
      const bindings = [bind(n.key, key, keyType), bind(n.value, value, valueType)];
      const body = this.inLoop(n.label, true, js, () => this.block(n.body));
      return [
        "{\n",
        `const ${list} = `,
        source,
        ";\n",
        `${js}: for (let ${i} = 0, ${i}$n = ${length}; ${i} < ${i}$n; ${i}++) {\n`,
        this.tick(n.at),
        bindings,
        body,
        "}\n",
        n.otherwise === undefined ? "" : [`if (${length} === 0) {\n`, this.block(n.otherwise), "}\n"],
        "}\n",
      ];
    });
  }

  private guardedValue(x: Expression): Value {
    try {
      return this.borrowed(x);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      return { code: "null", type: ANY };
    }
  }

  private switchStatement(n: Statement & { kind: "switch" }): Code {
    return this.inScope(() => {
      const init = n.init === undefined ? "" : this.statement(n.init);
      const js = this.fresh("switch");
      const subject = this.fresh("t");
      const tag = n.tag === undefined ? undefined : this.settled(this.expression(n.tag), n.tag.at);
      if (n.ofType && tag!.type.kind !== "any") this.fail(n.at, `cannot type switch on a value of type ${typeName(tag!.type)}`);
      const defaults = n.cases.filter((c) => c.values === undefined && c.types === undefined);
      if (defaults.length > 1) this.fail(defaults[1]!.at, "multiple defaults in switch");
      // The case is chosen first, so that fallthrough is JavaScript's own.
      const choice: Code[] = [];
      const bodies: Code[] = [];
      this.inLoop(n.label, false, js, () => {
        n.cases.forEach((c, index) => {
          const test = this.caseTest(c, n.ofType, tag, subject);
          if (test !== undefined) choice.push(test, ` ? ${index} : `);
          bodies.push(`case ${index}: {\n`, this.caseBody(c, n, tag, subject), c.fallthrough ? "}\n" : `break ${js};\n}\n`);
        });
      });
      const otherwise = defaults.length === 0 ? -1 : n.cases.indexOf(defaults[0]!);
      return ["{\n", init, tag === undefined ? "" : [`const ${subject} = `, tag.code, ";\n"], `${js}: switch (`, choice, `${otherwise}) {\n`, bodies, "}\n}\n"];
    });
  }

  private caseTest(c: Case, ofType: boolean, tag: Value | undefined, subject: string): Code | undefined {
    if (ofType && c.types !== undefined) {
      const tests = c.types.map((type) => (type.kind === "named" && type.name === "nil" ? `${subject} === null` : `$.is(${subject}, ${literal(typeName(this.type(type)))})`));
      return `(${tests.join(" || ")})`;
    }
    if (c.values === undefined) return undefined;
    const tests = c.values.map((x): Code => {
      const value = this.guardedValue(x);
      if (tag === undefined) return this.condition(value, x.at);
      return this.comparison("==", { code: subject, type: tag.type }, value, x.at).code;
    });
    return ["(", tests.flatMap((test, i) => (i === 0 ? [test] : [" || ", test])), ")"];
  }

  private caseBody(c: Case, n: Statement & { kind: "switch" }, tag: Value | undefined, subject: string): Code {
    if (n.binding === undefined || tag === undefined) return this.block(c.body);
    return this.inScope(() => {
      const only = c.types?.length === 1 && !(c.types[0]!.kind === "named" && c.types[0]!.name === "nil") ? this.type(c.types[0]!) : ANY;
      const bound = this.bind(this.addName(n.binding!, only, n.at), subject);
      return [bound, this.list(c.body)];
    });
  }

  // --- functions and macros ----------------------------------------------------------------------------------------

  private returnStatement(n: Statement & { kind: "return" }): Code {
    const { kind, results } = this.frame;
    if (kind === "literal") {
      if (n.values.length === 1 && results.length > 1) {
        const { code } = this.multiple(n.values[0]!, results.length);
        return ["return ", code, ";\n"];
      }
      if (n.values.length !== results.length) this.fail(n.at, `wrong number of values in return: have ${n.values.length}, want ${results.length}`);
      const values = n.values.map((x, i) => this.convert(this.expression(x, results[i]), results[i]!, x.at, "return"));
      return results.length > 1 ? ["return [", commas(values), "];\n"] : ["return ", values[0] ?? "null", ";\n"];
    }
    if (n.values.length > 0) this.fail(n.at, "a macro or template cannot return values", "show the text; use a function literal for other values");
    if (this.inlineEnd !== undefined) return `break ${this.inlineEnd};\n`;
    if (kind === "macro") return "{ $.depth--; return $.charged(o); }\n";
    return "{ $.flush(o); return; }\n";
  }

  protected functionLiteral(params: readonly { name: string; type: Type; at: number }[], type: FunctionType, body: readonly Statement[]): Code {
    const outer = [this.frame, this.jumps, this.inlineEnd] as const;
    this.frame = { kind: "literal", results: type.results };
    this.jumps = [];
    this.inlineEnd = undefined;
    try {
      return this.inScope(() => {
        const symbols = params.map((p) => this.addName(p.name, p.type, p.at));
        const names = symbols.map((symbol, i) => (type.variadic && i === symbols.length - 1 ? `...${symbol.js}` : `${symbol.js} = null`));
        const flags = symbols.map((symbol): Code => () => (symbol.appended ? `let ${symbol.js}$o = false;\n` : ""));
        return { node: "lambda", params: names.join(", "), body: [flags, this.list(body), "return null;\n"] };
      });
    } finally {
      [this.frame, this.jumps, this.inlineEnd] = outer;
    }
  }

  /** Declares a macro's name and parameters; the body is checked by `macroBody`. */
  protected macroHead(n: MacroStatement): { symbol: Symbol_; info: MacroInfo } {
    const js = this.fresh(`M_${n.name.replace(/\W/gu, "$")}`);
    const node: FunctionNode = { js, params: "", body: "", suspends: false };
    const params = n.params.map((p) => ({ name: p.name, type: p.type === undefined ? ANY : this.type(p.type), variadic: p.variadic }));
    const info: MacroInfo = { node, params, target: js };
    return { symbol: this.addName(n.name, VOID, n.at, { kind: "macro", macro: info }), info };
  }

  protected macroBody(n: MacroStatement, info: MacroInfo): Code {
    const outer = [this.frame, this.jumps, this.inlineEnd] as const;
    this.frame = { kind: "macro", results: [] };
    this.jumps = [];
    this.inlineEnd = undefined;
    try {
      this.inScope(() => {
        const symbols = info.params.map((p, i) => this.addName(p.name, p.variadic ? { kind: "slice", element: p.type } : p.type, n.params[i]!.at));
        info.node.params = symbols.map((symbol, i) => (info.params[i]!.variadic ? `...${symbol.js}` : symbol.js)).join(", ");
        const flags = symbols.map((symbol): Code => () => (symbol.appended ? `let ${symbol.js}$o = false;\n` : ""));
        info.node.body = ["$.enter();\n", 'let o = "";\n', flags, this.list(n.body), "$.depth--;\nreturn $.charged(o);\n"];
      });
    } finally {
      [this.frame, this.jumps, this.inlineEnd] = outer;
    }
    return { node: "function", fn: info.node };
  }

  private macro(n: MacroStatement): Code {
    const { info } = this.macroHead(n);
    return this.macroBody(n, info);
  }

  private importStatement(n: Statement & { kind: "import" }): Code {
    const path = this.resolvePath(n.path) ?? this.missingTemplate("import", n.path, n.pathAt);
    const imported = this.host.requireImport(path, this.place(n.at));
    if (imported === undefined) {
      for (const name of n.names) this.addName(name.name, ANY, name.at);
      return "";
    }
    let module = this.imports.get(imported.key);
    if (module === undefined) {
      module = this.fresh("i");
      this.imports.set(imported.key, module);
    }
    const bound = (macro: MacroInfo): MacroInfo => ({ ...macro, target: `${module}.${macro.node.js}` });
    if (n.alias !== undefined && n.alias !== ".") {
      const exports = new Map([...imported.exports].map(([name, macro]) => [name, bound(macro)]));
      this.scope.names.set(n.alias, { name: n.alias, kind: "module", js: module, type: VOID, exports, appended: false });
      return "";
    }
    const wanted = n.names.length > 0 ? n.names : [...imported.exports.keys()].map((name) => ({ name, at: n.at }));
    for (const { name, at } of wanted) {
      const macro = imported.exports.get(name);
      if (macro === undefined) {
        this.host.report(this.place(at), `undefined: ${name}`, /^\p{Lu}/u.test(name) ? `${path} has no macro ${name}` : "only names with an upper-case first letter are exported");
        this.addName(name, ANY, at);
        continue;
      }
      this.addName(name, VOID, at, { kind: "macro", macro: bound(macro) });
    }
    return "";
  }

  // --- whole units -------------------------------------------------------------------------------------------------

  /** A rendered file: output goes to the sink. */
  checkTemplate(statements: readonly Statement[]): Code {
    this.scope = new Scope(undefined);
    return ['let o = "";\n', this.list(statements), "$.flush(o);\n"];
  }

  /** An imported file: declarations that may refer to each other in any order; gives its exported macros. */
  checkImported(statements: readonly Statement[]): { code: Code; exports: Map<string, MacroInfo> } {
    this.scope = new Scope(undefined);
    const flat = statements.flatMap((n) => (n.kind === "sequence" ? n.body : [n]));
    const code: Code[] = [];
    for (const n of flat) if (n.kind === "import") code.push(this.statement(n));
    const heads = new Map<MacroStatement, MacroInfo>();
    for (const n of flat) if (n.kind === "macro") heads.set(n, this.macroHead(n).info);
    for (const n of flat) if (n.kind === "var") code.push(this.statement(n));
    for (const n of flat) {
      const info = n.kind === "macro" ? heads.get(n) : undefined;
      if (info !== undefined) code.push(this.macroBody(n as MacroStatement, info));
      else if (n.kind === "text" || n.kind === "show") code.push(this.statement(n));
      else if (n.kind !== "import" && n.kind !== "var") this.report(new CheckFault(n.at, "syntax error: unexpected statement in imported file", "an imported file holds only declarations"));
    }
    const exports = new Map([...heads].filter(([n]) => /^\p{Lu}/u.test(n.name)).map(([n, info]) => [n.name, info]));
    const members = [...exports.values()].map((info) => info.node.js).join(", ");
    return { code: [code, `return { ${members} };\n`], exports };
  }
}

export { ERROR, STRING };
