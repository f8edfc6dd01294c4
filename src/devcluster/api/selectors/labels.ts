/** Label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h`. */
import { badRequest } from "../status.ts";

export type LabelMatcher = (labels: Readonly<Record<string, string>> | undefined) => boolean;

type Test = (value: string | undefined) => boolean;

interface Requirement {
  readonly key: string;
  readonly test: Test;
}

/** Symbols, or words of anything else. */
const TOKEN = /\s*(==|!=|[=!,()<>]|[^\s=!,()<>]+)/gy;

class Tokens {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(TOKEN)].map((match) => match[1] ?? "");
  }

  get next(): string | undefined {
    return this.#tokens[this.#at];
  }

  take(): string {
    return this.#tokens[this.#at++] ?? "";
  }

  takeIf(...wanted: readonly string[]): boolean {
    if (this.next === undefined || !wanted.includes(this.next)) return false;
    this.#at++;
    return true;
  }
}

const isWord = (token: string | undefined): token is string => token !== undefined && !/^[=!,()<>]/.test(token);

const unexpected = (found: string | undefined, expected: string): Error =>
  badRequest(`found '${found ?? ""}', expected: ${expected}`);

function values(tokens: Tokens): ReadonlySet<string> {
  if (!tokens.takeIf("(")) throw badRequest(`unable to parse requirement: found '${tokens.next ?? ""}' expected: '('`);
  const found = new Set<string>();
  do found.add(isWord(tokens.next) ? tokens.take() : "");
  while (tokens.takeIf(","));
  if (!tokens.takeIf(")")) throw unexpected(tokens.next, "',' or ')'");
  return found;
}

function operand(tokens: Tokens): string {
  return isWord(tokens.next) ? tokens.take() : "";
}

function operatorTest(tokens: Tokens): Test {
  const operator = tokens.take();
  switch (operator) {
    case "in":
    case "notin": {
      const set = values(tokens);
      const wanted = operator === "in";
      return (value) => (value !== undefined && set.has(value)) === wanted;
    }
    case "=":
    case "==": {
      const wanted = operand(tokens);
      return (value) => value === wanted;
    }
    case "!=": {
      const wanted = operand(tokens);
      return (value) => value !== wanted;
    }
    case ">":
    case "<": {
      const limit = Number(operand(tokens));
      return (value) => value !== undefined && (operator === ">" ? Number(value) > limit : Number(value) < limit);
    }
    default:
      throw badRequest(`unable to parse requirement: found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function requirement(tokens: Tokens): Requirement {
  const absent = tokens.takeIf("!");
  if (!isWord(tokens.next)) {
    throw badRequest(
      `unable to parse requirement: found '${tokens.next ?? ""}', expected: !, identifier, or 'end of string'`,
    );
  }
  const key = tokens.take();
  if (absent) return { key, test: (value) => value === undefined };
  if (tokens.next === undefined || tokens.next === ",") return { key, test: (value) => value !== undefined };
  return { key, test: operatorTest(tokens) };
}

/** Undefined when the selector selects everything. */
export function parseLabelSelector(text: string): LabelMatcher | undefined {
  if (text.trim() === "") return undefined;
  const tokens = new Tokens(text);
  const requirements = [requirement(tokens)];
  while (tokens.next !== undefined) {
    if (!tokens.takeIf(",")) throw unexpected(tokens.next, "',' or 'end of string'");
    requirements.push(requirement(tokens));
  }
  return (labels) =>
    requirements.every(({ key, test }) =>
      test(labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined),
    );
}
