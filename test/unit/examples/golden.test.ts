import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseObjects } from "../../../src/config/index.ts";
import { closeCheckers, Example, installedVersions, objectsOf, verdict } from "./rendering.ts";

const GOLDEN = fileURLToPath(new URL("../../golden/examples", import.meta.url));

const test = suite("golden renders of the examples");
test.after(closeCheckers);

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

for (const name of ["ingress", "custom-resource"]) {
  test(`${name}: each file is as test/golden/examples/${name}.out has it (UPDATE_GOLDEN=1 rewrites it)`, async () => {
    const input = join(GOLDEN, `${name}.in.yaml`);
    const { objects, problems } = parseObjects(readFileSync(input, "utf8"), input);
    assert.equal(problems, []);
    const rendered = await new Example(`${name}/config.yaml`)
      .put(...objectsOf(`${name}/demo.yaml`).filter((object) => name === "ingress" || object.kind === "Route"))
      .put(...objects.map(({ object }) => object))
      .render();
    assert.equal(rendered.outcome.isolated, []);
    // Keys do not belong into golden files.
    const texts = [...rendered.files].filter(([path]) => !path.endsWith(".pem"));
    const actual = new Map([...texts, ["events.txt", rendered.events.map((event) => `${event}\n`).join("")]]);

    const folder = join(GOLDEN, `${name}.out`);
    if (process.env["UPDATE_GOLDEN"] === "1") {
      rmSync(folder, { recursive: true, force: true });
      for (const [path, text] of actual) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
    }
    assert.equal(
      filesBelow(folder),
      [...actual.keys()].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    for (const path of filesBelow(folder))
      assert.fixture(actual.get(path) ?? "", readFileSync(join(folder, path), "utf8"), path);
    for (const version of installedVersions) assert.is(await verdict(rendered, version), "", version);
  });
}

test.run();
