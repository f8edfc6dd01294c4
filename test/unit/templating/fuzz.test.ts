import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { TemplateError } from "../../../src/errors.ts";
import { families, RestartNeeded } from "../../../src/templating/index.ts";
import { compile, run } from "./engine.ts";

/** Whole templates to cut up: the golden inputs and the examples of all functions. */
const corpus = [
  ...globSync(join(import.meta.dirname, "../../golden/templating/*.in.yaml")).flatMap((file) => {
    const { template, snippets } = parse(readFileSync(file, "utf8")) as {
      template: string;
      snippets?: Record<string, string>;
    };
    return [template, ...Object.values(snippets ?? {})];
  }),
  ...families.flatMap(({ functions }) => functions.flatMap((fn) => fn.examples.map(([template]) => template))),
  "{% L: for i := 0; i < 3; i++ %}{% switch x := d.(type) %}{% case string, nil %}{% continue L %}{% default %}{% break %}{% end %}{% else %}{% end %}",
  "{%% var a, b = 1, func(x int, y ...any) (int, error) { return x, nil }\nif c, ok := d.(map[string]any); ok and not c.x { show c } else { a++ }\nfor k, v := range d { a += len(k) } %%}",
  '{% macro M(a string, b ...int) %}{{ a }}{% if len(b) > 0 %}{{ M(a, b[1:]...) }}{% end %}{% return %}{% end %}{{ M("x", 1, 2) }}',
];
const pieces = corpus.flatMap((text) => text.match(/\{[{%#]%?-?|-?%?[}%#]\}|"[^"]*"|\w+|\s+|[^\w\s]/g) ?? []);

const templates = fc
  .tuple(
    fc.constantFrom(...corpus),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom("drop", "double", "swap", "insert"), fc.constantFrom(...pieces)), {
      maxLength: 4,
    }),
  )
  .map(([text, edits]) => {
    const tokens = text.match(/\{[{%#]%?-?|-?%?[}%#]\}|"[^"]*"|\w+|\s+|[^\w\s]/g) ?? [];
    for (const [at, edit, piece] of edits) {
      const i = tokens.length === 0 ? 0 : at % tokens.length;
      if (edit === "drop") tokens.splice(i, 1);
      else if (edit === "double") tokens.splice(i, 0, tokens[i] ?? "");
      else if (edit === "insert") tokens.splice(i, 0, piece);
      else tokens.splice(i, 2, tokens[i + 1] ?? "", tokens[i] ?? "");
    }
    return tokens.join("");
  });

const data = { d: { x: 1, list: ["a", 2, null] }, routes: [{ spec: {} }] };

test("whatever an author writes is compiled, refused with a place, or fails with a place: nothing crashes", () => {
  let ran = 0;
  fc.assert(
    fc.property(templates, (template) => {
      const setup = {
        data,
        files: { lib: "{% macro A %}a{% end %}" },
        environment: { limits: { fuel: 20_000, outputBytes: 200_000 } },
      };
      const set = compile(template, setup);
      if (set.problems.length > 0) {
        for (const problem of set.problems) assert.ok(problem.line > 0 && problem.column > 0 && problem.message !== "");
        return;
      }
      try {
        run(set, setup);
        ran++;
      } catch (error) {
        if (!(error instanceof TemplateError) && !(error instanceof RestartNeeded)) throw error;
      }
    }),
    { numRuns: 3000, seed: Number(process.env["FUZZ_SEED"] ?? 1) },
  );
  assert.ok(ran > 100, String(ran));
});

test.run();
