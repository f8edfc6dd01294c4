/**
 * Two bundles beside each other: `npm run bench:pair -- BEFORE/main.mjs AFTER/main.mjs`. The same code some minutes apart differs by
 * up to a fifth on a machine with neighbours; what runs at the same time meets the same of them, so that 0.3 ms show
 * after some 250 changes. Each run has its own API server, controller, agent and HAProxy, without a floor: the processors are shared by both,
 * so only the difference means something. BENCH_GOALS (default G2), BENCH_SIZES (one; default 10000), BENCH_ROUNDS (default 250).
 * BENCH_NODE_FLAGS_AFTER: what Node is told more on the side of AFTER, so that one bundle with and without a flag can be compared.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../../..");
const bundles = process.argv.slice(2).map((path) => resolve(path));
if (bundles.length !== 2) {
  process.stderr.write("usage: npm run bench:pair -- BEFORE/main.mjs AFTER/main.mjs\n");
  process.exit(2);
}
const { BENCH_NODE_FLAGS: both = "", BENCH_NODE_FLAGS_AFTER: more = "" } = process.env;
const flags = [both, `${both} ${more}`];
const folder = mkdtempSync(join(tmpdir(), "haptic-pair-"));

/** Milliseconds of each change that counts, by goal. */
async function samplesOf(bundle: string, net: number, flags: string): Promise<ReadonlyMap<string, readonly number[]>> {
  const file = join(folder, `${net}`);
  const child = spawn(process.execPath, ["test/run.ts", "test/bench/goals/goals.bench.ts"], {
    cwd: root,
    env: {
      BENCH_GOALS: "G2",
      BENCH_SIZES: "10000",
      BENCH_ROUNDS: "250",
      ...process.env,
      BENCH_BUNDLE: bundle,
      BENCH_NODE_FLAGS: flags,
      BENCH_NET: `${net}`,
      BENCH_SAMPLES: file,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) throw new Error(`${bundle}: the bench failed\n${said}`);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const samples = lines.map((line) => line.split(" ")).map(([goal = "", ms]) => ({ goal, ms: Number(ms) }));
  return new Map([...Map.groupBy(samples, ({ goal }) => goal)].map(([goal, each]) => [goal, each.map(({ ms }) => ms)]));
}

function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

/** The middle nine tenths of what the difference of the medians may be, by drawing again from the samples. */
function range(before: readonly number[], after: readonly number[]): readonly [number, number] {
  const draw = (from: readonly number[]): number =>
    quantile(
      Array.from(from, () => from[Math.floor(Math.random() * from.length)]!),
      0.5,
    );
  const differences = Array.from({ length: 2_000 }, () => draw(after) - draw(before));
  return [quantile(differences, 0.05), quantile(differences, 0.95)];
}

try {
  const [before, after] = await Promise.all(
    bundles.map((bundle, index) => samplesOf(bundle, 83 + index, flags[index]!)),
  );
  for (const [goal, was] of before!) {
    const is = after!.get(goal)!;
    const [low, high] = range(was, is);
    const text = (samples: readonly number[]): string =>
      [0.5, 0.95].map((q) => quantile(samples, q).toFixed(2)).join(" / ");
    const difference = quantile(is, 0.5) - quantile(was, 0.5);
    process.stdout.write(
      `${goal}: p50 / p95 ${text(was)} before, ${text(is)} after, ms; p50 differs by ${difference.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
