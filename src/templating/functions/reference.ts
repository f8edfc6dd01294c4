/** The page docs/functions.md, made from the records of functions and of what a render provides. */
import { families } from "./registry.ts";

/** What the page says of a function or name. */
export interface FunctionPageEntry {
  readonly name: string;
  /** `func(…) …`, or `name type` of a value. */
  readonly signature: string;
  readonly doc: string;
  readonly examples: readonly (readonly [template: string, output: string])[];
  /** Its examples are incremental snippets. */
  readonly component?: boolean;
  /** Its examples stand in haproxy.cfg, and give that file. */
  readonly inConfiguration?: boolean;
}

export interface FunctionPageFamily {
  readonly title: string;
  readonly functions: readonly FunctionPageEntry[];
}

const HEAD = `# Template functions

Made from the declarations in \`src/templating/functions/\` and \`src/render/reference.ts\`; each example is run by the tests.

- A pipe gives the value on its left as the first argument: \`x | f(y)\` is \`f(x, y)\`. The parentheses are needed.
- \`...T\` takes any number of arguments; \`f(list...)\` gives the items of a list.
- A function with the results \`(T, error)\` can be called as \`v, err := f(…)\`: err is then nil, or shows what went wrong. Everywhere
  else its error ends the render at that place.
- "Lenient" means: any scalar is taken and made text. Functions that are not lenient take what their signature says; an \`any\` is
  checked while rendering, nil counts as the zero value.
- Lists and maps that are given stay as they are; results are new ones.
- ⏎ stands for a line end.
- Where a name is for haproxy.cfg alone, the example stands in haproxy.cfg and the output is what that file says then.

Besides these there are the builtins \`len\`, \`cap\`, \`append\`, \`copy\`, \`delete\`, \`make\`, \`new\` and \`panic\`; the
[language page](template-language.md) has them, and the statements and expressions.
`;

const BUILTIN_OBJECTS = `## Time, Duration and Regexp

What \`now\`, \`date\`, \`parseTime\`, \`unixTime\`, \`parseDuration\` and \`regexp\` give are values with methods. They can be kept in
variables and are shown as text; they are compared with \`Equal\`, \`Before\` and \`After\`.

`;

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", "⏎");
/** Code in a cell: fenced with one backtick more than the text has in a row. */
function code(text: string): string {
  const fence = "`".repeat(Math.max(1, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence} ${cell(text)} ${fence}`;
}

function entry(fn: FunctionPageEntry): string {
  const signature = fn.signature.startsWith("func(") ? fn.signature.replace(/^func/, fn.name) : fn.signature;
  const rows = fn.examples.map(([template, output]) => `| ${code(template)} | ${code(output)} |`);
  const table = rows.length === 0 ? "" : `\n| template | output |\n|---|---|\n${rows.join("\n")}\n`;
  return `### ${fn.name}\n\n\`${signature}\`\n\n${fn.doc}\n${table}`;
}

/** Where an entry's heading leads: the anchor that viewers of Markdown make of it. */
const anchor = (name: string): string => name.toLowerCase().replace(/[^a-z0-9_-]/g, "");

/**
 * The whole page as Markdown. `provided` = what a render provides beside the functions; `methods` = signatures of the methods
 * of values, by type.
 */
export function functionsPage(
  provided: readonly FunctionPageFamily[] = [],
  methods: Readonly<Record<string, readonly string[]>> = {},
): string {
  const all: readonly FunctionPageFamily[] = [...families, ...provided];
  const contents = all.map(
    ({ title, functions }) => `- ${title}: ${functions.map(({ name }) => `[${name}](#${anchor(name)})`).join(", ")}`,
  );
  const parts = [HEAD, `## All names\n\n${contents.join("\n")}\n`];
  for (const { title, functions } of all) parts.push(`## ${title}\n`, ...functions.map(entry));
  const lines = Object.entries(methods).map(
    ([type, signatures]) => `- **${type}**: ${signatures.map((signature) => `\`${signature}\``).join(", ")}`,
  );
  if (lines.length > 0) parts.push(`${BUILTIN_OBJECTS}${lines.join("\n")}\n`);
  return parts.join("\n");
}
