/** What writes to the output: show, render, snippets compiled in their caller's context. */
import { literal, type Code } from "../emit/code.ts";
import type { Expression, RenderExpression, Statement } from "../syntax/tree.ts";
import { Assignments } from "./assignments.ts";
import { isBool, isInteger, isString, typeName } from "./types.ts";

export abstract class Output extends Assignments {
  /** JavaScript label that `return` leaves, while a snippet is compiled in its caller's context. */
  protected inlineEnd: string | undefined;
  private readonly inlining: string[] = [];

  protected abstract block(statements: readonly Statement[]): Code[];

  protected show(x: Expression): Code {
    if (x.kind === "render") return this.showRender(x);
    if (x.kind === "default" && x.x.kind === "render") {
      const names = this.rendered(x.x);
      return names === undefined || (x.x.glob && names.length === 0) ? this.show(x.otherwise) : this.showRender(x.x);
    }
    const value = this.expression(x);
    const { type } = value;
    if (isString(type) || isInteger(type) || isBool(type)) {
      return typeof value.constant === "bigint" ||
        typeof value.constant === "string" ||
        typeof value.constant === "boolean"
        ? ["o += ", literal(String(value.constant)), ";\n"]
        : ["o += ", value.code, ";\n"];
    }
    if (
      type.kind === "slice" ||
      type.kind === "map" ||
      type.kind === "func" ||
      type.kind === "host" ||
      type.kind === "void" ||
      (type.kind === "untyped" && type.name === "nil")
    ) {
      const hint =
        type.kind === "slice"
          ? "use join() or a for loop"
          : type.kind === "map"
            ? "use toJSON() or show its members"
            : type.kind === "func"
              ? "call it with ()"
              : undefined;
      this.fail(x.at, `cannot show value of type ${typeName(type)}`, hint);
    }
    return ["o += ", this.site(x.at), "$.show(", value.code, ");\n"];
  }

  protected showRender(x: RenderExpression): Code {
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
      if (this.frame.kind === "main")
        return [
          "o = $.flush(o);\n",
          { node: "delegate", code: [this.site(x.at), `$.include(${literal(key)})`] },
          ";\n",
        ];
      return ["o += ", { node: "delegate", code: [this.site(x.at), `$.renderText(${literal(key)})`] }, ";\n"];
    });
  }

  /** `inherit_context`: the snippet is compiled in the scope of the call; its own names stay inside. */
  protected inline(name: string, x: RenderExpression): Code {
    const source = this.host.source(name)!;
    if (this.inlining.includes(name)) this.fail(x.pathAt, `render cycle: ${[...this.inlining, name].join(" → ")}`);
    if (this.host.isIncremental(name))
      this.fail(x.pathAt, `incremental snippet ${JSON.stringify(name)} cannot inherit a context`);
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
}
