import { test } from "uvu";
import * as assert from "uvu/assert";
import { GLOBALS, hostTypes } from "../../../src/render/declarations.ts";
import { providedFamilies } from "../../../src/render/index.ts";
import { options, planOf, route, service, text, world, type World } from "./fixture.ts";

function filled(): World {
  const on = world("example.org/v1");
  on.put("routes", route("default", "web", "web.example", "web"));
  on.put("routes", route("default", "api", "api.example", "api"));
  return on;
}

const EFFECTS = ["backendPlan", "recordEvent", "statusPatch", "deriveResource", "publishValue"];

interface Place {
  readonly component?: boolean;
  readonly inConfiguration?: boolean;
}

/** The profiles' place that haproxy.cfg must have; without profiles it gives no text. */
const GROUP = "{{ planRegistry.ProfileGroup() }}";

async function rendered(template: string, { component, inConfiguration }: Place): Promise<string | undefined> {
  const configuration = template.includes(GROUP) ? template : `${GROUP}${template}`;
  const templates = {
    "haproxy.cfg": inConfiguration ? configuration : GROUP,
    "file:example": component ? '{{ render "example" }}' : inConfiguration ? "" : template,
    example: component ? template : "",
    names: "",
  };
  const base = options(templates);
  const spec = {
    ...base.spec,
    templateSnippets: {
      example: component ? { incremental: { source: "routes", effects: EFFECTS } } : {},
      names: { incremental: { source: "routes", group: "names", effects: ["publishValue"] } },
    },
  };
  const plan = await planOf(service(templates, { spec }), filled());
  return text(plan, inConfiguration ? "haproxy.cfg" : "general/example");
}

for (const fn of providedFamilies.flatMap((family) => family.functions)) {
  for (const [template, output] of fn.examples) {
    test(`the example of ${fn.name} gives what its documentation says: ${template}`, async () => {
      assert.is(await rendered(template, fn), output);
    });
  }
}

test("every method of planRegistry has an example", () => {
  const registry = providedFamilies.flatMap(({ functions }) =>
    functions.filter(({ name }) => name.startsWith("planRegistry.")),
  );
  assert.is.not(registry.length, 0);
  for (const { name, examples } of registry) assert.is.not(examples.length, 0, name);
});

test("every global and every method is on the page", () => {
  const documented = new Set(providedFamilies.flatMap((family) => family.functions.map((fn) => fn.name)));
  const types = hostTypes(new Map());
  for (const [name, { type }] of Object.entries({ ...GLOBALS.root, ...GLOBALS.component })) {
    const own = types[type];
    const members = [...Object.keys(own?.methods ?? {}), ...Object.keys(own?.members ?? {})];
    if (members.length === 0 && own === undefined) assert.ok(documented.has(name), name);
    for (const member of members) assert.ok(documented.has(`${name}.${member}`), `${name}.${member}`);
  }
  for (const method of Object.keys(types["Store"]?.methods ?? {}))
    assert.ok(documented.has(`resources.ALIAS.${method}`), method);
});

test.run();
