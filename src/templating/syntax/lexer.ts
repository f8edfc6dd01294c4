/** Splits a template into text and tags, and applies both white-space rules. */
import { SyntaxFault } from "./problems.ts";
import { scanCode, type TagEnd, type Token } from "./tokens.ts";

export interface TextSegment {
  readonly kind: "text";
  readonly at: number;
  /** Offset after the text in the template, before any trimming by the line rule. */
  readonly end: number;
  text: string;
}

export interface TagSegment {
  readonly kind: "show" | "statement" | "block" | "comment";
  readonly at: number;
  readonly end: number;
  readonly tokens: readonly Token[];
  readonly trimLeft: boolean;
  readonly closeAt: number;
}

export type Segment = TextSegment | TagSegment;

const isSpace = (c: string | undefined): boolean => c === " " || c === "\t" || c === "\n" || c === "\r";

/** Lexes a whole template. The first fault ends it: what follows an unclosed tag cannot be told apart. */
export function lexTemplate(source: string): Segment[] {
  const steps = lexInSteps(source);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Likewise, and stops on the way. */
export function* lexInSteps(source: string): Generator<void, Segment[], void> {
  const segments: Segment[] = [];
  let textStart = source.startsWith("\uFEFF") ? 1 : 0;
  if (source.startsWith("#!", textStart)) {
    const lineEnd = source.indexOf("\n", textStart);
    textStart = lineEnd === -1 ? source.length : lineEnd + 1;
  }
  let i = textStart;
  const text = (to: number): void => {
    if (to > textStart) segments.push({ kind: "text", at: textStart, end: to, text: source.slice(textStart, to) });
  };
  for (;;) {
    if ((segments.length & 63) === 63) yield;
    const open = nextDelimiter(source, i);
    if (open === undefined) {
      text(source.length);
      break;
    }
    if (open.kind === "stray")
      throw new SyntaxFault(open.at, "syntax error: unexpected #}", 'write {{ "#}" }} for these two characters');
    const { at } = open;
    const width = open.kind === "block" ? 3 : 2;
    // After an opening delimiter the dash counts only before white space: `{{-1}}` is minus one.
    const trimLeft = source[at + width] === "-" && (open.kind === "comment" || isSpace(source[at + width + 1]));
    let textEnd = at;
    if (trimLeft) while (textEnd > textStart && isSpace(source[textEnd - 1])) textEnd--;
    text(textEnd);
    let trimRight: boolean;
    if (open.kind === "comment") {
      i = endOfComment(source, at);
      trimRight = source[i - 3] === "-" && i - at > 4;
      segments.push({ kind: "comment", at, end: i, tokens: [], trimLeft, closeAt: i - 2 });
    } else {
      const close: TagEnd = open.kind === "block" ? "%%}" : open.kind === "statement" ? "%}" : "}}";
      const scanned = scanCode(source, at + width + (trimLeft ? 1 : 0), close, at);
      i = scanned.next;
      trimRight = scanned.trimRight;
      segments.push({ kind: open.kind, at, end: i, tokens: scanned.tokens, trimLeft, closeAt: scanned.closeAt });
      if (open.kind === "statement" && scanned.tokens[0]?.text === "raw" && scanned.tokens[0].kind === "keyword") {
        if (trimRight) while (isSpace(source[i])) i++;
        const end = endOfRaw(source, i, scanned.tokens[1]?.text ?? "", at);
        segments.push({ kind: "text", at: i, end, text: source.slice(i, end) });
        textStart = i = end;
        continue;
      }
    }
    if (trimRight) while (i < source.length && isSpace(source[i])) i++;
    textStart = i;
  }
  cutLoneTags(source, segments);
  return segments;
}

function nextDelimiter(source: string, from: number): { kind: TagSegment["kind"] | "stray"; at: number } | undefined {
  for (let i = from; i < source.length; i++) {
    const c = source[i];
    const next = source[i + 1];
    if (c === "#" && next === "}") return { kind: "stray", at: i };
    if (c !== "{") continue;
    if (next === "{") return { kind: "show", at: i };
    if (next === "#") return { kind: "comment", at: i };
    if (next === "%") return { kind: source[i + 2] === "%" ? "block" : "statement", at: i };
  }
  return undefined;
}

/** Comments nest. */
function endOfComment(source: string, at: number): number {
  let depth = 1;
  for (let i = at + 2; i < source.length; i++) {
    if (source[i] === "{" && source[i + 1] === "#") {
      depth++;
      i++;
    } else if (source[i] === "#" && source[i + 1] === "}") {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  throw new SyntaxFault(at, "syntax error: comment not terminated", "comments nest: each {# needs its own #}");
}

function endOfRaw(source: string, from: number, marker: string, openedAt: number): number {
  const pattern = new RegExp(`\\{%-?\\s*end(?:\\s+raw)?${marker === "" ? "" : `\\s+${marker}`}\\s*-?%\\}`, "g");
  pattern.lastIndex = from;
  const found = pattern.exec(source);
  if (found === null) {
    throw new SyntaxFault(
      openedAt,
      `syntax error: unexpected EOF, expecting {% end raw${marker === "" ? "" : ` ${marker}`} %}`,
    );
  }
  return found.index;
}

// --- the line rule -------------------------------------------------------------------------------------------------

const KEEPS_ITS_LINE: ReadonlySet<string> = new Set([
  "var",
  "const",
  "type",
  "return",
  "case",
  "extends",
  "go",
  "defer",
]);

/** Whether a statement that begins with these tokens removes its line when it stands alone on it. */
function cuts(tokens: readonly Token[], from: number): boolean {
  const first = tokens[from];
  if (first === undefined) return false;
  if (first.kind !== "keyword") return true;
  // A tag that opens a block takes its line with it, whatever its statement.
  if (tokens.some((token, i) => i > from && token.kind === "keyword" && token.text === "using")) return true;
  if (first.text === "show") return isRender(tokens[from + 1]);
  return !KEEPS_ITS_LINE.has(first.text);
}

const isRender = (token: Token | undefined): boolean => token?.kind === "keyword" && token.text === "render";

function segmentCuts(segment: TagSegment): boolean {
  switch (segment.kind) {
    case "comment":
      return true;
    case "show":
      return isRender(segment.tokens[0]);
    case "statement":
      return cuts(segment.tokens, 0);
    case "block": {
      let depth = 0;
      let starts = true;
      for (let i = 0; i < segment.tokens.length; i++) {
        const token = segment.tokens[i]!;
        if (starts && token.kind !== "semicolon" && cuts(segment.tokens, i)) return true;
        starts = depth === 0 && token.kind === "semicolon";
        if (token.text === "{" || token.text === "(" || token.text === "[") depth += token.kind === "operator" ? 1 : 0;
        else if (token.text === "}" || token.text === ")" || token.text === "]")
          depth -= token.kind === "operator" ? 1 : 0;
      }
      return segment.tokens.length === 0;
    }
  }
}

/**
 * Removes the line of a tag that stands alone on it: blanks before, line end after. A tag with a left trim marker takes
 * no part (the newline after it stays), and counts as company for its neighbours. Texts are judged after trimming.
 */
function cutLoneTags(source: string, segments: readonly Segment[]): void {
  let scanned = 0;
  let lines = 1;
  const lineAt = (offset: number): number => {
    for (; scanned < offset; scanned++) if (source.charCodeAt(scanned) === 10) lines++;
    return lines;
  };
  let line = 0;
  let firstText: TextSegment | undefined;
  let company = 0;
  let cutting = false;
  for (const segment of segments) {
    const isText = segment.kind === "text";
    const here = lineAt(isText ? segment.end : segment.at + 1);
    if (line < here || (isText && segment.end === source.length)) {
      if (cutting && company === 1) cutAround(firstText, isText ? segment : undefined);
      line = here;
      firstText = isText ? segment : undefined;
      company = 0;
      cutting = false;
    }
    if (!isText) {
      company += segment.trimLeft ? 2 : 1;
      cutting ||= segmentCuts(segment);
      if (segment.kind !== "show") line = lineAt(segment.end);
    }
  }
}

const isBlank = (c: string): boolean => c === " " || c === "\t" || c === "\r";

function cutAround(before: TextSegment | undefined, after: TextSegment | undefined): void {
  let keep = 0;
  if (before !== undefined) {
    keep = before.text.lastIndexOf("\n") + 1;
    for (let i = keep; i < before.text.length; i++) if (!isBlank(before.text[i]!)) return;
  }
  if (after !== undefined) {
    const lineEnd = after.text.indexOf("\n");
    const drop = lineEnd === -1 ? after.text.length : lineEnd + 1;
    for (let i = 0; i < (lineEnd === -1 ? drop : lineEnd); i++) if (!isBlank(after.text[i]!)) return;
    after.text = after.text.slice(drop);
  }
  if (before !== undefined) before.text = before.text.slice(0, keep);
}
