/** Parser of statements written with braces (inside `{%% %%}` and function bodies) and of the headers both forms share. */
import { ExpressionParser } from "./expressions.ts";
import { SyntaxFault } from "./problems.ts";
import type { Token } from "./tokens.ts";
import type { Case, Expression, Named, Param, Statement, TypeNode } from "./tree.ts";

const ASSIGN_OP = /^(\+|-|\*|\/|%|&|\||\^|<<|>>|&\^)=$/;
const NOT_BUILT: ReadonlyMap<string, string> = new Map([
  ["goto", "use a loop or a macro"],
  ["defer", "call the function where it is needed"],
  ["select", "templates have no channels"],
  ["chan", "templates have no channels"],
]);

const USING_HINT = "write {% show itea; using %} … {% end %}";

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
    return this.bracketed(() => this.bracedStatements());
  }

  /** A header before braces: there a brace after a name opens the block. */
  private headed<T>(work: () => T): T {
    const outer = this.inHeader;
    this.inHeader = true;
    const result = work();
    this.inHeader = outer;
    return result;
  }

  private bracedStatements(): Statement[] {
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
        case "type":
          return this.typeDeclaration();
        case "extends":
          return this.extendsStatement();
        case "go":
          // There is nothing to run in parallel with: the call is made in place.
          this.position++;
          return { kind: "expression", x: this.expression(), at };
        case "using":
          throw new SyntaxFault(at, "syntax error: using stands after a statement and a semicolon", USING_HINT);
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
    this.accept("go");
    return { kind: "show", values: this.values(), at };
  }

  private labelled(label: string | undefined): Statement {
    const at = this.token?.at ?? this.endAt;
    if (this.accept("for")) {
      const header = this.headed(() => this.loopHeader(true));
      const body = this.block();
      const otherwise = header.kind === "range" && this.accept("else") ? this.block() : undefined;
      return makeLoop(header, label, body, otherwise, at);
    }
    if (this.accept("switch")) {
      const header = this.headed(() => this.switchHeader(true));
      this.expect("{");
      while (this.accept(";"));
      const cases: Case[] = [];
      while (!this.accept("}")) cases.push(this.bracedCase(header.ofType));
      return { kind: "switch", label, ...header, cases, at };
    }
    if (label === undefined || this.done || this.is(";") || this.is("}"))
      throw this.unexpected("a statement", "a label stands before a statement, mostly a for or a switch");
    return this.statement();
  }

  private bracedCase(ofType: boolean): Case {
    const at = this.token?.at ?? this.endAt;
    const header = this.caseHeader(ofType);
    const body: Statement[] = [];
    let falls = false;
    for (;;) {
      while (this.accept(";"));
      if (this.is("case") || this.is("default") || this.is("}")) break;
      if (falls) throw this.unexpected("case, default or }", "fallthrough is the last statement of a case");
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
    const header = this.headed(() => this.condition());
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

  /** `var x T = …`, `const a, b = …`, and in `{%% %%}` also groups in parentheses. */
  declaration(): Statement {
    const { text, at } = this.tokens[this.position++]!;
    const constant = text === "const";
    if (!this.accept("(")) return this.specification(constant, at, undefined);
    const body: Statement[] = [];
    let previous: (Statement & { kind: "var" }) | undefined;
    for (;;) {
      while (this.accept(";"));
      if (this.accept(")")) return { kind: "sequence", body, at };
      const row = this.specification(constant, this.token?.at ?? this.endAt, { row: body.length, previous });
      body.push(row);
      previous = row;
      if (!this.is(";") && !this.is(")")) throw this.unexpected("; or newline");
    }
  }

  /** One row of a declaration. In a group of constants a row without values repeats those of the row before. */
  private specification(
    constant: boolean,
    at: number,
    group: { readonly row: number; readonly previous: (Statement & { kind: "var" }) | undefined } | undefined,
  ): Statement & { kind: "var" } {
    const names: Named[] = [];
    do {
      const name = this.expectName();
      names.push({ name: name.text, at: name.at });
    } while (this.accept(","));
    const ends = (): boolean => this.done || this.is(";") || this.is(")");
    let type = this.is("=") || ends() ? undefined : this.type();
    let values = this.accept("=") ? this.values() : [];
    if (constant && values.length === 0) {
      if (group?.previous === undefined) throw this.unexpected("=");
      ({ type, values } = { type: group.previous.type, values: [...group.previous.values] });
    }
    const iota = constant ? { iota: group?.row ?? 0 } : {};
    return { kind: "var", constant, names, type, values, ...iota, at };
  }

  private typeDeclaration(): Statement {
    const { at } = this.expect("type");
    const one = (): Statement => {
      const name = this.expectName();
      const alias = this.accept("=");
      return { kind: "type", name: name.text, alias, type: this.type(), at: name.at };
    };
    if (!this.accept("(")) return one();
    const body: Statement[] = [];
    for (;;) {
      while (this.accept(";"));
      if (this.accept(")")) return { kind: "sequence", body, at };
      body.push(one());
      if (!this.is(";") && !this.is(")")) throw this.unexpected("; or newline");
    }
  }

  private extendsStatement(): Statement {
    const { at } = this.expect("extends");
    const path = this.token;
    if (path?.kind !== "string") throw this.unexpected("a string");
    this.position++;
    return { kind: "extends", path: path.text, pathAt: path.at, at };
  }

  /** What stands after `using`: nothing, a format, or `macro` with parameters. */
  usingHeader(): { params: Param[] | undefined } {
    this.expect("using");
    if (this.accept("macro")) {
      const params = this.is("(") ? this.params() : [];
      if (!this.done) this.textType();
      return { params };
    }
    if (!this.done) this.textType();
    return { params: undefined };
  }

  /** Index of the semicolon before a `using`; -1 when the tag has none. */
  static usingAt(tokens: readonly Token[]): number {
    return tokens.findIndex(
      (token, i) => token.kind === "semicolon" && tokens[i + 1]?.kind === "keyword" && tokens[i + 1]!.text === "using",
    );
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
      if (token.text === "<-")
        throw new SyntaxFault(token.at, "channels are not supported", "templates have no channels");
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
    if (!this.done && !this.is("{")) result = this.textType();
    return { name, params, result };
  }

  /** One of the formats a text can have. */
  private textType(): string {
    const at = this.token!.at;
    const type = this.type();
    if (type.kind !== "named" || !["string", "html", "css", "js", "json", "markdown"].includes(type.name)) {
      throw new SyntaxFault(
        at,
        "invalid macro result type",
        "a macro gives a string; use a function literal for other values",
      );
    }
    return type.name;
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
