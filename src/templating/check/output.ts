/** What writes to the output: show, render, snippets compiled in their caller's context. */
import { literal, type Code } from "../emit/code.ts";
import type { Expression, RenderExpression, Statement } from "../syntax/tree.ts";
import { constantText } from "./operators.ts";
import { Assignments } from "./assignments.ts";
import { finish, type Steps } from "./unit.ts";
import { defaultType, isBool, isFloat, isInteger, isString, typeName } from "./types.ts";

export interface Jump {
  readonly label: string | undefined;
  readonly js: string;
  readonly loop: boolean;
}

export abstract class Output extends Assignments {
  /** Loops and switches around the statement, outermost first. */
  protected jumps: Jump[] = [];
  /** JavaScript label that `return` leaves, while a snippet is compiled in its caller's context. */
  protected inlineEnd: string | undefined;
  private readonly inlining: string[] = [];

  protected abstract block(statements: readonly Statement[]): Steps<Code[]>;

  /** Writes the text that an expression gives. */
  protected piece(code: Code, at: number): Code {
    const { kind } = this.frame;
    const number = kind === "main" || kind === "macro" ? this.host.piece?.(this.place(at)) : undefined;
    if (number === undefined) return ["o += ", code, ";\n"];
    if (kind === "main") return [`o += $.made(${number}, `, code, ");\n"];
    return ["o += $m = ", code, `;\nq += $.made(${number}, $m);\n`];
  }

  /** Text as it stands in the template. */
  protected literalText(text: string, at: number): Code {
    if (this.host.piece === undefined) return this.piece(literal(text), at);
    // Line by line, each with its place; white space before it may have been trimmed.
    let from = Math.max(at, this.source.text.indexOf(text, at));
    return text.split(/(?<=\n)/).map((line) => {
      const code = this.piece(literal(line), from + ((line.length - line.trimStart().length) % (line.length || 1)));
      from += line.length;
      return code;
    });
  }

  protected *show(x: Expression): Steps<Code> {
    if (x.kind === "render") return yield* this.showRender(x);
    if (x.kind === "default" && x.x.kind === "render") {
      const path = this.renderPath(x.x);
      if (typeof path === "string") {
        const names = this.rendered(x.x, path);
        return names === undefined || (x.x.glob && names.length === 0)
          ? yield* this.show(x.otherwise)
          : yield* this.showRender(x.x);
      }
    }
    return this.showValue(x);
  }

  private showValue(x: Expression): Code {
    return this.piece(this.shownText(x), x.at);
  }

  protected override shownText(x: Expression): Code {
    const value = this.expression(x);
    const { type } = value;
    if (isString(type) || isInteger(type) || isBool(type)) {
      const { constant } = value;
      if (typeof constant === "bigint") this.fitConstant(constant, defaultType(type), x.at);
      const text = isString(type)
        ? value.code
        : this.host.piece === undefined
          ? value.code
          : ["$.show(", value.code, ")"];
      return constant === undefined ? text : literal(constantText(constant));
    }
    if (
      type.kind === "slice" ||
      type.kind === "map" ||
      type.kind === "func" ||
      this.host.declarations.isBound(type) ||
      type.kind === "array" ||
      type.kind === "struct" ||
      type.kind === "object" ||
      type.kind === "pointer" ||
      type.kind === "void" ||
      (type.kind === "untyped" && type.name === "nil")
    ) {
      const hint =
        type.kind === "slice" || type.kind === "array"
          ? "use join() or a for loop"
          : type.kind === "map" || type.kind === "struct" || type.kind === "object"
            ? "use toJSON() or show its members"
            : type.kind === "func"
              ? "call it with ()"
              : undefined;
      this.fail(x.at, `cannot show value of type ${typeName(type)}`, hint);
    }
    const code = isFloat(type) ? this.convert(value, defaultType(type), x.at, "show") : value.code;
    // Most values are texts: told in place, as V8 does not inline every call of a large function.
    return [this.site(x.at), "R_show($, ", code, ")"];
  }

  protected *showRender(x: RenderExpression): Steps<Code> {
    const path = this.renderPath(x);
    if (typeof path !== "string") {
      const args = this.named(x, path);
      const call = (name: string): Code => ({ node: "delegate", code: [this.site(x.at), `$.${name}(`, args, ")"] });
      if (this.frame.kind === "main") return ["o = $.flush(o);\n", call("showNamed"), ";\n"];
      return this.piece(call("renderNamed"), x.at);
    }
    const names = this.rendered(x, path) ?? this.missingTemplate("render", path, x.pathAt);
    if (x.inheritContext) {
      const codes: Code[] = [];
      for (const name of names) codes.push(yield* this.inline(name, x));
      return codes;
    }
    return names.map((name): Code => {
      if (this.host.isIncremental(name)) {
        this.refuseMountInComponent(x);
        this.mounts.add(name);
        const { kind } = this.frame;
        if (kind === "main") return ["o = $.flush(o);\n", this.site(x.at), `$.mount(${literal(name)});\n`];
        return this.piece([this.site(x.at), `$.incremental(${literal(name)})`], x.at);
      }
      const key = this.host.requireUnit(name, this.place(x.at));
      if (key === undefined) return "";
      this.includes.add(key);
      if (this.frame.kind === "main")
        return [
          "o = $.flush(o);\n",
          { node: "delegate", code: [this.site(x.at), `$.include(${literal(key)})`] },
          ";\n",
        ];
      return this.piece({ node: "delegate", code: [this.site(x.at), `$.renderText(${literal(key)})`] }, x.at);
    });
  }

  /** `inherit_context`: the snippet is compiled in the scope of the call; its own names stay inside. */
  protected *inline(name: string, x: RenderExpression): Steps<Code> {
    const source = this.host.source(name)!;
    if (this.inlining.includes(name)) this.fail(x.pathAt, `render cycle: ${[...this.inlining, name].join(" → ")}`);
    if (this.host.isIncremental(name))
      this.fail(x.pathAt, `incremental snippet ${JSON.stringify(name)} cannot inherit a context`);
    const outer = [this.source, this.from, this.inlineEnd, this.jumps] as const;
    const from = this.place(x.at);
    const end = this.fresh("end");
    this.inlining.push(name);
    try {
      this.source = source;
      this.from = from;
      this.inlineEnd = end;
      // Loops of the caller cannot be left from here.
      this.jumps = [];
      return [`${end}: {\n`, yield* this.block(yield* this.host.tree(source)), "}\n"];
    } finally {
      [this.source, this.from, this.inlineEnd, this.jumps] = outer;
      this.inlining.pop();
    }
  }

  protected inlineText(name: string, x: RenderExpression): Code {
    return finish(this.captured(this.inline(name, x)));
  }

  /** An expression that is the text its statements write. */
  protected *captured(steps: Steps<Code>): Steps<Code> {
    const outer = [this.frame, this.jumps, this.inlineEnd] as const;
    this.frame = { kind: "capture", results: [] };
    this.jumps = [];
    this.inlineEnd = undefined;
    try {
      return { node: "capture", body: ['let o = "", o$n = 16384;\n', yield* steps, "return $.charged(o);\n"] };
    } finally {
      [this.frame, this.jumps, this.inlineEnd] = outer;
    }
  }
}
