import { mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../../src/devcluster/api/index.ts";

const test = suite("manifests folder");

const until = async (holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 150 && !holds(); i++) await sleep(20);
  assert.ok(holds(), holds.toString());
};

test("a folder is applied, followed as it changes, and a broken file keeps what it said", async () => {
  const folder = await mkdtemp(join(tmpdir(), "haptic-manifests-"));
  const file = join(folder, "things.yaml");
  const said: string[] = [];
  const text = (value: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: "${value}"}\n---\napiVersion: demo.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {x: 1}\n`;
  await writeFile(
    join(folder, "zz-definition.yaml"),
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.demo.io}
spec:
  group: demo.io
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`,
  );
  await writeFile(file, text("1"));
  const api = await startEmbeddedApi({ host: "127.11.4.1", manifests: folder, log: (line) => said.push(line) });
  const read = (): unknown => api.objects.get({ apiVersion: "v1", kind: "ConfigMap", name: "a" })?.["data"];
  try {
    assert.equal(read(), { v: "1" });
    assert.is(api.objects.list("demo.io/v1", "Thing").length, 1);
    await writeFile(file, text("2"));
    await until(() => (read() as { v: string }).v === "2");
    await writeFile(file, "kind: [broken");
    await until(() => said.some((line) => line.includes("things.yaml")));
    assert.equal(read(), { v: "2" });
    await unlink(file);
    await until(() => read() === undefined);
  } finally {
    await api.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("a JSON file is read like a YAML file, and told when it is none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "haptic-manifests-"));
  const said: string[] = [];
  const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { v: "1" } });
  await writeFile(join(folder, "a.json"), JSON.stringify(map("a"), undefined, "\t"));
  await writeFile(join(folder, "list.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: [map("b")] }));
  await writeFile(join(folder, "array.json"), JSON.stringify([map("c")]));
  await writeFile(join(folder, "broken.json"), "{");
  const api = await startEmbeddedApi({ host: "127.11.4.1", manifests: folder, log: (line) => said.push(line) });
  try {
    assert.equal(
      api.objects
        .list("v1", "ConfigMap")
        .flatMap(({ metadata }) => (/^[abc]$/.test(metadata.name) ? metadata.name : [])),
      ["a", "b"],
    );
    assert.ok(said.some((line) => line.includes("array.json: a document that is no object")));
    assert.ok(said.some((line) => line.includes("broken.json: ")));
  } finally {
    await api.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("an object that was deleted comes back when its own file is saved again, as it is, and not with another file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "haptic-manifests-"));
  const text = (name: string, value: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`;
  await writeFile(join(folder, "a.yaml"), text("a", "1"));
  await writeFile(join(folder, "b.yaml"), text("b", "1"));
  const api = await startEmbeddedApi({ host: "127.11.4.1", manifests: folder, log: () => undefined });
  const name = (of: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: of });
  const value = (of: string): unknown => (api.objects.get(name(of))?.["data"] as { v: string } | undefined)?.v;
  try {
    api.objects.delete(name("a"));
    await writeFile(join(folder, "b.yaml"), text("b", "2"));
    await until(() => value("b") === "2");
    assert.is(value("a"), undefined);
    await writeFile(join(folder, "a.yaml"), text("a", "1"));
    await until(() => value("a") === "1");
  } finally {
    await api.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("an API that is closed follows no folder any more, and nothing of it keeps the process alive", async () => {
  const folder = await mkdtemp(join(tmpdir(), "haptic-manifests-"));
  await writeFile(join(folder, "a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
  const watchers = (): number => process.getActiveResourcesInfo().filter((name) => /FSEvent/.test(name)).length;
  const before = watchers();
  const api = await startEmbeddedApi({ host: "127.11.4.1", log: () => undefined });
  try {
    await api.close();
    await api.follow(folder);
    assert.is(api.objects.get({ apiVersion: "v1", kind: "ConfigMap", name: "a" }), undefined);
    assert.is(watchers(), before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.run();
