/** `npm run sequences -- [--changes 1000] [--version 3.4] [--seed N]`: sequences.test.ts with as many changes as asked for. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    changes: { type: "string", default: "1000" },
    /** One of the three; all of them where it is not given. */
    version: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const changes = Number(values.changes);
if (!(changes > 0) || Number.isNaN(Number(values.seed))) throw new Error("--changes and --seed are numbers");
const runner = join(import.meta.dirname, "../../run.ts");
const limit = ["--limit", String(600 + 2 * changes)];
const folder = mkdtempSync(join(tmpdir(), "haptic-sequences-"));
const report = join(folder, "report");
writeFileSync(report, "");
const { status } = spawnSync(process.execPath, [runner, join(import.meta.dirname, "sequences.test.ts"), ...limit], {
  stdio: "inherit",
  env: {
    ...process.env,
    HAPTIC_CHANGES: String(changes),
    HAPTIC_SEED: values.seed,
    HAPTIC_REPORT: report,
    ...(values.version !== undefined && { HAPTIC_VERSION: values.version }),
  },
});
process.stdout.write(readFileSync(report));
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
