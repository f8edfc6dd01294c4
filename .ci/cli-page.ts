/**
 * Puts the help text of every command into docs/cli.md, between `<!-- help: COMMAND -->` and the end of the code block that follows.
 *
 *     node .ci/cli-page.ts            writes
 *     node .ci/cli-page.ts --check    fails where the page says something else, or lacks a command
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "../src/cli/types.ts";

const root = resolve(import.meta.dirname, "..");
const page = join(root, "docs/cli.md");
const main = readFileSync(join(root, "src/main.ts"), "utf8");
const commands = [...main.matchAll(/import\("\.\/cli\/([a-z]+)\.ts"\)/g)].map(([, name]) => name!);

const before = readFileSync(page, "utf8");
let after = before;
const problems: string[] = [];
for (const name of new Set(commands)) {
  if (name === "version") continue;
  const { command } = (await import(`../src/cli/${name}.ts`)) as { command: Command };
  const block = new RegExp(String.raw`(<!-- help: ${name} -->\n+\`\`\`text\n)[\s\S]*?(^\`\`\`$)`, "m");
  if (!block.test(after)) problems.push(`docs/cli.md: no block "<!-- help: ${name} -->"`);
  after = after.replace(block, (_, open: string, close: string) => `${open}${command.usage.trimEnd()}\n${close}`);
}
if (process.argv.includes("--check")) {
  if (after !== before)
    problems.push("docs/cli.md: a command's help is not the one it prints; run node .ci/cli-page.ts");
} else if (after !== before) writeFileSync(page, after);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
