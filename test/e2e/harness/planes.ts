/** The API servers that the traffic proofs run against: the embedded one, in this process, and a real kube-apiserver. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { missingRealPlane, startRealPlane } from "../../cluster/kube/real-plane.ts";

export interface ApiServer {
  readonly kubeconfig: string;
  /** Stops the server and starts it again with what it has stored. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiChoice {
  readonly name: string;
  /** Why it cannot be had here, or undefined. */
  readonly missing: string | undefined;
  start(): Promise<ApiServer>;
}

const ADDRESS = "127.0.50.1";

const embedded: ApiChoice = {
  name: "the embedded API",
  missing: undefined,
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "haptic-embedded-"));
    const api = await startEmbeddedApi({ host: ADDRESS, port: 6443 });
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, api.kubeconfig, { mode: 0o600 });
    return {
      kubeconfig,
      restart: () => api.outage(2_000),
      async close() {
        await api.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

const real: ApiChoice = { name: "kube-apiserver", missing: missingRealPlane(), start: () => startRealPlane(ADDRESS) };

export const apiServers: Readonly<Record<"embedded" | "real", ApiChoice>> = { embedded, real };
