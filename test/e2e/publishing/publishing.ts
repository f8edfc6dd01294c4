/** The proof that what is in force can be read with kubectl, for any API server: objects, conditions, where it runs; and that idling is silent. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import type { DeployedToPod, HAProxyCfg, HAProxyMapFile } from "../../../src/config/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { Cluster, type Counters, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import type { ApiChoice } from "../harness/planes.ts";

const CFG = "ingress-haproxycfg";
const PUBLISHED = ["hpcfg", "hpmap", "hpgf", "hpcl"];
const crds = new URL("../../../crds/", import.meta.url).pathname;

export function publishingProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  let cluster: Cluster;
  test.before(async () => {
    cluster = new Cluster({
      api,
      version: "3.4",
      pods: 2,
      prefix: network.prefix,
      dataplane: { configPublishInterval: "1s", driftPreventionInterval: "5s" },
    });
    await cluster.start();
    await cluster.apply(...(await hostObjects(cluster, "app", "app.example", { tls: true })));
    await cluster.apply(...(await hostObjects(cluster, "shop", "shop.example", { tls: true })));
    await served(cluster, "app.example", { tls: true, limitMs: 40_000 });
    await served(cluster, "shop.example", { tls: true });
    await cluster.settled();
  });
  test.after(() => cluster.close());

  const items = async (...kinds: readonly string[]): Promise<readonly KubeObject[]> =>
    (JSON.parse(await cluster.kubectl(["get", kinds.join(","), "-o", "json"])) as { items: KubeObject[] }).items;
  const cfg = async (): Promise<HAProxyCfg> =>
    JSON.parse(await cluster.kubectl(["get", "hpcfg", CFG, "-o", "json"])) as HAProxyCfg;
  const secrets = (): Promise<string> =>
    cluster.kubectl(["get", "secret", "-l", `haproxy-haptic.org/runtime-config=${CFG}`, "-o", "json"]);
  const onPod = (path: string): string => readFileSync(join(cluster.pods[0]!.pod.baseDir, path), "utf8");
  const plain = ({ spec }: KubeObject): string => {
    const { content, entries = "", compressed } = spec as { content?: string; entries?: string; compressed: boolean };
    const text = content ?? entries;
    return compressed ? zstdDecompressSync(Buffer.from(text, "base64")).toString() : text;
  };
  /** The published configuration is the one that the pods have. */
  const inForce = (limitMs = 40_000): Promise<HAProxyCfg> =>
    until(
      "what is published is what the pods run",
      async () => {
        const found = await cfg();
        const said = found.status?.conditions?.map(({ type, status }) => `${type}=${status}`).sort();
        const [view] = await cluster.variable<readonly { applied: string }[]>("pods");
        if (found.metadata.annotations?.["haproxy-haptic.org/plan-id"] !== view?.applied) return false;
        const well = ["ConfigPinned=False", "ConfigValidated=True", "Ready=True", "Synced=True"];
        return JSON.stringify(said) === JSON.stringify(well) && plain(found) === onPod("haproxy.cfg") && found;
      },
      limitMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${cluster.tail()}`, { cause: error });
    });
  const podEntry = async (pod = 0): Promise<DeployedToPod | undefined> =>
    (await cfg()).status?.deployedToPods?.find(({ podName }) => podName === cluster.pods[pod]!.pod.spec.name);

  test(`${api.name}: the configuration that the pods have, with every file, can be read and waited for with kubectl`, async () => {
    await until("there is something to wait for", () => cfg());
    await cluster.kubectl(["wait", "--for=condition=Ready", `hpcfg/${CFG}`, "--timeout=40s"]);
    await cluster.kubectl(["wait", "--for=condition=Validated", "htplcfg/ingress", "--timeout=10s"]);
    const found = await inForce();
    assert.is(found.spec.checksum, `sha256:${createHash("sha256").update(onPod("haproxy.cfg")).digest("hex")}`);
    const files = await items("hpmap", "hpgf", "hpcl");
    assert.ok(files.length > 0);
    for (const object of files) assert.is(plain(object), onPod((object["spec"] as { path: string }).path));
    const { sslCertificates = [] } = found.status?.auxiliaryFiles ?? {};
    assert.ok(sslCertificates.length >= 2);
    for (const { name } of sslCertificates) {
      const { data } = JSON.parse(await cluster.kubectl(["get", "secret", name, "-o", "json"])) as {
        data: { certificate: string; path: string };
      };
      const text = (encoded: string): string => Buffer.from(encoded, "base64").toString();
      assert.is(text(data.certificate), onPod(text(data.path)));
    }
  });

  test(`${api.name}: kubectl get shows what matters of every kind`, async () => {
    await cluster.kubectl(["wait", "--for=condition=Ready", "hpmap,hpgf,hpcl", "--all", "--timeout=20s"]);
    const shown = await cluster.kubectl(["get", "htplcfg,hpcfg,hpmap"]);
    assert.match(shown, /NAME +STATUS +AGE/);
    assert.match(shown, /\/ingress +Valid /);
    assert.match(shown, /NAME +READY +VALIDATED +SYNCED +SIZE +CHECKSUM +AGE/);
    assert.match(shown, /\/ingress-haproxycfg +True +True +True +\d+ +sha256:[0-9a-f]{64} /);
    assert.match(shown, /NAME +MAP +PATH +SIZE +READY +AGE/);
    assert.match(shown, /\/haproxy-map-\S+ +\S+\.map +maps\/\S+\.map +\d+ +True /);
    assert.match(
      await cluster.kubectl(["get", "hpgf,hpcl", "-o", "wide"]),
      /True +2 of 2 HAProxy pods run it +sha256:/,
    );
    for (const object of await items("hpmap", "hpgf", "hpcl")) {
      const { spec, status } = object as unknown as HAProxyMapFile;
      assert.equal(
        status?.deployedToPods,
        cluster.pods
          .map(({ pod }) => ({ podName: pod.spec.name, checksum: spec.checksum, consecutiveErrors: 0 }))
          .sort((a, b) => (a.podName < b.podName ? -1 : 1)),
        spec.path,
      );
    }
  });

  test(`${api.name}: keys are in Secrets alone`, async () => {
    const { items: held } = JSON.parse(await secrets()) as { items: { data: { certificate: string } }[] };
    const keys = held
      .map(({ data }) => Buffer.from(data.certificate, "base64").toString())
      .filter((pem) => pem.includes("KEY"));
    assert.ok(keys.length >= 2);
    const others = JSON.stringify(await items(...PUBLISHED, "htplcfg", "events"));
    for (const pem of keys) {
      const [line = ""] = pem.slice(pem.indexOf("PRIVATE KEY")).split("\n").slice(1);
      assert.ok(line.length > 30);
      assert.not.ok(others.includes(line), "a key is in an object that is no Secret");
    }
    assert.not.ok(others.includes("PRIVATE KEY"));
  });

  test(`${api.name}: an endpoint's change is told as one without a reload, for each pod`, async () => {
    await cluster.setEndpoints("app", await cluster.newEndpoints("app", 1));
    await served(cluster, "app.example", { by: cluster.endpointsOf("app")[0]!.pod });
    await until(
      "it is told",
      async () => (await podEntry(0))?.mode === "runtime" && (await podEntry(1))?.mode === "runtime",
    );
    const found = await inForce();
    for (const entry of found.status?.deployedToPods ?? []) {
      assert.is(entry.mode, "runtime", JSON.stringify(entry));
      assert.equal([entry.reasons, entry.consecutiveErrors, entry.checksum], [[], 0, found.spec.checksum]);
      assert.is(entry.appliedPlanID, entry.runningPlanID);
    }
    assert.equal(
      found.status?.deployedToPods?.map(({ podName }) => podName),
      cluster.pods.map(({ pod }) => pod.spec.name).sort(),
    );
  });

  test(`${api.name}: a Service's own timeout is an entry of a map in each pod, without a reload`, async () => {
    const reloads = async (): Promise<readonly unknown[]> =>
      ((await inForce()).status?.deployedToPods ?? []).map(({ podName, lastReloadAt }) => [podName, lastReloadAt]);
    const before = await reloads();
    await cluster.kubectl(["annotate", "service", "app", "haproxy-haptic.org/timeout-server=7s"]);
    await until("the map is published", async () => JSON.stringify(await items("hpmap")).includes(" 7000"), 40_000);
    await until(
      "it is told",
      async () => (await podEntry(0))?.mode === "runtime" && (await podEntry(1))?.mode === "runtime",
    );
    assert.equal(await reloads(), before);
    await cluster.kubectl(["annotate", "service", "app", "haproxy-haptic.org/timeout-server-"]);
  });

  test(`${api.name}: a change that needs a reload says why, on each pod`, async () => {
    const { items: configs } = JSON.parse(await cluster.kubectl(["get", "htplcfg", "-o", "json"])) as {
      items: { spec: { haproxyConfig: { template: string } } }[];
    };
    const template = configs[0]!.spec.haproxyConfig.template.replace(/^defaults.*$/m, "$&\n    timeout tarpit 7s");
    await cluster.kubectl([
      "patch",
      "htplcfg",
      "ingress",
      "--type=merge",
      "-p",
      JSON.stringify({ spec: { haproxyConfig: { template } } }),
    ]);
    await until("it is published", async () => plain(await cfg()).includes("timeout tarpit 7s"), 40_000);
    const found = await inForce();
    assert.match(plain(found), "timeout tarpit 7s");
    for (const entry of found.status?.deployedToPods ?? []) {
      assert.ok(entry.mode === "reload" || entry.mode === "scheduled", JSON.stringify(entry));
      assert.match(
        entry.reasons?.join("\n") ?? "",
        /^defaults base changed: timeout tarpit none → 7s \(from HAProxyTemplateConfig default\/ingress, haproxyConfig\.template line \d+\); nothing avoids it: /m,
      );
    }
    const told =
      found.status?.deployedToPods?.[0]?.reasons?.find((reason) => reason.startsWith("defaults base")) ?? "?";
    const events = (await items("events")) as readonly { reason?: string; message?: string }[];
    assert.ok(
      events.some(({ reason, message }) => reason === "HAProxyReloaded" && message?.includes(told) === true),
      JSON.stringify(events.map(({ reason, message }) => `${reason}: ${message}`)),
    );
  });

  test(`${api.name}: files that nobody needs any more are gone, and those that stayed are the same objects`, async () => {
    const uids = async (): Promise<ReadonlyMap<string, string>> =>
      new Map(
        [
          ...(await items("hpmap", "hpgf", "hpcl")),
          ...(JSON.parse(await secrets()) as { items: KubeObject[] }).items,
        ].map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.uid ?? ""]),
      );
    const before = await uids();
    await cluster.kubectl(["delete", "ingress,service,secret,endpointslice", "-l", "nobody=here"]);
    await cluster.kubectl(["delete", "ingress/shop", "secret/shop-tls", "service/shop"]);
    await until(
      "the certificate of the host that is gone is not published any more",
      async () => {
        const names = [...(await uids()).keys()];
        return names.length < before.size && !names.some((name) => name.includes("shop"));
      },
      30_000,
    );
    const found = await inForce();
    const after = await uids();
    const { setID: _, ...lists } = found.status!.auxiliaryFiles!;
    const named = Object.values(lists).flatMap((list) => list);
    assert.equal(named.map(({ kind, name }) => `${kind} ${name}`).sort(), [...after.keys()].sort());
    const stayed = [...after].filter(([name]) => before.has(name));
    assert.ok(stayed.length > 0);
    for (const [name, uid] of stayed) assert.is(uid, before.get(name), `${name} was written anew`);
  });

  test(`${api.name}: above the threshold content is compressed, and says the same`, async () => {
    const patch = { spec: { controller: { configPublishing: { compressionThreshold: 1_000 } } } };
    await cluster.kubectl(["patch", "htplcfg", "ingress", "--type=merge", "-p", JSON.stringify(patch)]);
    await until(
      "the new threshold is in force",
      async () =>
        (await cluster.kubectl(["get", "htplcfg", "ingress", "-o", "jsonpath={.status.observedGeneration}"])) ===
        (await cluster.kubectl(["get", "htplcfg", "ingress", "-o", "jsonpath={.metadata.generation}"])),
    );
    await cluster.apply(...(await hostObjects(cluster, "late", "late.example")));
    await served(cluster, "late.example");
    await until("it is published", async () => (await cfg()).spec.compressed === true, 30_000);
    const found = await inForce();
    assert.is(found.spec.checksum, `sha256:${createHash("sha256").update(onPod("haproxy.cfg")).digest("hex")}`);
  });

  test(`${api.name}: idle, and after a restart that finds the same, nothing is written but the Lease`, async () => {
    const writes = ({ apiWrites }: Counters): object =>
      Object.fromEntries(Object.entries(apiWrites).filter(([resource]) => !resource.startsWith("leases")));
    await inForce();
    await sleep(2_500);
    const before = writes(await cluster.counters());
    const version = (await cfg()).metadata.resourceVersion;
    // Drift checks read every pod each 5 s.
    await sleep(7_000);
    assert.equal(writes(await cluster.counters()), before, cluster.tail());
    await cluster.stopController();
    cluster.startController();
    await until(
      "the new controller leads and has rendered",
      async () => (await cluster.counters()).renders > 0,
      60_000,
    );
    await cluster.settled();
    await until(
      "it has looked at what is published",
      async () => (await cluster.variable<{ planId: string }>("published")).planId !== "",
    );
    await sleep(6_000);
    assert.equal(writes(await cluster.counters()), {}, cluster.tail());
    assert.is((await cfg()).metadata.resourceVersion, version);
  });

  test(`${api.name}: a kind that is not served is named, harms nothing, and is made up for when it is there again`, async () => {
    await cluster.kubectl(["delete", "crd", "haproxymapfiles.haproxy-haptic.org"]);
    await cluster.apply(...(await hostObjects(cluster, "blind", "blind.example")));
    await served(cluster, "blind.example");
    const fault = await until(
      "it is named",
      async () => (await cluster.faults()).find(({ reason }) => reason === "PublishFailed"),
      30_000,
    );
    assert.match(fault.message, /haproxymapfiles/);
    for (const file of readdirSync(crds).filter((name) => name.includes("mapfiles")))
      await cluster.kubectl(["apply", "--server-side", "-f", join(crds, file)]);
    await inForce(90_000);
    await until("no fault is left", async () => (await cluster.faults()).length === 0);
    for (const object of await items("hpmap"))
      assert.is(plain(object), onPod((object["spec"] as { path: string }).path));
  });

  test(`${api.name}: a pod that is gone has no entry any more`, async () => {
    const [, gone] = cluster.pods;
    await cluster.kubectl(["delete", "pod", gone!.pod.spec.name, "--wait=false", "--grace-period=0", "--force"]);
    await until("its entry is gone", async () => (await podEntry(1)) === undefined, 30_000);
    assert.ok((await podEntry(0)) !== undefined);
  });
}
