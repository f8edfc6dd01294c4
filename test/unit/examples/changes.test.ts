/** What each change of the cluster asks of a HAProxy that runs the ingress example: nothing, the runtime, or a reload. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { agentOpsBeside } from "../../../src/agent/capabilities.ts";
import { diffPlans, type OpKind, type PlanDiff } from "../../../src/plan/index.ts";
import { ingress, service, slice, tlsSecret } from "./objects.ts";
import { Example, objectsOf } from "./rendering.ts";

const secrets = objectsOf("ingress/demo.yaml").filter((object) => object.kind === "Secret");
const demoSecret = secrets.find((secret) => secret.metadata.name === "demo-tls")!;
const standard = secrets.find((secret) => secret.metadata.name === "default-certificate")!;
const text = (secret: object, key: string): string =>
  Buffer.from((secret as { data: Record<string, string> }).data[key]!, "base64").toString();
const certificate = (name: string, from: object = demoSecret): object =>
  tlsSecret(name, text(from, "tls.crt"), text(from, "tls.key"));
const tls = (name: string, host: string, secretName: string): object =>
  ingress(name, host, [{}], { tls: [{ hosts: [host], secretName }] });

const cluster = (): Example =>
  new Example("ingress/config.yaml").put(
    standard,
    certificate("m-tls"),
    tls("m", "m.example", "m-tls"),
    service("web"),
    slice("web", [{ address: "10.0.0.1", pod: "a" }]),
  );

async function change(live: Example, version: string, ...objects: object[]): Promise<PlanDiff> {
  const before = (await live.render()).outcome.result!.plan;
  live.put(...objects);
  const after = (await live.render()).outcome.result!.plan;
  return diffPlans(after, before, {
    haproxyVersion: version,
    agentOps: new Set(agentOpsBeside(version)),
  });
}

const test = suite("changes of the ingress example");

const newHost = (): object[] => [
  ingress("z", "z.example", [{ service: "other" }]),
  service("other"),
  slice("other", [{ address: "10.0.0.9", pod: "o" }]),
];

test("endpoints come, change and go at run time on every version", async () => {
  for (const version of ["3.0.11", "3.2.26", "3.4.7"]) {
    const live = cluster();
    const steps: readonly (readonly [object, OpKind])[] = [
      [
        slice("web", [
          { address: "10.0.0.1", pod: "a" },
          { address: "10.0.0.2", pod: "b" },
        ]),
        "server_add",
      ],
      [
        slice("web", [
          { address: "10.0.0.1", pod: "a", conditions: { ready: false, terminating: true } },
          { address: "10.0.0.2", pod: "b" },
        ]),
        "server_set_state",
      ],
      [slice("web", [{ address: "10.0.0.2", pod: "b" }]), "server_del"],
      [slice("web", [{ address: "10.0.0.3", pod: "b" }]), "server_set_addr"],
      [slice("web", []), "server_del"],
      [slice("web", [{ address: "10.0.0.4", pod: "c" }]), "server_add"],
    ];
    for (const [object, op] of steps) {
      const diff = await change(live, version, object);
      assert.is(diff.verdict, "runtime", `${version}: ${diff.reasons.join("; ")}`);
      assert.ok(
        diff.ops.some(({ kind }) => kind === op),
        `${op} is not in ${diff.ops.map(({ kind }) => kind).join(" ")}`,
      );
    }
  }
});

test("what does not concern an endpoint's traffic changes nothing", async () => {
  const live = cluster();
  const same = slice("web", [{ address: "10.0.0.1", pod: "a" }]);
  const touched = {
    ...same,
    metadata: { ...(same as { metadata: object }).metadata, resourceVersion: "2", managedFields: [{}] },
  };
  assert.is((await change(live, "3.4.7", touched)).verdict, "noop");
});

test("a new host on a known Service is a map entry on every version", async () => {
  for (const version of ["3.0.11", "3.4.7"]) {
    const diff = await change(cluster(), version, ingress("z", "z.example", [{}]));
    assert.is(diff.verdict, "runtime", diff.reasons.join("; "));
    assert.equal(
      diff.ops.map(({ kind, key }) => `${kind} ${key}`),
      ["map_add z.example/"],
    );
  }
});

test("a new host with a new backend takes no reload on 3.4, and one on 3.2", async () => {
  const diff = await change(cluster(), "3.4.7", ...newHost());
  assert.is(diff.verdict, "runtime", diff.reasons.join("; "));
  assert.equal(
    diff.ops.map(({ kind }) => kind).filter((kind) => /^(backend|map)/.test(kind)),
    ["backend_add", "backend_publish", "map_add"],
  );
  assert.is((await change(cluster(), "3.2.26", ...newHost())).verdict, "reload");
});

test("the very first backend takes no reload on 3.4: its profile is there before", async () => {
  const diff = await change(new Example("ingress/config.yaml"), "3.4.7", ...newHost());
  assert.is(diff.verdict, "runtime", diff.reasons.join("; "));
});

test("a new host with a certificate of its own takes no reload on 3.4, wherever its name sorts", async () => {
  for (const name of ["a", "z"]) {
    const objects = [certificate(`${name}-tls`), tls(name, `${name}.example`, `${name}-tls`)];
    const diff = await change(cluster(), "3.4.7", ...objects);
    assert.is(diff.verdict, "runtime", diff.reasons.join("; "));
    const kinds = diff.ops.map(({ kind }) => kind);
    assert.ok(
      kinds.indexOf("cert_new") >= 0 && kinds.indexOf("cert_new") < kinds.indexOf("crtlist_add"),
      kinds.join(" "),
    );
  }
});

test("a renewed certificate, the default one too, takes no reload on any version", async () => {
  for (const version of ["3.0.11", "3.4.7"]) {
    const renewed = await change(cluster(), version, certificate("m-tls", standard));
    assert.is(renewed.verdict, "runtime", renewed.reasons.join("; "));
    assert.equal(
      renewed.ops.map(({ kind, path }) => `${kind} ${path}`),
      ["cert_set certs/default_m-tls.pem"],
    );
    const other = await change(cluster(), version, certificate("default-certificate"));
    assert.equal(
      other.ops.map(({ kind, path }) => `${kind} ${path}`),
      ["cert_set certs/default.pem"],
    );
  }
});

const timed = (timeout: string): object => {
  const web = service("web") as { metadata: object };
  return { ...web, metadata: { ...web.metadata, annotations: { "haproxy-haptic.org/timeout-server": timeout } } };
};

test("a Service's timeout is a map entry on every version, and a bad one changes nothing", async () => {
  const key = "default_web_80";
  for (const version of ["3.0.11", "3.2.26", "3.4.7"]) {
    const live = cluster();
    const entries = async (timeout: string): Promise<string[]> => {
      const diff = await change(live, version, timed(timeout));
      assert.is.not(diff.verdict, "reload", diff.reasons.join("; "));
      return diff.ops.map(({ kind, value }) => `${kind} ${value ?? ""}`);
    };
    assert.equal(await entries("5s"), ["map_add 5000"], key);
    assert.equal(await entries("250ms"), ["map_set 250"]);
    for (const bad of ["5 s", "0s", "5s\nx y", "9999999m"]) {
      const [first, ...rest] = await entries(bad);
      assert.equal([first, rest], ["map_del ", []], bad);
      const { events } = (await live.render()).outcome.result!;
      assert.ok(
        events.some(({ object, reason }) => object.kind === "Service" && reason === "InvalidTimeout"),
        bad,
      );
      assert.equal(await entries("250ms"), ["map_add 250"]);
    }
  }
});

test("a certificate comes for the first host, and goes, without a reload where there is no default one", async () => {
  const live = new Example("ingress/config.yaml").put(
    service("web"),
    slice("web", []),
    ingress("m", "m.example", [{}]),
  );
  const came = await change(live, "3.4.7", certificate("m-tls"), tls("m", "m.example", "m-tls"));
  assert.is(came.verdict, "runtime", came.reasons.join("; "));
  const gone = await change(live, "3.4.7", ingress("m", "m.example", [{}]));
  assert.is(gone.verdict, "runtime", gone.reasons.join("; "));
  assert.equal(gone.ops[0]?.kind, "crtlist_del");
});

test("a certificate that breaks and is mended takes no reload", async () => {
  const live = cluster();
  const broken = await change(live, "3.4.7", tlsSecret("m-tls", "rubbish", "rubbish"));
  assert.is(broken.verdict, "runtime", broken.reasons.join("; "));
  const mended = await change(live, "3.4.7", certificate("m-tls"));
  assert.is(mended.verdict, "runtime", mended.reasons.join("; "));
});

test.run();
