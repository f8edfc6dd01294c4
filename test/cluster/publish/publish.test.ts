/** Publishing before the embedded API and before a real kube-apiserver, there with no other rights than the page says it needs. */
// runner: limit 240 s
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type Test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import type { HAProxyCfg } from "../../../src/config/index.ts";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import type { KubeError } from "../../../src/errors.ts";
import { createKubeClient, directConnection, type KubeClient } from "../../../src/kube/index.ts";
import { assemblePlan, ChunkedTree, cutBlocks, emptyTrees, fileDigest, planFile } from "../../../src/plan/index.ts";
import type { FileKind, RenderPlan } from "../../../src/plan/index.ts";
import { MAX_SECRET_BYTES, MAX_STORED_BYTES } from "../../../src/publish/content.ts";
import { PublishDesk } from "../../../src/publish/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { kubernetesFolder } from "../../parts/index.ts";
import { needing } from "../../support/skip.ts";
import { missingRealPlane, startRealPlane } from "../kube/real-plane.ts";

const root = new URL("../../../", import.meta.url);
const GROUP = "haproxy-haptic.org/v1alpha1";
const NAMESPACE = "default";
const CONFIGS = { apiVersion: GROUP, resource: "haproxytemplateconfigs", namespace: NAMESPACE } as const;
const CFGS = { apiVersion: GROUP, resource: "haproxycfgs", namespace: NAMESPACE } as const;
const MAPS = { apiVersion: GROUP, resource: "haproxymapfiles", namespace: NAMESPACE } as const;
const SECRETS = { apiVersion: "v1", resource: "secrets", namespace: NAMESPACE } as const;

interface Api {
  readonly admin: KubeClient;
  /** What the controller is, with its rights. */
  readonly controller: KubeClient;
  close(): Promise<void>;
}

const plan = (files: readonly (readonly [path: string, kind: FileKind, content: string])[]): RenderPlan =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      files.map(([path, kind, content]) => [path, planFile(path, kind, cutBlocks(content))] as const),
      fileDigest,
    ),
  });
const whole = (cfg: string, map: string): RenderPlan =>
  plan([
    ["haproxy.cfg", "config", cfg],
    ["maps/host.map", "map", map],
    ["general/503.http", "general", "HTTP/1.0 503\r\n"],
    ["general/all.list", "crtlist", "ssl/a.pem\n"],
    ["ssl/a.pem", "cert", "-----BEGIN PRIVATE KEY-----\n"],
    ["ssl/ca.pem", "ca", "-----BEGIN CERTIFICATE-----\n"],
  ]);
/** Text that cannot be made smaller by much. */
const noise = (bytes: number): string => {
  const text = randomBytes(bytes).toString("base64").slice(0, bytes);
  return text.replace(/.{100}/g, (line) => `${line.slice(1)}\n`);
};
const signal = new AbortController().signal;

function contract(test: Test, start: () => Promise<Api>): void {
  let api: Api;
  let uid = "";
  const plans = new Map<string, RenderPlan>();
  let pods = 2;
  const open = async (): Promise<PublishDesk> => {
    const desk = new PublishDesk({
      kube: api.controller,
      namespace: NAMESPACE,
      configName: "main",
      configUid: () => uid,
      threshold: () => 1_048_576,
      plan: (planId) => plans.get(planId),
      podPlans: () => ({ applied: "", running: "" }),
      wallClock: Date.now,
      now: () => performance.now(),
      pause: () => new Promise((resolve) => setImmediate(resolve)),
    });
    desk.note({ type: "TERM.BEGAN" });
    const known = Array.from({ length: pods }, (_, index) => ({
      id: `u${index}@c`,
      namespace: NAMESPACE,
      name: `haproxy-${index}`,
      address: "",
      version: "3.4.7",
    }));
    desk.note({ type: "PODS.LISTED", candidates: known });
    desk.note({ type: "PODS.CHANGED", pods: known });
    await desk.read(signal);
    return desk;
  };
  const publish = (desk: PublishDesk, accepted: RenderPlan) => {
    plans.set(accepted.id, accepted);
    desk.note({ type: "PLAN.PASSED", planId: accepted.id });
    return desk.publish(signal);
  };
  const cfg = async (): Promise<HAProxyCfg> => (await api.admin.get(CFGS, "main-haproxycfg")) as HAProxyCfg;
  const published = async (): Promise<readonly KubeObject[]> => {
    const lists = await Promise.all(
      ["haproxymapfiles", "haproxygeneralfiles", "haproxycrtlistfiles"]
        .map((resource) => ({ apiVersion: GROUP, resource, namespace: NAMESPACE }))
        .concat(SECRETS)
        .map((target) =>
          api.admin.list(target, { labelSelector: "haproxy-haptic.org/runtime-config=main-haproxycfg" }),
        ),
    );
    return lists.flatMap(({ items }) => items);
  };

  test.before(async () => {
    api = await start();
    const config = {
      apiVersion: GROUP,
      kind: "HAProxyTemplateConfig",
      metadata: { name: "main" },
      spec: {
        podSelector: { matchLabels: { app: "haproxy" } },
        watchedResources: { secrets: { apiVersion: "v1", resources: "secrets", indexBy: ["metadata.name"] } },
        haproxyConfig: { template: "global\n" },
      },
    };
    uid = (await api.admin.create(CONFIGS, config)).metadata.uid ?? "";
  });
  test.after(() => api.close());

  test("a set is published with the rights that the page names, read back by a new leader, and changed", async () => {
    const first = whole("global\n", "a b\n");
    await publish(await open(), first);
    assert.is((await published()).length, 5);
    assert.is((await cfg()).spec.content, "global\n");
    const next = await open();
    next.note({ type: "PLAN.PASSED", planId: first.id });
    assert.is(next.differs(), false, "it finds its own");
    const { writes } = await publish(next, whole("global\n", "c d\n"));
    // The map's new object, the set's new name, the status of each, the map's former object.
    assert.is(writes, 5);
    const { items } = await api.admin.list(MAPS);
    assert.equal(
      items.map(({ spec }) => (spec as { entries: string }).entries),
      ["c d\n"],
    );
  });

  test("what others wrote on the object stays, and what they changed of ours is put right", async () => {
    const desk = await open();
    const map = (await api.admin.list(MAPS)).items[0]!;
    await api.admin.mergePatch(CFGS, "main-haproxycfg", { metadata: { labels: { team: "edge" } } });
    await api.admin.mergePatch(CFGS, "main-haproxycfg", { spec: { content: "forged" } });
    await api.admin.delete(MAPS, map.metadata.name);
    await desk.read(signal);
    await publish(desk, whole("global\n", "c d\n"));
    const found = await cfg();
    assert.is(found.spec.content, "global\n");
    assert.is(found.metadata.labels?.["team"], "edge");
    assert.is((await published()).length, 5);
  });

  test("who was overtaken overwrites nothing", async () => {
    const former = await open();
    const leader = await open();
    await publish(leader, whole("leader\n", "c d\n"));
    let refused: KubeError | undefined;
    try {
      await publish(former, whole("former\n", "c d\n"));
    } catch (error) {
      refused = error as KubeError;
    }
    assert.is(refused?.status, 409);
    assert.is((await cfg()).spec.content, "leader\n");
  });

  test("the largest that is not refused is taken, with many pods beside it; what is larger is told", async () => {
    pods = 150;
    const desk = await open();
    for (let index = 0; index < pods; index += 1) {
      const reasons = Array.from({ length: 8 }, (_, at) => `reason ${at} ${"x".repeat(60)}`);
      desk.noteApply({ pod: `u${index}@c`, planId: "p", mode: "reload", ok: true, reasons });
      desk.note({ type: "POD.APPLIED", pod: `u${index}@c`, planId: "p", mode: "reload" });
    }
    const content = noise(MAX_STORED_BYTES - 30_000);
    const accepted = plan([
      ["haproxy.cfg", "config", content],
      ["maps/host.map", "map", noise(MAX_STORED_BYTES - 30_000)],
      ["ssl/a.pem", "cert", noise(MAX_SECRET_BYTES)],
    ]);
    assert.is((await publish(desk, accepted)).trouble, null);
    const found = await cfg();
    assert.is(found.status?.deployedToPods?.length, 150);
    assert.is(found.status?.metadata?.contentSize, content.length);
    const { trouble } = await publish(desk, plan([["haproxy.cfg", "config", noise(2 * MAX_STORED_BYTES)]]));
    assert.is(trouble?.reason, "TooLarge");
    assert.is((await cfg()).status?.conditions?.find(({ type }) => type === "Synced")?.reason, "TooLarge");
  });

  test("when the configuration is gone the files go by themselves, or may be deleted by name", async () => {
    for (const { kind, metadata } of await published()) {
      const owners = metadata["ownerReferences"] as { kind: string; uid: string }[];
      assert.equal(
        owners.map((owner) => owner.kind),
        ["HAProxyCfg"],
        kind,
      );
      assert.is(owners[0]?.uid, (await cfg()).metadata.uid);
    }
    assert.is(((await cfg()).metadata["ownerReferences"] as { uid: string }[])[0]?.uid, uid);
  });
  test.run();
}

async function define(admin: KubeClient): Promise<void> {
  const target = { apiVersion: "apiextensions.k8s.io/v1", resource: "customresourcedefinitions" };
  for (const name of readdirSync(new URL("crds/", root))) {
    await admin.create(target, parse(readFileSync(new URL(`crds/${name}`, root), "utf8")) as KubeObject);
  }
  // A definition is served some time after it was made.
  for (const name of readdirSync(new URL("crds/", root))) {
    const resource = name.replace(".yaml", "");
    for (let tries = 0; ; tries += 1) {
      try {
        await admin.list({ apiVersion: GROUP, resource, namespace: NAMESPACE });
        break;
      } catch (error) {
        if (tries === 600) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

contract(suite("publishing on the embedded API"), async () => {
  const embedded = await startEmbeddedApi({ host: "127.77.32.1" });
  const admin = createKubeClient(directConnection({ server: embedded.url }));
  await define(admin);
  return {
    admin,
    controller: admin,
    close: async () => {
      await admin.close();
      await embedded.close();
    },
  };
});

contract(needing(suite("publishing on a real kube-apiserver"), missingRealPlane()), async () => {
  const plane = await startRealPlane("127.77.32.2");
  const { ca = "" } = plane;
  const server = `https://${plane.host}:${plane.port}`;
  const admin = createKubeClient(directConnection({ server, ca, token: plane.adminToken ?? "" }));
  await define(admin);
  const page = readFileSync(new URL("docs/publishing.md", root), "utf8");
  const [, rules = ""] = /^```yaml\n([\s\S]*?)^```/m.exec(page.slice(page.indexOf("## Rights"))) ?? [];
  const rbac = "rbac.authorization.k8s.io/v1";
  const account = { kind: "ServiceAccount", name: "controller", namespace: NAMESPACE };
  const make = (apiVersion: string, resource: string, kind: string, rest: object): Promise<KubeObject> =>
    admin.create(
      { apiVersion, resource, namespace: NAMESPACE },
      {
        apiVersion,
        kind,
        metadata: { name: "controller", namespace: NAMESPACE },
        ...rest,
      },
    );
  await make("v1", "serviceaccounts", "ServiceAccount", {});
  await make(rbac, "roles", "Role", { rules: parse(rules) as object });
  await make(rbac, "rolebindings", "RoleBinding", {
    subjects: [account],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "controller" },
  });
  const token = execFileSync(
    join(kubernetesFolder(), "kubectl"),
    ["--kubeconfig", plane.kubeconfig, "create", "token", "controller", "-n", NAMESPACE],
    { encoding: "utf8" },
  ).trim();
  const controller = createKubeClient(directConnection({ server, ca, token }));
  return {
    admin,
    controller,
    close: async () => {
      await admin.close();
      await controller.close();
      await plane.close();
    },
  };
});
