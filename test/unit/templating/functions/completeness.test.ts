import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { GLOBALS, hostTypes } from "../../../../src/render/declarations.ts";
import { families } from "../../../../src/templating/index.ts";
import { problems } from "../engine.ts";

interface Reference {
  readonly removed: readonly string[];
  readonly functions: readonly string[];
  readonly builtins: readonly string[];
  readonly globals: Readonly<Record<"both" | "root" | "component", readonly string[]>>;
  readonly methods: Readonly<Record<string, readonly string[]>>;
}

const reference = JSON.parse(readFileSync(new URL("./reference.json", import.meta.url), "utf8")) as Reference;
const names = families.flatMap((family) => family.functions.map((fn) => fn.name));

test("no function of the reference is missing, and none is there that it does not know", () => {
  const there = names.filter((name) => !(name in GLOBALS.root));
  const wanted = reference.functions.filter((name) => !(name in GLOBALS.root));
  assert.equal(there.sort(), [...wanted].sort());
});

test("functions that were taken out of the language are undefined", () => {
  for (const name of reference.removed) assert.match(problems(`{{ ${name}("a") }}`)[0] ?? "", `undefined: ${name}`);
});

test("no builtin of the reference is missing", () => {
  for (const name of reference.builtins)
    assert.not.match(problems(`{% var s = []any{} %}{{ ${name}(s) }}`).join("\n"), `undefined: ${name}`);
});

test("no global of the reference is missing where it belongs, and none is elsewhere", () => {
  const { both, root, component } = reference.globals;
  assert.equal(Object.keys(GLOBALS.root).sort(), [...both, ...root].sort());
  assert.equal(Object.keys(GLOBALS.component).sort(), [...both, ...component].sort());
});

test("no method of the reference is missing", () => {
  const types = hostTypes(new Map());
  for (const [type, methods] of Object.entries(reference.methods))
    assert.equal(Object.keys(types[type]?.methods ?? {}).sort(), [...methods].sort(), type);
});

test.run();
