/** Objects whose fields are missing, null or of another type: they may lose their own route, and nothing else happens. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ingress, service, slice } from "./objects.ts";
import { Example, objectsOf } from "./rendering.ts";

const VALUES: readonly unknown[] = [undefined, null, "", "text", 0, -1, 1e9, true, [], ["x"], [null], {}, { x: 1 }];

/** Every way to put one of VALUES in the place of one field, two levels of lists and all maps deep. */
function* mutations(value: unknown): Generator {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const withMember = (replacement: unknown): unknown => {
      if (Array.isArray(value)) return value.with(Number(key), replacement);
      const { [key]: _, ...rest } = value as Record<string, unknown>;
      return replacement === undefined ? rest : { ...rest, [key]: replacement };
    };
    for (const replacement of VALUES) yield withMember(replacement);
    for (const inner of mutations(member)) yield withMember(inner);
  }
}

const bystander = ingress("bystander", "bystander.example", [{ service: "other" }]);
const others = [service("other"), slice("other", [{ address: "10.9.9.9", pod: "other" }])];
const demo = objectsOf("ingress/demo.yaml");

const test = suite("malformed objects");

for (const object of [
  ...demo,
  { ...service("web"), spec: { ports: [{ name: "http", port: 80 }], type: "ClusterIP" } },
  slice(
    "web",
    [{ address: "10.0.0.1", pod: "a", conditions: { ready: true, serving: true, terminating: false } }],
    [{ name: "http", port: 8080 }],
  ),
] as readonly { kind: string; metadata: { name: string; namespace?: string } }[]) {
  test(`whatever a field of ${object.kind} ${object.metadata.name} holds, the others are served`, async () => {
    const live = new Example("ingress/config.yaml").put(...demo, ...others, bystander);
    const { name, namespace } = object.metadata;
    const identity = namespace === undefined ? { name } : { name, namespace };
    for (const part of ["spec", "data", "endpoints", "ports", "metadata"]) {
      for (const mutated of mutations((object as unknown as Record<string, unknown>)[part])) {
        const whole = mutated as Record<string, unknown>;
        // Name and namespace are the object's identity; an object without them does not reach a store.
        const named = part === "metadata" ? { ...whole, ...identity } : mutated;
        live.put({ ...object, [part]: named });
        const rendered = await live.render();
        const shown = JSON.stringify(named);
        // A value of a type that no API server lets through ends the component of its object, and of no other.
        for (const fault of rendered.outcome.isolated) assert.is(fault.id, "default/demo", shown);
        assert.ok(rendered.map("path-prefix.map").includes("bystander.example/ default_other_80"), shown);
        assert.equal(
          rendered.backend("default_other_80"),
          ["guid be:default:other:80", "server other 10.9.9.9:8080"],
          shown,
        );
      }
    }
  });
}

test.run();
