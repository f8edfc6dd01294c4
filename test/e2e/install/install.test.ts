/**
 * The chart in a real cluster, with real helm and real pods of the image that is built here: install, traffic, upgrades, pods that
 * go under load, roll-back, uninstall. `npm run test:install` asks for 50,000 HTTP/1.1 requests in each step; CI for fewer, and leaves
 * out what takes longest.
 */
// runner: limit 3600 s
import { readFile } from "node:fs/promises";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { buildImage, provideNode, realNode, type RealNode } from "../../parts/real-node.ts";
import { needing } from "../../support/skip.ts";
import { type LoadCounts, underLoad } from "./load.ts";
import { foreignKinds, variants } from "./variants.ts";

/** HTTP/1.1 requests in each step; given, every step is done. */
const asked = process.env["HAPTIC_INSTALL_REQUESTS"];
const whole = asked !== undefined;
const LEAST = Number(asked ?? 2_000);
const test = needing(base, (await provideNode())?.reason);
const later = whole ? test : needing(base, "`npm run test:install` does this: it takes minutes");

const repository = resolve(import.meta.dirname, "../../..");
const chart = join(repository, "charts/haptic");
const NAMESPACE = "haptic-system";
const HOST = "web.example.com";

const folder = mkdtempSync(join(tmpdir(), "haptic-install-"));
const values = join(folder, "values.yaml");
let node: RealNode;
let address = "";

const kubectl = (...args: readonly string[]): Promise<string> => node.kubectl("-n", NAMESPACE, ...args);
const helm = (...args: readonly string[]): Promise<string> =>
  node.helm(args[0]!, "haptic", ...args.slice(1), "--namespace", NAMESPACE, "--wait", "--timeout", "300s");
const upgrade = (...sets: readonly string[]): Promise<string> =>
  helm("upgrade", chart, "-f", values, ...sets.flatMap((set) => ["--set", set]));
/** Names of the pods of a component that are not going. */
const podsOf = async (component: string): Promise<string[]> => {
  const list = await kubectl("get", "pods", `--selector=app.kubernetes.io/component=${component}`, "--output=json");
  const { items } = JSON.parse(list) as { items: { metadata: { name: string; deletionTimestamp?: string } }[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
};
const answer = (path: string): Promise<string> =>
  node.exec(["curl", "-s", "-m", "10", "-H", `Host: ${HOST}`, `http://${address}${path}`]);

async function until(what: string, condition: () => Promise<boolean>, seconds = 120): Promise<void> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((next) => setTimeout(next, 250));
  }
}

const load = (happens: () => Promise<void>): Promise<LoadCounts> =>
  underLoad(node, { address, host: HOST, pauseMs: whole ? 2 : 10, least: LEAST }, happens);

function judge({ h1, h2 }: LoadCounts): void {
  // A note is shown by the runner.
  process.stdout.write(
    `\n  ${whole ? "note: " : ""}HTTP/1.1: ${h1.requests} requests, ${h1.failed} failed; h2: ${h2.requests}, ${h2.failed} failed, ${h2.repeated} refused and repeated\n`,
  );
  assert.is(h1.failed, 0, h1.failures.join("\n"));
  assert.is(h2.failed, 0, h2.failures.join("\n"));
  assert.ok(h1.requests >= LEAST);
}

test.before(async () => {
  const image = await buildImage(folder);
  node = await realNode([image.archive]);
  writeFileSync(
    values,
    `image: {repository: localhost/haptic, tag: test, pullPolicy: Never}
haproxy:
  service: {type: NodePort}
  drain: {quietPeriod: 2s}
`,
  );
  await node.exec(["kubectl", "apply", "-f", "-"], await readFile(join(import.meta.dirname, "web.yaml"), "utf8"));
});

test.after(async () => {
  await node?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("helm installs it into a fresh cluster, and its pods serve an Ingress", async () => {
  await node.helm("lint", "--strict", chart, "-f", values);
  await helm("install", chart, "--create-namespace", "-f", values);
  address = (await kubectl("get", "service", "haptic", "--output=jsonpath={.spec.clusterIP}")).trim();
  await node.kubectl("rollout", "status", "deployment/web", "--timeout=120s");
  await until("the Ingress is served", async () => (await answer("/").catch(() => "")) === "hello\n");
  const tls = await node.exec(["curl", "-sk", "-m", "10", "--connect-to", `::${address}:443`, `https://${HOST}/`]);
  assert.is(tls, "hello\n");
});

test("Every object is shown with useful columns, and can be waited for", async () => {
  await kubectl("wait", "haproxytemplateconfig/haptic", "--for=condition=Validated", "--timeout=60s");
  await until("the configuration is published", async () => (await kubectl("get", "hpcfg", "-o", "name")) !== "");
  const shown = async (kind: string): Promise<string> => kubectl("get", kind);
  assert.match(await shown("haproxytemplateconfigs"), /NAME +STATUS +AGE\nhaptic +Valid /);
  assert.match(await shown("haproxycfgs"), /NAME +READY .*\nhaptic-haproxycfg +/);
  const files = "haproxymapfiles,haproxygeneralfiles,haproxycrtlistfiles";
  await kubectl("wait", files, "--all", "--for=condition=Ready", "--timeout=60s");
  assert.match(await shown("haproxymapfiles"), /path-prefix\.map +maps\/path-prefix\.map +\d+ +True /);
  assert.match(await shown("haproxygeneralfiles"), /404\.http +general\/404\.http +\d+ +True /);
  assert.match(await shown("haproxycrtlistfiles"), /certificates\.list +general\/certificates\.list +\d+ +True /);
  assert.match(await kubectl("get", "haproxymapfiles", "-o", "wide"), /2 of 2 HAProxy pods run it +sha256:/);
  await kubectl("wait", "haproxycfg/haptic-haproxycfg", "--for=condition=Synced", "--timeout=60s");
});

test("No container runs as root, writes its root file system or holds a capability", async () => {
  const pods = JSON.parse(await kubectl("get", "pods", "--output=json")) as { items: { spec: PodSpec }[] };
  assert.is(pods.items.length, 4);
  for (const { spec } of pods.items) {
    assert.is(spec.securityContext.runAsNonRoot, true);
    for (const { securityContext } of [...(spec.initContainers ?? []), ...spec.containers]) {
      assert.is(securityContext.readOnlyRootFilesystem, true);
      assert.is(securityContext.allowPrivilegeEscalation, false);
      assert.equal(securityContext.capabilities.drop, ["ALL"]);
    }
  }
  // The namespace refuses whatever is less than restricted.
  await node.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted");
});

interface PodSpec {
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}
interface Container {
  readonly securityContext: {
    readonly readOnlyRootFilesystem: boolean;
    readonly allowPrivilegeEscalation: boolean;
    readonly capabilities: { readonly drop: readonly string[] };
  };
}

test("The agent tells from inside its pod what it holds and runs", async () => {
  const [pod] = await podsOf("loadbalancer");
  const ask = (verb: string): Promise<string> => kubectl("exec", pod!, "-c", "agent", "--", "haptic", "agent", verb);
  assert.equal(JSON.parse(await ask("health")), { ok: true, ready: true });
  const state = JSON.parse(await ask("state")) as { haproxy: { version: string }; files: object };
  assert.match(state.haproxy.version, /^3\.4/);
  assert.ok(Object.keys(state.files).includes("haproxy.cfg"));
});

test("Kinds of other projects can be had", async () => {
  const crds = foreignKinds.map(({ group, kind, version }) => {
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural, kind },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    };
  });
  await node.exec(["kubectl", "create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: crds }));
  await node.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
});

for (const { name, sets } of variants) {
  test(`The API server takes what the chart makes with ${name}`, async () => {
    const args = sets.flatMap((set) => ["--set", set]);
    const manifest = await node.helm("template", "other", chart, "--namespace", NAMESPACE, "-f", values, ...args);
    await node.exec(
      ["kubectl", "apply", "--dry-run=server", "--validate=strict", "-n", NAMESPACE, "-f", "-"],
      manifest,
    );
  });
}

test("Unknown and wrong values are refused by name", async () => {
  const refused = async (set: string): Promise<string> => {
    try {
      await node.helm("template", "other", chart, "-f", values, "--set", set);
    } catch (error) {
      return String(error);
    }
    throw new Error(`${set} was taken`);
  };
  assert.match(await refused("haproxy.replica=3"), "replica");
  assert.match(await refused("haproxy.kind=StatefulSet"), "kind");
  assert.match(await refused("controller.logLevel=loud"), "logLevel");
  assert.match(await refused("image.repository="), "repository that you pushed the image to");
});

test("helm upgrade changes a template under load: in force, no request fails", async () => {
  const page = `HTTP/1.1 404 Not Found\nContent-Type: text/plain\n\nnothing here, says the upgrade\n`;
  const overlay = join(folder, "page.yaml");
  writeFileSync(overlay, JSON.stringify({ config: { spec: { files: { "404.http": { template: page } } } } }));
  const counts = await load(async () => {
    await helm("upgrade", chart, "-f", values, "-f", overlay);
    await until("the new page is served", async () =>
      (await node.exec(["curl", "-s", "-m", "10", "-H", "Host: unknown", `http://${address}/`])).includes(
        "the upgrade",
      ),
    );
  });
  judge(counts);
});

test("helm rollback brings the former template back", async () => {
  await node.helm("rollback", "haptic", "--namespace", NAMESPACE, "--wait", "--timeout", "120s");
  await until("the former page is served", async () =>
    (await node.exec(["curl", "-s", "-m", "10", "-H", "Host: unknown", `http://${address}/`])).includes("No route"),
  );
});

test("An upgrade keeps the certificates between controller and agents", async () => {
  const read = (): Promise<string> =>
    kubectl("get", "secret", "haptic-agent-tls", "haptic-controller-tls", "-o", "jsonpath={.items[*].data}");
  const before = await read();
  await upgrade();
  assert.is(await read(), before);
});

test("CRDs of a former version are brought up to date as the page says", async () => {
  const columns = (): Promise<string> => kubectl("get", "haproxymapfiles", "-o", "wide");
  const path = "/spec/versions/0/additionalPrinterColumns";
  await node.kubectl(
    "patch",
    "crd/haproxymapfiles.haproxy-haptic.org",
    "--type=json",
    "-p",
    JSON.stringify([{ op: "remove", path }]),
  );
  await until("the columns are gone", async () => !(await columns()).includes("CHECKSUM"));
  await upgrade();
  assert.not.match(await columns(), "CHECKSUM", "helm leaves CRDs as they are");
  const crds = await node.helm("show", "crds", chart);
  await node.exec(["kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-"], crds);
  await until("the columns are there", async () => (await columns()).includes("CHECKSUM"));
});

test("A HAProxy pod is deleted under load: no request fails, and it is gone long before its grace period", async () => {
  const counts = await load(async () => {
    const [victim] = await podsOf("loadbalancer");
    await kubectl("delete", "pod", victim!, "--wait=true", "--timeout=100s");
    await kubectl("rollout", "status", "deployment/haptic-haproxy", "--timeout=120s");
  });
  judge(counts);
});

later("The leader's pod is killed under load: no request fails, and another one leads", async () => {
  const holder = async (): Promise<string> =>
    (await kubectl("get", "lease", "haptic", "--output=jsonpath={.spec.holderIdentity}")).trim();
  const counts = await load(async () => {
    const leader = await holder();
    await kubectl("delete", "pod", leader, "--force", "--grace-period=0");
    await until("another one leads", async () => ![leader, ""].includes(await holder()));
    await node.kubectl("scale", "deployment/web", "--replicas=3");
    await until(
      "its changes reach HAProxy",
      async () =>
        (
          await node.kubectl(
            "-n",
            NAMESPACE,
            "exec",
            (await podsOf("loadbalancer"))[0]!,
            "-c",
            "haproxy",
            "--",
            "sh",
            "-c",
            "cat /etc/haproxy/current/haproxy.cfg",
          )
        )
          .split("\n")
          .filter((line) => line.trim().startsWith("server web-")).length === 3,
    );
  });
  judge(counts);
});

test("A pod that is deleted while it starts is gone long before its grace period", async () => {
  for (const component of ["loadbalancer", "controller"]) {
    const [old] = await podsOf(component);
    await kubectl("delete", "pod", old!, "--wait=false");
    const fresh = async (): Promise<string | undefined> => {
      const list = await kubectl("get", "pods", `--selector=app.kubernetes.io/component=${component}`, "--output=json");
      const { items } = JSON.parse(list) as { items: { metadata: { name: string }; status: { phase?: string } }[] };
      return items.find(({ status, metadata }) => status.phase !== "Running" && metadata.name !== old)?.metadata.name;
    };
    await until("its successor starts", async () => (await fresh()) !== undefined);
    const victim = await fresh();
    if (victim !== undefined) await kubectl("delete", "pod", victim, "--wait=true", "--timeout=60s");
  }
  await kubectl("rollout", "status", "deployment/haptic-haproxy", "--timeout=120s");
  await kubectl("rollout", "status", "deployment/haptic-controller", "--timeout=120s");
});

later("The image of controllers and HAProxy pods is rolled under load: no request fails", async () => {
  await node.exec([
    "ctr",
    "-n",
    "k8s.io",
    "images",
    "tag",
    "--force",
    "localhost/haptic:test",
    "localhost/haptic:next",
  ]);
  const counts = await load(async () => {
    await upgrade("image.tag=next");
    await until("the old pods are gone", async () => {
      const images = await kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.containers[0].image}");
      return images.split(" ").every((image) => image === "localhost/haptic:next");
    });
  });
  judge(counts);
});

later("helm rollback brings the former image back under load: no request fails", async () => {
  const counts = await load(async () => {
    await node.helm("rollback", "haptic", "--namespace", NAMESPACE, "--wait", "--timeout", "300s");
    const image = await kubectl(
      "get",
      "deployment",
      "haptic-haproxy",
      "-o",
      "jsonpath={.spec.template.spec.containers[0].image}",
    );
    assert.is(image, "localhost/haptic:test");
  });
  judge(counts);
});

test("helm uninstall leaves the CRDs and nothing else of ours", async () => {
  await helm("uninstall");
  await until("the pods are gone", async () => (await kubectl("get", "pods", "-o", "name")) === "");
  // What the garbage collector takes goes after its owner.
  const kinds =
    "all,leases,secrets,configmaps,serviceaccounts,roles,rolebindings,pdb,htplcfg,htpllib,hpcfg,hpmap,hpgf,hpcl";
  const rest = async (): Promise<string> =>
    (await kubectl("get", kinds, "-o", "name"))
      .split("\n")
      .filter((name) => !["", "configmap/kube-root-ca.crt", "serviceaccount/default"].includes(name))
      .join(" ");
  await until("everything in the namespace is gone", async () => (await rest()) === "", 60).catch(async () => {
    assert.unreachable(`left behind: ${await rest()}`);
  });
  const cluster = await node.kubectl("get", "clusterroles,clusterrolebindings,ingressclasses", "-o", "name");
  assert.not.match(cluster, /haptic/);
  assert.match(await node.kubectl("get", "crds", "-o", "name"), /haproxytemplateconfigs/);
});

test.run();
