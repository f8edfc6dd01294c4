/**
 * The test runner: uvu files, one process each, closed with `N passed, N failed, N skipped`.
 *
 *     node test/run.ts [LAYER | FILE …] [--json FILE] [--limit SECONDS] [--quick]
 *
 * A layer is a folder of test/ (unit, model, simulation, cluster, e2e, bench, browser). Files run in parallel, but for
 * the layers that measure or load the machine, which run alone and last. A file may say in a comment on a line of its
 * own `// runner: alone`, `// runner: open realm` (no closed-realm flags) or `// runner: limit 300 s`; a file of those
 * layers that measures nothing and mostly waits says `// runner: beside`, and runs beside others that say so.
 *
 * `--quick` is for CI: of the bench only the files that say `// runner: quick`, which measure little then, and of their
 * figures only the ratios, since no other figure of a machine that nobody knows says anything.
 *
 * A file fails when a test fails, when it runs no test, skips one without a reason (support/skip.ts), ends early or
 * exceeds its time limit.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { provideParts } from "./support/parts.ts";
import type { Row, Skip } from "./support/report.ts";

/** Seconds a file of each layer may take; the layers that run alone are named in `ALONE`. */
const LIMITS: Readonly<Record<string, number>> = {
  unit: 120,
  model: 300,
  simulation: 300,
  cluster: 600,
  e2e: 900,
  bench: 3600,
  browser: 300,
};
const ALONE: ReadonlySet<string> = new Set(["e2e", "bench", "browser"]);
/** The flags the product runs with, and xstate's warnings for developers. */
const CLOSED_REALM = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
const COMMON = ["--max-semi-space-size=4", "--enable-source-maps", "-C", "development"];

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Tests that uvu itself counted as skipped. */
  readonly skipped: number;
  readonly suites: number;
  readonly skips: readonly Skip[];
  readonly rows: readonly Row[];
}

interface FileResult extends Outcome {
  readonly file: string;
  readonly output: string;
  readonly complaints: readonly string[];
  readonly tookMs: number;
}

type UvuRun = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

/** In the child: runs one file's suites and sends the counts to the parent. */
async function runFile(file: string): Promise<void> {
  const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: (null | UvuRun)[][] };
  Object.assign(uvu, { UVU_DEFER: 1, UVU_INDEX: 0, UVU_QUEUE: [[null]] });
  await explainHooks();
  const { skips, rows } = await import("./support/report.ts");
  await import(pathToFileURL(file).href);
  const suites = uvu.UVU_QUEUE[0]!.filter((run): run is UvuRun => run !== null);
  let [passed, failed, skipped] = [0, 0, 0];
  for (const run of suites) {
    const [errors, ran, left, total] = await run();
    passed += ran;
    failed += total - ran;
    skipped += left;
    if (errors !== true) process.stdout.write(`\n${errors}\n`);
  }
  const outcome: Outcome = { passed, failed, skipped, suites: suites.length, skips, rows };
  process.send!(outcome, undefined, undefined, () => process.disconnect());
  const leftOpen = setTimeout(() => {
    const kinds = [...new Set(process.getActiveResourcesInfo())].filter((kind) => kind !== "Timeout");
    process.stdout.write(`\n  note: the file has ended but keeps open: ${kinds.join(", ") || "a timer"}\n`);
    process.exit();
  }, 3_000);
  leftOpen.unref();
  // The timer above must fire while a handle keeps the process alive, and must not itself keep it alive.
}

/** uvu swallows what a `before` or `after` hook throws and only leaves its tests out; this prints it. */
async function explainHooks(): Promise<void> {
  const { test } = await import("uvu");
  type Hook = (context: never) => unknown;
  const loud = (what: string, hook: Hook) => async (context: never) => {
    try {
      await hook(context);
    } catch (error) {
      process.stdout.write(`\n  ${what} hook failed: ${error instanceof Error ? error.stack : String(error)}\n`);
      throw error;
    }
  };
  for (const when of ["before", "after"] as const) {
    const original = test[when] as unknown as ((hook: Hook) => void) & { each: (hook: Hook) => void };
    const wrapped = (hook: Hook): void => original(loud(`a ${when}`, hook));
    Object.assign(test, {
      [when]: Object.assign(wrapped, { each: (hook: Hook) => original.each(loud(`a ${when}.each`, hook)) }),
    });
  }
}

function layerOf(file: string): string {
  return relative(import.meta.dirname, resolve(file)).split("/")[0] ?? "";
}

/** Beside which files one runs: all that have no wish, those that mostly wait, none. */
type Company = "all" | "beside" | "alone";

interface Wishes {
  readonly company: Company;
  readonly openRealm: boolean;
  readonly quick: boolean;
  readonly limitMs: number;
}

/** What the file's own comment lines ask of the runner. */
function wishesOf(file: string): Wishes {
  const layer = layerOf(file);
  let company: Company = ALONE.has(layer) ? "alone" : "all";
  let [openRealm, quick, seconds] = [false, false, LIMITS[layer] ?? 120];
  for (const [, wish] of readFileSync(file, "utf8").matchAll(/^\/\/ runner: (.+)$/gm)) {
    const limit = /^limit (\d+) s$/.exec(wish!)?.[1];
    if (wish === "alone" || wish === "beside") company = wish;
    else if (wish === "open realm") openRealm = true;
    else if (wish === "quick") quick = true;
    else if (limit !== undefined) seconds = Number(limit);
    else throw new Error(`${file}: the runner does not know ${JSON.stringify(wish)}`);
  }
  return { company, openRealm, quick, limitMs: seconds * 1_000 };
}

const running = new Set<ChildProcess>();
let measuresLittle = false;

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch {
    // The group is gone already.
  }
}

/** In the parent: one file in a process (and process group) of its own. */
function start(file: string, limitMs: number | undefined): Promise<FileResult> {
  const wishes = wishesOf(file);
  const began = performance.now();
  return new Promise((done) => {
    const child = fork(import.meta.filename, ["--child", file], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
      execArgv: [...(wishes.openRealm ? [] : CLOSED_REALM), ...COMMON],
      env: { ...process.env, FORCE_COLOR: "0", ...(measuresLittle && { HAPTIC_BENCH_QUICK: "1" }) },
    });
    running.add(child);
    const chunks: Buffer[] = [];
    const complaints: string[] = [];
    let outcome: Outcome | undefined;
    child.stdout!.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr!.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("message", (message) => {
      outcome = message as Outcome;
    });
    const limit = limitMs ?? wishes.limitMs;
    const timer = setTimeout(() => {
      complaints.push(`exceeded its time limit of ${limit / 1_000} s`);
      endGroup(child, "SIGKILL");
    }, limit);
    // "exit", not "close": a process that a test left behind may hold the pipes open for ever.
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      endGroup(child, "SIGKILL");
      const counted = outcome ?? { passed: 0, failed: 0, skipped: 0, suites: 0, skips: [], rows: [] };
      if (outcome === undefined && complaints.length === 0) {
        complaints.push(`ended before its tests did (${signal ?? `exit code ${code}`})`);
      } else if (counted.suites === 0 || counted.passed + counted.failed + counted.skipped === 0) {
        if (complaints.length === 0) complaints.push("ran no test: is `test.run()` missing?");
      } else if (code !== 0 && counted.failed === 0 && complaints.length === 0) {
        complaints.push(`all tests passed but the process failed (${signal ?? `exit code ${code}`})`);
      }
      const silent = counted.skipped - counted.skips.length;
      if (silent > 0) complaints.push(`skipped ${silent} tests without a reason, or left an \`only\``);
      const output = Buffer.concat(chunks).toString("utf8");
      const tookMs = performance.now() - began;
      done({
        ...counted,
        failed: Math.max(counted.failed, complaints.length > 0 ? 1 : 0),
        file,
        output,
        complaints,
        tookMs,
      });
    });
  });
}

/** Files of what was asked for: layers, files or globs. A word that matches nothing is an error. */
function select(words: readonly string[]): string[] {
  const files = words.flatMap((word) => {
    const layer = resolve(import.meta.dirname, word);
    const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();
    const folder = isFolder(layer) ? layer : isFolder(word) ? word : undefined;
    const found = globSync(folder === undefined ? word : `${folder}/**/*.{test,bench}.ts`);
    if (found.length === 0 && !(word in LIMITS)) throw new Error(`no test file matches ${JSON.stringify(word)}`);
    return found.map((file) => relative(process.cwd(), resolve(file)));
  });
  return [...new Set(files)].sort();
}

function print(result: FileResult): void {
  const { file, passed, failed, skips, output, complaints, tookMs } = result;
  const counts = [
    `${passed} passed`,
    ...(failed ? [`${failed} failed`] : []),
    ...(skips.length ? [`${skips.length} skipped`] : []),
  ];
  process.stdout.write(`${failed ? "✘" : "•"} ${file}  ${counts.join(", ")}  (${(tookMs / 1_000).toFixed(1)} s)\n`);
  if (failed > 0 || /^ {2}note: /m.test(output)) process.stdout.write(`${output.trimEnd()}\n`);
  for (const complaint of complaints) process.stdout.write(`  ${file} ${complaint}\n`);
}

function printRows(rows: readonly Row[]): void {
  const ratios = ["ratio", "ratioP99"] as const;
  const figures = ["p50", "p95", "p99", "max", "floor", "ratio", "floorP99", "ratioP99"] as const;
  const columns = ["name", "objects", ...(measuresLittle ? ratios : figures)] as const;
  const text = (value: string | number | undefined): string =>
    typeof value === "number" ? (Number.isInteger(value) ? String(value) : value.toFixed(2)) : (value ?? "");
  const table = [columns as readonly string[], ...rows.map((row) => columns.map((column) => text(row[column])))];
  const widths = columns.map((_, index) => Math.max(...table.map((line) => line[index]!.length)));
  for (const line of table) {
    process.stdout.write(
      `${line.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[index]!))).join("  ")}\n`,
    );
  }
}

async function main(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { json: { type: "string" }, limit: { type: "string" }, quick: { type: "boolean" } },
  });
  const words = positionals.length > 0 ? positionals : ["unit", "model", "simulation", "cluster", "e2e", "browser"];
  measuresLittle = values.quick === true;
  const files = select(words).filter((file) => !measuresLittle || layerOf(file) !== "bench" || wishesOf(file).quick);
  const limitMs = values.limit === undefined ? undefined : Number(values.limit) * 1_000;
  await provideParts(new Set(files.map(layerOf)), (line) => process.stdout.write(`${line}\n`));

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      for (const child of running) endGroup(child, "SIGKILL");
      process.exit(signal === "SIGINT" ? 130 : 143);
    });
  }
  const results: FileResult[] = [];
  const work = async (queue: Iterator<string>): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const result = await start(next.value, limitMs);
      results.push(result);
      print(result);
    }
  };
  const lanes: Readonly<Record<Company, number>> = {
    all: availableParallelism(),
    beside: availableParallelism(),
    alone: 1,
  };
  for (const company of ["all", "beside", "alone"] as const) {
    // What may take longest begins first, so that no lane ends long after the others.
    const queue = files
      .map((file) => ({ file, ...wishesOf(file) }))
      .filter((wishes) => wishes.company === company)
      .toSorted((a, b) => b.limitMs - a.limitMs)
      .map(({ file }) => file)
      .values();
    await Promise.all(Array.from({ length: lanes[company] }, () => work(queue)));
  }

  const rows = results.flatMap((result) => result.rows);
  const told = measuresLittle ? rows.filter((row) => row.ratio !== undefined) : rows;
  if (told.length > 0) printRows(told);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  const reasons = Map.groupBy(
    results.flatMap((result) => result.skips.map((skip) => ({ ...skip, file: result.file }))),
    (skip) => skip.reason,
  );
  for (const [reason, skipped] of reasons) {
    process.stdout.write(`skipped, ${reason}:\n${skipped.map(({ file, name }) => `  ${file}: ${name}\n`).join("")}`);
  }
  const sum = (key: "passed" | "failed" | "skipped"): number =>
    results.reduce((total, result) => total + result[key], 0);
  if (files.length === 0) process.stdout.write(`no test file in ${words.join(", ")}\n`);
  process.stdout.write(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped\n`);
  process.exitCode = sum("failed") > 0 || sum("passed") === 0 ? 1 : 0;
}

if (process.argv[2] === "--child") await runFile(process.argv[3]!);
else await main(process.argv.slice(2));
