import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { providedFamilies } from "../../../src/render/index.ts";
import { functionsPage, valueMethods } from "../../../src/templating/index.ts";
import { compile, render } from "./engine.ts";

const page = (name: string): URL => new URL(`../../../docs/${name}`, import.meta.url);

test("docs/functions.md says what the functions say", () => {
  // Written anew by node .ci/functions-page.ts.
  assert.is(readFileSync(page("functions.md"), "utf8"), functionsPage(providedFamilies, valueMethods));
});

const BLOCK = /```template(?: snippets=(.*))?\n([\s\S]*?)```\n```(output|problem)\n([\s\S]*?)```/g;
const examples = [...readFileSync(page("template-language.md"), "utf8").matchAll(BLOCK)];

for (const [, snippets, template, kind, expected] of examples) {
  test(`docs/template-language.md tells the truth about ${JSON.stringify(template!.slice(0, 60))}`, () => {
    const files = snippets === undefined ? {} : (JSON.parse(snippets) as Record<string, string>);
    if (kind === "output") assert.is(render(template!, { files }), expected);
    else {
      const { problems } = compile(template!, { files });
      const text = problems.map((problem) => problem.text).join("\n");
      assert.ok(`${text}\n`.startsWith(expected!.trimEnd()), text);
    }
  });
}

test("the page has examples", () => {
  assert.ok(examples.length >= 5);
});

test.run();
