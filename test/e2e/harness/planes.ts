/** The API servers that the traffic proofs run against, each in a process of its own: the embedded one and a real kube-apiserver. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
/** The embedded API is away for so long; a real one takes about as long to start again. */
const OUTAGE_MS = 2_000;

interface ApiMessage {
  readonly kubeconfig?: string;
  readonly error?: string;
}

async function messageOf(child: ChildProcess): Promise<ApiMessage> {
  const gone = once(child, "exit").then(() => ({ error: "the API's process ended" }));
  const [message] = await Promise.race([once(child, "message"), gone.then((ended) => [ended])]);
  const { error } = message as ApiMessage;
  if (error !== undefined) throw new Error(error);
  return message as ApiMessage;
}

const embedded: ApiChoice = {
  name: "the embedded API",
  missing: undefined,
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "haptic-embedded-"));
    const program = join(import.meta.dirname, "api-process.ts");
    // Schemas that are known only at run time are compiled there: the flags of the product are not for it.
    const child = fork(program, [ADDRESS, "6443"], { execArgv: [], stdio: "inherit" });
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, (await messageOf(child)).kubeconfig ?? "", { mode: 0o600 });
    return {
      kubeconfig,
      async restart() {
        child.send({ outageMs: OUTAGE_MS });
        await messageOf(child);
      },
      async close() {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

const real: ApiChoice = { name: "kube-apiserver", missing: missingRealPlane(), start: () => startRealPlane(ADDRESS) };

export const apiServers: Readonly<Record<"embedded" | "real", ApiChoice>> = { embedded, real };
