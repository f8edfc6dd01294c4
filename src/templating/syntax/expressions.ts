/** Parser of expressions and types over the tokens of one tag. */
import { SyntaxFault } from "./problems.ts";
import type { Token } from "./tokens.ts";
import type { Element, Expression, Field, Named, Param, Statement, TypeNode } from "./tree.ts";

const PRECEDENCE: ReadonlyMap<string, number> = new Map([
  ["*", 5],
  ["/", 5],
  ["%", 5],
  ["<<", 5],
  [">>", 5],
  ["&", 5],
  ["&^", 5],
  ["+", 4],
  ["-", 4],
  ["|", 4],
  ["^", 4],
  ["==", 3],
  ["!=", 3],
  ["<", 3],
  ["<=", 3],
  [">", 3],
  [">=", 3],
  ["contains", 3],
  ["&&", 2],
  ["and", 2],
  ["||", 1],
  ["or", 1],
]);
const UNARY: ReadonlySet<string> = new Set(["-", "+", "!", "not", "^", "*", "&"]);
/** Expressions nested deeper than this are refused before they can exhaust the stack. */
const MAX_NESTING = 200;
/** Operators or members in one row. */
const MAX_CHAIN = 500;

export class ExpressionParser {
  protected readonly tokens: readonly Token[];
  protected position = 0;
  /** Offset of the tag's end: where "unexpected end" points to. */
  protected readonly endAt: number;
  private nesting = 0;
  /** In the header of a block with braces, a brace after a name opens the block and not a literal. */
  protected inHeader = false;

  constructor(tokens: readonly Token[], endAt: number) {
    this.tokens = tokens;
    this.endAt = endAt;
  }

  protected get token(): Token | undefined {
    return this.tokens[this.position];
  }

  get done(): boolean {
    return this.position >= this.tokens.length;
  }

  protected peek(ahead = 1): Token | undefined {
    return this.tokens[this.position + ahead];
  }

  /** Whether the current token is this keyword, operator or separator. */
  protected is(text: string): boolean {
    const { token } = this;
    if (token === undefined || token.kind === "string" || token.kind === "rune") return false;
    if (text === ";") return token.kind === "semicolon";
    return token.text === text;
  }

  protected accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.position++;
    return true;
  }

  protected unexpected(expecting?: string, hint?: string): SyntaxFault {
    const { token } = this;
    const found =
      token === undefined
        ? "end of tag"
        : token.kind === "semicolon" && token.text === "\n"
          ? "newline"
          : token.kind === "string"
            ? JSON.stringify(token.text)
            : token.text;
    return new SyntaxFault(
      token?.at ?? this.endAt,
      `syntax error: unexpected ${found}${expecting === undefined ? "" : `, expecting ${expecting}`}`,
      hint,
    );
  }

  protected expect(text: string): Token {
    if (!this.is(text)) throw this.unexpected(text);
    return this.tokens[this.position++]!;
  }

  protected expectName(): Token {
    if (this.token?.kind !== "name") {
      const hint = this.token?.kind === "keyword" ? `"${this.token.text}" is a reserved word` : undefined;
      throw this.unexpected("a name", hint);
    }
    return this.tokens[this.position++]!;
  }

  protected skipNewlines(): void {
    while (this.token?.kind === "semicolon" && this.token.text === "\n") this.position++;
  }

  /** Guards against input made to exhaust the stack. */
  protected deeper<T>(work: () => T): T {
    if (++this.nesting > MAX_NESTING) throw new SyntaxFault(this.token?.at ?? this.endAt, "code is nested too deeply");
    const result = work();
    this.nesting--;
    return result;
  }

  // --- types -------------------------------------------------------------------------------------------------------

  type(): TypeNode {
    return this.deeper(() => this.typeBody());
  }

  private typeBody(): TypeNode {
    const at = this.token?.at ?? this.endAt;
    if (this.accept("*")) return { kind: "pointer", element: this.type(), at };
    if (this.accept("[")) {
      if (this.accept("]")) return { kind: "slice", element: this.type(), at };
      const length = this.accept("...") ? undefined : this.expression();
      this.expect("]");
      return { kind: "array", length, element: this.type(), at };
    }
    if (this.accept("map")) {
      this.expect("[");
      const key = this.type();
      this.expect("]");
      return { kind: "map", key, element: this.type(), at };
    }
    if (this.accept("interface")) {
      this.expect("{");
      this.expect("}");
      return { kind: "named", name: "any", at };
    }
    if (this.accept("func")) {
      const params = this.params();
      return { kind: "func", params, results: this.results(), at };
    }
    if (this.accept("struct")) return this.structType(at);
    if (this.accept("(")) {
      const type = this.type();
      this.expect(")");
      return type;
    }
    if (this.is("chan") || this.is("<-"))
      throw new SyntaxFault(at, "channels are not supported", "templates run one statement after the other");
    let { text } =
      this.token?.kind === "name"
        ? this.expectName()
        : (() => {
            throw this.unexpected("a type");
          })();
    while (this.is(".") && this.peek()?.kind === "name") {
      this.position++;
      text += `.${this.expectName().text}`;
    }
    return { kind: "named", name: text, at };
  }

  private structType(at: number): TypeNode {
    this.expect("{");
    const fields: Field[] = [];
    for (;;) {
      while (this.accept(";"));
      if (this.accept("}")) return { kind: "struct", fields, at };
      if (
        this.is("*") ||
        (this.token?.kind === "name" && (this.peek()?.text === "}" || this.peek()?.kind === "semicolon"))
      )
        throw new SyntaxFault(this.token!.at, "embedded fields are not supported", "give the field a name");
      const names = [this.expectName()];
      while (this.accept(",")) names.push(this.expectName());
      const type = this.type();
      // Tags are read by encoders only, which templates do not have.
      if (this.token?.kind === "string") this.position++;
      for (const name of names) fields.push({ name: name.text, type, at: name.at });
      if (!this.is("}") && !this.is(";")) throw this.unexpected("; or }");
    }
  }

  /** Inside brackets the braces of literals cannot be taken for a block's. */
  protected bracketed<T>(work: () => T): T {
    const outer = this.inHeader;
    this.inHeader = false;
    const result = work();
    this.inHeader = outer;
    return result;
  }

  protected startsType(): boolean {
    return (
      this.token?.kind === "name" ||
      this.is("*") ||
      this.is("[") ||
      this.is("map") ||
      this.is("func") ||
      this.is("struct") ||
      this.is("interface")
    );
  }

  protected results(): TypeNode[] {
    return this.namedResults().types;
  }

  /** `int`, `(int, error)` or `(n int, err error)`. */
  private namedResults(): { types: TypeNode[]; names: Named[] | undefined } {
    if (!this.is("(")) return { types: this.startsType() ? [this.type()] : [], names: undefined };
    const params = this.params();
    const types = params.map(({ type, at }): TypeNode => type ?? { kind: "named", name: "any", at });
    const named = params.some(({ name, type, at }) => name !== "_" || type?.at !== at);
    return { types, names: named ? params.map(({ name, at }) => ({ name, at })) : undefined };
  }

  /** `(a, b int, c ...string)` or, in types, `(int, string)`. */
  params(): Param[] {
    const params: Param[] = [];
    this.expect("(");
    let pending: Token[] = [];
    while (!this.is(")")) {
      this.skipNewlines();
      if (this.is(")")) break;
      const at = this.token?.at ?? this.endAt;
      if (this.token?.kind === "name" && (this.peek()?.text === "," || this.peek()?.text === ")")) {
        pending.push(this.expectName());
      } else if (this.token?.kind === "name" && this.peek()?.text !== ".") {
        const name = this.expectName();
        const variadic = this.accept("...");
        const type = this.type();
        for (const earlier of pending) params.push({ name: earlier.text, type, variadic: false, at: earlier.at });
        pending = [];
        params.push({ name: name.text, type, variadic, at: name.at });
      } else {
        const variadic = this.accept("...");
        params.push({ name: "_", type: this.type(), variadic, at });
      }
      this.skipNewlines();
      if (!this.accept(",")) break;
    }
    for (const name of pending)
      params.push({ name: "_", type: { kind: "named", name: name.text, at: name.at }, variadic: false, at: name.at });
    this.expect(")");
    return params;
  }

  // --- expressions -------------------------------------------------------------------------------------------------

  /** A whole right side: an expression with an optional `default`. */
  value(): Expression {
    const x = this.expression();
    if (!this.is("default")) return x;
    const { at } = this.expect("default");
    return { kind: "default", x, otherwise: this.expression(), at };
  }

  values(): Expression[] {
    const list = [this.value()];
    while (this.accept(",")) list.push(this.value());
    return list;
  }

  expression(above = 0): Expression {
    return this.deeper(() => this.binary(above));
  }

  private binary(above: number): Expression {
    let left = this.unary();
    for (let operators = 0; ; operators++) {
      if (operators > MAX_CHAIN)
        throw new SyntaxFault(this.token?.at ?? this.endAt, "expression has too many operators");
      const { token } = this;
      if (token === undefined || token.kind === "string") break;
      const negated = token.text === "not" && this.peek()?.text === "contains";
      const op = negated ? "contains" : token.text;
      const precedence = PRECEDENCE.get(op);
      if (precedence === undefined || precedence <= above) break;
      this.position += negated ? 2 : 1;
      this.skipNewlines();
      const right = this.expression(precedence);
      if (op === "|" && right.kind === "call") {
        left = { ...right, args: [left, ...right.args], piped: true };
      } else {
        left = { kind: "binary", op, left, right, at: token.at };
        if (negated) left = { kind: "unary", op: "!", x: left, at: token.at };
      }
    }
    return left;
  }

  private unary(): Expression {
    const { token } = this;
    if (token !== undefined && token.kind !== "string" && UNARY.has(token.text)) {
      this.position++;
      const x = this.deeper(() => this.unary());
      return { kind: "unary", op: token.text, x, at: token.at };
    }
    return this.postfix(this.primary());
  }

  private primary(): Expression {
    const { token } = this;
    if (token === undefined) throw this.unexpected("expression");
    const { at } = token;
    switch (token.kind) {
      case "string":
      case "int":
      case "float":
      case "rune":
        this.position++;
        return { kind: token.kind, text: token.text, at };
      case "name":
        this.position++;
        if (this.is("=>")) {
          this.position++;
          return { kind: "lambda", param: token.text, body: this.expression(), at };
        }
        return { kind: "name", name: token.text, at };
      default:
    }
    if (this.accept("(")) {
      return this.bracketed(() => {
        this.skipNewlines();
        const x: Expression =
          this.is("*") && this.parenthesizedType() ? { kind: "type", type: this.type(), at } : this.expression();
        this.skipNewlines();
        this.expect(")");
        return { kind: "paren", x, at };
      });
    }
    if (this.is("map") && this.peek()?.text === "(") {
      this.position++;
      return { kind: "name", name: "map", at };
    }
    if (this.is("[") || this.is("map") || this.is("interface") || this.is("struct")) {
      const type = this.type();
      if (this.is("{")) return this.composite(type);
      return { kind: "type", type, at };
    }
    if (this.accept("func")) {
      const params = this.params();
      const { types, names } = this.is("{") ? { types: [], names: undefined } : this.namedResults();
      const body = this.functionBody();
      return { kind: "func", params, results: types, ...(names === undefined ? {} : { resultNames: names }), body, at };
    }
    if (this.is("render")) return this.render(false, at);
    throw this.unexpected("expression");
  }

  /** Whether `(*T)(x)` stands here, a conversion, and not a value of a pointer. */
  private parenthesizedType(): boolean {
    const from = this.position;
    try {
      this.type();
      return this.is(")") && this.peek()?.text === "(" && this.peek()?.kind === "operator";
    } catch {
      return false;
    } finally {
      this.position = from;
    }
  }

  /** Overridden by the statement parser, which knows how to read a body. */
  protected functionBody(): Statement[] {
    throw this.unexpected("expression");
  }

  private render(glob: boolean, at: number): Expression {
    this.position++;
    const pathAt = this.token?.at ?? this.endAt;
    let path: string | undefined;
    let dynamic: Expression | undefined;
    if (this.token?.kind === "string") {
      path = this.token.text;
      this.position++;
    } else {
      dynamic = this.primary();
      if (dynamic.kind === "paren" && dynamic.x.kind === "string") {
        path = dynamic.x.text;
        dynamic = undefined;
      }
    }
    let inheritContext = false;
    if (this.token?.kind === "name" && this.token.text === "inherit_context") {
      inheritContext = true;
      this.position++;
    }
    return { kind: "render", glob, path, dynamic, inheritContext, pathAt, at };
  }

  private composite(type: TypeNode | undefined): Expression {
    return this.bracketed(() => this.compositeBody(type));
  }

  private compositeBody(type: TypeNode | undefined): Expression {
    const { at } = this.expect("{");
    const elements: Element[] = [];
    const part = (): Expression => (this.is("{") ? this.deeper(() => this.composite(undefined)) : this.expression());
    for (;;) {
      this.skipNewlines();
      if (this.is("}")) break;
      let value = part();
      let key: Expression | undefined;
      if (this.accept(":")) {
        key = value;
        this.skipNewlines();
        value = part();
      }
      elements.push({ key, value });
      this.skipNewlines();
      if (!this.accept(",")) break;
    }
    this.skipNewlines();
    this.expect("}");
    return { kind: "composite", type, elements, at };
  }

  private postfix(start: Expression): Expression {
    let x = start;
    if (x.kind === "name" && x.name === "render_glob" && (this.token?.kind === "string" || this.is("("))) {
      this.position--;
      x = this.render(true, x.at);
    }
    for (let links = 0; ; links++) {
      const { token } = this;
      if (token === undefined || token.kind !== "operator") return x;
      if (links > MAX_CHAIN) throw new SyntaxFault(token.at, "expression has too many members and calls");
      const { at } = token;
      if (token.text === ".") {
        this.position++;
        if (this.accept("(")) {
          if (this.accept("type")) {
            this.expect(")");
            x = { kind: "assert", x, type: undefined, at };
          } else {
            const type = this.type();
            this.expect(")");
            x = { kind: "assert", x, type, at };
          }
        } else {
          // After a dot every word is a member name, so that fields called "type" or "default" can be read.
          const name = this.token;
          if (name?.kind !== "name" && name?.kind !== "keyword") throw this.unexpected("a name");
          this.position++;
          x = { kind: "selector", x, name: name.text, at };
        }
      } else if (token.text === "(") {
        const fn = x;
        x = this.bracketed(() => this.call(fn, at));
      } else if (token.text === "[") {
        const object = x;
        x = this.bracketed(() => this.indexOrSlice(object, at));
      } else if (token.text === "{") {
        const type = this.inHeader ? undefined : namedType(x);
        if (type === undefined) return x;
        x = this.composite(type);
      } else return x;
    }
  }

  private call(fn: Expression, at: number): Expression {
    this.position++;
    const args: Expression[] = [];
    let spread = false;
    for (;;) {
      this.skipNewlines();
      if (this.is(")")) break;
      if (this.startsTypeArgument()) {
        const typeAt = this.token!.at;
        args.push({ kind: "type", type: this.type(), at: typeAt });
      } else args.push(this.expression());
      if (this.accept("...")) spread = true;
      this.skipNewlines();
      if (!this.accept(",")) break;
    }
    this.skipNewlines();
    this.expect(")");
    return { kind: "call", fn, args, spread, piped: false, at };
  }

  /** `make([]int, 3)` and `new(map[string]int)`: a slice or map type that no literal follows. */
  private startsTypeArgument(): boolean {
    if (!this.is("[") && !this.is("map") && !this.is("func") && !this.is("struct")) return false;
    const from = this.position;
    try {
      this.type();
      return this.is(",") || this.is(")");
    } catch {
      return false;
    } finally {
      this.position = from;
    }
  }

  private indexOrSlice(x: Expression, at: number): Expression {
    this.position++;
    this.skipNewlines();
    const low = this.is(":") ? undefined : this.expression();
    if (this.accept(":")) {
      const high = this.is("]") || this.is(":") ? undefined : this.expression();
      if (high !== undefined && this.accept(":")) {
        const max = this.expression();
        this.expect("]");
        return { kind: "slice", x, low, high, max, at };
      }
      this.expect("]");
      return { kind: "slice", x, low, high, at };
    }
    this.skipNewlines();
    this.expect("]");
    return { kind: "index", x, index: low!, at };
  }
}

/** The type that a name or `module.Name` stands for before the brace of a literal. */
export function namedType(x: Expression): TypeNode | undefined {
  if (x.kind === "name") return { kind: "named", name: x.name, at: x.at };
  if (x.kind === "selector" && x.x.kind === "name") return { kind: "named", name: `${x.x.name}.${x.name}`, at: x.x.at };
  return undefined;
}
