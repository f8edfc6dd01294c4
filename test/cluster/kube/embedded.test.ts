import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";
import { kubeContract } from "./contract.ts";

kubeContract(test, async () => {
  const api = await startEmbeddedApi({ host: "127.41.0.2" });
  const directory = mkdtempSync(join(tmpdir(), "haptic-embedded-"));
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, api.kubeconfig);
  const { hostname, port } = new URL(api.url);
  return {
    name: "embedded API",
    host: hostname,
    port: Number(port),
    scheme: "http",
    ca: undefined,
    kubeconfig,
    adminToken: undefined,
    powerlessToken: undefined,
    async expire() {
      api.faults.expireHistory();
    },
    restart: () => api.outage(300),
    async close() {
      await api.close();
      rmSync(directory, { recursive: true });
    },
  };
});

test("A new server on the same address, behind the version of the old one, is noticed and listed anew", async () => {
  const target = { apiVersion: "v1", resource: "configmaps", namespace: "default" };
  const object = (name: string): Record<string, unknown> => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
  });
  const first = await startEmbeddedApi({ host: "127.41.0.3" });
  for (let i = 0; i < 20; i++) first.objects.create(object(`old-${i}`));
  const client = createKubeClient(directConnection({ server: first.url }), {
    backoff: { baseMs: 20, capMs: 100, livedMs: 1_000 },
  });
  const story: string[] = [];
  const synced: (() => void)[] = [];
  const subscription = client.listWatch(target).subscribe({
    next: (signal) => {
      if (signal.type === "RELIST") story.push(signal.reason);
      if (signal.type === "PAGE") story.push(String(signal.objects.length));
      if (signal.type === "SYNCED") synced.shift()?.();
    },
    error: () => assert.unreachable(),
  });
  await new Promise<void>((resolve) => synced.push(resolve));
  await first.close();
  const second = await startEmbeddedApi({ host: "127.41.0.3", port: Number(new URL(first.url).port) });
  second.objects.create(object("new"));
  await new Promise<void>((resolve) => synced.push(resolve));
  assert.equal(story, ["start", "20", "stale", "1"]);
  subscription.unsubscribe();
  await client.close();
  await second.close();
});

test.run();
