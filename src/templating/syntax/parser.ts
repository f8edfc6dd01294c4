/** Builds the syntax tree of a whole template from its segments: block statements span tags and close with `end`. */
import { lexInSteps, type Segment, type TagSegment } from "./lexer.ts";
import { SyntaxFault } from "./problems.ts";
import { makeLoop, StatementParser, type LoopHeader, type SwitchHeader } from "./statements.ts";
import type { Case, Expression, Param, Statement } from "./tree.ts";

export interface ParsedTemplate {
  readonly body: readonly Statement[];
  /** A faulty tag does not hide later ones. */
  readonly faults: readonly SyntaxFault[];
}

/** Parses a template; never throws. */
export function parseTemplate(source: string): ParsedTemplate {
  const steps = parseInSteps(source);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Parses a template, and stops on the way, so that a long one need not be one slice. */
export function* parseInSteps(source: string): Generator<void, ParsedTemplate, void> {
  const faults: SyntaxFault[] = [];
  let segments: Segment[];
  try {
    segments = yield* lexInSteps(source);
  } catch (fault) {
    if (!(fault instanceof SyntaxFault)) throw fault;
    return { body: [], faults: [fault] };
  }
  yield;
  try {
    return { body: yield* new TemplateParser(segments, faults).template(), faults };
  } catch (fault) {
    // Only nesting that is too deep ends the parse.
    if (!(fault instanceof SyntaxFault)) throw fault;
    return { body: [], faults: [...faults, fault] };
  }
}

const TERMINATORS: ReadonlySet<string> = new Set(["end", "else", "case", "default", "fallthrough"]);

function keyword(segment: Segment | undefined): string | undefined {
  if (segment?.kind !== "statement") return undefined;
  const first = segment.tokens[0];
  return first?.kind === "keyword" ? first.text : undefined;
}

type Steps<T> = Generator<void, T, void>;

class TemplateParser {
  private readonly segments: readonly Segment[];
  private readonly faults: SyntaxFault[];
  private position = 0;
  private depth = 0;
  /** Tags open around the present one. */
  private open = 0;
  /** Segments read: it stops after some. */
  private turns = 0;
  private extending = false;

  constructor(segments: readonly Segment[], faults: SyntaxFault[]) {
    this.segments = segments;
    this.faults = faults;
  }

  *template(): Generator<void, Statement[], void> {
    const body: Statement[] = [];
    for (;;) {
      for (const statement of yield* this.statements()) body.push(statement);
      const stray = this.segments[this.position];
      if (stray === undefined) return body;
      this.faults.push(
        new SyntaxFault(
          (stray as TagSegment).tokens[0]!.at,
          `syntax error: unexpected ${keyword(stray)}`,
          "no block is open here",
        ),
      );
      this.position++;
    }
  }

  /** Statements up to a terminating tag, which stays current, or to the end. */
  private *statements(): Steps<Statement[]> {
    const body: Statement[] = [];
    for (;;) {
      const segment = this.segments[this.position];
      if (segment === undefined) return body;
      const word = keyword(segment);
      if (word !== undefined && TERMINATORS.has(word)) return body;
      this.position++;
      if ((++this.turns & 31) === 0) yield;
      if (segment.kind === "text") {
        if (segment.text !== "") body.push({ kind: "text", text: segment.text, at: segment.at });
        continue;
      }
      const found = this.tag(segment);
      const statement = found !== undefined && "next" in found ? yield* found : found;
      if (statement !== undefined) body.push(statement);
    }
  }

  /** Runs a step whose syntax fault is recorded, not passed on. */
  private attempt<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (fault) {
      if (!(fault instanceof SyntaxFault)) throw fault;
      this.faults.push(fault);
      return otherwise;
    }
  }

  /** In a file that extends another, `{% Article %}` at top level makes a macro of all that follows. */
  private restOfFile(segment: TagSegment): Steps<Statement> | undefined {
    if (!this.extending || this.open > 0 || segment.kind !== "statement") return undefined;
    const tokens = segment.tokens.filter((token) => token.kind !== "semicolon");
    const [name] = tokens;
    if (tokens.length !== 1 || name!.kind !== "name" || !/^\p{Lu}/u.test(name!.text)) return undefined;
    return this.restAsMacro(name!.text, name!.at);
  }

  private *restAsMacro(name: string, at: number): Steps<Statement> {
    const body = yield* this.statements();
    return { kind: "macro", name, params: [], result: undefined, body, at };
  }

  /** A statement, or the steps to one that reaches to a later tag. */
  private tag(segment: TagSegment): Statement | Steps<Statement | undefined> | undefined {
    if (segment.kind === "comment") return undefined;
    const { tokens, at } = segment;
    const rest = this.restOfFile(segment);
    if (rest !== undefined) return rest;
    const parser = new StatementParser(tokens, segment.closeAt);
    if (segment.kind === "show") {
      return this.attempt(() => {
        if (tokens.length === 0)
          throw new SyntaxFault(segment.closeAt, "syntax error: unexpected }}, expecting expression");
        // `{{ go M() }}` renders in place; there is nothing to run in parallel with.
        const from = tokens[0]!.text === "go" && tokens[0]!.kind === "keyword" ? 1 : 0;
        const show = new StatementParser(tokens.slice(from), segment.closeAt);
        const values = show.values();
        show.finish();
        return { kind: "show", values, at } satisfies Statement;
      }, undefined);
    }
    if (segment.kind === "block")
      return this.attempt(() => ({ kind: "sequence", body: parser.sequence(), at }) satisfies Statement, undefined);
    if (tokens.length === 0) return undefined;
    const first = tokens[0]!;
    let label: string | undefined;
    let word = first.kind === "keyword" ? first.text : undefined;
    let header = tokens;
    if (first.kind === "name" && tokens[1]?.text === ":" && tokens[1].kind === "operator") {
      label = first.text;
      word = tokens[2]?.text;
      header = tokens.slice(2);
    }
    switch (word) {
      case "if":
        return this.nested(first.at, () => this.ifTags(header.slice(1), segment));
      case "for":
        return this.nested(first.at, () => this.forTags(header.slice(1), label, segment));
      case "switch":
        return this.nested(first.at, () => this.switchTags(header.slice(1), label, segment));
      case "macro":
        return this.nested(first.at, () => this.macroTags(parser, segment));
      case "raw":
        return this.raw(segment);
      default: {
        const using = StatementParser.usingAt(header);
        if (using !== -1) return this.nested(first.at, () => this.usingTags(header, using, segment));
        const statement = this.attempt(() => {
          // A semicolon that a line end put in is not one the author wrote.
          let end = tokens.length;
          while (end > 0 && tokens[end - 1]!.kind === "semicolon" && tokens[end - 1]!.text === "\n") end--;
          return new StatementParser(tokens.slice(0, end), segment.closeAt).single();
        }, undefined);
        if (statement?.kind === "extends") this.extending = true;
        return statement;
      }
    }
  }

  private *nested(at: number, work: () => Steps<Statement>): Steps<Statement> {
    if (++this.depth > 200) {
      this.depth--;
      throw new SyntaxFault(at, "blocks are nested too deeply");
    }
    this.open++;
    const statement = yield* work();
    this.open--;
    this.depth--;
    return statement;
  }

  /** `{% show itea; using macro(x int) %}…{% end using %}`. */
  private *usingTags(tokens: TagSegment["tokens"], semicolon: number, segment: TagSegment): Steps<Statement> {
    const { at } = segment.tokens[0]!;
    const bad: Statement = { kind: "expression", x: { kind: "bad", at }, at };
    const statement = this.header(tokens.slice(0, semicolon), segment, (parser) => parser.statement(), bad);
    const header = this.header(tokens.slice(semicolon + 1), segment, (parser) => parser.usingHeader(), {
      params: undefined,
    });
    const body = yield* this.statements();
    yield* this.end("using", segment);
    return { kind: "using", statement, ...header, body, at };
  }

  private header<T>(
    tokens: TagSegment["tokens"],
    segment: TagSegment,
    read: (parser: StatementParser) => T,
    otherwise: T,
  ): T {
    return this.attempt(() => {
      const parser = new StatementParser(tokens, segment.closeAt);
      const result = read(parser);
      parser.finish();
      return result;
    }, otherwise);
  }

  private *raw(segment: TagSegment): Steps<Statement | undefined> {
    const text = this.segments[this.position];
    if (text?.kind === "text") this.position++;
    yield* this.end("raw", segment, segment.tokens[1]?.text);
    return text?.kind === "text" && text.text !== "" ? { kind: "text", text: text.text, at: text.at } : undefined;
  }

  /** Consumes the `{% end %}` that closes `what`. */
  private *end(what: string, opened: TagSegment, marker?: string): Steps<void> {
    const segment = this.segments[this.position];
    const openedAt = opened.tokens[0]?.at ?? opened.at;
    if (segment === undefined) {
      this.faults.push(
        new SyntaxFault(
          openedAt,
          `syntax error: unexpected EOF, this ${what} has no {% end %}`,
          `add {% end %} or {% end ${what} %}`,
        ),
      );
      return;
    }
    const tag = segment as TagSegment;
    const word = keyword(tag);
    if (word !== "end") {
      this.faults.push(
        new SyntaxFault(
          tag.tokens[0]!.at,
          `syntax error: unexpected ${word} in ${what}`,
          `{% end %} of the ${what} is missing, or ${word} stands out of place`,
        ),
      );
      this.position++;
      yield* this.statements();
      yield* this.end(what, opened, marker);
      return;
    }
    this.position++;
    const names = tag.tokens.slice(1).filter((token) => token.kind !== "semicolon");
    if (names.length === 0 || (names.length === 1 && names[0]!.text === what)) return;
    if (marker !== undefined && names.at(-1)!.text === marker) return;
    this.faults.push(
      new SyntaxFault(
        names[0]!.at,
        `syntax error: unexpected ${names[0]!.text}, expecting ${what} or end of tag`,
        `this end closes a ${what}`,
      ),
    );
  }

  private *ifTags(tokens: TagSegment["tokens"], segment: TagSegment): Steps<Statement> {
    const { at } = segment.tokens[0]!;
    const bad: { init: Statement | undefined; condition: Expression } = {
      init: undefined,
      condition: { kind: "bad", at },
    };
    const header = this.header(tokens, segment, (parser) => parser.condition(), bad);
    const body = yield* this.statements();
    let otherwise: Statement[] | undefined;
    const next = this.segments[this.position];
    if (keyword(next) === "else") {
      this.position++;
      const branch = next as TagSegment;
      const rest = branch.tokens.slice(1);
      if (rest[0]?.text === "if" && rest[0].kind === "keyword") {
        otherwise = [yield* this.nested(rest[0].at, () => this.ifTags(rest.slice(1), { ...branch, tokens: rest }))];
        return { kind: "if", ...header, body, otherwise, at };
      }
      if (rest.some((token) => token.kind !== "semicolon")) {
        this.faults.push(
          new SyntaxFault(rest[0]!.at, `syntax error: unexpected ${rest[0]!.text}, expecting if or end of tag`),
        );
      }
      otherwise = yield* this.statements();
    }
    yield* this.end("if", segment);
    return { kind: "if", ...header, body, otherwise, at };
  }

  private *forTags(tokens: TagSegment["tokens"], label: string | undefined, segment: TagSegment): Steps<Statement> {
    const { at } = segment.tokens[0]!;
    const bad: LoopHeader = { kind: "range", define: false, subject: { kind: "bad", at } };
    const header = this.header(tokens, segment, (parser) => parser.loopHeader(false), bad);
    const body = yield* this.statements();
    let otherwise: Statement[] | undefined;
    const next = this.segments[this.position];
    if (keyword(next) === "else") {
      this.position++;
      otherwise = yield* this.statements();
      if (header.kind === "for") {
        this.faults.push(
          new SyntaxFault(
            (next as TagSegment).tokens[0]!.at,
            "syntax error: unexpected else in a for that has no range",
            "else belongs to for … range and for … in",
          ),
        );
      }
    }
    yield* this.end("for", segment);
    return makeLoop(header, label, body, otherwise, at);
  }

  private *switchTags(tokens: TagSegment["tokens"], label: string | undefined, segment: TagSegment): Steps<Statement> {
    const { at } = segment.tokens[0]!;
    const bad: SwitchHeader = { init: undefined, tag: { kind: "bad", at }, binding: undefined, ofType: false };
    const header = this.header(tokens, segment, (parser) => parser.switchHeader(false), bad);
    const stray = (yield* this.statements()).find(
      (statement) => statement.kind !== "text" || statement.text.trim() !== "",
    );
    if (stray !== undefined)
      this.faults.push(
        new SyntaxFault(
          stray.at,
          "syntax error: unexpected text before the first case",
          "only blanks may stand between switch and case",
        ),
      );
    const cases: Case[] = [];
    for (;;) {
      const branch = this.segments[this.position];
      const word = keyword(branch);
      if (word !== "case" && word !== "default") break;
      this.position++;
      const tag = branch as TagSegment;
      const values = this.header(tag.tokens, tag, (parser) => parser.caseHeader(header.ofType), {
        values: undefined,
        types: undefined,
      });
      const body = yield* this.statements();
      let falls = false;
      if (keyword(this.segments[this.position]) === "fallthrough") {
        falls = true;
        this.position++;
        yield* this.statements();
      }
      cases.push({ ...values, body, fallthrough: falls, at: tag.tokens[0]!.at });
    }
    yield* this.end("switch", segment);
    return { kind: "switch", label, ...header, cases, at };
  }

  private *macroTags(parser: StatementParser, segment: TagSegment): Steps<Statement> {
    const { at } = segment.tokens[0]!;
    const bad: { name: string; params: Param[]; result: string | undefined } = {
      name: "",
      params: [],
      result: undefined,
    };
    const header = this.attempt(() => {
      const read = parser.macroHeader();
      parser.finish();
      return read;
    }, bad);
    const body = yield* this.statements();
    yield* this.end("macro", segment);
    return { kind: "macro", ...header, body, at };
  }
}
