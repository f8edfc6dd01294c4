/** `npm run kills -- [--count 2000] [--seed N]`: kills.test.ts with as many kills as asked for. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { count: { type: "string", default: "2000" }, seed: { type: "string", default: "1" } },
});
const count = Number(values.count);
if (!(count > 0) || Number.isNaN(Number(values.seed))) throw new Error("--count and --seed are numbers");
const runner = join(import.meta.dirname, "../../run.ts");
const limit = ["--limit", String(600 + 5 * count)];
const { status } = spawnSync(process.execPath, [runner, join(import.meta.dirname, "kills.test.ts"), ...limit], {
  stdio: "inherit",
  env: { ...process.env, HAPTIC_KILLS: String(count), HAPTIC_SEED: values.seed },
});
process.exit(status ?? 1);
