import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assemble, type HAProxyTemplateConfig, parseObjects, toTemplateSources } from "../../../src/config/index.ts";

const YAML = `# a comment
apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata:
  name: edge
  namespace: demo
spec:
  haproxyConfig:
    template: |  # the main one

      global
        daemon
  maps:
    host.map:
      template: "one line"
  templateSnippets:
    folded:
      template: >-
        a
        b
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
`;

const test = suite("objects in files");

test("each template's first line is known, whatever the style of its scalar", () => {
  const { objects, problems } = parseObjects(YAML, "edge.yaml");
  assert.equal(problems, []);
  assert.equal(
    objects.map(({ object, position }) => `${object.kind} ${position.file}:${position.line}`),
    ["HAProxyTemplateConfig edge.yaml:2", "ConfigMap edge.yaml:22"],
  );
  const lines = YAML.split("\n");
  const found = [...objects[0]!.templates].map(([field, { text, position }]) => [
    field,
    text.split("\n")[0],
    lines[position.line - 1],
  ]);
  assert.equal(found, [
    ["spec.haproxyConfig.template", "", ""],
    ['spec.maps["host.map"].template', "one line", '      template: "one line"'],
    ["spec.templateSnippets.folded.template", "a b", "        a"],
  ]);
});

test("a source names file and line only while the file still holds the same text", () => {
  const files = parseObjects(YAML, "edge.yaml").objects;
  const config = files[0]!.object as HAProxyTemplateConfig;
  const assembled = assemble(config);
  assert.ok(assembled.state === "assembled");
  const main = toTemplateSources(assembled, files)[0]!;
  assert.is(`${main.origin.file}:${main.origin.line}`, "edge.yaml:10");
  const edited = assemble({ ...config, spec: { ...config.spec, haproxyConfig: { template: "edited\n" } } });
  assert.ok(edited.state === "assembled");
  assert.is(toTemplateSources(edited, files)[0]!.origin.file, undefined);
});

test("broken YAML is a problem with file and line, and other documents are still read", () => {
  const { objects, problems } = parseObjects(`a: [1\n---\n${YAML}`, "x.yaml");
  assert.is(objects.length, 2);
  assert.is(problems.length > 0, true);
  assert.is(problems[0]!.position!.file, "x.yaml");
  assert.ok(problems[0]!.position!.line <= 2);
});

test("a key given twice is a problem, not a silent choice", () => {
  const { problems } = parseObjects("apiVersion: v1\nkind: A\nkind: B\nmetadata: {name: x}\n", "x.yaml");
  assert.is(problems[0]?.position?.line, 3);
});

test("a document that is no object is named by its line", () => {
  const { objects, problems } = parseObjects("---\n# nothing\n---\nfoo: 1\n", "x.yaml");
  assert.equal(objects, []);
  assert.equal(
    problems.map(({ message, position }) => `${position?.line} ${message.slice(0, 15)}`),
    ["4 the document is"],
  );
});

test("a list as kubectl prints it stands for its items", () => {
  const text = `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: A, metadata: {name: a}}
  - {apiVersion: v1, kind: B, metadata: {name: b}}
`;
  const { objects, problems } = parseObjects(text, "list.yaml");
  assert.equal(problems, []);
  assert.equal(
    objects.map(({ object }) => object.metadata.name),
    ["a", "b"],
  );
});

test("parameters of processors have places too", () => {
  const text = `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: {name: c}
spec:
  haproxyConfig:
    template: global
    postProcessing:
      - type: regex_replace
        params: {pattern: " +$", replace: ""}
      - type: template
        params:
          source: |
            {{ input }}
`;
  const { templates } = parseObjects(text, "c.yaml").objects[0]!;
  assert.is(templates.get("spec.haproxyConfig.postProcessing[0].params.pattern")?.position.line, 9);
  assert.equal(templates.get("spec.haproxyConfig.postProcessing[1].params.source"), {
    text: "{{ input }}\n",
    position: { file: "c.yaml", line: 13 },
  });
});

test.run();
