// runner: beside
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { podStateOf, fullDelivery } from "../../../src/controller/manifest.ts";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { loadFiles } from "../../../src/config/index.ts";
import { createKubeClient, findConnection } from "../../../src/kube/index.ts";
import { encodePlan } from "../../../src/plan/index.ts";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { ingress, service, slice } from "../../unit/examples/objects.ts";
import { Example } from "../../unit/examples/rendering.ts";
import { makeIdentities, scratch, SERVER_NAME, startPod } from "../agent/harness.ts";
import { Folder, type Ran, root } from "./harness.ts";

const test = suite("haptic diff");
const config = readFileSync(join(root, "examples/ingress/config.yaml"), "utf8");
const json = (...objects: object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
const web = [
  service("web"),
  slice("web", [{ address: "10.0.0.1", pod: "web-1" }]),
  ingress("web", "web.example", [{}]),
];
const more = [
  service("new"),
  slice("new", [{ address: "10.0.0.2", pod: "n" }]),
  ingress("new", "new.example", [{ service: "new" }]),
];
const slow = (timeout: string): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default", annotations: { "haproxy-haptic.org/timeout-server": timeout } },
  spec: { ports: [{ port: 80 }] },
});

const folder = new Folder().write({
  "config.yaml": config,
  "other.yaml": config.replace("timeout client 60s", "timeout client 61s"),
  "limited.yaml": config.replace(
    "          http-request set-header X-Forwarded-Proto http\n",
    `          maxconn {{ resources.services.GetSingle("default", "web") | dig_string("100", "metadata", "annotations", "limit") }}\n$&`,
  ),
  "broken.yaml": config.replace("timeout client 60s", "{{ nothing }}"),
  "old/web.json": json(...web),
  "same/web.json": json(...web),
  "new/web.json": json(...web, ...more),
  "limited/web.json": json(
    { ...service("web"), metadata: { name: "web", namespace: "default", annotations: { limit: "200" } } },
    ...web.slice(1),
  ),
  "timed/web.json": json(slow("5s"), ...web.slice(1)),
});
test.after(() => folder.remove());

interface Told {
  readonly ok: boolean;
  readonly changes: boolean;
  readonly notes: readonly string[];
  readonly problems?: readonly { readonly template?: string; readonly message: string }[];
  readonly versions: readonly {
    readonly haproxy: string;
    readonly verdict: string;
    readonly reasons: readonly {
      readonly told: string;
    }[];
    readonly operations: readonly { readonly kind: string }[];
    readonly files: { readonly changed: readonly { readonly path: string }[] };
  }[];
}
const told = ({ out }: Ran): Told => JSON.parse(out) as Told;
const verdicts = (answer: Told): string[] => answer.versions.map(({ haproxy, verdict }) => `${haproxy} ${verdict}`);

test("two folders of resources over one configuration: each version's verdict, operations and files, exit code 1", async () => {
  const { code, out, err } = await folder.haptic(["diff", "-f", "config.yaml", "old", "new"]);
  assert.is(code, 1, err);
  assert.match(
    out,
    /^HAProxy 3\.4: changes at run time\n {2}operations\n {4}backend_add +default_new_80 from haptic-be-/,
  );
  assert.match(out, /\n {4}server_add +default_new_80\/n 10\.0\.0\.2:8080\n/);
  assert.match(out, /\n {4}map_add +maps\/path-prefix\.map new\.example\/ default_new_80\n/);
  assert.match(out, /\n {2}files\n {4}~ haproxy\.cfg\n {4}~ maps\/path-prefix\.map\n/);
  assert.match(
    out,
    `
HAProxy 3.2, 3.0: reloads
  because backend default_new_80 is new, which HAProxy before 3.4 takes at a reload only (from Ingress default/new);
          nothing avoids it on this version of HAProxy: 3.4 takes backends at run time
`,
  );
});

/** Line of the main template that holds this text. */
function lineOf(text: string): number {
  const lines = config.slice(config.indexOf("  haproxyConfig:\n    template: |\n")).split("\n");
  return lines.findIndex((line) => line.includes(text)) - 1;
}

test("nothing changes: exit code 0", async () => {
  const { code, out } = await folder.haptic(["diff", "-f", "config.yaml", "old", "same"]);
  assert.equal([code, out], [0, "HAProxy 3.4, 3.2, 3.0: nothing changes\n"]);
});

test("a setting changes by one operation on every version", async () => {
  const answer = told(await folder.haptic(["diff", "-f", "config.yaml", "old", "timed", "--json"]));
  assert.equal(verdicts(answer), ["3.4 runtime", "3.2 runtime", "3.0 runtime"]);
  for (const { operations } of answer.versions)
    assert.equal(operations, [
      { kind: "map_add", path: "maps/haptic-setting-timeout-server.map", key: "default_web_80", value: "5000" },
    ]);
});

test("two configurations over the same resources, for one version: the reason with its field and hint", async () => {
  const args = ["diff", "-f", "old", "config.yaml", "other.yaml", "--haproxy-version", "3.2", "-o", "json"];
  const ran = await folder.haptic(args);
  const answer = told(ran);
  assert.equal([ran.code, answer.ok, answer.changes, verdicts(answer)], [1, true, true, ["3.2 reload"]]);
  assert.equal(
    answer.versions[0]!.reasons.map(({ told: words }) => words),
    [
      `defaults base changed: timeout client 60s → 61s (from HAProxyTemplateConfig default/ingress, haproxyConfig.template line ${lineOf("timeout client 60s")}); ` +
        "nothing avoids it: HAProxy reads such a section at a reload only; what backends inherit can be a setting of planRegistry.Profile",
    ],
  );
});

test("where resources alone differ, a reason names the object that made the template's line another one", async () => {
  const args = ["diff", "-f", "limited.yaml", "old", "limited", "--haproxy-version", "3.4", "--haproxy-version", "3.0"];
  const { code, out, err } = await folder.haptic(args);
  assert.is(code, 1, err);
  const line = lineOf('bind "${HAPTIC_BIND_ADDRESS-*}:8080"') + 1;
  assert.is(
    out,
    `HAProxy 3.4, 3.0: reloads
  because frontend http from base changed: maxconn 100 → 200 (from Service default/web, haproxyConfig.template line ${line});
          to avoid it: keep what changes often in a map that this section reads; declare backends with planRegistry
  files
    ~ haproxy.cfg

`.trimEnd() + "\n",
  );
});

test("where there is no answer the exit code is 2: files, templates, the command line", async () => {
  const broken = await folder.haptic(["diff", "-f", "old", "config.yaml", "broken.yaml", "--json"]);
  assert.is(broken.code, 2);
  assert.equal([told(broken).ok, told(broken).problems?.[0]?.template], [false, "haproxy.cfg"]);
  for (const [args, says] of [
    [["old"], /give two sides/],
    [["-f", "config.yaml", "old", "nowhere"], /nowhere: cannot be read/],
    [["-f", "config.yaml", "old", "new", "--haproxy-version", "2.8"], /none of 3\.4, 3\.2, 3\.0/],
    [["--cluster", "old"], /do not go with/],
    [["--state", "nothing.json", "-f", "config.yaml"], /cannot be read/],
    [["--agent", "10.0.0.1", "-f", "config.yaml"], /is no address/],
    [["--agent", "https://u:pw-secret@10.0.0.1", "-f", "config.yaml"], /does not belong into it/],
    [["--agent", "https://u:pw-secret@10.0.0.1/x", "-f", "config.yaml"], /does not belong into it/],
    [["--agent", "http://10.0.0.1", "--agent-tls-dir", ".", "-f", "config.yaml"], /belong to https/],
    [["--bogus"], /lists its flags/],
  ] as const) {
    const { code, err } = await folder.haptic(["diff", ...args]);
    assert.is(code, 2, args.join(" "));
    assert.match(err, says);
    assert.not.match(err, "pw-secret");
  }
});

test("a pod's stored plan is what the change is compared with, and what its agent can", async () => {
  const { outcome } = await new Example("ingress/config.yaml").put(...web).render();
  const plan = outcome.result!.plan;
  const state = {
    applied_plan_id: plan.id,
    agent_ops: ["map_add"],
    features: [],
    haproxy: { version: "3.0.11" },
    applied_plan_stored: true,
    files: {},
    runtime_inventory: { generation: 1, maps: [], certs: [], ca_files: [], crl_files: [], crt_lists: [] },
  };
  const blob = (await encodePlan(plan, async () => {}))!.toString("base64");
  const diff = (stored: object, resources: string): Promise<Ran> =>
    folder.haptic(["diff", "--state", "-", "-f", "config.yaml", "-f", resources, "--json"], JSON.stringify(stored));
  const same = told(await diff({ ...state, applied_plan: blob }, "old"));
  assert.equal(verdicts(same), ["3.0.11 noop"]);
  const timed = told(await diff({ ...state, applied_plan: blob }, "timed"));
  assert.equal(verdicts(timed), ["3.0.11 file_only"], "its worker has not loaded the map");
  const unknown = told(await diff(state, "old"));
  assert.equal(verdicts(unknown), ["3.0.11 reload"]);
  assert.match(unknown.notes.join(), "print it with `haptic agent state --plan`");
});

test("an edit against a cluster: both sides see its objects", async () => {
  const api = await startEmbeddedApi({ host: "127.91.4.1", port: 0 });
  const kubeconfig = join(folder.path, "kubeconfig");
  writeFileSync(kubeconfig, api.kubeconfig);
  const kube = createKubeClient(await findConnection({ kubeconfig }), {});
  try {
    const plurals: Record<string, string> = { Ingress: "ingresses", HAProxyTemplateConfig: "haproxytemplateconfigs" };
    const create = async (object: object): Promise<void> => {
      const { apiVersion, kind } = object as { apiVersion: string; kind: string };
      const target = { apiVersion, resource: plurals[kind] ?? `${kind.toLowerCase()}s`, namespace: "default" };
      const { namespace: _, ...cluster } = target;
      await kube.create(kind === "CustomResourceDefinition" ? cluster : target, object as never);
    };
    for (const { object } of loadFiles([join(root, "crds")]).objects) await create(object);
    await create(loadFiles([join(folder.path, "config.yaml")]).objects[0]!.object);
    for (const object of web) await create(object);
    const diff = (...args: string[]): Promise<Ran> =>
      folder.haptic(["diff", "--cluster", "--kubeconfig", kubeconfig, ...args]);
    const same = await diff("-f", "config.yaml");
    assert.equal([same.code, same.out], [0, "HAProxy 3.4, 3.2, 3.0: nothing changes\n"], same.err);
    const other = await diff("-f", "other.yaml", "--json");
    assert.is(other.code, 1, other.err);
    assert.equal(verdicts(told(other)), ["3.4 reload", "3.2 reload", "3.0 reload"]);
    assert.equal(
      told(other).versions[0]!.files.changed.map(({ path }) => path),
      ["haproxy.cfg"],
    );
    assert.equal(told(other).notes, []);
    await create({
      apiVersion: "haproxy-haptic.org/v1alpha1",
      kind: "HAProxyCfg",
      metadata: {
        name: "ingress",
        namespace: "default",
        labels: { "haproxy-haptic.org/template-config": "ingress" },
        annotations: { "haproxy-haptic.org/plan-id": "0123456789abcdef" },
      },
      spec: { path: "haproxy.cfg", content: "global\n", checksum: `sha256:${"0".repeat(64)}` },
    });
    const older = told(await diff("-f", "other.yaml", "--haproxy-version", "3.4", "--json"));
    assert.equal(older.notes, [
      "the cluster has published plan 0123456789ab, which is not what its configuration gives now",
    ]);
    const none = await diff("-f", "other.yaml", "--crd-name", "nothing");
    assert.equal([none.code, /not found/.test(none.err)], [2, true], none.err);
  } finally {
    await kube.close();
    await api.close();
  }
});

const withPod = needing(test, testHaproxy("3.4") === undefined ? "HAProxy 3.4 is not installed" : undefined);
withPod("a running pod, by its agent's URL and by what `haptic agent state --plan` prints in it", async () => {
  const dir = scratch("diff");
  const identities = await makeIdentities(dir);
  mkdirSync(join(dir, "pod"), { recursive: true });
  // The example says where its socket is by the environment, as the start wrapper sets it.
  process.env["HAPTIC_WORKER_SOCKET"] = join(dir, "pod", "haproxy-worker.sock");
  const pod = await startPod({ binary: testHaproxy("3.4")!, address: "127.91.4.2", identities, name: "pod" });
  try {
    const example = new Example("ingress/config.yaml").put(...web);
    const plan = (await example.render()).outcome.result!.plan;
    const state = podStateOf(await pod.client.state({ plan: false }));
    const { manifest, parts } = fullDelivery(plan, state, { leader_epoch: 1, render_seq: 1 }, [], true);
    const applied = await pod.client.apply(manifest, new Map(parts.map(({ path, bytes }) => [path, bytes])));
    assert.is(applied.kind === "result" && applied.result.ok, true, JSON.stringify(applied));
    await pod.client.putPlan(plan.id, (await encodePlan(plan, async () => {}))!);

    const files = ["-f", "config.yaml", "-f", "timed"];
    const tls = ["--agent-tls-dir", identities.controllerDir, "--agent-tls-name", SERVER_NAME];
    const asked = await folder.haptic(["diff", "--agent", "https://127.91.4.2:5555", ...tls, ...files, "--json"]);
    assert.is(asked.code, 1, asked.err);
    assert.match(verdicts(told(asked)).join(), /^3\.4\S* runtime$/, asked.out);
    assert.equal(
      told(asked).versions[0]!.operations.map(({ kind }) => kind),
      ["map_add"],
    );
    const stated = await folder.haptic(["agent", "state", "--plan", "--base-dir", pod.baseDir]);
    assert.is(stated.code, 0, stated.err);
    const read = await folder.haptic(["diff", "--state", "-", ...files, "--json"], stated.out);
    assert.equal(told(read).versions, told(asked).versions, read.err);
    const nobody = await folder.haptic(["diff", "--agent", "https://127.91.4.3:5555", ...tls, ...files]);
    assert.equal([nobody.code, /HAPTIC_E_AGENT_CLIENT/.test(nobody.err)], [2, true], nobody.err);
    assert.match(nobody.err, "--agent-tls-dir holds");
  } finally {
    delete process.env["HAPTIC_WORKER_SOCKET"];
    await pod.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test.run();
