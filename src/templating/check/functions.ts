/** Macros, function literals and return. */
import { commas, type Code, type FunctionNode } from "../emit/code.ts";
import type { MacroStatement, Named, Statement } from "../syntax/tree.ts";
import { Branches } from "./branches.ts";
import { inPlace } from "./in-place.ts";
import type { MacroInfo, Symbol_ } from "./scope.ts";
import { finish, type Steps } from "./unit.ts";
import { ANY, VOID, type FunctionType, type Type } from "./types.ts";

/** Most results are short: told in place. */
const LEAF_END = "return R_charged($, o);\n";

export abstract class Functions extends Branches {
  protected returnStatement(n: Statement & { kind: "return" }): Code {
    const { kind, results } = this.frame;
    if (kind === "literal") {
      if (n.values.length === 1 && results.length > 1) {
        const { code } = this.multiple(n.values[0]!, results.length);
        return ["return ", code, ";\n"];
      }
      const { names } = this.frame;
      if (n.values.length === 0 && names !== undefined) {
        const values = names.map((symbol): Code => symbol.js);
        return values.length > 1 ? ["return [", commas(values), "];\n"] : ["return ", values[0] ?? "null", ";\n"];
      }
      if (n.values.length !== results.length)
        this.fail(n.at, `wrong number of values in return: have ${n.values.length}, want ${results.length}`);
      const values = n.values.map((x, i) => this.convert(this.expression(x, results[i]), results[i]!, x.at, "return"));
      return results.length > 1 ? ["return [", commas(values), "];\n"] : ["return ", values[0] ?? "null", ";\n"];
    }
    if (n.values.length > 0)
      this.fail(
        n.at,
        "a macro or template cannot return values",
        "show the text; use a function literal for other values",
      );
    if (this.inlineEnd !== undefined) return `break ${this.inlineEnd};\n`;
    if (kind === "capture") return "return $.charged(o);\n";
    const { macro } = this.frame;
    if (kind === "macro")
      return () =>
        macro?.leaf === true && this.host.piece === undefined
          ? LEAF_END
          : `{ ${macro?.leaf === true ? "" : "$.depth--; "}${this.told}return $.charged(o); }\n`;
    return "{ $.flush(o); return; }\n";
  }

  protected functionLiteral(
    params: readonly { name: string; type: Type; at: number }[],
    type: FunctionType,
    body: readonly Statement[],
    resultNames?: readonly Named[],
  ): Code {
    const outer = [this.frame, this.jumps, this.inlineEnd] as const;
    this.frame = { kind: "literal", results: type.results };
    this.jumps = [];
    this.inlineEnd = undefined;
    try {
      return this.inScope(() => {
        const symbols = params.map((p, i) => {
          const rest = type.variadic && i === params.length - 1;
          return this.addName(p.name, rest ? { kind: "slice", element: p.type } : p.type, p.at);
        });
        const names = symbols.map((symbol, i) =>
          type.variadic && i === symbols.length - 1 ? `...${symbol.js}` : `${symbol.js} = null`,
        );
        const flags = symbols.map(
          (symbol): Code =>
            () =>
              symbol.appended ? `let ${symbol.js}$o = false;\n` : "",
        );
        const named = resultNames?.map((name, i) => this.addName(name.name, type.results[i]!, name.at));
        if (named !== undefined) this.frame = { ...this.frame, names: named };
        const results = named?.map((symbol, i): Code => {
          const zero: Code = [`let ${symbol.js} = `, this.zero(type.results[i]!)];
          return [zero, () => (symbol.appended ? `, ${symbol.js}$o = false;\n` : ";\n")];
        });
        return {
          node: "lambda",
          params: names.join(", "),
          body: [flags, results ?? "", finish(this.list(body)), "return null;\n"],
        };
      });
    } finally {
      [this.frame, this.jumps, this.inlineEnd] = outer;
    }
  }

  /** Declares a macro's name and parameters; the body is checked by `macroBody`. */
  /** Tells what a macro's text was made of. */
  private get told(): string {
    return this.host.piece === undefined ? "" : "$.told(o, q); ";
  }

  protected macroHead(n: MacroStatement): { symbol: Symbol_; info: MacroInfo } {
    const js = this.fresh(`M_${n.name.replace(/\W/gu, "$")}`);
    const node: FunctionNode = { js, params: "", body: "", suspends: false, recursive: false, leaf: false };
    const params = n.params.map((p) => ({
      name: p.name,
      type: p.type === undefined ? ANY : this.type(p.type),
      variadic: p.variadic,
    }));
    const info: MacroInfo = { node, params, target: js };
    return { symbol: this.addName(n.name, VOID, n.at, { kind: "macro", macro: info }), info };
  }

  protected *macroBody(n: MacroStatement, info: MacroInfo): Steps<Code> {
    const outer = [this.frame, this.jumps, this.inlineEnd, this.enterScope()] as const;
    this.frame = { kind: "macro", results: [], macro: info.node };
    this.jumps = [];
    this.inlineEnd = undefined;
    try {
      const symbols = info.params.map((p, i) =>
        this.addName(p.name, p.variadic ? { kind: "slice", element: p.type } : p.type, n.params[i]!.at),
      );
      info.node.params = symbols
        .map((symbol, i) => (info.params[i]!.variadic ? `...${symbol.js}` : symbol.js))
        .join(", ");
      const flags = symbols.map(
        (symbol): Code =>
          () =>
            symbol.appended ? `let ${symbol.js}$o = false;\n` : "",
      );
      info.node.body = [
        () => (info.node.leaf ? "" : "$.enter();\n"),
        'let o = "", o$n = 16384;\n',
        this.host.piece === undefined ? "" : 'let q = "", $m;\n',
        flags,
        yield* this.list(n.body),
        this.told,
        () => (info.node.leaf ? LEAF_END : `$.depth--;\n${LEAF_END}`),
      ];
      const { declarations, natives } = this.host;
      const native = (name: string): boolean =>
        this.scope.lookup(name) === undefined && !declarations.globals[this.kind].has(name) && natives.has(name);
      if (this.host.piece === undefined) info.inPlace = inPlace(n, this.source, native);
    } finally {
      [this.frame, this.jumps, this.inlineEnd, this.scope] = outer;
    }
    return { node: "function", fn: info.node };
  }

  protected *macro(n: MacroStatement): Steps<Code> {
    const { info } = this.macroHead(n);
    return yield* this.macroBody(n, info);
  }
}
