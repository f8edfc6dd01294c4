import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { TemplateError } from "../../../src/errors.ts";
import { compile, run } from "./engine.ts";

/** Pairs `NAME.in.yaml` (template, snippets, data) and `NAME.out`; `UPDATE_GOLDEN=1` rewrites the outputs. */
const folder = join(import.meta.dirname, "../../golden/templating");

interface Input {
  readonly template: string;
  readonly snippets?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, unknown>>;
}

for (const file of globSync(join(folder, "*.in.yaml"))) {
  const name = basename(file, ".in.yaml");
  test(`golden: ${name.replaceAll("-", " ")}`, () => {
    const { template, snippets = {}, data = {} } = parse(readFileSync(file, "utf8")) as Input;
    const setup = { files: snippets, data };
    const set = compile(template, setup);
    let out = set.problems.map((problem) => problem.text).join("\n\n");
    if (set.problems.length > 0) out += "\n";
    else {
      try {
        out = run(set, setup);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        out = `${error.problem.text}\n`;
      }
    }
    const expected = join(folder, `${name}.out`);
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(expected, out);
    assert.is(out, readFileSync(expected, "utf8"));
  });
}

test.run();
