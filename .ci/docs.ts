/** Checks that the pages and the code say the same: error codes, links, commands. `npm run docs:check`. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const problems: string[] = [];

/** Every code has exactly one row, every row a code. */
function checkErrors(): void {
  const inCode = [...read("src/errors.ts").matchAll(/"(HAPTIC_E_[A-Z0-9_]+)"/g)].map(([, code]) => code!);
  const inDocs = [...read("docs/errors.md").matchAll(/^\| `(HAPTIC_E_[A-Z0-9_]+)` \|(.*)\|$/gm)];
  const documented = inDocs.map(([, code]) => code!);
  for (const code of new Set(inCode)) {
    if (!documented.includes(code)) problems.push(`docs/errors.md: no row for ${code} of src/errors.ts`);
  }
  for (const code of new Set(documented)) {
    if (!inCode.includes(code)) problems.push(`docs/errors.md: ${code} is not in src/errors.ts`);
    if (documented.filter((other) => other === code).length > 1) problems.push(`docs/errors.md: ${code} has two rows`);
  }
  for (const [, code, rest] of inDocs) {
    if (rest!.split(/(?<!\\)\|/).filter((cell) => cell.trim() !== "").length !== 2) {
      problems.push(`docs/errors.md: the row of ${code} needs a meaning and what to do`);
    }
  }
}

/** The anchor that a Markdown heading gets on the usual viewers. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Relative links lead to files (and headings) that exist. */
function checkLinks(page: string): void {
  const text = read(page)
    .replaceAll(/^(```+|~~~+)[\s\S]*?^\1/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target!)) continue;
    const [path, anchor] = target!.split("#") as [string, string | undefined];
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, file))) problems.push(`${page}: the link ${target} leads nowhere`);
    else if (anchor !== undefined && statSync(join(root, file)).isFile()) {
      const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
      if (!headings.includes(anchor)) problems.push(`${page}: ${target} has no such heading`);
    }
  }
}

/** `npm run X` and `haptic X` in the pages are commands that exist, with flags that their help names. */
function checkCommands(page: string, scripts: ReadonlySet<string>): void {
  const text = read(page);
  for (const [, script] of text.matchAll(/\bnpm (?:run (?:-s )?)([a-z][a-z:-]*)/g)) {
    if (!scripts.has(script!)) problems.push(`${page}: package.json has no script ${JSON.stringify(script)}`);
  }
  const code = [...text.matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm), ...text.matchAll(/`([^`\n]+)`/g)].map(
    ([, body]) => body!,
  );
  const main = read("src/main.ts");
  for (const [, command, flags] of code
    .join("\n")
    .matchAll(/(?:^|[\s/])(?:haptic|bin\/haptic\.mjs) ([a-z][a-z-]*)([^\n|;&#]*)/gm)) {
    if (command !== "help" && !main.includes(`import("./cli/${command}.ts")`)) {
      problems.push(`${page}: there is no command \`haptic ${command}\``);
      continue;
    }
    const source = command === "help" ? "" : read(`src/cli/${command}.ts`);
    for (const [, flag] of flags!.matchAll(/--([a-z][a-z-]*)/g)) {
      if (!source.includes(`--${flag}`) && flag !== "help")
        problems.push(`${page}: \`haptic ${command}\` has no flag --${flag}`);
    }
  }
}

/** Words that have no place in a published repository: hosts of package registries, paths of one machine. */
function checkWords(): void {
  const forbidden: readonly (readonly [RegExp, string])[] = [
    [/registry\.npmjs|npmmirror|artifactory|"resolved":/i, "a package registry"],
    [/(?:^|[\s"'`(])\/work\//m, "a path of one machine"],
    [/\bissue #?\d+\b|\bthe lead\b|\bowner [A-H]\b|\bsub-?agents?\b/i, "how the work is organised"],
    [/\bT[O]DO\b|\bF[I]XME\b/, "unfinished work"],
  ];
  const files = globSync("**/*", {
    cwd: root,
    exclude: (name) => ["node_modules", ".git", "dist", "coverage", "LICENSE", ".haptic"].includes(name),
  });
  for (const file of files.concat(globSync(".ci/*", { cwd: root }), [".npmrc"])) {
    if (file === ".ci/docs.ts" || !existsSync(join(root, file)) || !statSync(join(root, file)).isFile()) continue;
    const text = read(file);
    for (const [pattern, what] of forbidden) {
      const found = pattern.exec(text);
      if (found !== null && !/\.(svg|sum)$/.test(file)) {
        problems.push(`${file}:${text.slice(0, found.index).split("\n").length}: names ${what} (${found[0].trim()})`);
      }
    }
  }
}

const pages = [
  ...globSync("*.md", { cwd: root }),
  ...globSync("{docs,examples,machines}/**/*.md", { cwd: root }),
].sort();
const scripts = new Set(Object.keys((JSON.parse(read("package.json")) as { scripts: Record<string, string> }).scripts));
checkErrors();
checkWords();
for (const page of pages) {
  checkLinks(page);
  checkCommands(page, scripts);
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(
  problems.length === 0 ? `${pages.length} pages agree with the code\n` : `${problems.length} problems\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
