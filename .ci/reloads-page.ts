/**
 * Puts the table of all reasons for a reload into docs/reloads.md, between `<!-- reasons -->` and `<!-- end of reasons -->`.
 *
 *     node .ci/reloads-page.ts            writes
 *     node .ci/reloads-page.ts --check    fails where the page says something else
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { RELOAD_RULES } from "../src/plan/index.ts";

const page = resolve(import.meta.dirname, "../docs/reloads.md");
const [begin, end] = ["<!-- reasons -->\n", "<!-- end of reasons -->"];
const cell = (text: string): string => text.replaceAll("|", String.raw`\|`);
const rows = Object.entries(RELOAD_RULES).map(
  ([rule, { when, hint }]) => `| \`${rule}\` | ${cell(when)} | ${cell(hint)} |\n`,
);
const table = `\n| reason | comes when | what avoids it |\n|---|---|---|\n${rows.join("")}\n`;

const sources = globSync("../src/**/*.ts", { cwd: import.meta.dirname })
  .filter((file) => !file.endsWith("reload-rules.ts"))
  .map((file) => readFileSync(resolve(import.meta.dirname, file), "utf8"));
for (const rule of Object.keys(RELOAD_RULES)) {
  if (sources.some((text) => text.includes(`"${rule}"`))) continue;
  console.error(`src/plan/reload-rules.ts: nothing reloads for the reason ${rule}`);
  process.exitCode = 1;
}

const before = readFileSync(page, "utf8");
const [from, to] = [before.indexOf(begin), before.indexOf(end)];
if (from < 0 || to < from) throw new Error(`docs/reloads.md: no place for the table (${begin.trim()} … ${end})`);
const after = before.slice(0, from + begin.length) + table + before.slice(to);
if (!process.argv.includes("--check")) {
  if (after !== before) writeFileSync(page, after);
} else if (after !== before) {
  console.error(
    "docs/reloads.md: the table of reasons is not that of src/plan/reload-rules.ts; run node .ci/reloads-page.ts",
  );
  process.exitCode = 1;
}
