import { suite } from "uvu";
import * as assert from "uvu/assert";
import { slice } from "./objects.ts";
import { closeCheckers, Example, installedVersions, objectsOf, verdict } from "./rendering.ts";

const example = (): Example => new Example("custom-resource/config.yaml");
const route = (name: string, spec: object): object => ({
  apiVersion: "demo.example.com/v1",
  kind: "Route",
  metadata: { name, namespace: "default", uid: `uid-${name}` },
  spec,
});
const demo = (): object[] => objectsOf("custom-resource/demo.yaml").filter((object) => object.kind === "Route");

const test = suite("custom resource example");
test.after(closeCheckers);

for (const version of installedVersions) {
  test(`HAProxy ${version} accepts it, empty and with its demonstration`, async () => {
    assert.is(await verdict(await example().render(), version), "");
    assert.is(
      await verdict(
        await example()
          .put(...demo(), slice("shop", [{ address: "127.0.0.9" }]))
          .render(),
        version,
      ),
      "",
    );
  });
}

test("each Route is a map entry and a backend, to plain addresses and to the ready endpoints of a Service", async () => {
  const rendered = await example()
    .put(...demo(), slice("shop", [{ address: "10.0.0.1" }, { address: "10.0.0.2", conditions: { ready: false } }]))
    .render();
  assert.equal(rendered.map("routes.map"), [
    "shop.localhost/legacy/ route_default_legacy",
    "shop.localhost/ route_default_shop",
  ]);
  assert.equal(rendered.backend("route_default_legacy"), ["server 127.0.0.1_9090 127.0.0.1:9090"]);
  assert.equal(rendered.backend("route_default_shop"), ["server 10.0.0.1_8080 10.0.0.1:8080"]);
  assert.is(rendered.outcome.result!.plan.backends.get("route_default_shop")!.record.shape, "dynamic");
});

test("a Route that is not well-formed gets an Event and harms no other", async () => {
  const rendered = await example()
    .put(route("good", { host: "good.example", targets: [{ address: "10.0.0.1", port: 80 }] }))
    .put(route("host", { host: "bad host\n", targets: [] }), route("path", { host: "x.example", path: "nope" }))
    .put(
      route("target", {
        host: "y.example",
        targets: [
          { address: "evil\n", port: 80 },
          { address: "10.0.0.300", port: 80 },
        ],
      }),
    )
    .render();
  assert.equal(rendered.map("routes.map"), ["good.example/ route_default_good", "y.example/ route_default_target"]);
  assert.equal(rendered.backend("route_default_target"), []);
  assert.equal(
    rendered.events.map((event) => event.split(":")[0] ?? "").toSorted((a, b) => a.localeCompare(b)),
    [
      "InvalidRoute Route default/host",
      "InvalidRoute Route default/path",
      "InvalidTarget Route default/target",
      "InvalidTarget Route default/target",
    ],
  );
});

test.run();
