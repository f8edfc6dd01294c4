import { test } from "uvu";
import * as assert from "uvu/assert";
import { hasOpenQuote, OpenQuotes } from "../../../src/controller/open-quotes.ts";
import { assemblePlan, cutBlocks, emptyTrees, planFile } from "../../../src/plan/index.ts";
import type { Block, RenderPlan } from "../../../src/plan/types.ts";

const isOpen = (text: string): boolean => hasOpenQuote(Buffer.from(text));

test("a line that ends inside a quote is found, wherever it stands", () => {
  for (const text of [
    `http-request return string "open`,
    `http-request return string 'open\n`,
    `global\n    description "a\n\nfrontend x\n    bind :80\n`,
    `description "a \\"`,
    `description 'a' "b' c`,
    `description 'it\\'s'`,
  ])
    assert.ok(isOpen(text), text);
});

test("quotes that are closed, escaped, inside others or behind a comment are none", () => {
  for (const text of [
    "",
    "global\n    maxconn 10\n",
    `description "a 'b' c" 'd "e" f'\n`,
    `description "a \\" b"\n`,
    `description a\\"b\\'c\n`,
    `maxconn 10 # it's "so\n# don't\n`,
    `description 'a \\'\n`,
    `acl a path -m str "x" # "\nacl b path -m str "#" '#'\n`,
    `http-request set-header X "%[var(txn.a)]"\n`,
  ])
    assert.not.ok(isOpen(text), text);
});

const planOf = (blocks: readonly Block[]): RenderPlan => {
  const trees = emptyTrees();
  return assemblePlan({
    ...trees,
    files: trees.files.update(new Map([["haproxy.cfg", planFile("haproxy.cfg", "config", blocks)]])),
  });
};

test("of a plan only what is new is looked at, and an open quote is found again as long as it is there", () => {
  const lines = Array.from({ length: 4_000 }, (_, i) => `    http-request set-header X-Line "number ${i}"\n`);
  const good = cutBlocks(`frontend x\n${lines.join("")}`);
  const bad = cutBlocks(`frontend x\n    http-request deny if { path "/a }\n`);
  assert.ok(good.length > 3);
  const quotes = new OpenQuotes();
  assert.not.ok(quotes.of(planOf(good)));
  assert.ok(quotes.of(planOf(good.toSpliced(1, 0, ...bad))));
  assert.ok(quotes.of(planOf(good.toSpliced(1, 0, ...bad).toSpliced(3, 1))));
  assert.not.ok(quotes.of(planOf(good.toSpliced(3, 1))));
  assert.ok(quotes.of(planOf([...good, ...bad])));
});

test.run();
