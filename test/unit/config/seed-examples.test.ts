// runner: open realm
// (Ajv compiles its schemas to code.)
import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import {
  type HAProxyTemplateConfig,
  type HAProxyTemplateConfigSpec,
  type HAProxyTemplateLibrary,
  judge,
  parseObjects,
  toTemplateSources,
} from "../../../src/config/index.ts";

const FOLDER = new URL("seed-examples/", import.meta.url);
const examples = readdirSync(FOLDER).sort();

/** What each example asks for that this version refuses; all others are accepted whole. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "05-watched-candidates.yaml": [
    "spec.watchedResources.tcproutes.apiVersions",
    "spec.watchedResources.tcproutes.optional",
  ],
  "11-bindings-template.yaml": ["spec.templateSnippets.routed.incremental.bindingsTemplate"],
  "12-resource-projection.yaml": [
    "spec.templateSnippets.selected-certificate.incremental.bindingsTemplate",
    "spec.templateSnippets.selected-certificate.incremental.effects",
    "spec.templateSnippets.selected-certificate.incremental.group",
    "spec.templateSnippets.selected-certificate.incremental.mode",
  ],
  "13-when-any-path-exists.yaml": ["spec.templateSnippets.routed.incremental.whenAnyPathExists"],
  "17-k8s-resources.yaml": ["spec.k8sResources.edge-service"],
  "18-create-only-fields.yaml": ["spec.k8sResources.cache"],
  "21-validators.yaml": ["spec.validators[0]"],
  "24-logging.yaml": ["spec.logging.level"],
};

const byNamespaceAndName = (resources: string) => ({
  apiVersion: "v1",
  resources,
  indexBy: ["metadata.namespace", "metadata.name"],
});

function minimal(fragment: object): HAProxyTemplateConfig {
  const own = fragment as Partial<HAProxyTemplateConfigSpec>;
  return {
    apiVersion: "haproxy-haptic.org/v1alpha1",
    kind: "HAProxyTemplateConfig",
    metadata: { name: "example", namespace: "default" },
    ...("status" in fragment ? { status: fragment.status as NonNullable<HAProxyTemplateConfig["status"]> } : {}),
    spec: {
      podSelector: { matchLabels: { app: "haproxy" } },
      haproxyConfig: { template: "global\n" },
      ...("status" in fragment ? {} : own),
      watchedResources: {
        ingresses: byNamespaceAndName("ingresses"),
        routes: byNamespaceAndName("routes"),
        certificates: byNamespaceAndName("secrets"),
        ...own.watchedResources,
      },
    },
  };
}

interface Crd {
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: object } }[] };
}

/** The CRD's schema as Ajv reads it; a key that the API server would prune counts as an error. */
function schemaOf(file: string): (value: unknown) => string {
  const crd = parse(readFileSync(new URL(`../../../crds/${file}.yaml`, import.meta.url), "utf8")) as Crd;
  const schema = closed(crd.spec.versions[0]!.schema.openAPIV3Schema as Schema, true);
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  return (value) => (validate(value) ? "" : JSON.stringify(validate.errors));
}

type Schema = Record<string, unknown> & {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema;
};

function closed(schema: Schema, root = false): Schema {
  const copy: Schema = { ...schema };
  if (schema.properties !== undefined) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [
        key,
        root && key === "metadata" ? value : closed(value),
      ]),
    );
    if (schema["x-kubernetes-preserve-unknown-fields"] !== true) Object.assign(copy, { additionalProperties: false });
  }
  if (schema.items !== undefined) copy.items = closed(schema.items);
  if (schema.additionalProperties !== undefined) copy.additionalProperties = closed(schema.additionalProperties);
  return copy;
}

const validators: Readonly<Record<string, (value: unknown) => string>> = {
  HAProxyTemplateConfig: schemaOf("haproxytemplateconfigs"),
  HAProxyTemplateLibrary: schemaOf("haproxytemplatelibraries"),
};

const test = suite("examples of the CRD reference");

test("there are 27 of them", () => {
  assert.is(examples.length, 27);
});

for (const name of examples) {
  test(`${name} fits its schema, loads, and is accepted or refused by name`, () => {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const whole = parse(text) as { kind?: string };
    const object = whole.kind === undefined ? minimal(whole) : parseObjects(text, name).objects[0]!.object;
    assert.is(validators[object.kind]!(object), "");

    const isLibrary = object.kind === "HAProxyTemplateLibrary";
    const config = isLibrary
      ? minimal({ libraryRefs: [{ name: object.metadata.name, revision: "base-43dc4467f7e88090" }] })
      : (object as HAProxyTemplateConfig);
    const libraries = isLibrary ? [object as HAProxyTemplateLibrary] : referred(config);
    const judged = judge(config, libraries);
    assert.ok("assembled" in judged, JSON.stringify(judged));
    const refused = judged.problems.map((problem) => `${problem.kind} ${problem.field}`);
    assert.equal(
      refused.sort(),
      (REFUSED[name] ?? []).map((field) => `notBuilt ${field}`),
    );
    assert.ok(toTemplateSources(judged.assembled).some((source) => source.name === "haproxy.cfg"));
  });
}

/** Empty libraries for the references of a configuration. */
function referred(config: HAProxyTemplateConfig): HAProxyTemplateLibrary[] {
  return (config.spec.libraryRefs ?? []).map(({ name, revision }) => ({
    apiVersion: "haproxy-haptic.org/v1alpha1",
    kind: "HAProxyTemplateLibrary",
    metadata: { name, namespace: "default" },
    spec: { revision },
  }));
}

test("a map's example keeps its `ordered: false`", () => {
  const fragment = parse(readFileSync(new URL("14-map.yaml", FOLDER), "utf8")) as object;
  const judged = judge(minimal(fragment));
  assert.ok("assembled" in judged);
  assert.is(judged.assembled.spec.maps?.["host.map"]?.ordered, false);
});

test.run();
