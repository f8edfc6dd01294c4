/** Checks statements and lowers them to code. */
import type { Code } from "../emit/code.ts";
import type { Expression, MacroStatement, Statement } from "../syntax/tree.ts";
import { Functions } from "./functions.ts";
import { Scope, type MacroInfo, type Symbol_, type Value } from "./scope.ts";
import { ANY, isNumber, isString, STRING, typeName, VOID, type StructType, type Type } from "./types.ts";
import { nearestName } from "../syntax/problems.ts";
import { CheckFault, finish, type Steps } from "./unit.ts";

type TypeStatement = Statement & { kind: "type" };

export class Statements extends Functions {
  private turns = 0;

  protected *list(statements: readonly Statement[]): Steps<Code[]> {
    const codes: Code[] = [];
    for (const n of statements) {
      codes.push(reaches(n) ? yield* this.steps(n) : this.statement(n));
      if ((++this.turns & 7) === 0) yield;
    }
    return codes;
  }

  protected *block(statements: readonly Statement[]): Steps<Code[]> {
    const outer = this.enterScope();
    try {
      return yield* this.list(statements);
    } finally {
      this.scope = outer;
    }
  }

  /** A statement with a problem is recorded and left out, so that the rest is checked too. */
  protected statement(n: Statement): Code {
    try {
      return this.lower(n);
    } catch (fault) {
      return this.recorded(n, fault);
    }
  }

  /** Likewise, of one that may have others inside. */
  protected *steps(n: Statement): Steps<Code> {
    try {
      return yield* this.lowerInSteps(n);
    } catch (fault) {
      return this.recorded(n, fault);
    }
  }

  private recorded(n: Statement, fault: unknown): Code {
    if (!(fault instanceof CheckFault)) throw fault;
    this.report(fault);
    this.declareAfterFault(n);
    return "";
  }

  /** Names a faulty statement would have declared, so that their uses are not reported as well. */
  private declareAfterFault(n: Statement): void {
    const names =
      n.kind === "var"
        ? n.names.map((name) => name.name)
        : n.kind === "assign" && n.define
          ? n.left.flatMap((left) => (left.kind === "name" ? [left.name] : []))
          : n.kind === "import"
            ? n.names.map((name) => name.name)
            : [];
    for (const name of names) if (!this.scope.names.has(name)) this.addName(name, ANY, n.at);
  }

  private lower(n: Statement): Code {
    switch (n.kind) {
      case "text":
        if (this.frame.kind === "import" && n.text.trim() !== "")
          this.declarationsOnly("text", n.at + (n.text.length - n.text.trimStart().length));
        return this.frame.kind === "import" ? "" : this.literalText(n.text, n.at);
      case "expression":
        return this.expressionStatement(n.x);
      case "var":
        return this.declaration(n);
      case "assign":
        return n.define ? this.definition(n) : this.assignment(n);
      case "update": {
        return this.evaluatedOnce([n.x], ([x]) => this.update(n, x!));
      }
      case "jump":
        return this.jump(n);
      case "return":
        return this.returnStatement(n);
      case "type":
        return this.typeDeclaration(n);
      case "extends":
        this.fail(n.at, "extends must be the first statement of a file", "a file extends one other file, as a whole");
      // eslint-disable-next-line no-fallthrough -- fail never returns
      default:
        return finish(this.lowerInSteps(n));
    }
  }

  private *lowerInSteps(n: Statement): Steps<Code> {
    switch (n.kind) {
      case "show": {
        if (this.frame.kind === "literal")
          this.fail(n.at, "show is not allowed in a function literal", "return the text, or use a macro");
        if (this.frame.kind === "import") this.declarationsOnly("show", n.at);
        const codes: Code[] = [];
        for (const value of n.values) codes.push(yield* this.show(value));
        return codes;
      }
      case "if": {
        const outer = this.enterScope();
        try {
          const init = n.init === undefined ? "" : this.statement(n.init);
          const condition = this.guarded(n.condition);
          const then = yield* this.block(n.body);
          const code: Code[] = ["if (", condition, ") {\n", then, "}"];
          if (n.otherwise !== undefined) code.push(" else {\n", yield* this.block(n.otherwise), "}");
          return init === "" ? [code, "\n"] : ["{\n", init, code, "\n}\n"];
        } finally {
          this.scope = outer;
        }
      }
      case "for":
        return yield* this.forLoop(n);
      case "range":
        return yield* this.rangeLoop(n);
      case "switch":
        return yield* this.switchStatement(n);
      case "block":
        return ["{\n", yield* this.block(n.body), "}\n"];
      case "sequence":
        return yield* this.list(n.body);
      case "macro":
        return yield* this.macro(n);
      case "import":
        return yield* this.importStatement(n);
      case "using":
        return yield* this.using(n);
      default:
        return this.lower(n);
    }
  }

  private update(n: Statement & { kind: "update" }, x: Expression): Code {
    const current = this.borrowed(x);
    if (!isNumber(current.type) && current.type.kind !== "any" && !(n.op === "+" && isString(current.type)))
      this.fail(n.at, `invalid operation: operator ${n.op} not defined on ${typeName(current.type)}`);
    const operand: Value =
      n.value === undefined
        ? { code: "1", type: { kind: "untyped", name: "int" }, constant: 1n }
        : this.expression(n.value);
    return this.store(x, this.arithmetic(n.op, current, operand, n.at), n.at);
  }

  private declarationsOnly(what: string, at: number): never {
    const file = this.extending ? "a file that extends another" : "imported file";
    this.fail(
      at,
      `syntax error: unexpected ${what} in ${file}`,
      this.extending ? "put it into a macro that the layout calls" : "an imported file holds only declarations",
    );
  }

  /** `{% show itea; using %}…{% end %}`: itea is a name of this statement only; what the statement declares stays. */
  private *using(n: Statement & { kind: "using" }): Steps<Code> {
    const { names } = this.scope;
    const outer = names.get("itea");
    names.delete("itea");
    let before: Code;
    if (n.params === undefined) {
      const text = yield* this.captured(this.block(n.body));
      before = this.bind(this.addName("itea", STRING, n.at), text);
    } else {
      const macro: MacroStatement = {
        kind: "macro",
        name: "itea",
        params: n.params,
        result: undefined,
        body: n.body,
        at: n.at,
      };
      before = yield* this.macro(macro);
    }
    const code = yield* this.steps(n.statement);
    names.delete("itea");
    if (outer !== undefined) names.set("itea", outer);
    return [before, code];
  }

  // --- types -------------------------------------------------------------------------------------------------------

  private typeDeclaration(n: TypeStatement): Code {
    if (n.type.kind === "struct" && !n.alias) this.structFields(this.structName(n), n);
    else this.addName(n.name, this.type(n.type), n.at, { kind: "type" });
    return "";
  }

  /** A struct's name comes before its fields, so that they can point to it. */
  private structName(n: TypeStatement): StructType {
    const id = `${n.name}@${this.source.name.replace(/[<>]/g, "_")}:${n.at}`;
    const type: StructType = { kind: "struct", name: n.name, id, fields: new Map() };
    this.addName(n.name, type, n.at, { kind: "type" });
    return type;
  }

  private structFields(type: StructType, n: TypeStatement): void {
    if (n.type.kind !== "struct") return;
    for (const field of n.type.fields) {
      if (type.fields.has(field.name) && field.name !== "_")
        this.report(new CheckFault(field.at, `duplicate field ${field.name}`));
      const resolved = this.type(field.type);
      if (holds(resolved, type)) {
        this.report(
          new CheckFault(field.at, `invalid recursive type ${n.name}`, `use a pointer: ${field.name} *${n.name}`),
        );
        continue;
      }
      type.fields.set(field.name, resolved);
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

  // --- loops and branches ------------------------------------------------------------------------------------------

  private *importStatement(n: Statement & { kind: "import" }): Steps<Code> {
    const path = this.resolvePath(n.path) ?? this.missingTemplate("import", n.path, n.pathAt);
    const imported = yield* this.host.requireImport(path, this.place(n.at));
    if (imported === undefined) {
      for (const name of n.names) this.addName(name.name, ANY, name.at);
      return "";
    }
    let module = this.imports.get(imported.key);
    if (module === undefined) {
      module = this.fresh("i");
      this.imports.set(imported.key, module);
    }
    const bound = (symbol: Symbol_): Symbol_ => ({
      ...symbol,
      js: `${module}.${symbol.js}`,
      imported: true,
      ...(symbol.macro === undefined
        ? {}
        : { macro: { ...symbol.macro, target: `${module}.${symbol.macro.node.js}` } }),
    });
    if (n.alias !== undefined && n.alias !== ".") {
      const exports = new Map([...imported.exports].map(([name, symbol]) => [name, bound(symbol)]));
      this.scope.names.set(n.alias, {
        name: n.alias,
        kind: "module",
        js: module,
        type: VOID,
        exports,
        appended: false,
      });
      return "";
    }
    const wanted = n.names.length > 0 ? n.names : [...imported.exports.keys()].map((name) => ({ name, at: n.at }));
    for (const { name, at } of wanted) {
      const symbol = imported.exports.get(name);
      if (symbol === undefined) {
        this.host.report(
          this.place(at),
          `undefined: ${name}`,
          this.missingMacroHint(path, name, imported.exports.keys()),
        );
        this.addName(name, ANY, at);
        continue;
      }
      if (this.scope.names.has(name))
        this.report(
          new CheckFault(at, `${name} redeclared in this block`, "choose another name, or import with an alias"),
        );
      this.scope.names.set(name, bound(symbol));
    }
    return "";
  }

  private missingMacroHint(path: string, name: string, exported: Iterable<string>): string {
    const near = nearestName(name, exported);
    if (near !== undefined) return `did you mean "${near}"?`;
    if (/^\p{Lu}/u.test(name)) return `${path} has no macro ${name}`;
    return "only names with an upper-case first letter are exported";
  }

  // --- whole units -------------------------------------------------------------------------------------------------

  private extending = false;
  private readonly layouts: string[] = [];

  /** A rendered file: output goes to the sink. Stops between two statements, so that a long file need not be one slice. */
  *checkTemplate(statements: readonly Statement[]): Generator<void, Code, void> {
    this.scope = new Scope(undefined);
    const code: Code[] = ['let o = "";\n'];
    yield* this.file(statements, code);
    code.push("$.flush(o);\n");
    return code;
  }

  private *file(statements: readonly Statement[], code: Code[]): Generator<void, void, void> {
    const first = statements.find((n) => n.kind !== "text" || n.text.trim() !== "");
    if (first?.kind !== "extends") {
      code.push(yield* this.list(statements));
      return;
    }
    const outer = [this.frame, this.extending] as const;
    this.frame = { kind: "import", results: [] };
    this.extending = true;
    const own = yield* this.declarations(statements.filter((n) => n !== first));
    [this.frame, this.extending] = outer;
    code.push(own.code);
    yield;
    yield* this.layout(first, own.exports, code);
  }

  /** The file that is extended runs with the exported names of the one that extends it in scope. */
  private *layout(
    n: Statement & { kind: "extends" },
    exports: ReadonlyMap<string, Symbol_>,
    code: Code[],
  ): Generator<void, void, void> {
    let name: string;
    try {
      name = this.resolvePath(n.path) ?? this.missingTemplate("extends", n.path, n.pathAt);
      if (this.layouts.length === 0) this.layouts.push(this.source.name);
      if (this.layouts.includes(name)) this.fail(n.at, `extends cycle: ${[...this.layouts, name].join(" → ")}`);
    } catch (fault) {
      if (!(fault instanceof CheckFault)) throw fault;
      this.report(fault);
      return;
    }
    this.layouts.push(name);
    const given = new Scope(undefined);
    // Names of the file at the bottom of a chain of layouts stand before those of the files it extends.
    const all = new Map([...exports, ...this.inherited]);
    for (const [exported, symbol] of all) given.names.set(exported, symbol);
    this.inherited = all;
    this.scope = new Scope(given);
    this.from = this.place(n.at);
    this.source = this.host.source(name)!;
    yield* this.file(yield* this.host.tree(this.source), code);
  }

  private inherited: ReadonlyMap<string, Symbol_> = new Map();

  /** An imported file: gives what it exports. */
  *checkImported(statements: readonly Statement[]): Steps<{ code: Code; exports: Map<string, Symbol_> }> {
    this.scope = new Scope(undefined);
    const { code, exports } = yield* this.declarations(statements);
    const members = [...exports.values()].map((symbol) => {
      if (symbol.macro !== undefined) return symbol.macro.node.js;
      if (symbol.kind !== "var") return undefined;
      return `get ${symbol.js}() { return ${symbol.js}; }, set ${symbol.js}($v) { ${symbol.js} = $v; }`;
    });
    return { code: [code, `return { ${members.filter((member) => member !== undefined).join(", ")} };\n`], exports };
  }

  /** Declarations that may refer to each other in any order; gives the names with an upper-case first letter. */
  private *declarations(statements: readonly Statement[]): Steps<{ code: Code; exports: Map<string, Symbol_> }> {
    const flat = statements.flatMap(function parts(n: Statement): readonly Statement[] {
      return n.kind === "sequence" ? n.body.flatMap(parts) : [n];
    });
    const code: Code[] = [];
    for (const n of flat) if (n.kind === "import") code.push(yield* this.steps(n));
    const structs = new Map<Statement, StructType>();
    for (const n of flat)
      if (n.kind === "type" && n.type.kind === "struct" && !n.alias) structs.set(n, this.structName(n));
    for (const n of flat) {
      if (n.kind !== "type") continue;
      const struct = structs.get(n);
      if (struct === undefined) code.push(this.statement(n));
      else this.structFields(struct, n);
    }
    const heads = new Map<MacroStatement, MacroInfo>();
    for (const n of flat) if (n.kind === "macro") heads.set(n, this.macroHead(n).info);
    for (const n of flat) if (n.kind === "var") code.push(this.statement(n));
    for (const n of flat) {
      const info = n.kind === "macro" ? heads.get(n) : undefined;
      if (info !== undefined) code.push(yield* this.macroBody(n as MacroStatement, info));
      else if (n.kind === "text" || n.kind === "show") code.push(this.statement(n));
      else if (n.kind !== "import" && n.kind !== "var" && n.kind !== "type") {
        try {
          this.declarationsOnly("statement", n.at);
        } catch (fault) {
          this.report(fault as CheckFault);
        }
      }
    }
    // What was imported is not exported again.
    const exports = [...this.scope.names].filter(
      ([name, symbol]) => /^\p{Lu}/u.test(name) && symbol.imported !== true && symbol.kind !== "module",
    );
    return { code, exports: new Map(exports) };
  }
}

/** Whether a statement may have others inside, or stand for a file. */
function reaches(n: Statement): boolean {
  switch (n.kind) {
    case "show":
      return n.values.some((x) => x.kind === "render" || x.kind === "default");
    case "if":
    case "for":
    case "range":
    case "switch":
    case "block":
    case "sequence":
    case "macro":
    case "import":
    case "using":
      return true;
    default:
      return false;
  }
}

/** Whether a value of one type has one of the other inside it, not behind a pointer, list or map. */
function holds(type: Type, struct: StructType): boolean {
  if (type === struct) return true;
  if (type.kind === "array") return holds(type.element, struct);
  return type.kind === "struct" && [...type.fields.values()].some((field) => holds(field, struct));
}
