/** What can be wrong with a configuration, in a form that names object, field and, where it is known, file and line. */
import { ConfigError } from "../errors.ts";

/** Where a value of an object stands in a file on disk; lines are 1-based. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
}

export interface ConfigProblem {
  /**
   * structure = breaks a rule of the field; notBuilt = a field this version does not carry out; conflict = objects of a
   * merged set contradict each other; file = the YAML itself; ignored = a warning, the configuration is usable.
   */
  readonly kind: "structure" | "notBuilt" | "conflict" | "file" | "ignored";
  /** `HAProxyTemplateConfig default/haproxy-config`; the file's name while there is no object. */
  readonly object: string;
  /** `spec.maps["host.map"].template`; "" for the whole object. */
  readonly field: string;
  readonly message: string;
  /** One line that says what to do. */
  readonly hint?: string;
  readonly position?: SourcePosition;
}

/** `HAProxyTemplateConfig default/haproxy-config`. */
export function objectName(object: {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}): string {
  const { namespace, name } = object.metadata;
  return `${object.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

/** Joins a field path; a key that is not a plain word is quoted in brackets: `spec.maps["host.map"].template`. */
export function fieldPath(...parts: readonly (string | number)[]): string {
  let path = "";
  for (const part of parts) {
    if (typeof part === "number") path += `[${part}]`;
    else if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(part)) path += path === "" ? part : `.${part}`;
    else path += `[${JSON.stringify(part)}]`;
  }
  return path;
}

/** One line for logs, conditions and terminals. */
export function formatProblem(problem: ConfigProblem): string {
  const { object, field, message, hint, position } = problem;
  return [
    position === undefined ? "" : `${position.file}:${position.line}: `,
    object,
    field === "" ? "" : `: ${field}`,
    `: ${message}`,
    hint === undefined ? "" : ` (${hint})`,
  ].join("");
}

/** Throws a ConfigError when a problem is more than a warning. */
export function assertUsable(problems: readonly ConfigProblem[]): void {
  const fatal = problems.filter((problem) => problem.kind !== "ignored");
  const first = fatal[0];
  if (first === undefined) return;
  const more = fatal.length === 1 ? "" : ` (and ${fatal.length - 1} more)`;
  throw new ConfigError(`${formatProblem(first)}${more}`, fatal.map(formatProblem), first.hint);
}
