/**
 * Macros that are nothing but texts and simple values of their parameters: calls of them are compiled in place. V8 inlines
 * few of many calls; and a name that is put together of texts, such as an annotation's, is then known when it is compiled.
 */
import type { Expression, MacroStatement } from "../syntax/tree.ts";
import type { TemplateSource } from "../types.ts";

/** What such a macro writes, in order: text as it stands, or a value of its parameters. */
export interface InPlace {
  readonly source: TemplateSource;
  readonly parts: readonly (string | Expression)[];
}

const MOST_VALUES = 4;
const MOST_NODES = 24;
/** Others may hold bytes that become a character where they meet. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The parts of a macro; undefined where it is more than those. `native` = the name is that of a function, and hidden by nothing. */
export function inPlace(
  n: MacroStatement,
  source: TemplateSource,
  native: (name: string) => boolean,
): InPlace | undefined {
  const params = new Set(n.params.map((p) => p.name));
  if (n.params.some((p) => p.variadic || p.name === "_")) return undefined;
  let nodes = 0;
  const simple = (x: Expression): boolean => {
    if (++nodes > MOST_NODES) return false;
    switch (x.kind) {
      case "string":
      case "int":
        return true;
      case "name":
        return params.has(x.name);
      case "paren":
      case "selector":
        return simple(x.x);
      case "binary":
        return x.op === "+" && simple(x.left) && simple(x.right);
      case "call":
        return x.fn.kind === "name" && !params.has(x.fn.name) && native(x.fn.name) && !x.spread && x.args.every(simple);
      default:
        return false;
    }
  };
  const parts: (string | Expression)[] = [];
  let values = 0;
  for (const statement of n.body) {
    if (statement.kind === "text") parts.push(statement.text);
    else if (statement.kind === "show" && statement.values.every(simple)) {
      values += statement.values.length;
      parts.push(...statement.values);
    } else return undefined;
  }
  return values > 0 && values <= MOST_VALUES ? { source, parts } : undefined;
}

/** The expression with texts in the place of parameters; texts that are put together become one. */
export function withTexts(x: Expression, texts: ReadonlyMap<string, string>): Expression {
  switch (x.kind) {
    case "name": {
      const text = texts.get(x.name);
      return text === undefined ? x : { kind: "string", text, at: x.at };
    }
    case "paren":
    case "selector":
      return { ...x, x: withTexts(x.x, texts) };
    case "binary": {
      const left = withTexts(x.left, texts);
      const right = withTexts(x.right, texts);
      if (left.kind === "string" && right.kind === "string" && PLAIN.test(left.text) && PLAIN.test(right.text))
        return { kind: "string", text: left.text + right.text, at: x.at };
      return { ...x, left, right };
    }
    case "call":
      return { ...x, args: x.args.map((arg) => withTexts(arg, texts)) };
    default:
      return x;
  }
}
