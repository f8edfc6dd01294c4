import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSchemaFiles } from "../../../../src/config/index.ts";
import { hostObject, readSchemas, TemplateFault } from "../../../../src/templating/index.ts";
import { compile, run } from "../engine.ts";

const listener = { type: "object", properties: { port: { type: "integer" }, hostname: { type: "string" } } };
const definition = {
  kind: "CustomResourceDefinition",
  spec: {
    group: "example.org",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer" },
                  "max-conn": { type: "integer" },
                  ratio: { type: "number" },
                  paused: { type: "boolean" },
                  class: { type: "string" },
                  port: { "x-kubernetes-int-or-string": true },
                  listeners: { type: "array", items: listener },
                  template: { type: "object", properties: { note: { type: "string" } } },
                  labels: { type: "object", additionalProperties: { type: "string" } },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        },
      },
    ],
  },
};
const openApi = {
  openapi: "3.0.0",
  paths: {
    "/apis/example.org/v1/namespaces/{namespace}/policies": {
      get: { "x-kubernetes-group-version-kind": { group: "example.org", version: "v1", kind: "Policy" } },
    },
  },
  components: {
    schemas: {
      "org.example.v1.Policy": {
        type: "object",
        properties: {
          spec: { allOf: [{ $ref: "#/components/schemas/org.example.v1.PolicySpec" }], default: {} },
        },
        "x-kubernetes-group-version-kind": [{ group: "example.org", version: "v1", kind: "Policy" }],
      },
      "org.example.v1.PolicySpec": {
        type: "object",
        properties: {
          rule: { $ref: "#/components/schemas/org.example.v1.PolicySpec" },
          weight: { type: "integer" },
        },
      },
    },
  },
};

const schemas = readSchemas([definition, openApi, { nothing: true }]);
const widgets = [
  {
    apiVersion: "example.org/v1",
    kind: "Widget",
    metadata: { name: "a", labels: { team: "x" } },
    spec: {
      size: 0,
      "max-conn": 0,
      listeners: [{ port: 80 }, { port: 81, hostname: "h" }],
      free: { any: { thing: 1 } },
    },
  },
];
const resources = new Map([
  ["widgets", schemas.resource("example.org/v1", "widgets", "widgets")],
  ["policies", schemas.resource("example.org/v1", "policies", "policies")],
  ["plain", undefined],
]);
const store = (type: string, objects: readonly unknown[]): unknown => hostObject(type, { List: () => objects });
const setup = {
  resources,
  hostTypes: {
    Stores: { members: { widgets: "Widgets", policies: "Policies", plain: "Store" } },
    Store: { methods: { List: "func() []any" } },
    Widgets: { methods: { List: "func() []resources.widgets.T" } },
    Policies: { methods: { List: "func() []resources.policies.T" } },
  },
  globals: { resources: { type: "Stores" }, things: { type: "any" } },
  data: {
    things: widgets,
    resources: hostObject(
      "Stores",
      {},
      {
        widgets: store("Widgets", widgets),
        policies: store("Policies", []),
        plain: store("Store", widgets),
      },
    ),
  },
};

const shown = (template: string): string => {
  const set = compile(template, setup);
  assert.equal(
    set.problems.map((problem) => problem.text),
    [],
  );
  return run(set, setup);
};
const refused = (template: string): string[] =>
  compile(template, setup).problems.map(({ message, hint }) => (hint === undefined ? message : `${message}; ${hint}`));
const each = (body: string): string => `{% for _, w := range widgets %}${body}{% end %}`;

const outputs: readonly (readonly [what: string, template: string, output: string])[] = [
  ["the bare alias is the list of its objects", "{{ len(widgets) }}{{ len(plain) }}", "11"],
  [
    "JSON names and Go-style names name the same fields",
    each("{{ w.spec.size }}{{ w.Spec.Size }} {{ w.Metadata.Name }}"),
    "00 a",
  ],
  ["a character that is none of a name is _ in the Go-style name", each("{{ w.spec.Max_conn }}"), "0"],
  [
    "an absent field gives its zero value",
    each("[{{ w.spec.class }}][{{ w.spec.ratio }}][{{ w.spec.paused }}]"),
    "[][0][false]",
  ],
  ["an absent object gives the zero values of its fields", each("[{{ w.spec.template.note }}]"), "[]"],
  [
    "lists and maps in objects have types",
    each("{% for l in w.spec.listeners %}{{ l.Port + 1 }}{{ l.hostname }} {% end %}{{ w.metadata.labels.team }}"),
    "81 82h x",
  ],
  ["what a schema leaves open is any", each('{{ w.spec.free.any.thing }}{{ w.spec.port | fallback("-") }}'), "1-"],
  [
    "dig takes an optional zero value for nil, and keeps a required one",
    each('{{ dig(w, "spec", "max-conn") | fallback("-") }}{{ dig(w, "spec", "size") | fallback("-") }}'),
    "-0",
  ],
  ["dig takes Go-style names where they are known", each('{{ dig(w, "Spec", "Listeners") | toSlice() | len() }}'), "2"],
  [
    "an object whose members are all zero is false",
    each("{% if w.spec %}s{% end %}{% if w.spec.template %}t{% end %}{% if w.spec.template == nil %}n{% end %}"),
    "sn",
  ],
  [
    "a type assertion knows a resource by its kind",
    "{% for w in things %}{% if v, ok := w.(*resources.widgets.T); ok %}{{ v.spec.size }}{% end %}{% if _, ok := w.(*resources.policies.T); ok %}p{% end %}{% end %}",
    "0",
  ],
  [
    "a type switch knows a resource by its kind",
    "{% for w in things %}{% switch v := w.(type) %}{% case *resources.policies.T %}p{% case *resources.widgets.T %}{{ v.metadata.name }}{% end %}{% end %}",
    "a",
  ],
  [
    "a macro takes typed parameters, nested types too",
    "{% macro M(w *resources.widgets.T, l resources.widgets.SpecListeners) %}{{ w.metadata.name }}{{ l.port }}{% end %}" +
      each("{{ M(w, w.spec.listeners[1]) }}"),
    "a81",
  ],
  [
    "a typed object goes where a map is wanted",
    "{% macro M(m map[string]any) %}{{ len(m) }}{% end %}" + each("{{ M(w.spec) }}"),
    "4",
  ],
  ["without a schema objects are any", "{% for p in plain %}[{{ p.spec.nothing.there }}]{% end %}", "[]"],
  [
    "a schema may refer to itself",
    "{% for p in policies %}{{ p.spec.rule.rule.rule.weight }}{% end %}{{ len(policies) }}",
    "0",
  ],
  ["a local name hides an alias", "{% var widgets = 5 %}{{ widgets }}", "5"],
];
for (const [what, template, output] of outputs) test(what, () => assert.is(shown(template), output));

const refusals: readonly (readonly [template: string, problem: string])[] = [
  [each("{{ w.spec.sise }}"), 'resources.widgets.Spec has no field sise; did you mean "size"?'],
  [each("{{ w.metadata.lables.x }}"), 'resources.widgets.Metadata has no field lables; did you mean "labels"?'],
  [each('{{ w["specs"] }}'), 'resources.widgets.T has no field specs; did you mean "spec"?'],
  [
    "{% macro M(l resources.widgets.SpecListeners) %}{{ l.prt }}{% end %}",
    'resources.widgets.SpecListeners has no field prt; did you mean "port"?',
  ],
  [each("{{ w.spec.template.xyz }}"), "resources.widgets.SpecTemplate has no field xyz; it has note"],
  [
    each('{{ w.spec.size - "x" }}'),
    "invalid operation: mismatched types int and untyped string for operator -; convert with toint()",
  ],
  [each("{{ w }}"), "cannot show value of type resources.widgets.T; use toJSON() or show its members"],
  [
    each("{% w.spec.size = 5 %}"),
    "cannot assign to a member of resources.widgets.Spec; watched objects stay as they are; copy with merge()",
  ],
  [
    each("{{ toUpper(w.spec.size) }}"),
    "cannot use value (type int) as type string in argument to toUpper; convert with tostring()",
  ],
  ["{% var x resources.widgets.Nope %}", "undefined: resources.widgets.Nope; this is not a type"],
  ["{% var x resources.nope.T %}", "undefined: resources.nope.T; this is not a type"],
  ["{{ len(widgts) }}", 'undefined: widgts; did you mean "widgets"?'],
  [
    "{% macro P(p *resources.policies.T) %}{% end %}" + each("{{ P(w) }}"),
    "cannot use value (type resources.widgets.T) as type resources.policies.T in argument to P; convert it: toint(), tofloat(), tostring(), toSlice()",
  ],
];
for (const [template, problem] of refusals)
  test(`${template} is refused: ${problem}`, () => assert.equal(refused(template), [problem]));

test("a value that is not what its schema says ends the run with its place", () => {
  const wrong = { ...widgets[0]!, spec: { size: { a: 1 } } };
  const data = { ...setup.data, resources: hostObject("Stores", {}, { widgets: store("Widgets", [wrong]) }) };
  const set = compile(each("{{ w.spec.size }}"), setup);
  assert.throws(() => run(set, { ...setup, data }), /main:1:\d+: cannot use a value of type map\[string\]any as int/);
});

test("documents without a schema are told", () => {
  assert.equal(schemas.unused, [2]);
});

test("a resource without schema, or of another version, has no type", () => {
  assert.is(schemas.resource("example.org/v2", "widgets", "w"), undefined);
  assert.is(schemas.resource("v1", "pods", "pods"), undefined);
});

test("definitions in files are found", () => {
  const { documents, problems, files } = loadSchemaFiles([new URL("../../../../crds", import.meta.url).pathname]);
  assert.equal(problems, []);
  assert.is(documents.length, files.length);
  const own = readSchemas(documents);
  const config = own.resource("haproxy-haptic.org/v1alpha1", "haproxytemplateconfigs", "configs");
  assert.is(config?.field("Spec")?.json, "spec");
  assert.is(config?.nested("SpecWatchedResources")?.field("indexBy")?.type.kind, "slice");
});

test("a file that cannot be read is a problem, not a fault", () => {
  const { problems } = loadSchemaFiles(["/nonexistent.yaml"]);
  assert.is(problems.length, 1);
  assert.not.instance(problems[0], TemplateFault);
});

test.run();
