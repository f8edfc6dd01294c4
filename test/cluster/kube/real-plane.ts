/** A real kube-apiserver with etcd, started by test/parts/kube/start.sh. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../../src/haproxy/locate.ts";
import type { Plane } from "./plane.ts";

const run = promisify(execFile);
const script = new URL("../../parts/kube/start.sh", import.meta.url).pathname;
const programs = join(cacheFolder(process.env), "kube-1.37.2", "bin");

/** Why no real API server can be had here, or undefined. */
export function missingRealPlane(): string | undefined {
  return existsSync(join(programs, "kube-apiserver")) && existsSync(join(programs, "etcd"))
    ? undefined
    : "needs kube-apiserver and etcd: test/parts/kube/build.sh";
}

/** `address`: a loopback address that no other test uses. */
export async function startRealPlane(address: string): Promise<Plane> {
  const directory = mkdtempSync(join(tmpdir(), "haptic-kube-"));
  const start = async (): Promise<void> => {
    await run(script, ["start", directory, address], {
      env: {
        ...process.env,
        KUBE_BIN: programs,
        KUBE_PARTS: "",
        // Without its cache a watch of ConfigMaps gets 410 as soon as etcd is compacted.
        KUBE_APISERVER_ARGS: "--watch-cache-sizes=configmaps#0",
      },
    });
  };
  await start();
  const etcd = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const response = await fetch(`http://${address}:2379${path}`, { method: "POST", body: JSON.stringify(body) });
    return (await response.json()) as { header: { revision: string } };
  };
  return {
    name: "kube-apiserver",
    host: address,
    port: 6443,
    scheme: "https",
    ca: readFileSync(join(directory, "pki", "ca.crt"), "utf8"),
    kubeconfig: join(directory, "kubeconfig"),
    adminToken: "admin-token",
    powerlessToken: "dev-token",
    async expire() {
      const { header } = await etcd("/v3/kv/range", { key: "AA==" });
      await etcd("/v3/kv/compaction", { revision: header.revision, physical: true });
    },
    async restart() {
      await run(script, ["stop", directory]);
      await start();
    },
    async close() {
      await run(script, ["stop", directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Ends the plane's processes; `restart` of the plane begins them again with their data. */
export async function stopRealPlane(directory: string): Promise<void> {
  await run(script, ["stop", directory]);
}

/** A kubeconfig for a user with a client certificate of its own. */
export async function userKubeconfig(directory: string, user: string): Promise<string> {
  return (await run(script, ["kubeconfig", directory, user])).stdout;
}
