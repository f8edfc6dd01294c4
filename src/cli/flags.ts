/** Reading of a sub-command's flags: node's parseArgs, with errors that name the flag and precedence flag > env > default. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "../errors.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Parses strictly: an unknown flag, a missing value or a stray word is a UsageError that points to the help. */
export function readFlags<O extends Options>(
  command: string,
  argv: readonly string[],
  options: O,
): ReturnType<typeof parseArgs<{ args: string[]; options: O; strict: true; allowPositionals: false }>>["values"] {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? error.message : String(error),
      `\`haptic help ${command}\` lists its flags`,
    );
  }
}

/** Like {@link readFlags}, with words that belong to no flag. */
export function readWords<O extends Options>(
  command: string,
  argv: readonly string[],
  options: O,
): {
  readonly values: ReturnType<
    typeof parseArgs<{ args: string[]; options: O; strict: true; allowPositionals: true }>
  >["values"];
  readonly words: readonly string[];
} {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
    return { values, words: positionals };
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? error.message : String(error),
      `\`haptic help ${command}\` lists its flags`,
    );
  }
}

/** A whole number in a range; `name` is the flag as the user wrote it. */
export function wholeNumber(name: string, text: string, range: { readonly min: number; readonly max: number }): number {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= range.min && value <= range.max)) {
    throw new UsageError(`${name}: ${JSON.stringify(text)} is not a whole number from ${range.min} to ${range.max}`);
  }
  return value;
}

/** Bytes from a quantity as Kubernetes writes memory: `512Mi`, `1Gi`, `500M`, `1048576`. */
export function byteCount(name: string, text: string): number {
  const units: Readonly<Record<string, number>> = {
    "": 1,
    k: 1e3,
    M: 1e6,
    G: 1e9,
    Ki: 2 ** 10,
    Mi: 2 ** 20,
    Gi: 2 ** 30,
  };
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([kMG]|[KMG]i|)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new UsageError(`${name}: ${JSON.stringify(text)} is not an amount of memory such as 512Mi or 1Gi`);
  return Math.round(Number(amount) * units[unit]!);
}

/** Milliseconds from a duration as Kubernetes and HAPTIC write them: `500ms`, `9s`, `2m`, `1h30m`. */
export function milliseconds(name: string, text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) {
    throw new UsageError(`${name}: ${JSON.stringify(text)} is not a duration such as 500ms, 9s or 1m30s`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0);
}
