/** Parser of statements written with braces (inside `{%% %%}` and function bodies) and of the headers both forms share. */
import { ExpressionParser } from "./expressions.ts";
import { SyntaxFault } from "./problems.ts";
import type { Case, Expression, Named, Param, Statement, TypeNode } from "./tree.ts";

const ASSIGN_OP = /^(\+|-|\*|\/|%|&|\||\^|<<|>>|&\^)=$/;
const NOT_BUILT: ReadonlyMap<string, string> = new Map([
  ["goto", "use a loop or a macro"],
  ["defer", "call the function where it is needed"],
  ["select", "templates have no channels"],
  ["go", "write the call without go"],
  ["type", "use map[string]any"],
  ["extends", "use render and macros"],
  ["using", "declare a macro and call it"],
]);

export interface LoopHeader {
  readonly kind: "for" | "range";
  readonly init?: Statement | undefined;
  readonly condition?: Expression | undefined;
  readonly post?: Statement | undefined;
  readonly key?: Expression | undefined;
  readonly value?: Expression | undefined;
  readonly define?: boolean;
  readonly subject?: Expression;
}

export interface SwitchHeader {
  readonly init: Statement | undefined;
  readonly tag: Expression | undefined;
  readonly binding: string | undefined;
  readonly ofType: boolean;
}

export class StatementParser extends ExpressionParser {
  /** Statements to the end of the tokens: the body of `{%% %%}`. */
  sequence(): Statement[] {
    const body: Statement[] = [];
    for (;;) {
      while (this.accept(";"));
      if (this.done) return body;
      body.push(this.statement());
      this.endOfStatement();
    }
  }

  /** The one statement of a `{% %}` tag that is not a block statement. */
  single(): Statement {
    const statement = this.statement();
    this.finish();
    return statement;
  }

  /** Nothing may follow but the semicolon of a line end. */
  finish(): void {
    this.skipNewlines();
    if (!this.done) throw this.unexpected("end of tag");
  }

  private endOfStatement(): void {
    if (this.done || this.is("}") || this.is(";")) return;
    throw this.unexpected("; or newline");
  }

  protected override functionBody(): Statement[] {
    this.expect("{");
    return this.bracedBody();
  }

  private bracedBody(): Statement[] {
    const body: Statement[] = [];
    for (;;) {
      while (this.accept(";"));
      if (this.accept("}")) return body;
      if (this.done) throw this.unexpected("}");
      body.push(this.statement());
      this.endOfStatement();
    }
  }

  private block(): Statement[] {
    this.expect("{");
    return this.bracedBody();
  }

  statement(): Statement {
    return this.deeper(() => this.statementBody());
  }

  private statementBody(): Statement {
    const { token } = this;
    if (token === undefined) throw this.unexpected("statement");
    const { at } = token;
    if (token.kind === "name" && this.peek()?.text === ":" && this.peek()?.kind === "operator") {
      this.position += 2;
      this.skipNewlines();
      return this.labelled(token.text);
    }
    if (token.kind === "operator" && token.text === "{") return { kind: "block", body: this.block(), at };
    if (token.kind === "keyword") {
      const hint = NOT_BUILT.get(token.text);
      if (hint !== undefined) throw new SyntaxFault(at, `${token.text} is not supported`, hint);
      switch (token.text) {
        case "var":
        case "const":
          return this.declaration();
        case "show":
          return this.show();
        case "return":
          this.position++;
          return { kind: "return", values: this.done || this.is(";") || this.is("}") ? [] : this.values(), at };
        case "break":
        case "continue":
          return this.jump();
        case "if":
          return this.ifBraced();
        case "for":
        case "switch":
          return this.labelled(undefined);
        case "macro": {
          const header = this.macroHeader();
          return { kind: "macro", ...header, body: this.block(), at };
        }
        case "import":
          return this.importStatement();
        case "fallthrough":
          throw new SyntaxFault(at, "syntax error: fallthrough is only allowed as the last statement of a case");
        default:
      }
    }
    return this.simple();
  }

  jump(): Statement {
    const { text, at } = this.tokens[this.position++]!;
    const label = this.token?.kind === "name" ? this.expectName().text : undefined;
    return { kind: "jump", word: text as "break" | "continue", label, at };
  }

  show(): Statement {
    const { at } = this.expect("show");
    const values = this.values();
    if (this.is(";") && this.peek()?.text === "using")
      throw new SyntaxFault(this.peek()!.at, "using is not supported", NOT_BUILT.get("using"));
    return { kind: "show", values, at };
  }

  private labelled(label: string | undefined): Statement {
    const at = this.token?.at ?? this.endAt;
    if (this.accept("for")) {
      const header = this.loopHeader(true);
      return makeLoop(header, label, this.block(), undefined, at);
    }
    if (this.accept("switch")) {
      const header = this.switchHeader(true);
      this.expect("{");
      while (this.accept(";"));
      const cases: Case[] = [];
      while (!this.accept("}")) cases.push(this.bracedCase(header.ofType));
      return { kind: "switch", label, ...header, cases, at };
    }
    throw this.unexpected("for or switch", "labels stand before for and switch only");
  }

  private bracedCase(ofType: boolean): Case {
    const at = this.token?.at ?? this.endAt;
    const header = this.caseHeader(ofType);
    const body: Statement[] = [];
    let falls = false;
    for (;;) {
      while (this.accept(";"));
      if (this.is("case") || this.is("default") || this.is("}")) break;
      if (this.accept("fallthrough")) {
        falls = true;
        continue;
      }
      if (this.done) throw this.unexpected("}");
      body.push(this.statement());
      this.endOfStatement();
    }
    return { ...header, body, fallthrough: falls, at };
  }

  /** `case a, b:` or `default:`; the colon is optional in tags. */
  caseHeader(ofType: boolean): { values: Expression[] | undefined; types: TypeNode[] | undefined } {
    let values: Expression[] | undefined;
    let types: TypeNode[] | undefined;
    if (!this.accept("default")) {
      this.expect("case");
      if (ofType) {
        types = [];
        do types.push(this.type());
        while (this.accept(","));
      } else {
        values = [this.expression()];
        while (this.accept(",")) values.push(this.expression());
      }
    }
    this.accept(":");
    return { values, types };
  }

  private ifBraced(): Statement {
    const { at } = this.expect("if");
    const header = this.condition();
    const body = this.block();
    let otherwise: Statement[] | undefined;
    if (this.accept("else")) otherwise = this.is("if") ? [this.deeper(() => this.ifBraced())] : this.block();
    return { kind: "if", ...header, body, otherwise, at };
  }

  /** `init; condition` or `condition`, after `if`. */
  condition(): { init: Statement | undefined; condition: Expression } {
    if (this.done || this.is("{") || this.is(";")) {
      if (!this.is(";"))
        throw new SyntaxFault(this.token?.at ?? this.endAt, "syntax error: missing condition in if statement");
    }
    let statement = this.is(";") ? undefined : this.simple();
    let init: Statement | undefined;
    if (this.is(";") && this.token!.text === ";") {
      this.position++;
      init = statement;
      if (this.done || this.is("{"))
        throw new SyntaxFault(this.token?.at ?? this.endAt, "syntax error: missing condition in if statement");
      statement = this.simple();
    }
    if (statement?.kind !== "expression") {
      const hint = statement?.kind === "assign" ? "compare with ==" : undefined;
      throw new SyntaxFault(
        statement?.at ?? this.endAt,
        "syntax error: cannot use this statement as a condition",
        hint,
      );
    }
    return { init, condition: statement.x };
  }

  loopHeader(braced: boolean): LoopHeader {
    const atEnd = (): boolean => this.done || (braced && this.is("{"));
    if (atEnd()) return { kind: "for" };
    if (this.is("range")) {
      this.position++;
      return { kind: "range", subject: this.expression(), define: false };
    }
    let init: Statement | undefined;
    if (!this.is(";")) {
      const first = this.loopStart();
      if ("subject" in first) return first;
      init = first;
    }
    if (!this.accept(";")) {
      if (init?.kind !== "expression" || !atEnd())
        throw this.unexpected("; or range", 'write "for _, v := range list" or "for v in list"');
      return { kind: "for", condition: init.x };
    }
    const condition = this.is(";") ? undefined : this.expression();
    if (!atEnd()) this.expect(";");
    const post = atEnd() ? undefined : this.simple();
    return { kind: "for", init, condition, post };
  }

  private loopStart(): Statement | (LoopHeader & { subject: Expression }) {
    const from = this.position;
    const at = this.token?.at ?? this.endAt;
    const left = [this.expression()];
    while (this.accept(",")) left.push(this.expression());
    if (this.accept("in")) {
      if (left.length !== 1 || left[0]!.kind !== "name")
        throw new SyntaxFault(
          at,
          "syntax error: for … in takes one name",
          "use for i, v := range x for index and value",
        );
      return { kind: "range", key: undefined, value: left[0], define: true, subject: this.expression() };
    }
    if ((this.is(":=") || this.is("=")) && this.peek()?.text === "range" && this.peek()?.kind === "keyword") {
      const define = this.is(":=");
      this.position += 2;
      if (left.length > 2) throw new SyntaxFault(at, "syntax error: range permits at most two iteration variables");
      return { kind: "range", key: left[0], value: left[1], define, subject: this.expression() };
    }
    this.position = from;
    return this.simple();
  }

  switchHeader(braced: boolean): SwitchHeader {
    const atEnd = (): boolean => this.done || (braced && this.is("{"));
    let init: Statement | undefined;
    let statement = atEnd() || this.is(";") ? undefined : this.simple();
    if (this.is(";")) {
      this.position++;
      init = statement;
      statement = atEnd() ? undefined : this.simple();
    }
    if (statement === undefined) return { init, tag: undefined, binding: undefined, ofType: false };
    if (
      statement.kind === "assign" &&
      statement.define &&
      statement.left.length === 1 &&
      statement.left[0]!.kind === "name"
    ) {
      const guard = statement.right[0];
      if (guard?.kind === "assert" && guard.type === undefined)
        return { init, tag: guard.x, binding: statement.left[0].name, ofType: true };
    }
    if (statement.kind !== "expression")
      throw new SyntaxFault(statement.at, "syntax error: cannot use this statement as a switch value");
    if (statement.x.kind === "assert" && statement.x.type === undefined)
      return { init, tag: statement.x.x, binding: undefined, ofType: true };
    return { init, tag: statement.x, binding: undefined, ofType: false };
  }

  declaration(): Statement {
    const { text, at } = this.tokens[this.position++]!;
    const constant = text === "const";
    if (this.is("("))
      throw new SyntaxFault(this.token!.at, `grouped ${text} declarations are not supported`, "declare one a line");
    const names: Named[] = [];
    do {
      const name = this.expectName();
      names.push({ name: name.text, at: name.at });
    } while (this.accept(","));
    const type = this.is("=") ? undefined : this.type();
    const values = this.accept("=") ? this.values() : [];
    if (values.length === 0 && constant) throw this.unexpected("=");
    return { kind: "var", constant, names, type, values, at };
  }

  /** Expression statement, assignment, definition, `++`, `op=`. */
  simple(): Statement {
    const at = this.token?.at ?? this.endAt;
    const left = [this.value()];
    while (this.accept(",")) left.push(this.value());
    const { token } = this;
    if (token?.kind === "operator") {
      if (token.text === ":=" || token.text === "=") {
        this.position++;
        return { kind: "assign", define: token.text === ":=", left, right: this.values(), at: token.at };
      }
      if (token.text === "++" || token.text === "--") {
        this.position++;
        return { kind: "update", op: token.text[0]!, x: left[0]!, value: undefined, at: token.at };
      }
      const op = ASSIGN_OP.exec(token.text)?.[1];
      if (op !== undefined) {
        this.position++;
        return { kind: "update", op, x: left[0]!, value: this.expression(), at: token.at };
      }
    }
    if (left.length > 1) throw this.unexpected(":= or = or comma");
    return { kind: "expression", x: left[0]!, at };
  }

  macroHeader(): { name: string; params: Param[]; result: string | undefined } {
    this.expect("macro");
    const name = this.expectName().text;
    const params = this.is("(") ? this.params() : [];
    let result: string | undefined;
    if (!this.done && !this.is("{")) {
      const at = this.token!.at;
      const type = this.type();
      if (type.kind !== "named" || !["string", "html", "css", "js", "json", "markdown"].includes(type.name)) {
        throw new SyntaxFault(
          at,
          "invalid macro result type",
          "a macro gives a string; use a function literal for other values",
        );
      }
      result = type.name;
    }
    return { name, params, result };
  }

  importStatement(): Statement {
    const { at } = this.expect("import");
    let alias: string | undefined;
    if (this.token?.kind === "name") alias = this.expectName().text;
    else if (this.accept(".")) alias = ".";
    const path = this.token;
    if (path?.kind !== "string") throw this.unexpected("a string");
    this.position++;
    const names: Named[] = [];
    if (this.accept("for")) {
      do {
        const name = this.expectName();
        names.push({ name: name.text, at: name.at });
      } while (this.accept(","));
    }
    return { kind: "import", path: path.text, alias, names, pathAt: path.at, at };
  }
}

export function makeLoop(
  header: LoopHeader,
  label: string | undefined,
  body: Statement[],
  otherwise: Statement[] | undefined,
  at: number,
): Statement {
  if (header.kind === "range") {
    return {
      kind: "range",
      label,
      key: header.key,
      value: header.value,
      define: header.define ?? false,
      subject: header.subject!,
      body,
      otherwise,
      at,
    };
  }
  return { kind: "for", label, init: header.init, condition: header.condition, post: header.post, body, at };
}
