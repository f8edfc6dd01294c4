/**
 * Draws every chart of `machines/`: `machines/diagrams/NAME.md` (Mermaid, for review) and `NAME.svg` (for review and the live page).
 *
 * node .ci/charts.ts           writes them, and removes those of charts that are gone
 * node .ci/charts.ts --check   writes nothing; exit 1 when a committed one is not what its chart gives
 * node .ci/charts.ts --diff REF   draws nothing; says in words what the charts do otherwise than at a git revision
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { chartOf, toMermaid } from "./chart-model.ts";
import { toSvg } from "./chart-svg.ts";
import { describeChange } from "./charts-diff.ts";
import { loadMachines } from "./machines.ts";

const compared = process.argv.indexOf("--diff");
if (compared >= 0) {
  const revision = process.argv[compared + 1] ?? "HEAD";
  try {
    process.stdout.write(await describeChange(revision));
    process.exit(0);
  } catch (error) {
    const said = (error as { readonly stderr?: Buffer }).stderr?.toString().trim();
    process.stderr.write(`charts: cannot compare with ${revision}: ${said ?? String(error)}\n`);
    process.exit(1);
  }
}

const directory = new URL("../machines/diagrams/", import.meta.url);
const check = process.argv.includes("--check");
mkdirSync(directory, { recursive: true });

const wanted = new Map<string, string>();
for (const { file, machine } of await loadMachines()) {
  const chart = chartOf(machine);
  wanted.set(
    `${machine.id}.md`,
    `# ${machine.id}\n\nGenerated from \`machines/${file}\` by \`npm run charts\`; do not edit.\n\n\`\`\`mermaid\n${toMermaid(chart)}\`\`\`\n`,
  );
  wanted.set(`${machine.id}.svg`, await toSvg(chart));
}

let drift = 0;
const complain = (name: string, what: string): void => {
  drift += 1;
  process.stderr.write(`machines/diagrams/${name} ${what}; run npm run charts\n`);
};
for (const name of readdirSync(directory)) {
  if (wanted.has(name)) continue;
  if (check) complain(name, "belongs to no chart");
  else rmSync(new URL(name, directory));
}
for (const [name, text] of wanted) {
  const file = new URL(name, directory);
  let found: string | undefined;
  try {
    found = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  if (found === text) continue;
  if (check) complain(name, found === undefined ? "is missing" : "is out of date");
  else writeFileSync(file, text);
}
if (!check) process.stdout.write(`charts: ${wanted.size / 2} drawn\n`);
process.exitCode = drift === 0 ? 0 : 1;
