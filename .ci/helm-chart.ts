/**
 * The chart's copies of what has its home elsewhere: CRDs and the ingress example (a chart cannot reach out of its folder, and
 * npm packs no links), and that docs/install.md names every value. `npm run chart` renews the copies, `--check` compares.
 */
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
const chart = join(root, "charts/haptic");
const copies: readonly (readonly [from: string, to: string])[] = [
  ...readdirSync(join(root, "crds")).map((name) => [join(root, "crds", name), join(chart, "crds", name)] as const),
  [join(root, "examples/ingress/config.yaml"), join(chart, "files/ingress.yaml")],
];
const faults: string[] = [];

if (process.argv.includes("--check")) {
  const expected = new Set(copies.map(([, to]) => to));
  for (const folder of ["crds", "files"])
    for (const name of readdirSync(join(chart, folder)))
      if (!expected.has(join(chart, folder, name))) faults.push(`charts/haptic/${folder}/${name} has no original`);
  for (const [from, to] of copies)
    if (textOf(from) !== textOf(to)) faults.push(`${to} is not ${from}: \`npm run chart\``);
} else {
  rmSync(join(chart, "crds"), { recursive: true });
  for (const [from, to] of copies) cpSync(from, to);
}

/** Paths of the values that a user sets: leaves, and maps that are empty or the user's own. */
function leaves(value: unknown, path = ""): string[] {
  if (value === null || typeof value !== "object" || Array.isArray(value) || Object.keys(value).length === 0)
    return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`));
}

const page = /^## Values$([\s\S]*?)^## /m.exec(readFileSync(join(root, "docs/install.md"), "utf8"))?.[1] ?? "";
const named = new Set([...page.matchAll(/^\| `([^|]+)` \|/gm)].flatMap(([, cell]) => expand(cell!)));
const values = leaves(parse(readFileSync(join(chart, "values.yaml"), "utf8")));
for (const path of values) if (!named.has(path)) faults.push(`docs/install.md has no row for the value ${path}`);
for (const path of named)
  if (!values.includes(path)) faults.push(`docs/install.md has a row for ${path}, which is no value`);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const { appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as { appVersion: string };
if (appVersion !== version)
  faults.push(`appVersion of Chart.yaml is ${appVersion}, the version of package.json ${version}`);

for (const fault of faults) process.stderr.write(`${fault.replaceAll(`${root}/`, "")}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** `a.{b,c}` stands for `a.b` and `a.c`; several names stand side by side as "`a`, `b`". */
function expand(cell: string): string[] {
  return cell.split("`, `").flatMap((text) => {
    const match = /^(.*)\{([^}]*)\}(.*)$/.exec(text);
    return match === null
      ? [text]
      : match[2]!.split(",").flatMap((part) => expand(`${match[1]}${part.trim()}${match[3]}`));
  });
}
