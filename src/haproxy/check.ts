/**
 * The judgement of HAProxy itself: `haproxy -c` over a mirror of the production layout. Any [ALERT] is a refusal, even
 * with exit status 0 (3.4 answers so for a bad character in a section's name).
 */
import { HaproxyBinaryError } from "../errors.ts";
import type { PlanFile } from "../plan/types.ts";
import { createMirror, type Mirror } from "./mirror.ts";
import type { Spawner } from "./spawner.ts";

/** Longest text of a verdict that is handed on, in characters. */
const MAX_MESSAGE = 4096;

export interface CheckVerdict {
  readonly accepted: boolean;
  /** HAProxy's words with production paths; alerts of a refusal, warnings of an acceptance; "" when it said nothing. */
  readonly message: string;
  readonly tookMs: number;
}

export interface CheckerOptions {
  readonly binary: string;
  readonly spawner: Spawner;
  /** Where the files are on a pod; messages name paths below it. Default /etc/haproxy. */
  readonly baseDir?: string;
  /** Niceness of the check, default 19: it runs beside a deployment. */
  readonly nice?: number;
  /** True (default): `-dr`, names that do not resolve are no error. */
  readonly ignoreResolution?: boolean;
  /** Folder for the mirror; default /dev/shm or the system's temporary folder. */
  readonly parent?: string;
  readonly now?: () => number;
  /** Until a check that hangs is given up, ms; default five minutes (niced, on a busy machine, a large one may take its time). */
  readonly limitMs?: number;
}

export interface Checker {
  /** Judges these files; one check at a time (further calls wait). Aborted: the child is killed, the promise rejects. */
  check(files: Iterable<PlanFile>, signal: AbortSignal): Promise<CheckVerdict>;
  close(): Promise<void>;
}

/** A checker keeps its mirror between checks, so that a check writes only files that changed. */
export function createChecker(options: CheckerOptions): Checker {
  // oxlint-disable-next-line haptic/no-ambient-time -- a figure of the verdict, nothing depends on it
  const now = options.now ?? ((): number => performance.now());
  const baseDir = (options.baseDir ?? "/etc/haproxy").replace(/\/+$/, "");
  let mirror: Promise<Mirror> | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const checkNow = async (files: Iterable<PlanFile>, signal: AbortSignal): Promise<CheckVerdict> => {
    signal.throwIfAborted();
    const started = now();
    const held = await (mirror ??= createMirror(options.parent));
    try {
      await held.update(files);
    } catch (error) {
      // What the folder holds is not known any more.
      mirror = undefined;
      await held.close();
      throw new HaproxyBinaryError(`the files to check cannot be written to ${held.directory}`, {
        cause: error,
        hint: "the folder needs room for a copy of all files",
      });
    }
    const flags = options.ignoreResolution === false ? ["-c"] : ["-c", "-dr"];
    const limitMs = options.limitMs ?? 300_000;
    const late = AbortSignal.timeout(limitMs);
    const { code, output } = await options.spawner
      .run({
        command: [options.binary, ...flags, "-f", held.config],
        cwd: held.directory,
        signal: AbortSignal.any([signal, late]),
        nice: options.nice ?? 19,
      })
      .catch((error: unknown) => {
        if (signal.aborted || !late.aborted) throw error;
        throw new HaproxyBinaryError(`${options.binary} gave no verdict within ${limitMs / 1_000} s`);
      });
    return { ...judge(code, output.replaceAll(held.directory, baseDir), options.binary), tookMs: now() - started };
  };

  return {
    check(files, signal) {
      const result = turn.then(() => checkNow(files, signal));
      turn = result.catch(() => {});
      return result;
    },
    async close() {
      await turn;
      if (mirror !== undefined) await (await mirror).close();
    },
  };
}

/** One check with a mirror of its own, removed afterwards. */
export async function checkConfiguration(
  options: CheckerOptions & { readonly files: Iterable<PlanFile>; readonly signal: AbortSignal },
): Promise<CheckVerdict> {
  const checker = createChecker(options);
  try {
    return await checker.check(options.files, options.signal);
  } finally {
    await checker.close();
  }
}

/** What exit status and output mean. Throws HaproxyBinaryError when the binary did not judge at all. */
export function judge(code: number, output: string, binary: string): Pick<CheckVerdict, "accepted" | "message"> {
  const entries = splitMessages(output);
  const alerts = entries.filter((entry) => entry.startsWith("[ALERT]"));
  if (code === 0 && alerts.length === 0) {
    return { accepted: true, message: clean(entries.filter((entry) => entry.startsWith("[WARNING]"))) };
  }
  if (code === 2 && /no listener/.test(output)) {
    return {
      accepted: false,
      message: "the configuration has no error but no listener either: HAProxy would not start",
    };
  }
  if (code === 126 || code === 127)
    throw new HaproxyBinaryError(`${binary} cannot be started: ${output.trim().slice(0, 200)}`);
  if (code > 128)
    throw new HaproxyBinaryError(`${binary} was ended by signal ${code - 128} while it judged the configuration`);
  const message = refusalWords(output);
  return {
    accepted: false,
    message: message === "" ? `HAProxy refused the configuration with status ${code}` : message,
  };
}

/** What HAProxy said when it refused a configuration, for people: its alerts, or everything where it gave none. */
export function refusalWords(output: string): string {
  const entries = splitMessages(output);
  const alerts = entries.filter((entry) => entry.startsWith("[ALERT]"));
  return clean(alerts.length > 0 ? alerts : entries);
}

/** HAProxy's messages begin with a tag; lines without one continue the message before. */
function splitMessages(output: string): string[] {
  const entries: string[] = [];
  for (const line of output.split("\n")) {
    if (line.trim() === "") continue;
    if (/^\[(ALERT|WARNING|NOTICE|DIAG)\]/.test(line) || entries.length === 0) entries.push(line);
    else entries.push(`${entries.pop()}\n${line}`);
  }
  return entries;
}

/** Without process ids and closing remarks, without passwords that a quoted line may hold, and bounded. */
function clean(entries: readonly string[]): string {
  const text = entries
    .map((entry) => entry.replace(/^\[(\w+)\]\s+\(\d+\) : /, "[$1] "))
    .filter((entry) => !/Fatal errors found in configuration\.|Error\(s\) found in configuration file/.test(entry))
    .join("\n")
    .replace(/\b((?:insecure-)?password|stats\s+auth|Basic|Bearer)(\s+)[^\s'"]+/gi, "$1$2***");
  return text.length <= MAX_MESSAGE
    ? text
    : `${text.slice(0, MAX_MESSAGE)} … (${text.length - MAX_MESSAGE} characters more)`;
}
