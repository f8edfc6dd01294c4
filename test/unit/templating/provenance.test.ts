import { test } from "uvu";
import * as assert from "uvu/assert";
import { createEngine, hostObject, Provenance, runSync, type TemplateSource } from "../../../src/templating/index.ts";

const routes = [
  { metadata: { namespace: "a", name: "one" }, paths: ["/", "/x"] },
  { metadata: { namespace: "b", name: "two" }, paths: ["/y"] },
];

/** Lines as `text | template:line:column | object`. */
function explained(files: Readonly<Record<string, string>>): { readonly lines: string[]; readonly plain: string } {
  const sources: TemplateSource[] = Object.entries(files).map(([name, text]) => ({ name, text }));
  const made = (provenance: boolean): { readonly out: string; readonly told: Provenance } => {
    const set = createEngine({
      sources,
      entries: [{ template: "main", kind: "root" }],
      incremental: () => false,
      globals: { root: { resources: { type: "Stores" } }, component: {} },
      hostTypes: {
        Stores: { members: { routes: "Store" } },
        Store: { methods: { List: { signature: "func() []any", reads: true } } },
      },
      provenance,
    });
    assert.equal(
      set.problems.map((problem) => problem.text),
      [],
    );
    const told = new Provenance(set.pieces);
    const store = hostObject("Store", { List: () => routes });
    let out = "";
    const run = set.start("main", {
      globals: { resources: hostObject("Stores", {}, { routes: store }) },
      sink: { text: (chunk) => void (out += chunk), mount: () => undefined },
      due: () => false,
      ...(provenance && { provenance: told }),
    });
    runSync(run);
    return { out, told };
  };
  const { out, told } = made(true);
  const plain = made(false).out;
  const lines = told.linesOf(out);
  assert.is(lines.map(({ text }) => text).join("\n"), plain.replace(/\n$/, ""), "the same text as without");
  return {
    plain,
    lines: lines.map(({ text, origin }) => {
      const object = origin?.object;
      const place = origin === undefined ? "" : `${origin.template}:${origin.line}:${origin.column}`;
      return `${text} | ${place} | ${object === undefined ? "" : `${object.alias} ${object.namespace}/${object.name}`}`;
    }),
  };
}

test("each line names the line of the template that made it, and the loop's object", () => {
  const { lines } = explained({
    main: [
      "global",
      "  maxconn 1",
      "{% for _, route := range resources.routes.List() %}",
      "backend {{ route.metadata.name }}",
      "  {% for _, path := range route.paths %}",
      "  path {{ path }}",
      "  {% end %}",
      "{% end %}",
      "listen {{ 1 + 1 }}",
    ].join("\n"),
  });
  assert.equal(
    lines.filter((line) => !line.startsWith(" |")),
    [
      "global | main:1:1 | ",
      "  maxconn 1 | main:2:3 | ",
      "backend one | main:4:1 | routes a/one",
      "  path / | main:6:3 | routes a/one",
      "  path /x | main:6:3 | routes a/one",
      "backend two | main:4:1 | routes b/two",
      "  path /y | main:6:3 | routes b/two",
      "listen 2 | main:9:1 | ",
    ],
  );
});

test("lines of macros, imported files, rendered and inherited snippets are told of where they are written", () => {
  const { lines } = explained({
    main: '{% import "lib" for Server -%}\n{% for r in resources.routes.List() -%}\n{{ Server(r) }}\n{% end -%}\n{{ render "part" }}!\n{{ render "inner" inherit_context }}',
    lib: "{% macro Server(r any) string -%}\n{%- if true %}server {{ r.metadata.name }}\n  weight 1{% return %}{% end -%}\n{%- end %}",
    part: "\npart",
    inner: "{% x := 1 -%}\ninner {{ x }}",
  });
  assert.equal(
    lines.filter((line) => !line.startsWith(" |")),
    [
      "server one | lib:2:15 | routes a/one",
      "  weight 1 | lib:3:3 | routes a/one",
      "server two | lib:2:15 | routes b/two",
      "  weight 1 | lib:3:3 | routes b/two",
      "part! | part:2:1 | ",
      "inner 1 | inner:2:1 | ",
    ],
  );
});

test("text that a template takes and changes is as without; it is told of where it is shown", () => {
  const { lines } = explained({
    main: '{% macro M %}abc{% end %}{{ len(M()) }}\n{{ M() | toUpper() }}\n{% show itea + "!"; using %}in\nner{% end %}\n{% var s = render "part" %}{{ len(s) }} {{ s }}',
    part: "x\ny",
  });
  assert.equal(lines, [
    "3 | main:1:32 | ",
    "ABC | main:2:17 | ",
    "in | main:3:14 | ",
    "ner! | main:3:14 | ",
    "3 x | main:5:34 | ",
    "y | part:2:1 | ",
  ]);
});

test("a set that is not compiled for it has none of it in its code", () => {
  const sources = [{ name: "main", text: "a {{ 1 }}{% macro M %}b{% end %}{{ M() }}" }];
  const options = {
    sources,
    entries: [{ template: "main", kind: "root" as const }],
    incremental: () => false,
    globals: { root: {}, component: {} },
    hostTypes: {},
  };
  const code = (provenance: boolean): string =>
    createEngine({ ...options, provenance })
      .emitted()
      .map(({ text }) => text)
      .join("");
  assert.not.match(code(false), /\$\.(made|told|noted|loops|turn|leave)/);
  assert.match(code(true), /\$\.made/);
});

test.run();
