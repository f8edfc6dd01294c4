/** Snippets in expressions: render, render_glob, and what `default` stands for. */
import { literal, type Code } from "../emit/code.ts";
import { globMatches } from "../runtime/glob.ts";
import { nearestName } from "../syntax/problems.ts";
import type { Expression, RenderExpression } from "../syntax/tree.ts";
import { Expressions } from "./expressions.ts";
import type { Value } from "./scope.ts";
import { isString, STRING, typeName } from "./types.ts";

export abstract class Rendering extends Expressions {
  /** The text of a snippet that is compiled in the scope of the call. */
  protected abstract inlineText(name: string, x: RenderExpression): Code;

  protected defaulted(x: Expression & { kind: "default" }): Value {
    const { x: left } = x;
    if (left.kind === "render") {
      const path = this.renderPath(left);
      if (typeof path !== "string") return this.namedOrDefault(left, path, x.otherwise);
      const names = this.rendered(left, path);
      return names === undefined || (left.glob && names.length === 0)
        ? this.expression(x.otherwise)
        : this.expression(left);
    }
    const name = left.kind === "name" ? left : left.kind === "call" && left.fn.kind === "name" ? left.fn : undefined;
    if (name === undefined)
      this.fail(
        x.at,
        "default needs a name, a call or a render on its left",
        "use fallback() for values that may be nil",
      );
    const declared =
      this.scope.lookup(name.name) !== undefined ||
      this.host.declarations.globals[this.kind].has(name.name) ||
      this.host.natives.has(name.name);
    return declared ? this.expression(left) : this.expression(x.otherwise);
  }

  /** The literal path of a render, or the value its name is computed from. */
  protected renderPath(x: RenderExpression): string | Value {
    if (x.path !== undefined) return x.path;
    const value = this.expression(x.dynamic!);
    if (typeof value.constant === "string") return value.constant;
    if (!isString(value.type) && value.type.kind !== "any")
      this.fail(x.pathAt, `the name of a snippet must be a string, not ${typeName(value.type)}`);
    if (x.inheritContext)
      this.fail(
        x.pathAt,
        "inherit_context needs a literal name",
        "the snippet is compiled here: choose with if or switch between literal names",
      );
    return { code: this.convert(value, STRING, x.pathAt, "render"), type: STRING };
  }

  /** Names a render stands for, in order; undefined when a literal path does not exist. */
  protected rendered(x: RenderExpression, path: string): string[] | undefined {
    if (x.glob) {
      const names = globMatches(path, this.host.snippetNames());
      if (names === undefined) this.fail(x.pathAt, `syntax error in pattern ${JSON.stringify(path)}`);
      return names;
    }
    const name = this.resolvePath(path);
    return name === undefined ? undefined : [name];
  }

  protected get directory(): string {
    return this.source.name.slice(0, this.source.name.lastIndexOf("/") + 1);
  }

  /** A path is rooted with `/`, relative to the current name's directory, or a plain name. */
  protected resolvePath(path: string): string | undefined {
    if (path.startsWith("/")) return this.host.source(path.slice(1)) === undefined ? undefined : path.slice(1);
    const { directory } = this;
    if (directory !== "" && this.host.source(directory + path) !== undefined) return directory + path;
    return this.host.source(path) === undefined ? undefined : path;
  }

  protected missingTemplate(word: string, path: string, at: number): never {
    const near = nearestName(path, this.host.snippetNames());
    this.fail(
      at,
      `${word} path ${JSON.stringify(path)} does not exist`,
      near === undefined ? undefined : `did you mean "${near}"?`,
    );
  }

  /** Arguments of the runtime's helpers for a name that is only known while running. */
  protected named(x: RenderExpression, path: Value): Code {
    for (const key of this.host.requireAny(this.place(x.at))) this.includes.add(key);
    if (this.kind === "root") for (const name of this.host.incrementalNames()) this.mounts.add(name);
    return [path.code, `, ${literal(this.directory)}, ${literal(this.kind)}, ${x.glob}`];
  }

  private namedOrDefault(x: RenderExpression, path: Value, otherwise: Expression): Value {
    const name = this.fresh("t");
    const args = this.named(x, { code: name, type: STRING });
    const text = this.convert(this.expression(otherwise, STRING), STRING, otherwise.at, "default");
    const there: Code = { node: "delegate", code: [this.site(x.at), "$.renderNamed(", args, ")"] };
    const code: Code = [
      {
        node: "capture",
        body: [`const ${name} = `, path.code, `;\nreturn $.exists(`, args, ") ? ", there, " : ", text, ";\n"],
      },
    ];
    return { code, type: STRING };
  }

  protected renderedText(x: RenderExpression): Code {
    const parts = this.renderedParts(x);
    if (parts.length === 0) return '""';
    return parts.length === 1 ? parts[0]! : ["(", parts.flatMap((part, i) => (i === 0 ? [part] : [" + ", part])), ")"];
  }

  /** The texts of the snippets a render stands for, each on its own. */
  protected renderedParts(x: RenderExpression): Code[] {
    const path = this.renderPath(x);
    if (typeof path !== "string")
      return [{ node: "delegate", code: [this.site(x.at), "$.renderNamed(", this.named(x, path), ")"] }];
    const names = this.rendered(x, path) ?? this.missingTemplate("render", path, x.pathAt);
    return names.map((name): Code => {
      if (x.inheritContext) return this.inlineText(name, x);
      if (this.host.isIncremental(name)) {
        this.refuseMountInComponent(x);
        this.mounts.add(name);
        return [this.site(x.at), `$.incremental(${literal(name)})`];
      }
      const key = this.host.requireUnit(name, this.place(x.at));
      if (key === undefined) return '""';
      this.includes.add(key);
      return { node: "delegate", code: [this.site(x.at), `$.renderText(${literal(key)})`] };
    });
  }

  protected refuseMountInComponent(x: RenderExpression): void {
    if (this.kind === "component")
      this.fail(
        x.at,
        "an incremental snippet cannot render another incremental snippet",
        "render it from a root template",
      );
  }
}
