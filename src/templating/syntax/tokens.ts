/** Tokens of the code inside tags: Go's lexical grammar plus the template keywords. */
import { textOfBytes } from "../runtime/bytes.ts";
import { SyntaxFault } from "./problems.ts";

export type TokenKind = "name" | "keyword" | "string" | "int" | "float" | "rune" | "operator" | "semicolon";

export interface Token {
  readonly kind: TokenKind;
  /** The spelling; for strings the unquoted value. */
  readonly text: string;
  /** Offset of the first character in the template. */
  readonly at: number;
  readonly end: number;
}

export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "and break case chan const contains continue default defer else end extends fallthrough for func go goto if import in " +
    "interface map macro not or package range raw render return select show struct switch type using var"
  ).split(" "),
);

const ENDS_STATEMENT: ReadonlySet<string> = new Set([
  "break",
  "continue",
  "fallthrough",
  "return",
  "++",
  "--",
  ")",
  "]",
  "}",
]);
const NAME = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const NUMBER = /0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?i?/y;
const OPERATOR =
  /\.\.\.|<<=|>>=|&\^=|=>|&\^|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|:=|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|<-|[-+*/%&|^<>=!()[\]{},;.:]/y;
const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};

export type TagEnd = "}}" | "%}" | "%%}";

export interface ScannedCode {
  readonly tokens: readonly Token[];
  /** Offset after the closing delimiter. */
  readonly next: number;
  /** Whether a dash stood before the closing delimiter. */
  readonly trimRight: boolean;
  /** Offset of the closing delimiter (of its dash, if any). */
  readonly closeAt: number;
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

/** Scans code from `at` up to and with its closing delimiter. Semicolons are inserted at line ends as in Go. */
export function scanCode(source: string, at: number, close: TagEnd, openedAt: number): ScannedCode {
  const tokens: Token[] = [];
  let i = at;
  let braces = 0;
  let statementMayEnd = false;
  const push = (kind: TokenKind, text: string, end: number): void => {
    tokens.push({ kind, text, at: i, end });
    statementMayEnd =
      kind === "name" ||
      kind === "string" ||
      kind === "int" ||
      kind === "float" ||
      kind === "rune" ||
      ENDS_STATEMENT.has(text);
    i = end;
  };
  const finish = (trimRight: boolean): ScannedCode => {
    const closeAt = i;
    if (statementMayEnd && close === "%%}") push("semicolon", "\n", i);
    return { tokens, next: closeAt + close.length + (trimRight ? 1 : 0), trimRight, closeAt };
  };
  for (;;) {
    if (i >= source.length)
      throw new SyntaxFault(openedAt, `syntax error: unexpected EOF, expecting ${close}`, "close the tag");
    const c = source[i]!;
    if (c === "\n") {
      if (close === "}}")
        throw new SyntaxFault(
          i,
          "syntax error: unexpected newline, expecting }}",
          "a show tag must stand on one line; use {% show … %} or {%% … %%}",
        );
      if (statementMayEnd) push("semicolon", "\n", i);
      statementMayEnd = false;
      i++;
      continue;
    }
    if (c === " " || c === "\t" || c === "\r") {
      i++;
      continue;
    }
    if (c === "-" && source.startsWith(close, i + 1) && !(close === "}}" && braces > 0)) return finish(true);
    if (close === "}}") {
      // Braces that are still open take the first "}": `{{ map[string]int{"a": 1}["a"] }}`.
      if (c === "}" && source[i + 1] === "}" && (braces === 0 || (braces === 1 && source[i + 2] !== "}"))) {
        if (braces === 0) return finish(false);
      }
    } else if (source.startsWith(close, i)) {
      return finish(false);
    }
    if (c === "/" && source[i + 1] === "/") {
      const lineEnd = source.indexOf("\n", i);
      i = lineEnd === -1 ? source.length : lineEnd;
      continue;
    }
    if (c === "/" && source[i + 1] === "*") {
      const commentEnd = source.indexOf("*/", i + 2);
      if (commentEnd === -1) throw new SyntaxFault(i, "syntax error: comment not terminated");
      i = commentEnd + 2;
      continue;
    }
    if (c === '"') {
      const end = endOfQuoted(source, i, '"', "string");
      push("string", unquote(source, i + 1, end, '"'), end + 1);
      continue;
    }
    if (c === "`") {
      const end = source.indexOf("`", i + 1);
      if (end === -1) throw new SyntaxFault(i, "syntax error: raw string not terminated");
      push("string", source.slice(i + 1, end).replaceAll("\r", ""), end + 1);
      continue;
    }
    if (c === "'") {
      const end = endOfQuoted(source, i, "'", "rune literal");
      const value = unquote(source, i + 1, end, "'");
      if ([...value].length !== 1)
        throw new SyntaxFault(i, "syntax error: a rune literal holds exactly one character", 'use "…" for strings');
      push("rune", value, end + 1);
      continue;
    }
    const name = match(NAME, source, i);
    if (name !== undefined) {
      push(KEYWORDS.has(name) ? "keyword" : "name", name, i + name.length);
      continue;
    }
    if ((c >= "0" && c <= "9") || (c === "." && /\d/.test(source[i + 1] ?? ""))) {
      const number = match(NUMBER, source, i)!;
      if (number.endsWith("i") && !/^0[xX]/.test(number)) throw new SyntaxFault(i, "complex numbers are not supported");
      push(/^0[xXbBoO]/.test(number) || !/[.eE]/.test(number) ? "int" : "float", number, i + number.length);
      continue;
    }
    const operator = match(OPERATOR, source, i);
    if (operator !== undefined) {
      if (operator === "{") braces++;
      else if (operator === "}") braces--;
      push(operator === ";" ? "semicolon" : "operator", operator, i + operator.length);
      continue;
    }
    const point = String.fromCodePoint(source.codePointAt(i)!);
    throw new SyntaxFault(i, `syntax error: unexpected character ${JSON.stringify(point)}`);
  }
}

function endOfQuoted(source: string, at: number, quote: string, what: string): number {
  for (let k = at + 1; ; k++) {
    const c = source[k];
    if (c === undefined || c === "\n")
      throw new SyntaxFault(at, `syntax error: ${what} not terminated`, `close it with ${quote} on the same line`);
    if (c === "\\") k++;
    else if (c === quote) return k;
  }
}

/** Value of a quoted literal. Bytes written with `\x` and octal escapes are read as UTF-8 when they form it, else kept. */
function unquote(source: string, from: number, to: number, quote: string): string {
  const body = source.slice(from, to);
  if (!body.includes("\\")) return body;
  let out = "";
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) out += textOfBytes(Uint8Array.from(bytes));
    bytes = [];
  };
  for (let i = 0; i < body.length; i++) {
    const c = body[i]!;
    if (c !== "\\") {
      flush();
      out += c;
      continue;
    }
    const rest = body.slice(i + 1);
    const numeric = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3}))/.exec(rest);
    if (numeric !== null) {
      const [all, hex, short, long, octal] = numeric;
      i += all.length;
      if (short !== undefined || long !== undefined) {
        const point = Number.parseInt(short ?? long!, 16);
        if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
          throw new SyntaxFault(from + i, "syntax error: escape sequence is invalid Unicode code point");
        flush();
        out += String.fromCodePoint(point);
      } else if (quote === "'") {
        out += String.fromCodePoint(Number.parseInt(hex ?? octal!, hex === undefined ? 8 : 16));
      } else {
        const value = Number.parseInt(hex ?? octal!, hex === undefined ? 8 : 16);
        if (value > 255) throw new SyntaxFault(from + i, "syntax error: octal escape value above 255");
        bytes.push(value);
      }
      continue;
    }
    const simple = rest[0] === quote ? quote : ESCAPES[rest[0] ?? ""];
    if (simple === undefined)
      throw new SyntaxFault(
        from + i,
        `syntax error: unknown escape sequence \\${rest[0] ?? ""}`,
        'write "\\\\" for a backslash, or use a `raw string`',
      );
    flush();
    out += simple;
    i++;
  }
  flush();
  return out;
}
