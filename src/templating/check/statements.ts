/** Checks statements and lowers them to code. */
import { literal, type Code } from "../emit/code.ts";
import type { Expression, MacroStatement, Statement } from "../syntax/tree.ts";
import { Functions } from "./functions.ts";
import { Scope, type MacroInfo, type Value } from "./scope.ts";
import { ANY, isNumber, isString, typeName, VOID } from "./types.ts";
import { nearestName } from "../syntax/problems.ts";
import { CheckFault } from "./unit.ts";

export class Statements extends Functions {
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
          this.fail(
            n.at + (n.text.length - n.text.trimStart().length),
            "syntax error: unexpected text in imported file",
            "an imported file holds only declarations",
          );
        return this.frame.kind === "import" ? "" : ["o += ", literal(n.text), ";\n"];
      case "show":
        if (this.frame.kind === "literal")
          this.fail(n.at, "show is not allowed in a function literal", "return the text, or use a macro");
        if (this.frame.kind === "import")
          this.fail(n.at, "syntax error: unexpected show in imported file", "an imported file holds only declarations");
        return n.values.map((value) => this.show(value));
      case "expression":
        return this.expressionStatement(n.x);
      case "var":
        return this.declaration(n);
      case "assign":
        return n.define ? this.definition(n) : this.assignment(n);
      case "update": {
        const current = this.borrowed(n.x);
        if (!isNumber(current.type) && current.type.kind !== "any" && !(n.op === "+" && isString(current.type)))
          this.fail(n.at, `invalid operation: operator ${n.op} not defined on ${typeName(current.type)}`);
        const operand: Value =
          n.value === undefined
            ? { code: "1", type: { kind: "untyped", name: "int" }, constant: 1n }
            : this.expression(n.value);
        return this.store(n.x, this.arithmetic(n.op, current, operand, n.at), n.at);
      }
      case "if":
        return this.inScope(() => {
          const init = n.init === undefined ? "" : this.statement(n.init);
          const condition = this.guarded(n.condition);
          const then = this.block(n.body);
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
      const macro = imported.exports.get(name);
      if (macro === undefined) {
        this.host.report(
          this.place(at),
          `undefined: ${name}`,
          this.missingMacroHint(path, name, imported.exports.keys()),
        );
        this.addName(name, ANY, at);
        continue;
      }
      this.addName(name, VOID, at, { kind: "macro", macro: bound(macro) });
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
      else if (n.kind !== "import" && n.kind !== "var")
        this.report(
          new CheckFault(
            n.at,
            "syntax error: unexpected statement in imported file",
            "an imported file holds only declarations",
          ),
        );
    }
    const exports = new Map([...heads].filter(([n]) => /^\p{Lu}/u.test(n.name)).map(([n, info]) => [n.name, info]));
    const members = [...exports.values()].map((info) => info.node.js).join(", ");
    return { code: [code, `return { ${members} };\n`], exports };
  }
}
