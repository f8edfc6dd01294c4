import { test } from "uvu";
import * as assert from "uvu/assert";
import { PREAMBLE, sectionOf, structureKey, structurePieces } from "../../../src/plan/index.ts";

const headers = (text: string): string[] => structurePieces(text, PREAMBLE).pieces.map((piece) => piece.header);
const digests = (text: string): string =>
  structurePieces(text, PREAMBLE)
    .pieces.map((piece) => piece.digest)
    .join();

test("text is cut at section headers, which are lines without indentation", () => {
  assert.equal(headers("# head\nglobal\n    maxconn 1\nfrontend  web\n    bind :80\n    backend_like word\n"), [
    "global",
    "frontend web",
  ]);
  assert.equal(headers("    use_backend x\n"), [PREAMBLE]);
  assert.is(structurePieces("frontend web\n", PREAMBLE).header, "frontend web");
});

test("blank lines, comments and trailing blanks do not count, indentation and words do", () => {
  const base = "frontend web\n    bind :80\n";
  assert.is(digests("# words\n\nfrontend web\n    bind :80   \n    # more\n"), digests(base));
  assert.is.not(digests("frontend web\n    bind :81\n"), digests(base));
});

test("a line that begins with # but continues the line before it counts", () => {
  assert.is.not(
    digests("frontend web\n    log-format a\\\n  #b\n"),
    digests("frontend web\n    log-format a\\\n  #c\n"),
  );
});

test("a key tells its section", () => {
  assert.is(sectionOf(structureKey("frontend web", "mount 1 x")), "frontend web");
});

test.run();
