/** The page docs/functions.md, made from the functions' own records. */
import { families } from "./registry.ts";

const HEAD = `# Template functions

Made from the declarations in \`src/templating/functions/\`; each example is run by the tests. A pipe gives the value on its
left as the first argument: \`x | f(y)\` is \`f(x, y)\`. A function with the results \`(T, error)\` can be called as
\`v, err := f(…)\`; everywhere else its error ends the render at that place. "Lenient" means: any scalar is taken and made text.

Besides these there are the builtins \`len\`, \`append\`, \`delete\`, \`make\` and \`panic\`, and the objects and functions that a render
provides (\`resources\`, \`planRegistry\`, \`recordEvent\` …): see [template-language.md](template-language.md).
`;

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", "⏎");

/** The whole page as Markdown. */
export function functionsPage(): string {
  const parts = [HEAD];
  for (const { title, functions } of families) {
    parts.push(`## ${title}\n`);
    for (const fn of functions) {
      const examples = fn.examples.map(
        ([template, output]) => `| \`\` ${cell(template)} \`\` | \`\` ${cell(output)} \`\` |`,
      );
      parts.push(
        `### ${fn.name}\n\n\`${fn.signature.replace(/^func/, fn.name)}\`\n\n${fn.doc}\n\n| template | output |\n|---|---|\n${examples.join("\n")}\n`,
      );
    }
  }
  return parts.join("\n");
}
