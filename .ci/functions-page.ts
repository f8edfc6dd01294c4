/** Writes docs/functions.md from the declarations of functions; with --check says whether it is what they say. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { providedFamilies } from "../src/render/index.ts";
import { functionsPage, valueMethods } from "../src/templating/index.ts";

const path = resolve(import.meta.dirname, "../docs/functions.md");
const page = functionsPage(providedFamilies, valueMethods);
if (!process.argv.includes("--check")) {
  writeFileSync(path, page);
} else if (readFileSync(path, "utf8") !== page) {
  process.stdout.write("docs/functions.md is not what the declarations say: run node .ci/functions-page.ts\n");
  process.exitCode = 1;
}
