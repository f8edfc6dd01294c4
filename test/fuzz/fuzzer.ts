/** Runs generated and damaged programs on hostile inputs and looks whether anything but a template's own error comes out. */
import { createHash } from "node:crypto";
import { TemplateError } from "../../src/errors.ts";
import { RestartNeeded } from "../../src/templating/index.ts";
import { functionNames } from "../oracle/agreement.ts";
import { compileFiles, runEngine } from "../oracle/compare.ts";
import { frozen, HOSTILE, inputs } from "../oracle/generate/data.ts";
import { Coverage } from "../oracle/generate/expressions.ts";
import { ProgramGenerator } from "../oracle/generate/program.ts";
import { Random } from "../oracle/generate/random.ts";
import { fingerprint } from "./intrinsics.ts";

export interface FuzzOptions {
  readonly programs: number;
  /** Inputs that each program runs on. */
  readonly inputs: number;
  readonly seed: number;
  /** Ends early after so many seconds. */
  readonly seconds?: number;
  readonly onProgress?: (tally: FuzzTally) => void;
}

export interface Failure {
  readonly what: string;
  readonly seed: number;
  readonly files: Readonly<Record<string, string>>;
  /** Number of the input in the pool; -1 = it fails to compile. */
  readonly input: number;
}

export interface FuzzTally {
  programs: number;
  compiled: number;
  /** Programs that gave output for at least one input. */
  ran: number;
  runs: number;
  /** Runs that ended with an error of the template's own. */
  errors: number;
  slowestMs: number;
  /** Largest resident set in MiB, and the one after the first tenth. */
  rss: number;
  rssEarly: number;
  readonly failures: Failure[];
}

const LIMITS = { fuel: 100_000, outputBytes: 500_000 };
/** A compile or a run that takes longer of the processor is a failure; the time that others have it does not count. */
const SLOW_MS = 5_000;
const POOL = 512;
const CHECK_EVERY = 1_000;
const MAX_RSS_MIB = 1_500;
const MAX_FAILURES = 20;

const pools = new Map<number, readonly Readonly<Record<string, unknown>>[]>();

/** The pool of inputs of a seed. */
export function inputPool(seed: number): readonly Readonly<Record<string, unknown>>[] {
  let pool = pools.get(seed);
  if (pool === undefined) {
    pool = Array.from({ length: POOL }, (_, i) => frozen(inputs(new Random(seed * 7919 + i))));
    pools.set(seed, pool);
  }
  return pool;
}

const TOKEN = /\{[{%#]%?-?|-?%?[}%#]\}|"[^"]*"|\w+|\s+|[^\w\s]/g;

/** A text with a few tokens dropped, doubled, swapped, or replaced by something hostile. */
export function damaged(text: string, random: Random): string {
  const tokens = text.match(TOKEN) ?? [];
  for (let edits = 1 + random.int(3); edits > 0 && tokens.length > 0; edits--) {
    const i = random.int(tokens.length);
    switch (random.int(5)) {
      case 0:
        tokens.splice(i, 1);
        break;
      case 1:
        tokens.splice(i, 0, tokens[i]!);
        break;
      case 2:
        tokens.splice(i, 2, tokens[i + 1] ?? "", tokens[i]!);
        break;
      case 3:
        tokens[i] = /^\w+$/.test(tokens[i]!) ? random.pick(HOSTILE) : JSON.stringify(random.pick(HOSTILE));
        break;
      default:
        tokens.splice(i, 0, `.${random.pick(["constructor", "__proto__", "toString", "then", "length", "prototype"])}`);
    }
  }
  return tokens.join("");
}

/** Why an error is no error of the template's own; undefined when it is one. */
function unexpected(error: unknown): string | undefined {
  if (error instanceof TemplateError && /^HAPTIC_E_TEMPLATE_(RUN|LIMIT)$/.test(error.code)) return undefined;
  if (error instanceof RestartNeeded) return undefined;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Compiles and runs one program; gives what went wrong and at which input. */
export function tryProgram(
  files: Readonly<Record<string, string>>,
  pool: readonly Readonly<Record<string, unknown>>[],
  which: readonly number[],
  tally?: FuzzTally,
): { readonly what: string; readonly input: number } | undefined {
  const timed = <T>(work: () => T): T => {
    const from = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(from);
    const took = (user + system) / 1_000;
    if (tally !== undefined && took > tally.slowestMs) tally.slowestMs = took;
    if (took > SLOW_MS) throw new Error(`took ${Math.round(took)} ms`);
    return result;
  };
  let input = -1;
  let [compiled, ran] = [false, false];
  try {
    const set = timed(() => compileFiles(files));
    for (const { line, column, message } of set.problems)
      if (!(line > 0 && column > 0 && message !== "")) return { what: `problem without a place: ${message}`, input };
    compiled = set.problems.length === 0;
    if (!compiled) return undefined;
    for (input of which) {
      const outcome = timed(() => runEngine(set, pool[input]!, input % 2 === 0, LIMITS));
      if (outcome.error === undefined) ran = true;
      if (tally !== undefined) {
        tally.runs++;
        if (outcome.error !== undefined) tally.errors++;
      }
    }
    return undefined;
  } catch (error) {
    const what = unexpected(error);
    return what === undefined ? undefined : { what, input };
  } finally {
    if (tally !== undefined && compiled) tally.compiled++;
    if (tally !== undefined && ran) tally.ran++;
  }
}

export function fuzz(options: FuzzOptions): FuzzTally {
  const tally: FuzzTally = {
    programs: 0,
    compiled: 0,
    ran: 0,
    runs: 0,
    errors: 0,
    slowestMs: 0,
    rss: 0,
    rssEarly: 0,
    failures: [],
  };
  const began = performance.now();
  const pool = inputPool(options.seed);
  const coverage = new Coverage();
  let last: Failure = { what: "", seed: options.seed, files: {}, input: -1 };
  const intact = fingerprint();
  const fail = (failure: Failure): boolean => tally.failures.push(failure) >= MAX_FAILURES;
  for (let i = 0; i < options.programs; i++) {
    const seed = options.seed + i;
    const random = new Random(seed ^ 0x5eed);
    const { files: made } = new ProgramGenerator(new Random(seed), coverage, functionNames).make(1, 3);
    const files = random.chance(0.2)
      ? Object.fromEntries(Object.entries(made).map(([name, text]) => [name, damaged(text, random)]))
      : made;
    const which = Array.from({ length: options.inputs }, () => random.int(POOL));
    tally.programs++;
    const wrong = tryProgram(files, pool, which, tally);
    last = { what: wrong?.what ?? "", seed, files, input: wrong?.input ?? -1 };
    if (wrong !== undefined && fail(last)) break;
    if (wrong !== undefined || tally.programs % CHECK_EVERY === 0) {
      if (fingerprint() !== intact) {
        fail({ ...last, what: "a global or a prototype has changed" });
        break;
      }
      tally.rss = Math.max(tally.rss, Math.round(process.memoryUsage.rss() / 2 ** 20));
      if (tally.rssEarly === 0 && i >= options.programs / 10) tally.rssEarly = tally.rss;
      if (tally.rss > MAX_RSS_MIB) {
        fail({ ...last, what: `the process holds ${tally.rss} MiB` });
        break;
      }
      options.onProgress?.(tally);
      if (options.seconds !== undefined && performance.now() - began > options.seconds * 1_000) break;
    }
  }
  if (fingerprint() !== intact) fail({ ...last, what: "a global or a prototype has changed" });
  tally.rss = Math.max(tally.rss, Math.round(process.memoryUsage.rss() / 2 ** 20));
  return tally;
}

/** Name of a failure's file in the corpus. */
export function corpusName({ files }: Pick<Failure, "files">): string {
  return `${createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 12)}.json`;
}
