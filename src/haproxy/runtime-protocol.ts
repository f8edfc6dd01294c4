/**
 * The dialect of HAProxy's runtime CLI on a persistent connection: what may be written, and how answers are framed.
 * Source: HAProxy management guide §9.3, tried on 3.0, 3.2 and 3.4.
 */
import { RuntimeTokenError } from "../errors.ts";
import { LINE_LIMIT } from "../plan/index.ts";

export { LINE_LIMIT };

/**
 * White space and `;` end a word, a backslash quotes, `<<` begins a payload, control characters end the line: a name
 * that holds one of them would become another command. It is refused, never rewritten.
 */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\s;\\\u0000-\u001f\u007f]|<</;

/** Whether `text` can stand as one word of a command line. */
export function isWord(text: string | undefined): text is string {
  return text !== undefined && text !== "" && !UNSAFE.test(text);
}

/**
 * Returns `word` when it can stand as one word of a command line.
 * @throws RuntimeTokenError naming `what` otherwise.
 */
export function safeWord(what: string, word: string | undefined): string {
  if (word === undefined || word === "") throw new RuntimeTokenError(`${what} is empty`);
  if (UNSAFE.test(word))
    throw new RuntimeTokenError(`${what} ${JSON.stringify(word)} cannot be written on HAProxy's command line`);
  return word;
}

/**
 * Returns `key` when it can begin a line of a payload. There a backslash, a semicolon and the like are what they are.
 * @throws RuntimeTokenError for blanks and control characters.
 */
export function safePayloadKey(key: string | undefined): string {
  // oxlint-disable-next-line no-control-regex
  if (key === undefined || key === "" || /[\s\u0000-\u001f\u007f]/.test(key))
    throw new RuntimeTokenError(`key ${JSON.stringify(key)} cannot be written in a payload`);
  return key;
}

/** Returns `text` when it can be one line of a payload: no line break, no control character but the tab. */
export function safePayloadText(what: string, text: string | undefined): string {
  if (text === undefined) throw new RuntimeTokenError(`${what} is missing`);
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) {
    throw new RuntimeTokenError(`${what} holds a control character or a line break`);
  }
  return text;
}

/** One answer. `severity` is the syslog level of `set severity-output number`; 0–3 are failures. */
export interface RuntimeReply {
  readonly severity: number | undefined;
  readonly text: string;
}

/** How one operation ended, with HAProxy's words. */
export interface OpOutcome {
  readonly ok: boolean;
  readonly output: string;
}

export function isFailure(reply: RuntimeReply): boolean {
  return reply.severity !== undefined && reply.severity <= 3;
}

/**
 * Cuts the byte stream into answers. An answer is the lines up to the first empty line (an empty answer is a lone line
 * feed). HAProxy 3.0 knows no silent interactive mode: there each answer is preceded by the prompt `> `, and each line
 * of a payload by `+ `.
 */
export class ReplyFramer {
  #rest = "";
  #lines: string[] = [];

  /** Returns the answers completed by `chunk`, in order. */
  push(chunk: string): RuntimeReply[] {
    const replies: RuntimeReply[] = [];
    let text = this.#rest + chunk;
    for (;;) {
      if (this.#lines.length === 0) text = text.replace(/^> /, "").replace(/^(?:\+ )+/, "");
      const end = text.indexOf("\n");
      if (end < 0) break;
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      if (line !== "") {
        this.#lines.push(line);
        continue;
      }
      replies.push(parseReply(this.#lines));
      this.#lines = [];
    }
    this.#rest = text;
    return replies;
  }
}

function parseReply(lines: readonly string[]): RuntimeReply {
  const text = lines.join("\n");
  const tag = /^\[(\d)\]: /.exec(text);
  return tag === null ? { severity: undefined, text } : { severity: Number(tag[1]), text: text.slice(tag[0].length) };
}

/**
 * The answer in HAProxy's place to a line or payload that is not below the limit: above its buffer HAProxy ends the connection, with
 * whatever else is under way there, or takes a part. Undefined where it can be sent.
 */
export function tooLong(text: string): RuntimeReply | undefined {
  // No letter has more than three bytes for each of its code units.
  if (text.length * 3 < LINE_LIMIT) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes < LINE_LIMIT) return undefined;
  return { severity: 3, text: `${bytes} bytes are more than HAProxy takes at run time (${LINE_LIMIT})` };
}

/** Joins commands by `;` into lines below the limit; one command that is longer stands alone. */
export function joinCommands(commands: readonly string[]): { line: string; count: number }[] {
  const lines: { line: string; count: number }[] = [];
  let current = "";
  let bytes = 0;
  let count = 0;
  for (const command of commands) {
    const size = Buffer.byteLength(command);
    if (count > 0 && bytes + 1 + size >= LINE_LIMIT) {
      lines.push({ line: current, count });
      bytes = 0;
      count = 0;
    }
    current = count === 0 ? command : `${current};${command}`;
    bytes += count === 0 ? size : size + 1;
    count += 1;
  }
  if (count > 0) lines.push({ line: current, count });
  return lines;
}
