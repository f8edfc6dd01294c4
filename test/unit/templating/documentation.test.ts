import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { providedFamilies } from "../../../src/render/index.ts";
import { TemplateError } from "../../../src/errors.ts";
import { functionsPage, hostObject, readSchemas, valueMethods } from "../../../src/templating/index.ts";
import { compile, render, type Setup } from "./engine.ts";

const page = (name: string): URL => new URL(`../../../docs/${name}`, import.meta.url);

test("docs/functions.md says what the functions say", () => {
  // Written anew by node .ci/functions-page.ts.
  assert.is(readFileSync(page("functions.md"), "utf8"), functionsPage(providedFamilies, valueMethods));
});

const BLOCK = /```template(?: (\{.*\}))?\n([\s\S]*?)```\n```(output|problem|failure)\n([\s\S]*?)```/g;
const language = readFileSync(page("template-language.md"), "utf8");
const examples = [...language.matchAll(BLOCK)];

const field = (type: string): object => ({ type });
const backend = {
  type: "object",
  properties: { name: field("string"), port: field("integer"), weight: field("integer") },
};
const spec = { type: "object", properties: { host: field("string"), backends: { type: "array", items: backend } } };
const schemas = readSchemas([
  {
    "x-kubernetes-group-version-kind": [{ group: "example.org", version: "v1", kind: "Route" }],
    type: "object",
    properties: { spec },
  },
]);
const routes = [
  {
    apiVersion: "example.org/v1",
    kind: "Route",
    metadata: { name: "web" },
    spec: {
      host: "a.example",
      backends: [
        { name: "blue", port: 80, weight: 5 },
        { name: "green", port: 80, weight: 0 },
      ],
    },
  },
];

/** What examples with routes see. */
const withRoutes: Setup = {
  resources: new Map([["routes", schemas.resource("example.org/v1", "routes", "routes")]]),
  globals: { resources: { type: "Stores" } },
  hostTypes: {
    Stores: { members: { routes: "Store" } },
    Store: { methods: { List: "func() []resources.routes.T" } },
  },
  data: { resources: hostObject("Stores", {}, { routes: hostObject("Store", { List: () => routes }) }) },
};

for (const [, options, template, kind, expected] of examples) {
  test(`docs/template-language.md tells the truth about ${JSON.stringify(template!.slice(0, 60))}`, () => {
    const given = JSON.parse(options ?? "{}") as { snippets?: Record<string, string>; routes?: boolean };
    const setup: Setup = { files: given.snippets ?? {}, ...(given.routes === true ? withRoutes : {}) };
    if (kind === "output") {
      // The render service adds the last line end where it lacks.
      const output = render(template!, setup);
      assert.is(output.endsWith("\n") ? output : `${output}\n`, expected);
    } else if (kind === "failure") {
      try {
        render(template!, setup);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        assert.is(`${error.problem.text}\n`, expected);
        return;
      }
      assert.unreachable("the template did not fail");
    } else {
      const { problems } = compile(template!, setup);
      const text = problems.map((problem) => problem.text).join("\n");
      assert.ok(`${text}\n`.startsWith(expected!.trimEnd()), text);
    }
  });
}

test("every template on the page has its output", () => {
  assert.is(examples.length, language.split("```template").length - 1);
  assert.ok(examples.length >= 12);
});

test.run();
