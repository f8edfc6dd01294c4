import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { withPlaces } from "../../../src/devcluster/places.ts";

const folder = mkdtempSync(join(tmpdir(), "haptic-places-"));
test.after(() => rmSync(folder, { recursive: true }));
writeFileSync(
  join(folder, "config.yaml"),
  `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: {name: edge}
spec:
  haproxyConfig:
    template: |
      global
      {{ nmae }}
  templateSnippets:
    "a b": {template: "{{ other }}"}
`,
);

test("a problem of a template in a file is told with the file and its line there", () => {
  const message = `haproxy.cfg:2:4: undefined: nmae
  {{ nmae }}
     ^
  in HAProxyTemplateConfig default/edge spec.haproxyConfig.template

a b:1:4: undefined: other
  from haproxy.cfg:1:1
  in HAProxyTemplateConfig default/edge spec.templateSnippets.a b.template`;
  const told = withPlaces(message, folder);
  const places = [...told.matchAll(/^ {2}in .*$/gm)].map(([line]) => line);
  assert.is(places[0], `  in HAProxyTemplateConfig default/edge spec.haproxyConfig.template (${folder}/config.yaml:8)`);
  assert.is(told.split("\n").length, message.split("\n").length);
});

test("what is in no file stays as it is", () => {
  for (const message of [
    "no problem of a template",
    "x:1:1: y\n  in HAProxyTemplateConfig other/edge spec.haproxyConfig.template",
    "x:1:1: y\n  in HAProxyTemplateConfig default/edge spec.maps.none.template",
  ])
    assert.is(withPlaces(message, folder), message);
});

test.run();
